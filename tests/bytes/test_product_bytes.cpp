// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bytes/formats.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/stream.hpp>
#include <sporades/kernels/ttm_chain.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// Checks that work touches this many bytes, or up to `more`, or up to `fewer`.
template <class Work>
void check_bytes(double model, double more, double fewer, Work const& work) {
  double const counted = static_cast<double>(touched_bytes(work));
  INFO(touched_text());
  CHECK(counted >= model - fewer);
  CHECK(counted <= model + more);
}

/// What SpTV may touch more, and fewer, than Cost counts.
struct Bounds {
  double more, fewer;
};

/// Nonzeros are compared up to the first coordinate that differs.
Bounds bounds(Of<HocooTensor> const& X) {
  return {0, 8.0 * static_cast<double>(std::max(X.order() - 2, 0) * X.nnz())};
}
/// Of a window of eight rows that are empty, one beginning is read.
Bounds bounds(Of<HocsrTensor> const& X) {
  return {0, 7.0 * static_cast<double>(X.rows() + 1)};
}
/// Of eight fibers of one entry each, one beginning is read where most fibers are so.
Bounds bounds(Of<CfbTensor> const& X) {
  bool const are_lone = 16 * X.nnz() < 17 * X.buckets();
  return {0, are_lone ? 7.0 * static_cast<double>(X.buckets()) : 0};
}
/// Padding is read up to the first column that neighbouring fibers have nothing else in.
Bounds bounds(Of<HocfsTensor> const& X) {
  bool const are_lone = X.ell_slices == 0 && 16 * X.nnz() < 17 * X.fibers();
  return {0, are_lone ? 7.0 * static_cast<double>(X.fibers())
                      : sizeof(Index) * static_cast<double>(X.entries() - X.nnz())};
}

}  // namespace

TEST_CASE("stream touches two or three words an entry", "[bytes][stream]") {
  Exec const exec{};
  std::size_t const length = 1000;
  Vector<double, Kokkos::HostSpace> const a("a", length), b("b", length), c("c", length);
  watch_nothing();
  for (auto const& array : {a, b, c}) watch(array.label(), array);
  auto const check = [&](int words, auto const& work) {
    check_bytes(8.0 * words * length, 0, 0, work);
  };
  check(2, [&] { stream_copy(exec, a, c); });
  check(2, [&] { stream_scale(exec, 2.0, c, b); });
  check(3, [&] { stream_add(exec, a, b, c); });
  check(3, [&] { stream_triad(exec, 2.0, b, c, a); });
  check(3, [&] { stream_multiply(exec, a, b, c); });
}

TEST_CASE("spttm and sspttm touch the bytes that their costs say", "[bytes][spttm]") {
  Exec const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(1, 16, 17);
  auto const X = random_coo<double, Index>(exec, problem.dims, problem.nnz, 1, problem.skew);
  auto const U = random_factor_list<Exec, double>(exec, X.dims, R, true);
  auto plan = make_spttm_plan(exec, X, {SpttmStrategy::automatic, R});
  for (int n = 0; n < X.order(); ++n) {
    auto const Y = make_spttm_output(exec, plan, n, R);
    for (auto const& name : names_of<SpttmStrategy>()) {
      auto const strategy = from_name<SpttmStrategy>(name);
      if (strategy == SpttmStrategy::spmm_library) continue;  // it is compiled elsewhere
      plan.choices[n].strategy = strategy;
      watch_nothing();
      watch_tensor(plan.tensors[n]);
      watch("U", U[n]);
      watch("the product", Y.values);
      CAPTURE(X.dims, R, n, name);
      check_bytes(spttm_cost(exec, plan, R, n).bytes, chunk_bytes(X.nnz()), 0,
                  [&] { spttm(exec, plan, U[n], n, Y); });
    }
    for (int m : Y.sparse_modes) {  // sorted by Y's order for one of them only
      auto blocks = make_sspttm_plan(exec, Y, m, SspttmOptions{R});
      auto const Z = make_sspttm_output(exec, blocks, R);
      watch_nothing();
      watch_tensor(blocks.fibers);
      watch("places of blocks", blocks.blocks);
      watch("U", U[m]);
      watch("Y", Y.values);
      watch("the product", Z.values);
      CAPTURE(X.dims, R, n, m);
      check_bytes(sspttm_cost(exec, blocks, R).bytes, chunk_bytes(Y.fibers()), 0,
                  [&] { sspttm(exec, blocks, Y, U[m], Z); });
    }
  }
}

TEST_CASE("sptv touches the bytes that its cost says", "[bytes][sptv]") {
  Exec const exec{};
  auto const problem = GENERATE(from_range(problems()));
  auto const X = random_coo<double, Index>(exec, problem.dims, problem.nnz, 1, problem.skew);
  for (int n = 0; n < X.order(); ++n)
    for (auto const& options :
         {SptvOptions{SptvStrategy::hocoo}, SptvOptions{SptvStrategy::hocsr},
          SptvOptions{SptvStrategy::cfb}, SptvOptions{SptvStrategy::hocfs, HocfsSlices::csr},
          SptvOptions{SptvStrategy::hocfs, HocfsSlices::ell},
          SptvOptions{SptvStrategy::cfb_threads},
          SptvOptions{SptvStrategy::hocfs_blocks, HocfsSlices::csr},
          SptvOptions{SptvStrategy::hocfs_blocks, HocfsSlices::ell, false, 0.5}}) {
      auto plan = make_sptv_plan(exec, X, n, options);
      auto const Y = make_sptv_output(exec, plan);
      Vector<double, Kokkos::HostSpace> const v("v", X.dims[n]);
      Kokkos::deep_copy(v, 1.5);
      watch_nothing();
      std::visit([](auto const& tensor) { watch_tensor(tensor); }, plan.tensor);
      watch("v", v);
      watch("the product", Y.values);
      CAPTURE(X.dims, n, to_string(options.strategy), to_string(options.slices));
      auto const [more, fewer] =
          std::visit([](auto const& tensor) { return bounds(tensor); }, plan.tensor);
      check_bytes(sptv_cost(exec, plan).bytes, more, fewer, [&] { sptv(exec, plan, v, Y); });
    }
}

TEST_CASE("ttm_chain touches the bytes that its cost says", "[bytes][ttm_chain]") {
  Exec const exec{};
  auto const problem = GENERATE(from_range(problems()));
  auto const X = random_coo<double, Index>(exec, problem.dims, problem.nnz, 1, problem.skew);
  std::vector<int> ranks;
  Factors<double, Kokkos::HostSpace> A;
  for (int m = 0; m < X.order(); ++m) {
    ranks.push_back(std::min(static_cast<int>(X.dims[m]), 2 + m % 3));
    A.push_back(random_matrix<double>(exec, X.dims[m], ranks[m], 9));
  }
  for (auto const& name : names_of<TtmChainStrategy>()) {
    auto plan = make_ttm_chain_plan(exec, X, ranks, {from_name<TtmChainStrategy>(name)});
    for (int n = 0; n < X.order(); ++n) {
      watch_nothing();
      plan.formats.visit(n, [](auto const& format) { watch_tensor(format); });
      for (auto const& factor : A) watch("a factor", factor);
      watch_memory("the product", plan.work.product.data(),
                   plan.rows[n].extent(0) * plan.choices[n].columns.count() * 8);
      CAPTURE(X.dims, n, name, describe(plan.choices[n]));
      double more = X.order() * chunk_bytes(X.nnz());  // marks of each level
      for (int m = 0; m < X.order(); ++m)              // padding
        more += 8.0 *
                static_cast<double>(plan.rows[m].extent(0) * (padded_columns(ranks[m]) - ranks[m]));
      check_bytes(ttm_chain_cost(plan, n).bytes, more, 0, [&] { ttm_chain(exec, plan, A, n); });
    }
  }
}

TEST_CASE("log_likelihood touches the bytes that its cost says", "[bytes][log_likelihood]") {
  Exec const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(1, 16, 17);
  auto const X = random_coo<double, Index>(exec, problem.dims, problem.nnz, 1, problem.skew);
  auto const A = random_factor_list<Exec, double>(exec, X.dims, R, true);
  Vector<double, Kokkos::HostSpace> const weights("weights", R);
  Kokkos::deep_copy(weights, 1.0);
  sporades::detail::LogLikelihoodBuffers<Kokkos::HostSpace> buffers;
  watch_nothing();
  watch_tensor(X);
  for (auto const& factor : A) watch("a factor", factor);
  CAPTURE(X.dims, R);
  check_bytes(log_likelihood_cost(X, R).bytes, 0, 0,
              [&] { sporades::detail::run_log_likelihood(exec, X, A, weights, buffers); });
}

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Tensors of 64-bit indices on every backend. One mode longer than 2^32 wherever no dense factor
/// of that mode is needed; its indices lie on both sides of 2^32, so that what is cut to 32 bits
/// falls onto another one. Elsewhere short modes.

#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/cp_apr/problem.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/linear_order.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Narrow = CooTensor<double, std::uint32_t>;
using Wide = CooTensor<double, std::uint64_t>;

constexpr std::uint64_t beyond = std::uint64_t{1} << 32;

/// 0 to 4 stay, 5 to 9 become 2^32 to 2^32 + 4.
std::uint64_t widened(std::uint64_t index) {
  return index % 5 + index / 5 * beyond;
}

/// Each coordinate once, in no order; counts as values.
Narrow counts(Dims const& dims, Position nnz) {
  Host const host{};
  auto const X = sum_duplicates(host, random_coo<double, std::uint32_t>(host, dims, nnz)).tensor;
  auto reversed = sporades::detail::allocate_coo<double, std::uint32_t>(host, dims, X.nnz());
  host.fence();
  for (Position p = 0; p < X.nnz(); ++p) {
    for (int n = 0; n < X.order(); ++n)
      reversed.coordinates(n, p) = X.coordinates(n, X.nnz() - 1 - p);
    reversed.values(p) = static_cast<double>(1 + p % 7);
  }
  return reversed;
}

/// X with 64-bit indices, those of one mode (-1: none) widened.
Wide widen(Narrow const& X, int mode) {
  Host const host{};
  auto dims = X.dims;
  if (mode >= 0) dims[mode] = beyond + 100;
  auto Y = sporades::detail::allocate_coo<double, std::uint64_t>(host, dims, X.nnz());
  host.fence();
  for (Position p = 0; p < X.nnz(); ++p) {
    Y.values(p) = X.values(p);
    for (int n = 0; n < X.order(); ++n) {
      std::uint64_t const index = X.coordinates(n, p);
      Y.coordinates(n, p) = n == mode ? widened(index) : index;
    }
  }
  return Y;
}

/// A tensor whose mode `mode` has ten indices.
Narrow narrow_tensor(int mode) {
  Dims dims{7, 30, 12};
  dims[mode] = 10;
  return counts(dims, 700);
}

template <class ExecutionSpace, class Tensor>
auto in_all_modes_order(ExecutionSpace const& exec, Tensor const& X) {
  exec.fence();
  return sorted(Host{}, copy_to(Host{}, X), {0, 1, 2});
}

template <class A, class B>
Position differing(A const& a, B const& b) {
  Position different = a.extent(0) != b.extent(0) || a.extent(1) != b.extent(1) ? 1 : 0;
  for (std::size_t i = 0; i < a.extent(0) && !different; ++i)
    for (std::size_t r = 0; r < a.extent(1); ++r)
      different += !(std::abs(a(i, r) - b(i, r)) <= 1e-12 * (1 + std::abs(b(i, r))));
  return different;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("orders of indices past 32 bits are those of their numbers",
                        "[formats][wide_indices]", ExecutionSpaces) {
  TestType const exec{};
  for (int mode = 0; mode < 3; ++mode) {
    auto const X = narrow_tensor(mode);
    auto const Y = copy_to(exec, widen(X, mode));
    for (auto const& modes : {std::vector<int>{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}}) {
      auto const expected = widen(sorted(Host{}, X, modes), mode);
      auto const ordered = sorted(exec, Y, modes);
      exec.fence();
      check_same_nonzeros(copy_to(Host{}, ordered), expected);
      CHECK(is_sorted(exec, ordered, modes));
      CHECK(!is_sorted(exec, Y, modes));
    }
    CHECK(sum_duplicates(exec, Y).tensor.nnz() == X.nnz());
    CHECK(sporades::detail::estimate_fiber_counts(exec, Y, 1u << mode) == Approx(10).epsilon(0.05));
    CHECK(sporades::detail::norm_squared(exec, Y.values) ==
          sporades::detail::norm_squared(Host{}, X.values));
  }
}

TEMPLATE_LIST_TEST_CASE("every format holds indices past 32 bits", "[formats][wide_indices]",
                        ExecutionSpaces) {
  TestType const exec{};
  for (int mode = 0; mode < 3; ++mode) {
    auto const X = narrow_tensor(mode);
    auto const expected = widen(sorted(Host{}, X, {0, 1, 2}), mode);
    auto const Y = copy_to(exec, widen(X, mode));
    auto const check = [&](char const* format, auto const& back) {
      INFO(format << ", mode " << mode);
      CHECK(back.dims == expected.dims);
      check_same_nonzeros(in_all_modes_order(exec, back), expected);
    };
    check("linear order", to_coo(exec, make_alto(exec, Y)));
    check("permutations", to_coo(exec, make_permuted(exec, Y)));
    for (int n = 0; n < 3; ++n) {
      std::vector<int> const modes{n, (n + 2) % 3, (n + 1) % 3};
      check("tree", to_coo(exec, make_csf(exec, Y, modes)));
      check("packed", to_coo(exec, make_packed(exec, sorted(exec, Y, modes), n)));
      check("fibers", to_coo(exec, make_hierarchical(exec, Y, modes)));
      check("hocoo", to_coo(exec, make_hocoo(exec, Y, n)));
      check("cfb", to_coo(exec, make_cfb(exec, Y, n)));
      check("hocfs", to_coo(exec, make_hocfs(exec, Y, n, HocfsSlices::ell)));
      if (n == mode) check("hocsr", to_coo(exec, make_hocsr(exec, Y, n)));
      if (n != mode) check("semi-sparse", to_coo(exec, make_scoo(exec, Y, {n})));
    }
  }
}

TEST_CASE("files hold indices past 32 bits", "[formats][wide_indices]") {
  TemporaryFolder const folder;
  for (int mode = 0; mode < 3; ++mode) {
    auto const X = sorted(Host{}, widen(narrow_tensor(mode), mode), {0, 1, 2});
    write_tns(folder / "x.tns", X);
    write_tns(folder / "x.tns.gz", X);
    write_spt(folder / "x.spt", X);
    for (char const* name : {"x.tns", "x.tns.gz", "x.spt"}) {
      INFO(name << ", mode " << mode);
      auto const back = std::get<Wide>(read_tensor<double>(folder / name).tensor);
      CHECK(back.dims == X.dims);
      check_same_nonzeros(back, X);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("products on short modes keep indices past 32 bits",
                        "[kernels][wide_indices]", ExecutionSpaces) {
  TestType const exec{};
  for (int mode = 0; mode < 3; ++mode) {
    int const first = (mode + 1) % 3, second = (mode + 2) % 3;
    auto const X = narrow_tensor(mode);
    std::size_t const R = 5;
    auto const U = random_matrix<double>(exec, X.dims[first], R, 1);
    auto const W = random_matrix<double>(exec, X.dims[second], R, 2);
    auto const products = [&](auto const& tensor, SpttmStrategy strategy) {
      auto const H = make_hierarchical(exec, copy_to(exec, tensor), {mode, second, first});
      auto const Y = make_spttm_output(exec, H, R);
      spttm(exec, H, U, Y, strategy);
      auto plan = make_sspttm_plan(exec, Y, second, SspttmOptions{static_cast<int>(R)});
      auto const Z = make_sspttm_output(exec, plan, R);
      sspttm(exec, plan, Y, W, Z);
      exec.fence();
      return Z;
    };
    for (auto const& name : names_of<SpttmStrategy>()) {
      if (name == "spmm_library") continue;  // it takes 32-bit indices
      auto const narrow = products(X, from_name<SpttmStrategy>(name));
      auto const wide = products(widen(X, mode), from_name<SpttmStrategy>(name));
      INFO(name << ", mode " << mode);
      auto const rows = on_host(narrow.coordinates);
      auto const wide_rows = on_host(wide.coordinates);
      REQUIRE(wide_rows.extent(1) == rows.extent(1));
      for (std::size_t k = 0; k < rows.extent(1); ++k)
        CHECK(wide_rows(0, k) == widened(rows(0, k)));
      CHECK(differing(matrix_on_host(wide.values), matrix_on_host(narrow.values)) == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("every mttkrp and phi of 64-bit indices is that of 32-bit ones",
                        "[kernels][wide_indices]", ExecutionSpaces) {
  TestType const exec{};
  using Memory = typename TestType::memory_space;
  auto const host = counts({40, 5, 6, 30}, 4000);
  auto const X = copy_to(exec, host);
  auto const Y = copy_to(exec, widen(host, -1));
  int const R = 5;
  Factors<double, Memory> A;
  for (int n = 0; n < 4; ++n)
    A.push_back(sporades::detail::random_factor<double>(exec, "A", X.dims[n], R, 1, n));
  auto const compare = [&](auto const& product, std::string const& name) {
    for (int n = 0; n < 4; ++n) {
      auto const V = make_matrix<double>(exec, "V", X.dims[n], R);
      auto const W = make_matrix<double>(exec, "W", X.dims[n], R);
      product(X, n, V);
      product(Y, n, W);
      exec.fence();
      INFO(name << ", mode " << n);
      CHECK(differing(matrix_on_host(W), matrix_on_host(V)) == 0);
    }
  };
  for (auto const& name : names_of<MttkrpStrategy>()) {
    auto const strategy = from_name<MttkrpStrategy>(name);
    if (strategy == MttkrpStrategy::alto && alto_is_refused(exec, X)) continue;
    compare(
        [&](auto const& tensor, int n, auto const& V) {
          auto plan = make_mttkrp_plan(exec, tensor, {strategy, R});
          mttkrp(exec, plan, A, n, V);
        },
        name);
  }
  for (auto const& name : names_of<PhiStrategy>()) {
    auto const strategy = from_name<PhiStrategy>(name);
    if (is_refused(exec, X, strategy)) continue;
    compare(
        [&](auto const& tensor, int n, auto const& V) {
          auto plan = make_phi_plan(exec, tensor, {strategy, R});
          phi(exec, plan, A, A[n], n, V, 1e-10);
        },
        name);
  }
}

TEMPLATE_LIST_TEST_CASE("every method on 64-bit indices is that on 32-bit ones",
                        "[algorithms][wide_indices]", ExecutionSpaces) {
  TestType const exec{};
  auto const host = counts({40, 5, 6, 30}, 4000);
  auto const X = copy_to(exec, host);
  auto const Y = copy_to(exec, widen(host, -1));
  for (bool tree : {false, true})
    for (auto init : {CpAlsInit::random, CpAlsInit::hosvd}) {
      CpAlsOptions options;
      options.rank = 3;
      options.iterations = 3;
      options.dimension_tree = tree;
      options.init = init;
      CHECK(cp_als(exec, Y, options).fit() == Approx(cp_als(exec, X, options).fit()).epsilon(1e-9));
    }
  for (auto method : {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr}) {
    CpAprOptions options;
    options.rank = 3;
    options.iterations = 3;
    options.method = method;
    CHECK(cp_apr(exec, Y, options).log_likelihood() ==
          Approx(cp_apr(exec, X, options).log_likelihood()).epsilon(1e-9));
  }
  for (auto const& name : names_of<TtmChainStrategy>()) {
    TuckerOptions options;
    options.ranks = {3, 2, 4, 3};
    options.iterations = 3;
    options.strategy = from_name<TtmChainStrategy>(name);
    CHECK(tucker(exec, Y, options).fit() == Approx(tucker(exec, X, options).fit()).epsilon(1e-9));
  }
}

namespace {

template <class Key>
struct Buffers {};

struct CountsInInt {
  template <class Key>
  static int SortKeys(void*, std::size_t&, Buffers<Key>&, int, int, int);
};
struct CountsInAny {
  template <class Key, class Count>
  static int SortKeys(void*, std::size_t&, Buffers<Key>&, Count, int, int);
};

}  // namespace

TEST_CASE("counts past 31 bits never reach a CUB that takes an int", "[core][wide_indices]") {
  using Words = Buffers<std::uint64_t>;
  CHECK(sporades::detail::most_sorted_items<CountsInInt, Words> == (std::uint64_t{1} << 31) - 1);
  CHECK(sporades::detail::most_sorted_items<CountsInAny, Words> == ~std::uint64_t{0});
}

TEST_CASE("pdnr refuses ranks whose systems have more entries than 32 bits count",
          "[algorithms][wide_indices]") {
  CpAprOptions options;
  options.method = CpAprMethod::pdnr;
  options.rank = 46336;
  CHECK_NOTHROW(sporades::detail::check_cp_apr(options));
  options.rank = 46341;
  CHECK_THROWS_WITH(sporades::detail::check_cp_apr(options),
                    Catch::Matchers::ContainsSubstring("pdnr counts"));
  options.method = CpAprMethod::pqnr;
  CHECK_NOTHROW(sporades::detail::check_cp_apr(options));
}

// A chain on the long mode itself needs no factor of it.
TEMPLATE_LIST_TEST_CASE("chains on a mode longer than 2^32 name its rows",
                        "[kernels][wide_indices]", ExecutionSpaces) {
  TestType const exec{};
  auto const host = narrow_tensor(0);
  std::vector<int> const ranks{4, 2, 3};
  Factors<double, typename TestType::memory_space> A(3);
  for (int n = 1; n < 3; ++n)
    A[n] = sporades::detail::random_factor<double>(exec, "A", host.dims[n],
                                                   static_cast<std::size_t>(ranks[n]), 1, n);
  for (auto strategy : {TtmChainStrategy::csf, TtmChainStrategy::fused}) {
    auto plan = make_ttm_chain_plan(exec, copy_to(exec, host), ranks, {strategy});
    auto wide_plan = make_ttm_chain_plan(exec, copy_to(exec, widen(host, 0)), ranks, {strategy});
    auto const product = ttm_chain(exec, plan, A, 0);
    auto const wide = ttm_chain(exec, wide_plan, A, 0);
    exec.fence();
    auto const rows = on_host(product.rows);
    auto const wide_rows = on_host(wide.rows);
    REQUIRE(wide_rows.extent(0) == rows.extent(0));
    for (std::size_t k = 0; k < rows.extent(0); ++k) CHECK(wide_rows(k) == widened(rows(k)));
    INFO(to_string(strategy));
    CHECK(differing(on_host(wide.Y), on_host(product.Y)) == 0);
  }
}

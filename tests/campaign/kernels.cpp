// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Every strategy of every kernel against its definition.

#include <algorithm>
#include <campaign/outcome.hpp>
#include <map>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/linear_order.hpp>

namespace sporades::campaign {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

constexpr int ranks[] = {1, 2, 3, 4, 7, 8, 16, 17, 33};

/// Random factors, on the host to define results with, and where they are computed.
template <class Scalar>
struct DrawnFactors {
  Factors<Scalar, Kokkos::HostSpace> host;
  Factors<Scalar, Memory> device;

  DrawnFactors(Exec const& exec, Source& source, Dims const& dims, std::vector<int> const& columns,
               bool is_positive) {
    for (std::size_t n = 0; n < dims.size(); ++n) {
      host.push_back(draw_matrix<Scalar>(source, dims[n], columns[n], is_positive));
      device.push_back(copy_matrix(exec, host[n]));
    }
  }

  /// Product of the other factors' entries at nonzero p, column r.
  long double term(Drawn const& X, std::size_t p, std::size_t r, int n) const {
    long double product = 1;
    for (int m = 0; m < X.order(); ++m)
      if (m != n) product *= host[m](X.index(p, m), r);
    return product;
  }
};

bool has_atomics(std::string const& strategy) {
  return strategy.find("atomic") != std::string::npos || strategy == "duplicated" ||
         strategy == "flycoo-blocks";
}

/// "fibers mode 2: the same bits ..." of a matrix that was computed.
template <class MatrixType>
void check_entries(Exec const& exec, std::string const& name, Sums const& sums, MatrixType const& V,
                   double each, bool keeps_bits, Outcome& outcome) {
  auto const entries = sporades::detail::entries_of(exec, V);
  sums.compare(name, entries, each, outcome);
  if (keeps_bits) outcome.keep_bits(name, entries);
}

template <class Scalar, class Index>
void check_mttkrp(Source& source, Outcome& outcome) {
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, Sign::any);
  int const N = X.order(), R = source.pick(ranks);
  outcome.text = "mttkrp, rank " + std::to_string(R) + ", " + X.text;
  DrawnFactors<Scalar> const A(exec, source, X.dims, std::vector<int>(N, R), false);
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  std::vector<Sums> sums;
  for (int n = 0; n < N; ++n) {
    sums.emplace_back(X.dims[n] * R);
    for (std::size_t p = 0; p < X.nnz(); ++p)
      for (int r = 0; r < R; ++r)
        sums[n].add(X.index(p, n) * R + r, X.values[p] * A.term(X, p, r, n));
  }
  bool const no_alto = test::alto_is_refused(exec, tensor);
  for (auto const& strategy : names_of<MttkrpStrategy>()) {
    MttkrpOptions options{from_name<MttkrpStrategy>(strategy), R};
    if (options.strategy == MttkrpStrategy::alto && no_alto) continue;
    MttkrpPlan<Scalar, Index, Memory> plan;
    try {
      plan = make_mttkrp_plan(exec, tensor, options);
    } catch (Error const&) {  // a linear order may need atomics, and is refused then
      if (options.strategy == MttkrpStrategy::alto) continue;
      throw;
    }
    for (int n = 0; n < N; ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", X.dims[n], R);
      mttkrp(exec, plan, A.device, n, V);
      check_entries(exec, std::string("mttkrp ") + strategy + " mode " + std::to_string(n), sums[n],
                    V, N + 1, !has_atomics(strategy), outcome);
    }
  }
}

template <class Scalar, class Index>
void check_phi(Source& source, Outcome& outcome) {
  constexpr double epsilon = 1e-10;
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, Sign::positive);
  int const N = X.order(), R = source.pick(ranks);
  outcome.text = "phi, rank " + std::to_string(R) + ", " + X.text;
  DrawnFactors<Scalar> const A(exec, source, X.dims, std::vector<int>(N, R), true);
  DrawnFactors<Scalar> const B(exec, source, X.dims, std::vector<int>(N, R), true);
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  std::vector<Sums> sums;
  for (int n = 0; n < N; ++n) {
    sums.emplace_back(X.dims[n] * R);
    for (std::size_t p = 0; p < X.nnz(); ++p) {
      std::uint64_t const i = X.index(p, n);
      long double model = 0;
      for (int r = 0; r < R; ++r) model += B.host[n](i, r) * A.term(X, p, r, n);
      for (int r = 0; r < R; ++r)
        sums[n].add(i * R + r,
                    X.values[p] / std::max<long double>(model, epsilon) * A.term(X, p, r, n));
    }
  }
  for (auto const& name : names_of<PhiStrategy>())
    for (auto pi : {Pi::on_the_fly, Pi::stored}) {
      auto const strategy = from_name<PhiStrategy>(name);
      bool const in_order = std::string(name).find("alto") != std::string::npos;
      if (in_order && pi == Pi::stored) continue;  // refused
      if (test::is_refused(exec, tensor, strategy)) continue;
      PhiPlan<Scalar, Index, Memory> plan;
      try {
        plan = make_phi_plan(exec, tensor, {strategy, R, pi});
      } catch (Error const&) {  // the same
        if (strategy == PhiStrategy::alto) continue;
        throw;
      }
      for (int n = 0; n < N; ++n) {
        auto const V = make_matrix<Scalar>(exec, "V", X.dims[n], R);
        update_pi(exec, plan, A.device, n);
        phi(exec, plan, A.device, B.device[n], n, V, epsilon);
        // A model is a sum of R products; all terms are positive.
        check_entries(exec,
                      std::string("phi ") + to_string(strategy) + " " + to_string(pi) + " mode " +
                          std::to_string(n),
                      sums[n], V, 2 * N + R + 3, !has_atomics(to_string(strategy)), outcome);
      }
    }
}

template <class Scalar, class Index>
void check_spttm(Source& source, Outcome& outcome) {
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, Sign::any);
  int const N = X.order(), R = source.pick(ranks);
  outcome.text = "spttm, rank " + std::to_string(R) + ", " + X.text;
  DrawnFactors<Scalar> const U(exec, source, X.dims, std::vector<int>(N, R), false);
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  for (auto const& strategy : names_of<SpttmStrategy>()) {
    bool const is_library = strategy == std::string("spmm_library");
    if (is_library && !sporades::detail::has_library_spmm<Exec, Scalar, Index>) continue;
    auto plan = make_spttm_plan(exec, tensor, SpttmOptions{from_name<SpttmStrategy>(strategy), R});
    for (int n = 0; n < N; ++n) {
      auto const Y = make_spttm_output(exec, plan, n, R);
      spttm(exec, plan, U.device[n], n, Y);
      auto const coordinates =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, Y.coordinates);
      std::map<std::vector<std::uint64_t>, Position> fibers;  // by the coordinates of other modes
      for (Position f = 0; f < Y.fibers(); ++f) {
        std::vector<std::uint64_t> place(N);
        for (std::size_t k = 0; k < Y.sparse_modes.size(); ++k)
          place[Y.sparse_modes[k]] = coordinates(k, f);
        fibers[place] = f;
      }
      Sums sums(Y.fibers() * R);
      Position lost = 0;
      for (std::size_t p = 0; p < X.nnz(); ++p) {
        std::vector<std::uint64_t> place(N);
        for (int m = 0; m < N; ++m)
          if (m != n) place[m] = X.index(p, m);
        auto const fiber = fibers.find(place);
        if (fiber == fibers.end()) ++lost;
        if (fiber == fibers.end()) continue;
        for (int r = 0; r < R; ++r)
          sums.add(fiber->second * R + r,
                   static_cast<long double>(X.values[p]) * U.host[n](X.index(p, n), r));
      }
      auto const name = std::string("spttm ") + strategy + " mode " + std::to_string(n);
      outcome.expect(lost == 0, name, ": ", lost, " nonzeros are in no fiber");
      check_entries(exec, name, sums, Y.values, 1, true, outcome);
    }
  }
}

template <class Scalar, class Index>
void check_ttm_chain(Source& source, Outcome& outcome) {
  Exec const exec{};
  auto const X = draw_tensor<Scalar>(source, Sign::any);
  int const N = X.order();
  std::vector<int> columns;
  for (int n = 0; n < N; ++n)
    columns.push_back(1 + static_cast<int>(source.below(N < 4 ? 9 : N < 6 ? 4 : 2)));
  outcome.text = "ttm_chain, " + X.text;
  DrawnFactors<Scalar> const A(exec, source, X.dims, columns, false);
  auto const tensor = to_coo_tensor<Scalar, Index>(exec, X);
  std::vector<Sums> sums;
  std::vector<std::size_t> widths;
  for (int n = 0; n < N; ++n) {
    std::size_t width = 1;
    for (int m = 0; m < N; ++m)
      if (m != n) width *= columns[m];
    widths.push_back(width);
    sums.emplace_back(X.dims[n] * width);
    for (std::size_t p = 0; p < X.nnz(); ++p)
      for (std::size_t k = 0; k < width; ++k) {
        long double term = X.values[p];
        std::size_t rest = k;  // the first of the other modes is the fastest
        for (int m = 0; m < N; ++m) {
          if (m == n) continue;
          term *= A.host[m](X.index(p, m), rest % columns[m]);
          rest /= columns[m];
        }
        sums[n].add(X.index(p, n) * width + k, term);
      }
  }
  for (auto const& strategy : names_of<TtmChainStrategy>()) {
    auto plan = make_ttm_chain_plan(exec, tensor, columns,
                                    TtmChainOptions{from_name<TtmChainStrategy>(strategy), 0});
    for (int n = 0; n < N; ++n) {
      auto const Y = make_matrix<Scalar>(exec, "Y", X.dims[n], widths[n]);
      ttm_chain(exec, plan, A.device, n, Y);
      check_entries(exec, std::string("ttm_chain ") + strategy + " mode " + std::to_string(n),
                    sums[n], Y, 2 * N, true, outcome);
    }
  }
}

template <class Scalar, class Index>
std::vector<Check> checks() {
  return {check_mttkrp<Scalar, Index>, check_phi<Scalar, Index>, check_spttm<Scalar, Index>,
          check_ttm_chain<Scalar, Index>};
}

}  // namespace

std::vector<Checks> kernel_checks() {
  return {{"float, 32-bit indices", checks<float, std::uint32_t>()},
          {"float, 64-bit indices", checks<float, std::uint64_t>()},
          {"double, 32-bit indices", checks<double, std::uint32_t>()},
          {"double, 64-bit indices", checks<double, std::uint64_t>()}};
}

}  // namespace sporades::campaign

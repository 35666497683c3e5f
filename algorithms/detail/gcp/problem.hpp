// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades::detail {

/// use(loss) with the loss that it is.
template <class Use>
decltype(auto) with_loss(AnyLoss const& loss, Use const& use) {
  return std::visit(use, loss);
}
template <class Loss, class Use>
decltype(auto) with_loss(Loss const& loss, Use const& use) {
  return use(loss);
}

/// Whether factors are to be 0 at least.
template <class Loss>
bool has_bound(GcpOptionsOf<Loss> const& options) {
  return options.non_negative ||
         with_loss(options.loss, [](auto const& loss) { return loss.lower_bound() == 0; });
}

/// Whether variables are square roots of the factors.
template <class Loss>
bool has_roots(GcpOptionsOf<Loss> const& options) {
  return options.method == GcpMethod::lbfgs_square_roots ||
         (options.method == GcpMethod::automatic && has_bound(options));
}

/// What GCP alone has of what all processes of a call give alike.
template <class Loss>
NamedOptions named_options(GcpOptionsOf<Loss> const& options) {
  return NamedOptions()
      .add("rank", options.rank)
      .add("loss", with_loss(options.loss, [](auto const& loss) { return loss.name(); }))
      .add("missing", options.absent == AbsentEntries::missing)
      .add("non_negative", options.non_negative)
      .add("method", options.method)
      .add("history", options.history)
      .add("strategy", options.strategy);
}

/// Throws Error where an option is out of its range, or does not fit another.
template <class Loss>
void check_gcp(GcpOptionsOf<Loss> const& options) {
  check_rank("gcp", options.rank);
  check_run("gcp", options);
  expects(options.history >= 0 && options.history <= 1000, "gcp: a history of ", options.history,
          " steps is not in 0 to 1000");
  expects(!options.streaming.always && options.streaming.memory == 0,
          "gcp: nothing is streamed, and options.streaming asks for it");
  with_loss(options.loss, [&](auto const& loss) {
    double const bound = loss.lower_bound();
    expects(bound == 0 || bound == -std::numeric_limits<double>::infinity(), "gcp: ", loss.name(),
            " is defined for m >= ", bound, ", and a bound can be 0, or -infinity for none");
    polynomial_of_cells(loss, options.absent, options.rank, "gcp");
    expects(options.method != GcpMethod::lbfgs_square_roots || has_bound(options),
            "gcp: ", loss.name(),
            " takes models of any sign, which square roots cannot have, unless ",
            "non_negative is set");
  });
}

/// What its products are planned for.
template <class Loss>
MttkrpAllModesOptions products_of(GcpOptionsOf<Loss> const& options) {
  MttkrpAllModesOptions products{{options.strategy, options.rank}};
  products.products.updatable = true;
  return products;
}

/// make_gcp_problem.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class Loss>
GcpProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_gcp_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, GcpOptionsOf<Loss> const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_gcp_problem");
  check_gcp(options);
  expects(processes.size() == 1, "gcp: runs on one process, not on ", processes.size());
  GcpProblem<Scalar, Index, MemorySpace> problem;
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>) {
    expects(X.nnz() > 0, "gcp: X (", to_string(X.dims), ") has no entries: ",
            options.absent == AbsentEntries::missing ? "all are missing" : "nothing to fit");
    expect_decomposable(processes, exec, X, "gcp");
    if (options.absent == AbsentEntries::zero) X = sum_duplicates(exec, hand_over(X)).tensor;
    problem.dims = X.dims;
    problem.rank = options.rank;
    problem.absent = options.absent;
    problem.plan = make_loss_gradient_plan(exec, X, products_of(options));
  } else {
    fail("gcp: X is where exec cannot access it, and nothing is streamed: copy it first");
  }
  return problem;
}

}  // namespace sporades::detail

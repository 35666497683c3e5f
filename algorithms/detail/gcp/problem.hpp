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

/// An exact gradient of all cells may take so many times as many of them as a sampled one.
/// (police-deaths, rank 16: 12. Steps of samples end 3 % above those of all cells there.)
inline constexpr double most_cells_a_sample = 64;

/// Tensors of more cells have the loss of the end estimated, where zeros are sampled.
inline constexpr double most_cells_at_end = 1e8;

/// Whether factors are to be 0 at least.
template <class Loss>
bool has_bound(GcpOptionsOf<Loss> const& options) {
  return options.non_negative ||
         with_loss(options.loss, [](auto const& loss) { return loss.lower_bound() == 0; });
}

/// Whether the zeros' part has a closed form, or absent entries are no zeros.
template <class Loss>
bool is_closed(GcpOptionsOf<Loss> const& options) {
  return options.absent == AbsentEntries::missing || with_loss(options.loss, [&](auto const& loss) {
           std::optional<LossPolynomial> const c = loss.at_zero();
           return c && ((*c)[3] == 0 || options.rank <= most_cubic_rank);
         });
}

/// What a zero counts for each unit of m near m = 0.
template <class Loss>
double slope_at_zero(GcpOptionsOf<Loss> const& options) {
  return with_loss(options.loss,
                   [](auto const& loss) { return static_cast<double>(loss.derivative(0.0, 0.0)); });
}

/// Whether that says something of m further on: f(0, m) has no pole at 0, as gamma's.
template <class Loss>
bool has_tangent_at_zero(GcpOptionsOf<Loss> const& options) {
  return std::abs(slope_at_zero(options)) < 1e6;
}

/// Whether f(0, m) is concave in m >= 0, and its tangents no less than it is.
template <class Loss>
bool is_concave_at_zero(GcpOptionsOf<Loss> const& options) {
  return has_bound(options) && !is_closed(options) && has_tangent_at_zero(options) &&
         with_loss(options.loss, [](auto const& loss) {
           double last = static_cast<double>(loss.derivative(0.0, 0.0));
           for (double m = 1e-3; m < 1e6; m *= 4) {
             auto const slope = static_cast<double>(loss.derivative(0.0, m));
             if (!(slope > 0 && slope <= last)) return false;
             last = slope;
           }
           return true;
         });
}

/// Whether variables are square roots of the factors.
template <class Loss>
bool has_roots(GcpOptionsOf<Loss> const& options) {
  return options.method != GcpMethod::lbfgsb && has_bound(options);
}

/// The method that `automatic` is. Tangents of a loss that is convex at x = 0 hold no model of any
/// sign: L-BFGS needs gradients of all zeros there.
template <class Loss>
GcpMethod method_of(GcpOptionsOf<Loss> const& options, GcpZeros zeros) {
  if (options.method != GcpMethod::automatic) return options.method;
  if (has_bound(options)) return GcpMethod::lbfgs_square_roots;
  return zeros == GcpZeros::samples ? GcpMethod::adam : GcpMethod::lbfgsb;
}

/// Whether a method steps along gradients of new samples each.
inline bool descends(GcpMethod method) {
  return method == GcpMethod::adam || method == GcpMethod::adagrad || method == GcpMethod::sgd;
}

/// Whether an iteration is an epoch of several steps, and how many.
inline bool has_epochs(GcpMethod method, GcpZeros zeros) {
  return descends(method) || zeros == GcpZeros::samples;
}
inline int steps_of_epoch(GcpTuning const& tuning) {
  return tuning.epoch > 0 ? tuning.epoch : 100;
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
      .add("zeros", options.tuning.zeros)
      .add("samples", options.tuning.samples)
      .add("nonzeros", options.tuning.nonzeros)
      .add("history", options.tuning.history)
      .add("epoch", options.tuning.epoch)
      .add("rate", options.tuning.rate)
      .add("decay", options.tuning.decay)
      .add("failures", options.tuning.most_failures)
      .add("strategy", options.strategy);
}

/// Throws Error where an option is out of its range, or does not fit another.
template <class Loss>
void check_gcp(GcpOptionsOf<Loss> const& options) {
  check_rank("gcp", options.rank);
  check_run("gcp", options);
  auto const& tuning = options.tuning;
  expects(tuning.history >= 0 && tuning.history <= 1000, "gcp: a history of ", tuning.history,
          " steps is not in 0 to 1000");
  expects(tuning.epoch >= 0 && tuning.most_failures >= 0, "gcp: an epoch of ", tuning.epoch,
          " steps, or ", tuning.most_failures, " failures, is below 0");
  expects(tuning.rate >= 0 && std::isfinite(tuning.rate), "gcp: a rate of ", tuning.rate,
          " is not a finite number, 0 at least");
  expects(tuning.decay > 0 && tuning.decay < 1, "gcp: a decay of ", tuning.decay,
          " is not between 0 and 1");
  expects(tuning.samples != 1 && tuning.nonzeros != 1,
          "gcp: 1 sample is fewer than the 2 that an estimate's error needs");
  expects(!options.streaming.always && options.streaming.memory == 0,
          "gcp: nothing is streamed, and options.streaming asks for it");
  with_loss(options.loss, [&](auto const& loss) {
    double const bound = loss.lower_bound();
    expects(bound == 0 || bound == -std::numeric_limits<double>::infinity(), "gcp: ", loss.name(),
            " is defined for m >= ", bound, ", and a bound can be 0, or -infinity for none");
    expects(options.method != GcpMethod::lbfgs_square_roots || has_bound(options),
            "gcp: ", loss.name(),
            " takes models of any sign, which square roots cannot have, unless ",
            "non_negative is set");
    if (options.absent == AbsentEntries::missing || tuning.zeros == GcpZeros::closed_form)
      polynomial_of_cells(loss, options.absent, options.rank, "gcp");
    else
      check_zeros(loss, "gcp");
  });
  expects(options.absent == AbsentEntries::zero || tuning.zeros == GcpZeros::automatic,
          "gcp: absent entries are missing, and zeros are asked for by `", to_string(tuning.zeros),
          "`");
  expects(tuning.nonzeros == 0 || descends(method_of(options, GcpZeros::samples)),
          "gcp: L-BFGS takes all nonzeros, and ", tuning.nonzeros,
          " are to be drawn; adam, adagrad and sgd may draw them");
}

/// The cells by which models are compared. (With 2^14 in place of 2^16 the run on marvel-characters
/// ended 50 above, with 2^18 20 below, after three times as long.)
inline Position compared_cells(Position nnz) {
  return std::clamp<Position>(8 * nnz, Position{1} << 16, Position{1} << 20);
}

/// How the zeros' part is computed, and why.
struct ZerosChoice {
  GcpZeros zeros;
  std::string reason;
};

/// The one place where that is decided. Throws Error where what is asked for cannot be.
template <class ExecutionSpace, class Loss>
ZerosChoice choose_zeros(ExecutionSpace const& exec, Dims const& dims, Position nnz,
                         GcpOptionsOf<Loss> const& options) {
  if (options.absent == AbsentEntries::missing)
    return {GcpZeros::closed_form, "absent entries are missing"};
  auto zeros = options.tuning.zeros;
  bool const is_asked = zeros != GcpZeros::automatic;
  double const cells = dense_size(dims) * static_cast<double>(dims.size());
  double const most = most_cells_a_sample * static_cast<double>(nnz + compared_cells(nnz));
  if (!is_asked)
    zeros = is_closed(options) ? GcpZeros::closed_form
            : cells <= most    ? GcpZeros::enumeration
                               : GcpZeros::samples;
  if (zeros == GcpZeros::enumeration) check_cells(exec, dims, options.rank, dims.size(), {}, "gcp");
  bool const samples = zeros == GcpZeros::samples;
  expects(!samples || descends(method_of(options, zeros)) || has_bound(options),
          "gcp: L-BFGS with sampled zeros needs m >= 0; adam takes models of any sign");
  expects(
      !samples || has_tangent_at_zero(options),
      "gcp: ", with_loss(options.loss, [](auto const& loss) { return loss.name(); }),
      " of x = 0 has a pole at m = 0, beside which samples tell nothing; absent entries can be ",
      "missing, or zeros enumerated");
  expects(samples || options.tuning.nonzeros == 0, "gcp: ", options.tuning.nonzeros,
          " nonzeros are to be drawn, and zeros are not");
  std::string const why =
      is_asked ? "asked for"
      : zeros == GcpZeros::closed_form
          ? "f(0, m) is a polynomial"
          : concatenate("a gradient of all cells takes ", cells, " of them, ",
                        zeros == GcpZeros::samples ? "more than " : "at most ", most);
  return {zeros, why};
}

/// The cells that a gradient draws. L-BFGS takes more: at least as many as the mass of the zeros.
template <class Loss>
Position drawn_cells(GcpOptionsOf<Loss> const& options, Position nnz) {
  if (options.tuning.samples > 0) return options.tuning.samples;
  return descends(method_of(options, GcpZeros::samples)) ? 2048 : compared_cells(nnz);
}

/// What its products are planned for.
template <class Loss>
MttkrpAllModesOptions products_of(GcpOptionsOf<Loss> const& options) {
  MttkrpAllModesOptions products{{options.strategy, options.rank}};
  products.products.updatable = true;
  return products;
}

/// The entries of all processes.
template <class Problem>
Position nnz_of(Problem const& problem) {
  return problem.plan.exact.work.places.all();
}

/// make_gcp_problem.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace, class Loss>
GcpProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_gcp_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, GcpOptionsOf<Loss> const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_gcp_problem");
  check_gcp(options);
  GcpProblem<Scalar, Index, MemorySpace> problem;
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>) {
    Position nnz = exclusive_scan_of_all(processes, X.nnz()).back();
    expects(nnz > 0, "gcp: X (", to_string(X.dims), ") has no entries: ",
            options.absent == AbsentEntries::missing ? "all are missing" : "nothing to fit");
    expect_decomposable(processes, exec, X, "gcp");
    if (options.absent == AbsentEntries::zero) X = summed_across(processes, exec, hand_over(X));
    nnz = exclusive_scan_of_all(processes, X.nnz()).back();
    X = cut_at(processes, exec, hand_over(X), even_cuts(processes.size(), nnz));
    problem.processes = processes;
    problem.dims = X.dims;
    if (processes.size() > 1)
      for (auto const dim : X.dims)
        problem.factor_rows.push_back({processes, even_cuts(processes.size(), dim)});
    problem.rank = options.rank;
    problem.absent = options.absent;
    auto const [zeros, reason] = choose_zeros(exec, X.dims, nnz, options);
    problem.zeros = zeros;
    problem.reason = reason;
    auto& plan = problem.plan;
    if (zeros == GcpZeros::samples) {
      LossSampleOptions draws;
      draws.samples = std::max(drawn_cells(options, nnz), compared_cells(nnz));
      draws.nonzeros = options.tuning.nonzeros;
      draws.seed = options.seed;
      plan = build_loss_samples_plan(processes, exec, X, draws, products_of(options));
    } else {
      plan.exact = build_loss_gradient_plan(processes, exec, X, products_of(options));
      plan.drawn.entries.dims = X.dims;
    }
  } else {
    fail("gcp: X is where exec cannot access it, and nothing is streamed: copy it first");
  }
  return problem;
}

}  // namespace sporades::detail

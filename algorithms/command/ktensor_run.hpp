// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the subcommands that make a Kruskal tensor share: their run from the tensor on the host to
/// the files. What tells them apart is a Method, a template of an execution space, a scalar and an
/// index type with
///   name, Arguments, State, Snapshot, Problem, options (with rank, seed, ...), is_given()
///   facts()                      what its bits hang on beside what all have
///   start(exec, X), start(exec, dims, model), build(exec, X), solve(exec, problem, state,
///   observer) describe(problem, report)    settings, strategies, bytes line(state), brief(state)
///   of the last iteration iteration(result, k), results(result), summary(result) arrays(snapshot),
///   load(checkpoint, snapshot)    all but factors and weights

#include <optional>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/command/decomposition.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/algorithms/command/signals.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/ktensor_file.hpp>
#include <sporades/formats/spt_file/checksum.hpp>
#include <sporades/version.hpp>

namespace sporades::command {

template <class T>
CheckpointArray array_of(std::string const& name, std::vector<T> const& values) {
  return {name, values.data(), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> load(Checkpoint const& checkpoint, std::string const& name, std::size_t size) {
  std::vector<T> values(size);
  checkpoint.copy(name, values.data(), size * sizeof(T));
  return values;
}

/// The seed's word, or the checksum of the file that the run starts from.
inline std::string start_fact(std::string const& init, bool is_given) {
  if (!is_given) return init;
  MappedFile const file(init);
  return sporades::detail::concatenate(
      "given ", sporades::detail::xxh64(file.bytes().data(), file.bytes().size()));
}

template <class Method>
class KtensorRun {
  using Exec = typename Method::ExecutionSpace;
  using Scalar = typename Method::Scalar;
  using Index = typename Method::Index;
  using Memory = typename Exec::memory_space;
  using State = typename Method::State;
  using Snapshot = typename Method::Snapshot;

 public:
  KtensorRun(Exec const& exec, typename Method::Arguments const& arguments, Decomposition& run,
             CooTensor<Scalar, Index> const& tensor)
      : exec_(exec),
        common_(arguments.common),
        method_(arguments),
        run_(run),
        facts_(facts_of(tensor)),
        tensor_(tensor) {}

  int operator()() {
    std::optional<Checkpoint> from;
    if (!common_.resume.empty()) {
      from.emplace(common_.resume);
      from->expect_same(facts_);
    }
    auto& report = run_.report;
    report.algorithm = Method::name;
    report.rank = method_.options.rank;
    run_.begin_build();
    auto const X = copy_to(exec_, tensor_);
    auto state = first_state(X, from);
    auto problem = method_.build(exec_, X);
    method_.describe(problem, report);
    report.resumed_after = state.iteration();
    run_.announce(report.rank);
    if (from) run_.say_resumed(common_.resume, state.iteration());

    run_.begin_solve();
    SignalScope const signals;
    auto const result = method_.solve(exec_, problem, state, [&](State const& now) {
      run_.iteration_done(now.iteration(), Method::seconds(now), method_.line(now),
                          method_.brief(now));
      bool const stops = signals.received() != 0;
      if (stops || now.iteration() % common_.checkpoint_every == 0) keep(now);
      return !stops;
    });
    keep(state);
    bool const interrupted = Method::is_interrupted(result);
    for (int k = 0; k < state.iteration(); ++k)
      report.iterations.push_back(method_.iteration(result, k));
    report.results = method_.results(result);
    report.converged = result.converged;
    report.stop_reason = interrupted ? "interrupted" : to_string(result.stop);
    for (auto const& [label, kernel] : result.kernels)
      report.kernels[label] = {kernel.seconds, kernel.calls};

    run_.begin_write();
    write(host_copy(result.model));
    return run_.finish(interrupted ? signals.received() : 0, method_.summary(result));
  }

 private:
  /// All that the bits of the model hang on; the limits of iterations and tolerance may change when
  /// a run goes on.
  Facts facts_of(CooTensor<Scalar, Index> const& X) const {
    auto const& options = method_.options;
    Facts facts = {{"algorithm", Method::name},
                   {"version", version},
                   {"backend", backend_name(Exec::name())},
                   {"precision", sizeof(Scalar) == 4 ? "float" : "double"},
                   {"dims", to_string(X.dims)},
                   {"nnz", std::to_string(X.nnz())},
                   {"tensor", tensor_fingerprint(X)},
                   {"rank", std::to_string(options.rank)},
                   {"seed", std::to_string(options.seed)},
                   {"init", start_fact(common_.init, method_.is_given())},
                   {"strategy", to_string(options.strategy)}};
    for (auto const& fact : method_.facts()) facts.push_back(fact);
    return facts;
  }

  State first_state(CooTensor<Scalar, Index, Memory> const& X,
                    std::optional<Checkpoint> const& from) {
    if (from) return restore(exec_, load_snapshot(*from));
    if (!method_.is_given()) return method_.start(exec_, X);
    return method_.start(exec_, tensor_.dims, read_ktensor<Scalar>(common_.init));
  }

  Snapshot load_snapshot(Checkpoint const& checkpoint) const {
    auto const R = static_cast<std::size_t>(method_.options.rank);
    Snapshot state;
    state.dims = tensor_.dims;
    state.rank = method_.options.rank;
    state.weights = load<double>(checkpoint, "weights", R);
    for (std::size_t n = 0; n < state.dims.size(); ++n)
      state.factors.push_back(
          load<Scalar>(checkpoint, "factor-" + std::to_string(n), state.dims[n] * R));
    method_.load(checkpoint, state);
    return state;
  }

  void save(State const& now) const {
    Snapshot const state = snapshot(exec_, now);
    Facts facts = facts_;
    facts.emplace_back("iterations", std::to_string(now.iteration()));
    auto const of_method = method_.arrays(state);  // owns what the arrays point to
    std::vector<CheckpointArray> arrays = {array_of("weights", state.weights)};
    for (auto const& array : of_method.arrays) arrays.push_back(array);
    for (std::size_t n = 0; n < state.factors.size(); ++n)
      arrays.push_back(array_of("factor-" + std::to_string(n), state.factors[n]));
    write_checkpoint(common_.checkpoint, facts, arrays);
  }

  /// Writes the checkpoint unless it is there already.
  void keep(State const& state) {
    if (common_.checkpoint.empty() || state.iteration() == kept_) return;
    kept_ = state.iteration();
    run_.keep([&] { save(state); });
  }

  Ktensor<Scalar> host_copy(Ktensor<Scalar, Memory> const& model) {
    Ktensor<Scalar> copy;
    copy.weights = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.weights);
    for (auto const& A : model.factors) {
      auto const padded = with_padding(A);
      auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), padded);
      copy.factors.push_back(
          Kokkos::subview(mirror, Kokkos::ALL, std::make_pair(std::size_t{0}, A.extent(1))));
    }
    return copy;
  }

  void write(Ktensor<Scalar> const& model) {
    if (!common_.output.empty()) write_ktensor(common_.output, model);
    run_.print_labels(model);
  }

  Exec exec_;
  DecomposeArguments const& common_;
  Method method_;
  Decomposition& run_;
  Facts facts_;
  CooTensor<Scalar, Index> tensor_;
  int kept_ = -1;
};

namespace detail {

template <template <class, class, class> class Method, class Scalar, class Arguments>
int run_ktensor_as(Arguments const& arguments) {
  return command::with_backend(arguments.common.compute.backend, [&](auto const& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    Decomposition run(arguments.common);
    run.set_backend(backend_name(Exec::name()), host_threads(exec));
    auto const tensor = run.template read<Scalar>();
    return std::visit(
        [&](auto const& X) {
          using ThisMethod = Method<Exec, Scalar, typename std::decay_t<decltype(X)>::Index>;
          double rows = 0;
          for (auto dim : X.dims) rows += static_cast<double>(dim);
          // The factors, what updates them, and the model.
          check_fits_memory(3 * rows * arguments.rank * sizeof(Scalar),
                            std::string(ThisMethod::name) + ": rank " +
                                std::to_string(arguments.rank) + " for " + to_string(X.dims));
          return KtensorRun<ThisMethod>(exec, arguments, run, X)();
        },
        tensor);
  });
}

}  // namespace detail

/// The whole subcommand, in the precision and on the backend that the arguments name.
template <template <class, class, class> class Method, class Arguments>
int run_ktensor(Arguments const& arguments) {
  return arguments.common.compute.precision == "float"
             ? detail::run_ktensor_as<Method, float>(arguments)
             : detail::run_ktensor_as<Method, double>(arguments);
}

}  // namespace sporades::command

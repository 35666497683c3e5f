// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <optional>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/command/decomposition.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/algorithms/command/signals.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/formats/ktensor_file.hpp>
#include <sporades/formats/spt_file/checksum.hpp>
#include <sporades/version.hpp>

namespace sporades::command {
namespace {

CpAlsOptions make_options(CpAlsArguments const& arguments) {
  auto const& common = arguments.common;
  CpAlsOptions options;
  options.rank = arguments.rank;
  options.iterations = common.iterations;
  options.tolerance = common.tolerance;
  options.seed = common.seed;
  options.init = common.init == "random"  ? CpAlsInit::random
                 : common.init == "hosvd" ? CpAlsInit::hosvd
                                          : CpAlsInit::given;
  options.non_negative = arguments.non_negative;
  options.regularization = arguments.regularization;
  options.dimension_tree = arguments.dimension_tree;
  options.strategy = mttkrp_strategy(common.strategy);
  options.time_kernels = !common.report.empty();
  check_cp_als(options);
  return options;
}

/// All that the bits of the model hang on; the limits of iterations and tolerance may change when
/// a run goes on.
template <class Scalar, class Index>
Facts facts_of(CpAlsArguments const& arguments, CpAlsOptions const& options,
               CooTensor<Scalar, Index> const& X, std::string const& backend) {
  using sporades::detail::concatenate;
  std::string start = arguments.common.init;
  if (options.init == CpAlsInit::given) {
    MappedFile const file(start);
    start =
        concatenate("given ", sporades::detail::xxh64(file.bytes().data(), file.bytes().size()));
  }
  return {{"algorithm", "cp-als"},
          {"version", version},
          {"backend", backend},
          {"precision", sizeof(Scalar) == 4 ? "float" : "double"},
          {"dims", to_string(X.dims)},
          {"nnz", std::to_string(X.nnz())},
          {"tensor", tensor_fingerprint(X)},
          {"rank", std::to_string(options.rank)},
          {"seed", std::to_string(options.seed)},
          {"init", start},
          {"strategy", to_string(options.strategy)},
          {"non-negative", options.non_negative ? "yes" : "no"},
          {"dimension-tree", options.dimension_tree ? "yes" : "no"},
          {"regularization", concatenate(options.regularization)}};
}

template <class T>
CheckpointArray array_of(std::string const& name, std::vector<T> const& values) {
  return {name, values.data(), values.size() * sizeof(T)};
}

template <class Scalar>
void save(std::string const& path, Facts facts, CpAlsSnapshot<Scalar> const& state) {
  facts.emplace_back("iterations", std::to_string(state.fits.size()));
  std::vector<CheckpointArray> arrays = {array_of("weights", state.weights),
                                         array_of("fits", state.fits),
                                         array_of("seconds", state.seconds)};
  for (std::size_t n = 0; n < state.factors.size(); ++n) {
    arrays.push_back(array_of("gram-" + std::to_string(n), state.grams[n]));
    arrays.push_back(array_of("factor-" + std::to_string(n), state.factors[n]));
  }
  write_checkpoint(path, facts, arrays);
}

template <class T>
std::vector<T> load(Checkpoint const& checkpoint, std::string const& name, std::size_t size) {
  std::vector<T> values(size);
  checkpoint.copy(name, values.data(), size * sizeof(T));
  return values;
}

template <class Scalar>
CpAlsSnapshot<Scalar> load_snapshot(Checkpoint const& checkpoint, Dims const& dims, int rank) {
  auto const R = static_cast<std::size_t>(rank);
  std::size_t const iterations = checkpoint.array("fits").size() / sizeof(double);
  CpAlsSnapshot<Scalar> state;
  state.dims = dims;
  state.rank = rank;
  state.weights = load<double>(checkpoint, "weights", R);
  state.fits = load<double>(checkpoint, "fits", iterations);
  state.seconds = load<double>(checkpoint, "seconds", iterations);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    state.grams.push_back(load<double>(checkpoint, "gram-" + std::to_string(n), R * R));
    state.factors.push_back(load<Scalar>(checkpoint, "factor-" + std::to_string(n), dims[n] * R));
  }
  return state;
}

/// One run of the command, from the tensor on the host to the files.
template <class Exec, class Scalar, class Index>
class CpAlsRun {
  using Memory = typename Exec::memory_space;
  using State = CpAlsState<Scalar, Memory>;

 public:
  CpAlsRun(Exec const& exec, CpAlsArguments const& arguments, Decomposition& run,
           CooTensor<Scalar, Index> const& tensor)
      : exec_(exec),
        common_(arguments.common),
        options_(make_options(arguments)),
        run_(run),
        facts_(facts_of(arguments, options_, tensor, backend_name(Exec::name()))),
        tensor_(tensor) {}

  int operator()() {
    std::optional<Checkpoint> from;
    if (!common_.resume.empty()) {
      from.emplace(common_.resume);
      from->expect_same(facts_);
    }
    run_.begin_build();
    auto const X = copy_to(exec_, tensor_);
    auto state = first_state(X, from);
    auto problem = make_cp_als_problem(exec_, X, options_);
    describe(problem);
    run_.report.resumed_after = state.iteration();
    run_.announce(options_.rank);
    if (from) run_.say_resumed(common_.resume, state.iteration());

    run_.begin_solve();
    SignalScope const signals;
    auto const result = sporades::cp_als(exec_, problem, options_, state, [&](State const& now) {
      run_.iteration_done(now.iteration(), now.fits, now.seconds.back());
      bool const stops = signals.received() != 0;
      if (stops || now.iteration() % common_.checkpoint_every == 0) keep(now);
      return !stops;
    });
    keep(state);
    bool const interrupted = result.stop == CpAlsStop::observer;
    run_.report.iterations.clear();
    for (std::size_t k = 0; k < result.fits.size(); ++k)
      run_.report.iterations.push_back(
          {static_cast<int>(k) + 1, result.seconds[k], result.fits[k]});
    run_.report.fit = result.fit();
    run_.report.converged = result.converged;
    run_.report.stop_reason = interrupted ? "interrupted" : to_string(result.stop);
    for (auto const& [label, kernel] : result.kernels)
      run_.report.kernels[label] = {kernel.seconds, kernel.calls};

    run_.begin_write();
    write(host_copy(result.model));
    return run_.finish(interrupted ? signals.received() : 0);
  }

 private:
  State first_state(CooTensor<Scalar, Index, Memory> const& X,
                    std::optional<Checkpoint> const& from) {
    if (from) return restore(exec_, load_snapshot<Scalar>(*from, tensor_.dims, options_.rank));
    if (options_.init != CpAlsInit::given) return cp_als_start(exec_, X, options_);
    return cp_als_start(exec_, tensor_.dims, options_, read_ktensor<Scalar>(common_.init));
  }

  void describe(CpAlsProblem<Scalar, Index, Memory> const& problem) {
    auto& report = run_.report;
    report.algorithm = "cp-als";
    report.rank = options_.rank;
    report.non_negative = options_.non_negative;
    report.regularization = options_.regularization;
    report.bytes_plan = problem.products.storage_bytes();
    auto const& products = problem.products;
    for (int n = 0; n < static_cast<int>(problem.dims.size()); ++n)
      report.strategies.push_back(sporades::describe(products, n));
  }

  /// Writes the checkpoint unless it is there already.
  void keep(State const& state) {
    if (common_.checkpoint.empty() || state.iteration() == kept_) return;
    kept_ = state.iteration();
    run_.keep([&] { save(common_.checkpoint, facts_, snapshot(exec_, state)); });
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
  CpAlsOptions options_;
  Decomposition& run_;
  Facts facts_;
  CooTensor<Scalar, Index> tensor_;
  int kept_ = -1;
};

template <class Scalar>
int run_as(CpAlsArguments const& arguments) {
  return with_backend(arguments.common.compute.backend, [&](auto const& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    Decomposition run(arguments.common);
    run.set_backend(backend_name(Exec::name()), host_threads(exec));
    auto const tensor = run.template read<Scalar>();
    return std::visit(
        [&](auto const& X) {
          using Index = typename std::decay_t<decltype(X)>::Index;
          double rows = 0;
          for (auto dim : X.dims) rows += static_cast<double>(dim);
          // The factors, their MTTKRP, and the model.
          check_fits_memory(
              3 * rows * arguments.rank * sizeof(Scalar),
              "cp-als: rank " + std::to_string(arguments.rank) + " for " + to_string(X.dims));
          return CpAlsRun<Exec, Scalar, Index>(exec, arguments, run, X)();
        },
        tensor);
  });
}

}  // namespace

int cp_als(CpAlsArguments const& arguments) {
  make_options(arguments);  // bad ones before anything is read
  return arguments.common.compute.precision == "float" ? run_as<float>(arguments)
                                                       : run_as<double>(arguments);
}

}  // namespace sporades::command

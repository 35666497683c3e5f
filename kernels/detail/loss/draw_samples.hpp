// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/kernels/loss_samples.hpp>

#ifndef SPORADES_KERNELS_LOSS_DRAW_SAMPLES
#define SPORADES_KERNELS_LOSS_DRAW_SAMPLES

#include <sporades/formats/sort_coo.hpp>

namespace sporades::detail {

/// Where the numbers of an estimate are that the host gets.
struct SampleNumbers {
  static constexpr std::size_t sums = 3 * LossBlocks::lanes;  // of a kind of sample, then y_0

  std::size_t rank;

  std::size_t weights() const { return 0; }
  std::size_t masses() const { return rank; }
  std::size_t of(std::size_t kind) const { return 2 * rank + kind * (sums + 1); }
  std::size_t size() const { return of(2); }
};

/// The options, with X's shape.
template <class Tensor>
void check_sampling(Tensor const& X, LossSampleOptions const& options) {
  char const* const where = "make_loss_samples_plan";
  auto const sampler = options.sampler;
  expects(static_cast<std::size_t>(sampler) < std::size(Names<LossSampler>::list), where,
          ": sampler ", static_cast<int>(sampler), " is none");
  expects(options.samples >= 2, where, ": ", options.samples,
          " samples are fewer than the 2 that a standard error needs");
  expects(options.nonzeros != 1, where, ": 1 nonzero is fewer than the 2 that a standard error ",
          "needs; 0 stands for all");
  expects(options.nonzeros == 0 || sampler != LossSampler::uniform, where,
          ": the sampler uniform draws no nonzeros apart; LossSampleOptions::nonzeros is ",
          options.nonzeros);
  double const cells = dense_size(X.dims);
  expects(sampler != LossSampler::stratified || static_cast<double>(X.nnz()) <= cells / 2, where,
          ": the sampler stratified draws zeros by rejection, but ", X.nnz(), " of ", cells,
          " cells are nonzeros, more than half");
}

/// make_loss_samples_plan of the nonzeros that this process has of all, which have no two of equal
/// coordinates; of several processes only for the sampler `model`. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
LossSamplesPlan<Scalar, Index, MemorySpace> build_loss_samples_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, LossSampleOptions const& options,
    MttkrpAllModesOptions const& products) {
  check_entries(exec, X, "make_loss_samples_plan");
  check_sampling(X, options);
  LossSamplesPlan<Scalar, Index, MemorySpace> plan;
  plan.options = options;
  if (options.nonzeros == 0 && options.sampler != LossSampler::uniform) {
    plan.exact = build_loss_gradient_plan(processes, exec, X, products);
  } else {
    plan.exact.X = X;
    plan.exact.work.places = {processes, exclusive_scan_of_all(processes, X.nnz())};
  }
  if (options.sampler != LossSampler::semi_stratified)
    plan.ordered = sorted(exec, X, with_other_modes({}, X.order()));
  Position const most = options.samples + options.nonzeros;
  auto& drawn = plan.drawn;
  drawn.entries = allocate_coo<Scalar, Index>(exec, X.dims, most);
  drawn.models = uninitialized<Vector<double, MemorySpace>>(exec, "sporades::loss::models", most);
  drawn.scales = uninitialized<Vector<double, MemorySpace>>(exec, "sporades::loss::scales", most);
  if (options.sampler == LossSampler::model)
    drawn.components = uninitialized<Kokkos::View<std::uint32_t*, MemorySpace>>(
        exec, "sporades::loss::components", options.samples);
  fence(exec, "sporades::make_loss_samples_plan");
  return plan;
}

/// Draws cells by the model, from sums of the factors' columns, which are left for its moments.
/// Enqueued on exec.
template <class ExecutionSpace, class Plan, class Model>
void draw_by_model(ExecutionSpace const& exec, Plan& plan, Model const& model, std::uint64_t key) {
  auto& drawn = plan.drawn;
  std::size_t const R = model.weights.extent(0);
  std::uint64_t size = 0;
  for (auto const& A : model.factors)
    size += SumTree::size(A.extent(0), R) + SumTree::group_sums(A.extent(0), R);
  double* room = drawn.trees.template get<double>(exec, size).data();
  double* const numbers = drawn.numbers.data();
  SampleNumbers const layout{R};
  ComponentMasses masses{numbers + layout.weights(), {}, model.order(), numbers + layout.masses()};
  std::vector<SumTree> trees;
  auto& group_sums = plan.exact.work.group_sums;
  group_sums.clear();
  for (std::size_t n = 0; n < model.factors.size(); ++n) {
    auto const& A = model.factors[n];
    double* const tree = room;
    room += SumTree::size(A.extent(0), R);
    masses.columns[n] = write_sum_tree(exec, A, tree, room);
    trees.push_back({tree, A.extent(0), R});
    group_sums.emplace_back(room, SumTree::group_sums(A.extent(0), 1), R);
    room += SumTree::group_sums(A.extent(0), R);
  }
  launch(exec, "sporades::loss::masses", R, model.factors.size() + 1, masses);
  launch(exec, "sporades::loss::draw_components", plan.options.samples, R,
         DrawComponents{masses.masses, R, key, drawn.components.data()});
  for (std::size_t n = 0; n < trees.size(); ++n)
    launch(exec, "sporades::loss::draw_indices", plan.options.samples, SumTree::group,
           DrawIndices<typename Plan::Scalar, typename Plan::Index>{
               small_factor(model.factors[n]), trees[n], drawn.components.data(), key, n,
               drawn.entries.indices(static_cast<int>(n))});
}

/// The weights to their place among the numbers. Enqueued on exec; allocates in the first call.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Kokkos::View<double*, MemorySpace> put_weights(ExecutionSpace const& exec,
                                               LossSamples<Scalar, Index, MemorySpace>& drawn,
                                               Vector<Scalar, MemorySpace> const& weights) {
  SampleNumbers const layout{weights.extent(0)};
  if (drawn.host.extent(0) != layout.size()) {  // the last of both
    drawn.numbers = uninitialized<Kokkos::View<double*, MemorySpace>>(
        exec, "sporades::loss::sample_numbers", layout.size());
    drawn.host = Kokkos::create_mirror_view(drawn.numbers);
  }
  Kokkos::View<double*, MemorySpace> const place(drawn.numbers.data() + layout.weights(),
                                                 layout.rank);
  copy_view(exec, place, weights);
  return place;
}

/// Draws a step's cells, where they are wanted, and entries, and how often each counts. Enqueued on
/// exec; allocates in the first call.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void draw_samples(ExecutionSpace const& exec, LossSamplesPlan<Scalar, Index, MemorySpace>& plan,
                  KruskalTensor<Scalar, MemorySpace> const& model, std::uint64_t step,
                  bool wants_cells) {
  auto const& options = plan.options;
  auto const& X = plan.exact.X;
  auto const& places = plan.exact.work.places;
  auto& shared = plan.exact.work.shared;
  auto& drawn = plan.drawn;
  SampleNumbers const layout{model.weights.extent(0)};
  put_weights(exec, drawn, model.weights);
  double const* const numbers = drawn.numbers.data();
  auto const cells = small_indices(drawn.entries);
  bool const by_model = options.sampler == LossSampler::model;
  auto& counts = drawn.counts;
  wants_cells = wants_cells && dense_size(X.dims) > 0 && !(by_model && layout.rank == 0);
  counts.cells = wants_cells ? options.samples : 0;
  counts.entries = places.all() > 0 ? options.nonzeros : 0;
  bool const rejects = options.sampler == LossSampler::stratified;
  FindCell<Index> const find{small_indices(plan.ordered), plan.ordered.nnz(), X.order()};
  if (counts.cells > 0) {
    std::uint64_t const key = sample_key(options.seed, step, 0);
    if (by_model) {
      draw_by_model(exec, plan, model, key);
    } else {
      DrawCells<Index> kernel{cells, find, rejects, key, {}};
      std::copy(X.dims.begin(), X.dims.end(), kernel.dims);
      launch(exec, "sporades::loss::draw_cells", counts.cells, 10 * X.dims.size(), kernel);
    }
    double const kinds = dense_size(X.dims) - (rejects ? static_cast<double>(places.all()) : 0);
    WeighCells<Scalar, Index> kernel{cells,
                                     find,
                                     plan.ordered.values.data(),
                                     drawn.entries.values.data(),
                                     drawn.scales.data(),
                                     kinds / static_cast<double>(counts.cells),
                                     by_model || options.sampler == LossSampler::uniform,
                                     by_model ? numbers + layout.masses() : nullptr,
                                     numbers + layout.weights(),
                                     layout.rank,
                                     counts.cells,
                                     {}};
    for (std::size_t n = 0; n < model.factors.size(); ++n)
      kernel.factors[n] = small_factor(model.factors[n]);
    launch(exec, "sporades::loss::weigh_cells", counts.cells,
           (X.dims.size() + 1) * layout.rank + 60, kernel);
    // A cell is dropped on the process that has its entry.
    if (by_model)
      combine_across<TakeLess>(exec, places.processes, "drawn cells", drawn.scales.data(),
                               counts.cells, shared);
  }
  if (counts.entries > 0) {
    launch(exec, "sporades::loss::draw_entries", counts.entries, 10 * X.dims.size(),
           DrawEntries<Scalar, Index>{small_indices(X), cells, X.values.data(),
                                      drawn.entries.values.data(), X.order(), places.all(),
                                      places.first(), X.nnz(), counts.cells,
                                      sample_key(options.seed, step, 1)});
    for (int n = 0; n < X.order(); ++n)
      combine_across<Add>(exec, places.processes, "drawn nonzeros",
                          drawn.entries.indices(n) + counts.cells, counts.entries, shared);
    combine_across<Add>(exec, places.processes, "drawn nonzeros",
                        drawn.entries.values.data() + counts.cells, counts.entries, shared);
    fill_view(exec, Kokkos::subview(drawn.scales, std::make_pair(counts.cells, counts.all())),
              static_cast<double>(places.all()) / static_cast<double>(counts.entries));
  }
}

}  // namespace sporades::detail

#endif

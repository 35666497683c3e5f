// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/fused_modes.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/mttkrp_all_modes_plan.hpp>

/// The dimension tree of mttkrp_all_modes.

namespace sporades::detail {

/// to(0, p) <- the cell of nonzero p, to(1 ..) <- its other indices.
template <class Coordinates>
struct FuseIndices {
  Coordinates from, to;  // N x nnz, 1 + others x nnz
  int fused, others;
  int mode[max_order];  // S, then the others
  std::uint64_t dims[max_order];

  KOKKOS_FUNCTION void operator()(Position p) const {
    using Index = typename Coordinates::non_const_value_type;
    std::uint64_t cell = 0;
    for (int k = 0; k < fused; ++k) cell = cell * dims[k] + from(mode[k], p);
    to(0, p) = static_cast<Index>(cell);
    for (int k = 0; k < others; ++k) to(1 + k, p) = from(mode[fused + k], p);
  }
};

/// The inverse of FuseIndices, of cells from(0, p) + offset.
template <class Coordinates>
struct SplitIndices {
  Coordinates from, to;  // 1 + others x nnz, N x nnz
  int fused, others;
  int mode[max_order];  // S, then the others
  std::uint64_t dims[max_order];
  std::uint64_t offset;  // may wrap around
  int cell = 0;          // the cells' mode in `from`

  KOKKOS_FUNCTION void operator()(Position p) const {
    using Index = typename Coordinates::non_const_value_type;
    std::uint64_t rest = from(cell, p) + offset;
    for (int k = fused - 1; k >= 0; --k) {
      to(mode[k], p) = static_cast<Index>(rest % dims[k]);
      rest /= dims[k];
    }
    for (int k = 0; k < others; ++k) to(mode[fused + k], p) = from(k < cell ? k : k + 1, p);
  }
};

/// Cell first + c of the grid, or cell list(c) where there is a list: its indices, its number, and
/// a one.
template <class Tensor>
struct GridCells {
  Kokkos::View<std::uint64_t const*, typename Tensor::MemorySpace> list;
  typename Tensor::Coordinates coordinates;  // modes + 1 x cells
  typename Tensor::Values values;            // cells
  int modes;
  std::uint64_t first;
  std::uint64_t dims[max_order];

  KOKKOS_FUNCTION void operator()(Position c) const {
    using Index = typename Tensor::Index;
    std::uint64_t const cell = list.extent(0) > 0 ? list(c) : first + c;
    std::uint64_t rest = cell;
    for (int k = modes - 1; k >= 0; --k) {
      coordinates(k, c) = static_cast<Index>(rest % dims[k]);
      rest /= dims[k];
    }
    coordinates(modes, c) = static_cast<Index>(cell);
    values(c) = 1;
  }
};

/// The modes and dims of X' and of the grid.
struct TreeDims {
  std::vector<int> fused, others;
  Dims whole, grid;  // the fused mode, then the others; the fused modes, then the cell

  TreeDims(Dims const& dims, std::vector<int> const& of) : fused(of), whole{1} {
    for (int n : fused) {
      whole[0] *= dims[static_cast<std::size_t>(n)];
      grid.push_back(dims[static_cast<std::size_t>(n)]);
    }
    grid.push_back(cells());
    for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
      if (place_of(n, fused) < fused.size()) continue;
      others.push_back(n);
      whole.push_back(dims[static_cast<std::size_t>(n)]);
    }
  }
  std::uint64_t cells() const { return whole[0]; }

  /// to: the indices in X' of nonzeros whose indices in X are `from`. Enqueued.
  template <class ExecutionSpace, class Coordinates>
  void fuse_indices(ExecutionSpace const& exec, Coordinates const& from,
                    Coordinates const& to) const {
    FuseIndices<Coordinates> fuse{
        from, to, static_cast<int>(fused.size()), static_cast<int>(others.size()), {}, {}};
    std::copy(fused.begin(), fused.end(), fuse.mode);
    std::copy(others.begin(), others.end(), fuse.mode + fused.size());
    std::copy(grid.begin(), grid.end() - 1, fuse.dims);
    launch_items(exec, "sporades::mttkrp_all_modes::fuse_indices", from.extent(1), fuse);
  }

  /// The grid's cells from number begin to end - 1. Enqueued.
  template <class Scalar, class Index, class ExecutionSpace>
  CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> grid_cells(
      ExecutionSpace const& exec, Position begin, Position end) const {
    return grid_cells<Scalar, Index>(exec, {}, begin, end - begin);
  }
  /// The grid's cells whose numbers are in a list. Fences exec.
  template <class Scalar, class Index, class ExecutionSpace>
  CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> grid_cells(
      ExecutionSpace const& exec, std::vector<std::uint64_t> const& list) const {
    auto const here = to_view(exec, "sporades::mttkrp_all_modes::cells", list);
    auto const cells = grid_cells<Scalar, Index>(exec, here, 0, list.size());
    fence(exec, "sporades::mttkrp_all_modes::grid_cells");
    return cells;
  }

 private:
  template <class Scalar, class Index, class ExecutionSpace>
  CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> grid_cells(
      ExecutionSpace const& exec,
      Kokkos::View<std::uint64_t const*, typename ExecutionSpace::memory_space> const& list,
      Position begin, Position count) const {
    auto const cells = allocate_coo<Scalar, Index>(exec, grid, count);
    GridCells<std::decay_t<decltype(cells)>> fill{
        list, cells.coordinates, cells.values, static_cast<int>(fused.size()), begin, {}};
    std::copy(grid.begin(), grid.end() - 1, fill.dims);
    launch_items(exec, "sporades::mttkrp_all_modes::grid_cells", cells.nnz(), fill);
    return cells;
  }
};

/// True where `automatic` lays a tensor of these dims and nonzeros out in a linear order, but not
/// the one with modes fused.
template <class ExecutionSpace, class Scalar>
bool scatters(Dims const& dims, Dims const& fused, Position nnz, MttkrpOptions const& options) {
  auto const is_linear = [&](Dims const& of) {
    CooShape const X{of, static_cast<double>(nnz), {}, sizeof(Scalar), 0};
    auto const choice =
        automatic_layout(X, options.rank, is_gpu<ExecutionSpace>, trees::mttkrp_layout_on_hosts);
    return choice.strategy == MttkrpStrategy::alto;
  };
  return options.strategy == MttkrpStrategy::automatic && is_linear(dims) && !is_linear(fused);
}

/// Room for so many indices of nnz nonzeros each, in out-of-core memory, whose owner goes to
/// `memory`, if is_out_of_core says so.
template <class Tensor, class ExecutionSpace>
typename Tensor::Coordinates index_room(ExecutionSpace const& exec, std::size_t order, Position nnz,
                                        bool is_out_of_core, OutOfCoreMemory& memory) {
  using Coordinates = typename Tensor::Coordinates;
  using Index = typename Tensor::Index;
  if (!is_out_of_core)
    return uninitialized<Coordinates>(exec, "sporades::coo::coordinates", order, nnz);
  memory = allocate_out_of_core(exec, (order * nnz + 1) * sizeof(Index));
  return Coordinates(static_cast<Index*>(memory.get()), order, nnz);
}

/// X with these modes fused, as choose_fused_modes gives them; a plain plan for none, and where
/// fusing them would scatter X. X's indices are trusted: those who call check them. The
/// memory of an X that is handed over is given back as early as can be. An X on the host is
/// streamed on a GPU as far as options.streaming says. A host that streams keeps X with modes fused
/// in out-of-core memory, too. X's nonzeros are those that this process brings; where there are
/// several processes, X is where exec computes. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
MttkrpAllModesPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> make_dimension_tree(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, std::vector<int> const& fused,
    MttkrpOptions const& options) {
  using Tensor = CooTensor<Scalar, Index, GivenSpace>;
  MttkrpAllModesPlan<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> tree;
  auto const builder = builder_of<GivenSpace>(exec);
  auto const plain = [&] {
    tree.whole = build_fitted_plan(processes, exec, hand_over(X), options, {});
    return tree;
  };
  if (fused.empty()) return plain();
  TreeDims const dims(X.dims, fused);
  if constexpr (!is_gpu<ExecutionSpace>) {
    Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
    if (scatters<ExecutionSpace, Scalar>(X.dims, dims.whole, nnz, options)) return plain();
  }
  tree.fused = fused;
  tree.others = dims.others;

  OutOfCoreMemory out_of_core;  // of its coordinates
  Tensor whole{
      dims.whole,
      index_room<Tensor>(builder, dims.whole.size(), X.nnz(),
                         stays_out_of_core<ExecutionSpace>(X.storage_bytes(), options.streaming),
                         out_of_core),
      X.values,
      {}};
  dims.fuse_indices(builder, X.coordinates, whole.coordinates);
  X = {};
  MttkrpPlanUse of_whole;
  of_whole.first_is_read = true;
  tree.whole = build_fitted_plan(processes, exec, hand_over(whole), options, of_whole);

  auto const cuts = even_cuts(processes.size(), dims.cells());
  auto const me = static_cast<std::size_t>(processes.rank());
  auto grid = dims.grid_cells<Scalar, Index>(exec, cuts[me], cuts[me + 1]);
  auto const rows = tree.whole.rows_of(0);
  MttkrpPlanUse of_grid;
  of_grid.last = rows;
  tree.grid = build_fitted_plan(processes, exec, hand_over(grid), {options.strategy, options.rank},
                                of_grid);
  auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
  tree.cells = tree.whole.work.distributed
                   ? dims.grid_cells<Scalar, Index>(exec, tree.whole.work.distributed->cells)
                   : dims.grid_cells<Scalar, Index>(exec, 0, dims.cells());
  tree.K = make_matrix<Scalar>(exec, "sporades::mttkrp_all_modes::khatri_rao_rows",
                               tree.cells.nnz(), columns);
  tree.T = lend_products(exec, tree.whole, columns)[0];
  if (tree.T.data() == nullptr)
    tree.T = make_matrix<Scalar>(exec, "sporades::mttkrp_all_modes::cell_products",
                                 rows.here(dims.cells()), columns);
  fence(exec, "sporades::mttkrp_all_modes::make_dimension_tree");
  return tree;
}

/// The mode of the plan of X, or of X', that serves mode n.
template <class Scalar, class Index, class MemorySpace>
std::size_t whole_mode(MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& tree, int n) {
  if (tree.fused.empty()) return static_cast<std::size_t>(n);
  return place_of(n, tree.fused) < tree.fused.size() ? 0 : 1 + place_of(n, tree.others);
}

/// What it does for mode n, and why.
template <class Scalar, class Index, class MemorySpace>
MttkrpChoice const& choice_of(MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& tree, int n) {
  return tree.whole.choices[whole_mode(tree, n)];
}

/// The nonzeros of X in an order given by the tree: to_coo of its plan, or where modes are fused
/// those in the order of cells, with the cells' indices. In out-of-core memory where the plan's
/// are.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
OutOfCoreTensor<CooTensor<Scalar, Index, MemorySpace>> nonzeros_of(
    ExecutionSpace const& exec, MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& tree) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  OutOfCoreTensor<Tensor> whole;
  auto const& formats = tree.whole.formats;
  for (int n = 0; n < formats.modes() && !whole.memory; ++n)
    if (detail::is_out_of_core(formats, n))
      whole = to_out_of_core_coo(exec, *formats.template as<PackedTensor>(n));
  bool const is_out_of_core = whole.memory != nullptr;
  bool const by_cells = !tree.fused.empty() && !formats.template any<AltoTensor>();
  if (!is_out_of_core)
    whole.tensor = by_cells ? to_coo_of_mode(exec, tree.whole, 0) : to_coo(exec, tree.whole);
  if (tree.fused.empty()) return whole;
  auto const S = tree.fused.size(), others = tree.others.size();
  Position const nnz = whole.tensor.nnz();
  OutOfCoreTensor<Tensor> split;
  auto const coordinates = index_room<Tensor>(exec, S + others, nnz, is_out_of_core, split.memory);
  split.tensor.coordinates = coordinates;
  SplitIndices<typename Tensor::Coordinates> indices{whole.tensor.coordinates,
                                                     coordinates,
                                                     static_cast<int>(S),
                                                     static_cast<int>(others),
                                                     {},
                                                     {},
                                                     0};
  std::copy(tree.fused.begin(), tree.fused.end(), indices.mode);
  std::copy(tree.others.begin(), tree.others.end(), indices.mode + S);
  std::copy(tree.grid.dims.begin(), tree.grid.dims.end() - 1, indices.dims);
  launch_items(exec, "sporades::mttkrp_all_modes::split_indices", nnz, indices);
  fence(exec, "sporades::mttkrp_all_modes::split_indices");
  split.tensor.dims.resize(S + others);
  for (std::size_t k = 0; k < S; ++k) split.tensor.dims[tree.fused[k]] = tree.grid.dims[k];
  for (std::size_t k = 0; k < others; ++k)
    split.tensor.dims[tree.others[k]] = tree.whole.dims[1 + k];
  split.tensor.values = whole.tensor.values;
  return split;
}

/// "sorted", or "sorted, streamed, modes 2 3 4 fused" for one of these whose nonzeros are out of
/// core.
template <class Scalar, class Index, class MemorySpace>
std::string describe(MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& tree, int n) {
  std::string text = describe(choice_of(tree, n));
  if (is_out_of_core(tree.whole.formats, static_cast<int>(whole_mode(tree, n))))
    text += ", streamed";
  if (place_of(n, tree.fused) == tree.fused.size()) return text;
  text += ", modes";
  for (int m : tree.fused) text += " " + std::to_string(m);
  return text + " fused";
}

}  // namespace sporades::detail

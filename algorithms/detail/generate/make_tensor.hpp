// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/generate/fill.hpp>
#include <sporades/algorithms/detail/generate/shared_cells.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades::detail {

/// Cells first, first + 1, ... of all, of which floor(i surplus / all) before cell i are dropped,
/// so that drops spread evenly.
template <class Key, class Tensor>
struct UnpackCells {
  DrawnCells<Key, typename Tensor::MemorySpace> cells;
  KeyFields fields;
  Position first, all, surplus;
  typename Tensor::Coordinates coordinates;  // N x nnz
  typename Tensor::Values values;            // nnz

  KOKKOS_INLINE_FUNCTION Position dropped(Position i) const {
    return multiply_divide(i, surplus, all);
  }
  KOKKOS_FUNCTION void operator()(Position c) const {
    Position const i = first + c;
    if (dropped(i + 1) > dropped(i)) return;
    Position const p = c - (dropped(i) - dropped(first));
    for (int n = 0; n < fields.order; ++n)
      coordinates(n, p) = static_cast<typename Tensor::Index>(fields.get(cells.keys(c), n));
    values(p) = static_cast<typename Tensor::Scalar>(cells.counts(c));
  }
};

/// This process's part of the tensor of nnz of the cells of all processes, which are distributed as
/// `places` says. Fences exec.
template <class Scalar, class Index, class ExecutionSpace, class Key, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_tensor(ExecutionSpace const& exec, Dims const& dims,
                                                DrawnCells<Key, MemorySpace> const& cells,
                                                Position nnz, NonzeroPlaces const& places) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  Position const all = places.all(), first = places.first();
  UnpackCells<Key, Tensor> unpack{cells, KeyFields(dims), first, all, all - nnz, {}, {}};
  Position const dropped =
      all > 0 ? unpack.dropped(first + cells.size()) - unpack.dropped(first) : 0;
  Tensor X = allocate_coo<Scalar, Index>(exec, dims, cells.size() - dropped);
  unpack.coordinates = X.coordinates;
  unpack.values = X.values;
  launch_items(exec, "sporades::generate::unpack", cells.size(), unpack);
  fence(exec, "sporades::generate::unpack");
  for (int n = 0; n < X.order(); ++n) X.sorted_modes.push_back(n);
  return X;
}

/// The recipe's nonzeros, or fewer where eight rounds of draws do not find so many cells: those of
/// this process, which follow the ones of the process before. Collective. Fences exec.
template <class Scalar, class Key, class ExecutionSpace>
CooTensor<Scalar, std::uint32_t, typename ExecutionSpace::memory_space> generate_recipe(
    Communicator const& processes, ExecutionSpace const& exec, Recipe const& recipe,
    std::uint64_t seed) {
  CoordinateDraw const draw(recipe, seed);
  auto const tuples = draw_tuples<Key>(exec, draw);
  SharedCells<Key, typename ExecutionSpace::memory_space> cells(processes,
                                                                draw.fields.total_bits());
  Position drawn = 0;
  double draws_a_cell = 1.08;
  for (int round = 0; round < 8 && cells.size() < recipe.nnz; ++round) {
    Position const missing = recipe.nnz - cells.size();
    auto const count = static_cast<Position>(static_cast<double>(missing) * draws_a_cell) + 1000;
    Position const before = cells.size();
    auto const [first, end] = cells.part_of(count);
    cells.merge(exec, draw_cells(exec, draw, tuples, drawn + first, end - first));
    drawn += count;
    double const gained = static_cast<double>(cells.size() - before) / static_cast<double>(count);
    draws_a_cell = 1.05 / std::max(gained, .05);
  }
  return to_tensor<Scalar, std::uint32_t>(exec, recipe.dims(), cells.here(),
                                          std::min(cells.size(), recipe.nnz), cells.places());
}

/// The recipe's nonzeros, all of them: cells drawn again are replaced by less and less skewed ones.
template <class Scalar, class Index, class Key, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> generate_skewed(
    ExecutionSpace const& exec, Recipe recipe, std::uint64_t seed) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Dims const dims = recipe.dims();
  DrawnCells<Key, MemorySpace> drawn;
  Position draws = 0;
  bool const countable = dense_size(dims) < 0x1p62;
  for (int round = 0; drawn.size() < recipe.nnz && (round < 6 || !countable); ++round) {
    Position const missing = recipe.nnz - drawn.size();
    Position const count = missing + missing / 16;
    drawn = merge_cells(exec, drawn,
                        draw_cells(exec, CoordinateDraw(recipe, seed),
                                   Kokkos::View<Key*, MemorySpace>{}, draws, count));
    draws += count;
    for (auto& mode : recipe.modes) mode.skew = round < 4 ? mode.skew / 2 : 0;
  }
  if (drawn.size() < recipe.nnz) drawn = fill_cells(exec, drawn, dims, recipe.nnz, seed);
  return to_tensor<Scalar, Index>(exec, dims, drawn, recipe.nnz, {{}, {0, drawn.size()}});
}

}  // namespace sporades::detail

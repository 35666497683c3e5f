// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <sporades/kernels/detail/loss/cells.hpp>
#include <sporades/kernels/detail/loss/sum_tree.hpp>

/// Cells of a tensor at random. Every draw is a function of a key, the number of the sample and the
/// number of the draw, and nothing is drawn twice: bits do not depend on threads.

namespace sporades::detail {

/// The key of a step's draws: for cells, use is 0, for entries 1.
constexpr std::uint64_t sample_key(std::uint64_t seed, std::uint64_t step, std::uint64_t use) {
  return splitmix64(splitmix64(splitmix64(seed) + step) + use);
}

/// An index below length, all alike.
KOKKOS_INLINE_FUNCTION std::uint64_t sample_index(double unit, std::uint64_t length) {
  auto const i = static_cast<std::uint64_t>(unit * static_cast<double>(length));
  return i < length ? i : length - 1;
}

/// How many cells and entries are drawn.
struct SampleCounts {
  Position cells = 0, entries = 0;

  Position all() const { return cells + entries; }
};

/// What is drawn, and what calls share one after another.
template <class Scalar, class Index, class MemorySpace>
struct LossSamples {
  CooTensor<Scalar, Index, MemorySpace> entries;         // drawn cells, then drawn entries
  Vector<double, MemorySpace> models;                    // of these: m
  Vector<double, MemorySpace> scales;                    // how often each counts; 0: dropped
  Vector<double, MemorySpace> derivatives;               // times that; once they are wanted
  Kokkos::View<std::uint32_t*, MemorySpace> components;  // that cells are drawn from
  Kokkos::View<double*, MemorySpace> numbers;            // see SampleNumbers
  typename Kokkos::View<double*, MemorySpace>::host_mirror_type host;
  Workspace<MemorySpace> trees, sums;
  CarryBuffers<Scalar, Index, MemorySpace> carry;
  SampleCounts counts;
  bool are_held = false;  // for estimates without a step
  Position first = 0;     // of the cells that the last estimate took, one after the other

  std::uint64_t bytes() const {
    return entries.storage_bytes() + components.extent(0) * sizeof(std::uint32_t) + trees.bytes() +
           sums.bytes() + carry.bytes() +
           sizeof(double) *
               (models.extent(0) + scales.extent(0) + derivatives.extent(0) + numbers.extent(0));
  }
};

/// Samples begin to end - 1.
template <class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> samples_of(
    LossSamples<Scalar, Index, MemorySpace> const& drawn, Position begin, Position end) {
  auto part = drawn.entries;
  auto const range = std::make_pair(begin, end);
  part.coordinates = Kokkos::subview(part.coordinates, Kokkos::ALL, range);
  part.values = Kokkos::subview(part.values, range);
  return part;
}

/// masses[r] = abs(weights[r]) prod_n of the sum of column r of A_n
struct ComponentMasses {
  double const* weights;
  double const* columns[max_order];  // R sums of each mode
  int order;
  double* masses;

  KOKKOS_FUNCTION void operator()(std::uint64_t r) const {
    double mass = math::abs(weights[r]);
    for (int n = 0; n < order; ++n) mass *= columns[n][r];
    masses[r] = mass;
  }
};

/// The sum of the masses, in order.
KOKKOS_INLINE_FUNCTION double total_mass(double const* masses, std::size_t rank) {
  double total = 0;
  for (std::size_t r = 0; r < rank; ++r) total += masses[r];
  return total;
}

/// A component of each sample, in proportion to its mass.
struct DrawComponents {
  double const* masses;
  std::size_t rank;
  std::uint64_t key;
  std::uint32_t* components;

  KOKKOS_FUNCTION void operator()(Position s) const {
    double const threshold = sample_unit(key, s, 0) * total_mass(masses, rank);
    std::size_t last = 0;
    double before = 0;
    for (std::size_t r = 0; r < rank && !(before > threshold); ++r) {
      before += masses[r];
      if (masses[r] > 0) last = r;
    }
    components[s] = static_cast<std::uint32_t>(last);
  }
};

/// An index of mode n of each sample, by its component's column.
template <class Scalar, class Index>
struct DrawIndices {
  SmallFactor<Scalar> A;
  SumTree tree;
  std::uint32_t const* components;
  std::uint64_t key, n;
  Index* indices;

  KOKKOS_FUNCTION void operator()(Position s) const {
    indices[s] =
        static_cast<Index>(tree.index(A, components[s], key, s, (n + 1) * SumTree::most_levels));
  }
};

/// N rows of indices, those of a mode one after another.
template <class Index>
struct SmallIndices {
  Index* indices;
  std::size_t stride;

  KOKKOS_FORCEINLINE_FUNCTION Index& operator()(int n, Position p) const {
    return indices[static_cast<std::size_t>(n) * stride + p];
  }
};

template <class Tensor>
auto small_indices(Tensor const& X) {
  return SmallIndices<typename Tensor::Index>{X.coordinates.data(), X.coordinates.stride(0)};
}

/// Nonzeros in order, in which cells are looked up.
template <class Index>
struct FindCell {
  SmallIndices<Index> nonzeros;
  Position count;
  int order;

  /// The place of the nonzero with the indices of cell s; count: there is none.
  KOKKOS_INLINE_FUNCTION Position operator()(SmallIndices<Index> const& cells, Position s) const {
    Position begin = 0, end = count;
    while (begin < end) {
      Position const middle = begin + (end - begin) / 2;
      int const side = compare(middle, cells, s);
      if (side == 0) return middle;
      if (side < 0)
        begin = middle + 1;
      else
        end = middle;
    }
    return count;
  }

 private:
  KOKKOS_INLINE_FUNCTION int compare(Position p, SmallIndices<Index> const& cells,
                                     Position s) const {
    for (int n = 0; n < order; ++n) {
      Index const own = nonzeros(n, p), other = cells(n, s);
      if (own != other) return own < other ? -1 : 1;
    }
    return 0;
  }
};

/// Cells, all alike; `rejects`: until it is one without entry. At most half of the cells are
/// entries, so that 128 attempts in vain have a chance of 2^-128.
template <class Index>
struct DrawCells {
  static constexpr std::uint64_t attempts = 128;

  SmallIndices<Index> cells;
  FindCell<Index> find;
  bool rejects;
  std::uint64_t key;
  std::uint64_t dims[max_order];

  KOKKOS_FUNCTION void operator()(Position s) const {
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      for (int n = 0; n < find.order; ++n) {
        auto const draw = attempt * max_order + static_cast<std::uint64_t>(n);
        cells(n, s) = static_cast<Index>(sample_index(sample_unit(key, s, draw), dims[n]));
      }
      if (!rejects || find(cells, s) == find.count) return;
    }
  }
};

/// Entries of all processes, all alike, from number `first` of the samples on; 0, at indices of 0,
/// for those of other processes.
template <class Scalar, class Index>
struct DrawEntries {
  SmallIndices<Index> from, to;
  Scalar const* values_from;
  Scalar* values_to;
  int order;
  Position all, before, count;  // entries: of all processes, of those before this one, here
  Position first;               // see above
  std::uint64_t key;

  KOKKOS_FUNCTION void operator()(Position s) const {
    Position const p = sample_index(sample_unit(key, s, 0), all) - before;
    bool const is_here = p < count;  // unsigned: also false for those before
    for (int n = 0; n < order; ++n) to(n, first + s) = is_here ? from(n, p) : Index(0);
    values_to[first + s] = is_here ? values_from[p] : Scalar(0);
  }
};

/// How often each drawn cell counts, and its x.
template <class Scalar, class Index>
struct WeighCells {
  SmallIndices<Index> cells;
  FindCell<Index> find;
  Scalar const* nonzeros;  // values of those in order
  Scalar* values;
  double* scales;
  double scale;                    // of cells that are drawn alike
  bool looks_up;                   // cells with an entry have its x; by the model they are dropped
  double const *masses, *weights;  // R; null where cells are drawn alike
  std::size_t rank;
  Position samples;
  SmallFactor<Scalar> factors[max_order];

  KOKKOS_FUNCTION void operator()(Position s) const {
    Position const p = looks_up ? find(cells, s) : find.count;
    bool const is_zero = p == find.count;
    values[s] = is_zero || masses != nullptr ? Scalar(0) : nonzeros[p];
    if (masses == nullptr) {
      scales[s] = scale;
      return;
    }
    double const a = is_zero ? absolute_model(s) : 0;
    scales[s] = a > 0 ? total_mass(masses, rank) / a / static_cast<double>(samples) : 0;
  }

 private:
  /// sum_r abs(weights(r)) prod_n abs(A_n(i_n, r))
  KOKKOS_INLINE_FUNCTION double absolute_model(Position s) const {
    double sum = 0;
    for (std::size_t r = 0; r < rank; ++r) {
      double product = weights[r];
      for (int n = 0; n < find.order; ++n) product *= factors[n](cells(n, s), r);
      sum += math::abs(product);
    }
    return sum;
  }
};

}  // namespace sporades::detail

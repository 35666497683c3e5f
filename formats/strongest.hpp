// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>

/// The entries that say what a component of a model is about: those of largest magnitude.

namespace sporades {

/// An entry of a column of a factor.
template <class Scalar>
struct FactorEntry {
  std::uint64_t index;  // i, from 0
  Scalar value;         // A_n(i, r)
};

/// An entry of the core of a Tucker model.
template <class Scalar>
struct CoreEntry {
  std::vector<int> columns;  // j_0 to j_{N-1}, from 0: the column of each factor
  Scalar value;              // G(j_0, ..., j_{N-1})
};

/// The `count` entries of largest magnitude of column r of factor n, A_n(:, r), largest first,
/// equal ones by ascending index; all where the column is shorter. The model is a KruskalTensor or
/// a TuckerTensor on the host: copy_to(Kokkos::DefaultHostExecutionSpace{}, model) copies it there.
///   for (auto const& [i, value] : strongest(model, r, n, 10)) std::cout << names[n][i] << '\n';
/// Reads the column, I_n log(count) comparisons and 8 I_n bytes. Throws Error if r or n is not one
/// of the model, or count is negative.
template <class Model>
auto strongest(Model const& model, int r, int n, int count);

/// The `count` entries of largest magnitude of the core of a model on the host, largest first,
/// equal ones in the order of the core; all where it has fewer. R_0 ... R_{N-1} log(count)
/// comparisons. Throws Error if count is negative.
template <class Scalar, class MemorySpace>
std::vector<CoreEntry<Scalar>> strongest(TuckerTensor<Scalar, MemorySpace> const& model, int count);

}  // namespace sporades

#include <sporades/formats/detail/strongest.hpp>

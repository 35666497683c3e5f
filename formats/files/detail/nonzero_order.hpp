// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

enum class NonzeroOrder {
  none,               // some nonzero is before its predecessor
  ascending,          // sorted, and some coordinates come more than once
  strictly_ascending  // sorted, and each coordinate comes once
};

/// The lexicographic order of the nonzeros by these modes, slowest first.
template <class Scalar, class Index>
NonzeroOrder nonzero_order(CooTensor<Scalar, Index> const& X, std::vector<int> const& modes,
                           int threads);

/// Does what options.duplicates says with the nonzeros of all processes. One process moves no
/// nonzero if the tensor is sorted and has no duplicates. sorted_modes must be right. name: how
/// error messages call the file. Collective.
template <class Scalar>
void handle_duplicates(Communicator const& processes, ReadResult<Scalar>& result,
                       std::string const& name, ReadOptions const& options);

}  // namespace sporades::detail

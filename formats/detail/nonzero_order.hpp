// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

enum class NonzeroOrder {
  none,
  ascending,  // and some coordinates come more than once
  strictly_ascending
};

/// How the nonzeros lie, lexicographically by these modes, slowest first.
template <class Scalar, class Index>
NonzeroOrder nonzero_order(CooTensor<Scalar, Index> const& X, std::vector<int> const& modes,
                           int threads);

/// Does what options say about duplicates, without moving anything where there are none in sight.
/// The nonzeros lie as sorted_modes says. name stands for the file in messages.
template <class Scalar>
void handle_duplicates(ReadResult<Scalar>& result, std::string const& name,
                       ReadOptions const& options);

}  // namespace sporades::detail

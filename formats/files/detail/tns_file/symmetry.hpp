// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>

namespace sporades::detail {

/// What an entry of a matrix off its diagonal says of the one across it: nothing, the same, or the
/// negative.
enum class Symmetry { general, symmetric, skew_symmetric };

/// X with the entries that its own stand for, in the same order behind them. Throws Error where a
/// skew-symmetric matrix has an entry on its diagonal that is not 0, RunError where the entries are
/// more than the memory. name stands for the file in messages.
template <class Scalar, class Index>
CooTensor<Scalar, Index> with_symmetric_entries(CooTensor<Scalar, Index> const& X,
                                                Symmetry symmetry, std::string const& name);

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>

namespace sporades::detail {

/// What the entry (i, j) of a matrix in a file says about the entry (j, i), which is not in the
/// file.
enum class Symmetry {
  general,        // nothing
  symmetric,      // it is equal
  skew_symmetric  // it is the negative
};

/// X followed by the entries that the symmetry leaves out, in the order of their counterparts.
/// Throws Error if a skew-symmetric matrix has a nonzero on its diagonal, RunError if the result
/// does not fit the memory. name: how error messages call the file.
template <class Scalar, class Index>
CooTensor<Scalar, Index> with_symmetric_entries(CooTensor<Scalar, Index> const& X,
                                                Symmetry symmetry, std::string const& name);

}  // namespace sporades::detail

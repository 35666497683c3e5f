// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>

namespace sporades::detail {

template <class Scalar, class Index>
struct DenseEntries {
  CooTensor<Scalar, Index> tensor;
  Losses losses;
};

/// Reads the entries of a dense tensor, first mode fastest, with any number of entries a line, from
/// `first` and the rest of source; of a matrix with symmetry those on and below the diagonal, or
/// below it. Leaves out zeros. Throws Error if there are more or fewer entries than the dims say.
template <class Scalar, class Index>
DenseEntries<Scalar, Index> read_dense(TextSource& source, TextBlock first, TextTask const& task);

}  // namespace sporades::detail

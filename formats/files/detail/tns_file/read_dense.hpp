// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>

namespace sporades::detail {

/// Reads the entries of a dense tensor, first mode fastest, with any number of entries a line, from
/// `first` and the rest of source. Leaves out zeros. Throws Error if there are more or fewer
/// entries than the dims say.
template <class Scalar, class Index>
CooTensor<Scalar, Index> read_dense(TextSource& source, TextBlock first, TextTask const& task);

}  // namespace sporades::detail

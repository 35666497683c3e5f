// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>

namespace sporades::detail {

/// The entries of a dense tensor, first mode fastest, any number a line, in first and the rest of
/// source. Zeros are left out. Throws Error where they are not as many as the dims say.
template <class Scalar, class Index>
CooTensor<Scalar, Index> read_dense(TextSource& source, TextBlock first, TextTask const& task);

}  // namespace sporades::detail

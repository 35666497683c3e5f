// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/host_blocks.hpp>
#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>

namespace sporades::detail {

/// What was parsed: coordinates minus the shape's base, in the file's order.
template <class Scalar, class Index>
struct ParsedLines {
  CooTensor<Scalar, Index> tensor;  // its dims are not set yet
  IndexRange range;
};

/// Throws RunError where nnz nonzeros of that order, so many times, are more than the machine's
/// memory.
void check_memory(std::string const& name, std::uint64_t nnz, int copies, int order,
                  std::size_t index_bytes, std::size_t value_bytes);

/// The lines of nonzeros in first and the rest of source, which is mapped: nonzeros are counted,
/// then parsed to their places.
template <class Scalar, class Index>
ParsedLines<Scalar, Index> read_mapped(TextSource& source, TextBlock first, TextTask const& task,
                                       LineShape const& shape);

/// The same where the source makes its text: whatever thread is free takes the next block and
/// parses it; the parts are put together at the end. What they may hold is checked with each.
template <class Scalar, class Index>
ParsedLines<Scalar, Index> read_streamed(TextSource& source, TextBlock first, TextTask const& task,
                                         LineShape const& shape);

}  // namespace sporades::detail

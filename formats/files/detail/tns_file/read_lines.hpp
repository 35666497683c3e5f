// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>

namespace sporades::detail {

/// The nonzeros of a text, or of this process's part of it, in the order of the file. Coordinates
/// are indices minus the shape's base.
template <class Scalar, class Index>
struct ParsedLines {
  CooTensor<Scalar, Index> tensor;  // its dims are not set yet
  OutOfCoreMemory out_of_core;      // where they are in out-of-core memory: holds it
  IndexRange range;
  std::uint64_t lines = 0;
};

/// Throws RunError if `copies` copies of nnz nonzeros do not fit the machine's memory.
void check_memory(std::string const& name, std::uint64_t nnz, int copies, int order,
                  std::size_t index_bytes, std::size_t value_bytes);

/// Reads the lines of nonzeros in `first` and the rest of source, which has a file: counts the
/// nonzeros, then loads the text again and parses it to its places. Throws RunError if the file
/// then holds another number of nonzeros.
template <class Scalar, class Index>
ParsedLines<Scalar, Index> read_twice(TextSource& source, TextBlock first, TextTask const& task,
                                      LineShape const& shape);

/// Reads the lines of nonzeros in `first` and the rest of a source that makes its text while it is
/// read: a thread that is free takes the next block and parses it, and the parts are put together
/// at the end. The memory is checked with each part.
template <class Scalar, class Index>
ParsedLines<Scalar, Index> read_streamed(TextSource& source, TextBlock first, TextTask const& task,
                                         LineShape const& shape);

}  // namespace sporades::detail

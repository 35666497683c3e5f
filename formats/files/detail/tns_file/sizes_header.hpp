// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/index_range.hpp>

/// The dialects that begin with numbers alone: whether the first lines of a text are its sizes or
/// nonzeros.

namespace sporades::detail {

class FirstLines;

/// The sizes that the first lines of a text of nonzeros, with values or not, may say; none if they
/// have no such columns. Looks at three lines at most.
std::optional<SizesHeader> find_sizes(FirstLines& lines, bool has_value, TextHeader& header);

/// The sizes become the header. Returns their lines.
std::size_t take_sizes(SizesHeader const& sizes, FirstLines const& lines, TextHeader& header);

/// What the first lines are.
enum class FirstLinesAre {
  nonzeros,
  sizes,
  unclear  // they are read as nonzeros, and a note says so
};

/// Judges header.sizes once all lines are read as nonzeros into X, of which the range of indices is
/// known. They are sizes if
/// - their number is that of the nonzeros that follow,
/// - no index that follows is past their dims, and
/// - nonzeros look so by chance in one file of 20 at most.
///
/// Collective.
template <class Scalar, class Index>
FirstLinesAre judge_sizes(TextTask const& task, CooTensor<Scalar, Index> const& X,
                          Dims const& smallest);

/// A sentence for the user about what was judged, unless it is nonzeros.
std::string sizes_note(SizesHeader const& sizes, FirstLinesAre verdict);

}  // namespace sporades::detail

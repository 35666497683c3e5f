// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/header.hpp>

namespace sporades::detail {

class FirstLines;

/// True for a line such as "%%MatrixMarket matrix coordinate real general", in any case, with one %
/// or two. With one, or with a blank after it, an object must follow: the line may be a comment.
bool is_matrix_market_banner(std::string_view line);

/// Reads the banner, which is lines[0], and the line of sizes: of "matrix coordinate" the numbers
/// of rows, columns and entries, of "tensor coordinate" the dims and the number of entries, of
/// "array" the dims alone. Returns how many data lines belong to the header. Boisvert, Pozo &
/// Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996; tensors as taco writes them
/// (.ttx).
std::size_t read_matrix_market(FirstLines& lines, std::string const& name, TextHeader& header);

}  // namespace sporades::detail

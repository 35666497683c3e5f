// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <string>

namespace sporades::command {

/// "0.3 % of the cells have values"
std::string share_of_cells(double density);

/// A sentence for the user where the values look like measurements of some of the cells: where the
/// others, which count as 0, are probably unknown. Else empty. Looks at a million values at most.
/// The rule (a note, no error, that should rarely be wrong): at least ten values and none 0, fewer
/// than half of the cells have one, fewer than half of the values are of the least magnitude (as
/// most counts are 1, and their logarithms log 2), and either all are ratings, that is, halves or
/// wholes from 0.5 to 10, or some are not whole and one cell in 10,000 has a value (in tensors of
/// weights of words and the like most cells are truly 0, and far fewer have one). Collective.
template <class Tensor>
std::string absent_cells_note(Tensor const& X);

}  // namespace sporades::command

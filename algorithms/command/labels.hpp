// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/ktensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <string>
#include <vector>

namespace sporades::command {

/// The names of every index: labels[n][i].
using Labels = std::vector<std::vector<std::string>>;

/// Reads a folder of text files, one a mode, one name a line: mode-0.txt to mode-(N-1).txt where
/// there is a mode-0.txt, or else its N files in the order of their names. LF or CRLF.
/// Throws Error if there are not N files, or one has not as many lines as its mode has indices.
Labels read_labels(std::string const& folder, Dims const& dims);

/// For each component its weight and, mode by mode, the `top` entries of largest magnitude with
/// their names, side by side; none below a thousandth of the largest. Equal magnitudes come in the
/// order of their indices.
template <class Scalar>
std::string top_entries(Ktensor<Scalar> const& model, Labels const& labels, int top);

/// The same for each mode's columns; before them the `top` entries of the core of largest
/// magnitude, each with the columns that it weighs, counted from 1.
template <class Scalar>
std::string top_entries(TuckerTensor<Scalar> const& model, Labels const& labels, int top);

}  // namespace sporades::command

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/tucker_tensor.hpp>
#include <string_view>

namespace sporades {

/// Reads a Tucker tensor as text: lines "ttensor", N, the dims; the core as Tensor Toolbox writes a
/// dense tensor: "tensor", N, the ranks, and its numbers, the first index fastest; then for each
/// mode its factor as there, too: "matrix" (GenTen: "facmatrix"), 2, "I_n R_n" and the rows.
/// (Tensor Toolbox writes no ttensor itself; these are the parts that it does write.) Comments
/// (# or //), blank lines and CRLF are allowed.
/// Throws Error naming the file and line of the first thing wrong.
template <class Scalar>
TuckerTensor<Scalar> read_tucker(std::string const& path);

/// read_tucker for a file's content in memory; name stands for the file in messages.
template <class Scalar>
TuckerTensor<Scalar> parse_tucker(std::string_view content, std::string const& name);

/// Writes that form with 17 significant digits (float: 9), which read back exactly. The file
/// appears whole or not at all. Throws Error for entries that are not finite, RunError where the
/// disk is full.
template <class Scalar>
void write_tucker(std::string const& path, TuckerTensor<Scalar> const& model);

}  // namespace sporades

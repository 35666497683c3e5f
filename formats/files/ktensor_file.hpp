// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/kruskal_tensor.hpp>
#include <string_view>

namespace sporades {

/// Reads a Kruskal tensor in Tensor Toolbox's text form, which pyttb, GenTen and SparTen share:
/// lines "ktensor", N, the dims, R, the weights, then for each mode "matrix" (GenTen: "facmatrix"),
/// 2, "I_n R" and the rows. Comments (# or //), blank lines and CRLF are allowed.
/// Throws Error naming the file and line of the first thing wrong.
template <class Scalar>
KruskalTensor<Scalar> read_ktensor(std::string const& path);

/// read_ktensor for a file's content in memory; name stands for the file in messages.
template <class Scalar>
KruskalTensor<Scalar> parse_ktensor(std::string_view content, std::string const& name);

/// Writes that form with 17 significant digits (float: 9), which read back exactly. The file
/// appears whole or not at all. Throws Error for entries that are not finite, RunError where the
/// disk is full.
template <class Scalar>
void write_ktensor(std::string const& path, KruskalTensor<Scalar> const& model);

}  // namespace sporades

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/row_map.hpp>
#include <sporades/formats/files/model_facts.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <string_view>

namespace sporades {

/// Reads a Kruskal tensor in the text form of Tensor Toolbox, which pyttb, GenTen and SparTen read
/// and write, too. Its lines are "ktensor", N, the dims, R, the weights, and for each mode "matrix"
/// (GenTen: "facmatrix"), 2, "I_n R" and the rows. Comments (# or //), blank lines and CRLF are
/// allowed. Throws Error naming the file, the line and what is wrong there.
template <class Scalar>
KruskalTensor<Scalar> read_ktensor(std::string const& path);

/// read_ktensor for the content of a file. name: how error messages call the file.
template <class Scalar>
KruskalTensor<Scalar> parse_ktensor(std::string_view content, std::string const& name);

/// Writes this text form with 17 significant digits (float: 9), which read back exactly. If
/// anything fails, there is no file, and an older file of this name stays. Throws Error for a
/// number that is not finite, RunError if the file cannot be written.
/// - rows: of a model on several processes: those of the factor of mode n are as rows[n] says (see
///   CpAlsProblem). The first process writes the file, and gets the rows in pieces of some
///   megabytes. Collective; when it returns, the file is there. If `rows` is empty, each process
///   has all.
/// - facts: written after the model, see parse_model_facts.
template <class Scalar>
void write_ktensor(std::string const& path, KruskalTensor<Scalar> const& model,
                   std::vector<RowMap> const& rows = {}, ModelFacts const& facts = {});

}  // namespace sporades

#include <sporades/formats/files/detail/refuse_types.hpp>

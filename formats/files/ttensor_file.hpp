// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/row_map.hpp>
#include <sporades/formats/files/model_facts.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <string_view>

namespace sporades {

/// Reads a Tucker tensor as text. Its lines are
/// - "ttensor", N, the dims;
/// - the core: "tensor", N, the ranks and the numbers, the first index fastest;
/// - for each mode the factor: "matrix" (GenTen: "facmatrix"), 2, "I_n R_n" and the rows.
/// Core and factors are as Tensor Toolbox writes dense tensors and matrices; it has no text form
/// for a ttensor as a whole. Comments (# or //), blank lines and CRLF are allowed. Throws Error
/// naming the file, the line and what is wrong there.
template <class Scalar>
TuckerTensor<Scalar> read_ttensor(std::string const& path);

/// read_ttensor for the content of a file. name: how error messages call the file.
template <class Scalar>
TuckerTensor<Scalar> parse_ttensor(std::string_view content, std::string const& name);

/// Writes this text form with 17 significant digits (float: 9), which read back exactly. If
/// anything fails, there is no file, and an older file of this name stays. Throws Error for a
/// number that is not finite, RunError if the file cannot be written. The factors' rows may be on
/// several processes, while the core is on all: the call is collective then. write_ktensor says
/// what rows and facts are.
template <class Scalar>
void write_ttensor(std::string const& path, TuckerTensor<Scalar> const& model,
                   std::vector<RowMap> const& rows = {}, ModelFacts const& facts = {});

}  // namespace sporades

#include <sporades/formats/files/detail/refuse_types.hpp>

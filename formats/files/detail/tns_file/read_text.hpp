// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

/// read_tensor for text and gzipped text, except that it does not sum duplicates. Each process
/// reads a part of the lines; of a dense tensor and a matrix with symmetry the first reads all.
/// Collective.
template <class Scalar>
ReadResult<Scalar> read_text(Communicator const& processes, InputFile const& file,
                             ReadOptions const& options);

}  // namespace sporades::detail

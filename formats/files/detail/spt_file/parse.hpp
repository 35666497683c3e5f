// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/communicator.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

/// The bytes that every .spt file begins with.
inline constexpr std::string_view spt_magic{"\x89SPT\r\n\x1a\n", 8};

/// read_tensor for a .spt file. Verifies everything: the sizes against the length,
/// before it allocates, the checksums, the coordinates, the values, and the order that the header
/// states. Values are converted to Scalar. Each process takes a part of the nonzeros, and verifies
/// some of the arrays. Collective. Throws Error naming what is wrong.
template <class Scalar>
ReadResult<Scalar> parse_spt(Communicator const& processes, InputFile const& file,
                             ReadOptions const& options = {});

}  // namespace sporades::detail

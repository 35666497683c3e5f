// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace sporades::command {

/// "12.3 GB"
std::string bytes_text(std::uint64_t bytes);

/// Most memory that this process has had resident so far, in bytes.
std::uint64_t peak_resident_bytes();

/// "2.1 GB were in use of the 24.7 GB that this process may have"; of the GPU, where `error` says
/// that its memory ran out.
std::string memory_sentence(std::exception const& error);

/// Throws RunError if `bytes` for `what` are more than are left; advice: what would fit, "; rank 3
/// would fit".
void check_fits_memory(double bytes, double left, std::string const& what,
                       std::string const& advice = {});

/// Whether an exception says that memory ran out, as Kokkos or the standard library has it.
bool says_memory_ran_out(std::exception const& error);

}  // namespace sporades::command

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/formats/files/detail/input_file.hpp>
#include <string>

namespace sporades::detail {

/// The first bytes of a .spt file: see write_spt.
struct SptHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t order;
  std::uint32_t index_bytes;
  std::uint32_t value_bytes;
  std::uint64_t nnz;
  std::uint64_t file_bytes;
  std::uint32_t sorted_count;
  std::uint32_t reserved[5];
  std::uint64_t dims[16];
  std::uint32_t sorted_modes[16];
  std::uint64_t checksums[17];  // of the coordinates of modes 0 to N-1, then of the values
  std::uint64_t header_checksum;
};
static_assert(sizeof(SptHeader) == 400 && offsetof(SptHeader, checksums) == 256);

/// The places of the arrays, in bytes from the beginning of the file.
struct SptLayout {
  std::uint64_t coordinates[16];
  std::uint64_t values;
  std::uint64_t file_bytes;
};

/// The layout that follows from the header's order, widths and nnz. Throws Error if the file would
/// have 2^63 bytes or more.
SptLayout spt_layout(SptHeader const& header, std::string const& name);

/// The checksum of the header's bytes before its checksum.
std::uint64_t header_checksum(SptHeader const& header);

/// The header of a file, verified as far as it can be without the arrays. Throws Error naming what
/// is wrong.
SptHeader read_spt_header(InputFile const& file);

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sporades::detail {

/// The first bytes of a .spt file, see spt_file.hpp.
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

/// Where the arrays begin, in bytes from the begin of the file.
struct SptLayout {
  std::uint64_t coordinates[16];
  std::uint64_t values;
  std::uint64_t file_bytes;
};

/// The layout that the header's order, widths and nnz lead to. Throws Error where it is past 2^63.
SptLayout spt_layout(SptHeader const& header, std::string const& name);

/// The checksum of all of the header but the checksum itself.
std::uint64_t header_checksum(SptHeader const& header);

/// The header of content, all that can be known from it verified. Throws Error.
SptHeader read_spt_header(std::string_view content, std::string const& name);

}  // namespace sporades::detail

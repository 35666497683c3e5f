// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/formats/files/detail/input_file.hpp>
#include <vector>

namespace sporades::detail {

/// XXH64 with seed 0, as its specification (Yann Collet, xxHash) defines it.
std::uint64_t xxh64(void const* bytes, std::size_t size);

/// The bytes of a block of the checksums of arrays.
inline constexpr std::size_t checksum_block = std::size_t{1} << 20;

/// The XXH64 of the XXH64s (little endian) of the blocks of checksum_block bytes, computed on
/// several threads (0: as many as the host's execution space has).
std::uint64_t blocked_checksum(void const* bytes, std::size_t size, int threads);

/// blocked_checksum of `size` bytes of a file, from byte `place` on.
std::uint64_t blocked_checksum(InputFile const& file, std::uint64_t place, std::uint64_t size,
                               int threads);

/// blocked_checksum of bytes that come piece by piece.
class BlockedChecksum {
 public:
  void add(void const* bytes, std::size_t size);
  std::uint64_t value() const;

 private:
  std::vector<std::uint64_t> hashes_;  // of whole blocks
  std::vector<std::byte> block_;       // those of the next one
};

}  // namespace sporades::detail

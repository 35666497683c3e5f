// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/tns_file.hpp>

namespace sporades {
namespace detail {

/// The .spt format, version 1: little endian, arrays at multiples of 64 bytes, zeros between.
///     0  8 bytes   magic, 89 53 50 54 0D 0A 1A 0A
///     8  u32       version, 1
///    12  u32       order N
///    16  u32       bytes of an index, 4 or 8
///    20  u32       bytes of a value, 4 or 8 (IEEE 754)
///    24  u64       nnz
///    32  u64       bytes of the file
///    40  u32       number of sorted_modes; 20 bytes of zeros
///    64  16 u64    dims, then zeros
///   192  16 u32    sorted_modes, slowest first, then zeros
///   256  17 u64    checksums of the N coordinate arrays and of the values, then zeros
///   392  u64       checksum of bytes 0 to 391
///   448  N arrays of nnz indices from 0, then nnz values
/// A checksum is the XXH64 of the XXH64s of the array's blocks of 1 MiB, so that blocks are
/// checked in parallel; the header's is one XXH64.
inline constexpr std::string_view spt_magic{"\x89SPT\r\n\x1a\n", 8};

}  // namespace detail

/// Writes X with its dims and its order. The file appears whole or not at all. Throws Error for an
/// index past its mode and for values that are not finite, RunError where the disk is full.
template <class Scalar, class Index>
void write_spt(std::string const& path, CooTensor<Scalar, Index> const& X);

/// The same of a tensor as it was read.
template <class Scalar>
void write_spt(std::string const& path, AnyCoo<Scalar> const& X) {
  std::visit([&](auto const& tensor) { write_spt(path, tensor); }, X);
}

/// Reads .spt content; read_tensor calls it. Everything is verified: sizes against the length
/// before memory is taken, checksums, coordinates, values, the order it claims. Values convert to
/// Scalar. Throws Error naming what is wrong.
template <class Scalar>
ReadResult<Scalar> parse_spt(std::string_view content, std::string const& name,
                             ReadOptions const& options = {});

}  // namespace sporades

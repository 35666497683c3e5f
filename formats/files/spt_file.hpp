// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/tns_file.hpp>

namespace sporades {

/// Writes X with its dims and its order to a binary file that read_tensor reads. If anything fails,
/// there is no file, and an older file of this name stays. Throws Error for an index past its mode
/// and for values that are not finite, RunError if the file cannot be written.
///
/// The .spt format, version 1, is little endian. Arrays begin at multiples of 64 bytes; the bytes
/// between them are zeros.
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
/// The checksum of an array is the XXH64 of the XXH64s of its blocks of 1 MiB, so that blocks are
/// checked in parallel. The header's is one XXH64.
template <class Scalar, class Index>
void write_spt(std::string const& path, CooTensor<Scalar, Index> const& X);

/// write_spt for a tensor as read_tensor returns it.
template <class Scalar>
void write_spt(std::string const& path, AnyCooTensor<Scalar> const& X) {
  std::visit([&](auto const& tensor) { write_spt(path, tensor); }, X);
}

}  // namespace sporades

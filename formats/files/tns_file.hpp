// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/any_coo.hpp>
#include <string_view>

namespace sporades {

/// The number that a file's indices count from.
enum class IndexBase {
  automatic,  // one; under an "sptensor" header zero if an index is 0 (all modes alike)
  one,
  zero,
  per_mode  // zero in the modes in which an index is 0, one in the others
};

/// The values that a file may hold: any finite number, numbers >= 0, or whole numbers >= 0.
enum class Values { any, non_negative, counts };

/// What to do with coordinates that come more than once.
enum class Duplicates { sum, keep };

/// How a file is read.
struct ReadOptions {
  Dims dims;  // empty: from the file's header, or else from the largest indices
  IndexBase index_base = IndexBase::automatic;
  Duplicates duplicates = Duplicates::sum;
  Values values = Values::any;
  bool pattern = false;  // the file has no column of values: every value is 1
  int threads = 0;       // 0: as many as the host's execution space has
  std::size_t block_size = std::size_t{1} << 20;  // bytes of text a thread takes at once; no line
                                                  // is longer
};

/// What a file held.
template <class Scalar>
struct ReadResult {
  AnyCoo<Scalar> tensor;
  Position duplicates = 0;  // nonzeros that were added to another of the same coordinates
  std::string dialect;      // "FROSTT", "sptensor", "ParTI", "tensor", "MatrixMarket" or "spt"
  std::vector<std::string> notes;  // what the reader had to decide, a sentence each
};

/// Reads a sparse tensor; what the file holds is told by its content, not by its name:
///   FROSTT    a line a nonzero: N indices from 1, then the value
///   sptensor  (Tensor Toolbox, pyttb, GenTen, SparTen) lines "sptensor", N, the dims, nnz before;
///             "sptensor indices-start-at-zero" and "...-one" state the base
///   ParTI     lines N and the dims before: the first line holds one integer N, the second N, and
///             the third, if any, N + 1 columns (no FROSTT file begins so)
///   tensor    (Tensor Toolbox) lines "tensor", N, the dims, then every entry, first mode fastest;
///             zeros are left out
///   MatrixMarket  "%%MatrixMarket matrix coordinate" of real, integer or pattern values, general,
///             symmetric or skew-symmetric: a tensor of order 2, with the entries that a symmetry
///             leaves out behind those of the file
///   spt       see spt_file.hpp
/// Text may be gzipped, have comments (# or //) and blank lines, any blanks, LF or CRLF; a carriage
/// return inside a line is refused. "-" and "/dev/stdin" are the standard input; it and pipes are
/// read to their end first, and held.
/// Values round to nearest; sizes are checked before memory is taken, of gzipped text as it is
/// uncompressed. Memory beyond the result and the summing of duplicates is one block of text a
/// thread (gzip: and a second copy, for a while).
/// Same result at any thread count. Duplicates::sum sorts the tensor by modes 0 to N-1;
/// Duplicates::keep leaves the file's order. Throws Error naming the file, line and column (or
/// mode; of an spt file the nonzero) of the first thing wrong in the file.
template <class Scalar>
ReadResult<Scalar> read_tensor(std::string const& path, ReadOptions const& options = {});

/// read_tensor for a file's content in memory; name stands for the file in messages.
template <class Scalar>
ReadResult<Scalar> parse_tensor(std::string_view content, std::string const& name,
                                ReadOptions const& options = {});

/// Writes FROSTT text, gzipped where path ends in ".gz": indices from 1, values in the shortest
/// decimals that read back exactly. Where the largest indices do not show the dims (trailing empty
/// slices), a comment "# sporades dims: I_0 ... I_{N-1}" says them, which read_tensor knows.
/// The file appears whole or not at all. Memory: at most 256 MiB of text, whatever the threads.
/// Throws Error for an index past its mode and for values that are not finite, RunError where the
/// disk is full.
template <class Scalar, class Index>
void write_tns(std::string const& path, CooTensor<Scalar, Index> const& X);

/// The same of a tensor as it was read.
template <class Scalar>
void write_tns(std::string const& path, AnyCoo<Scalar> const& X) {
  std::visit([&](auto const& tensor) { write_tns(path, tensor); }, X);
}

}  // namespace sporades

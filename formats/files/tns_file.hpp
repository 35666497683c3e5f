// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/core/communicator.hpp>
#include <sporades/formats/any_coo_tensor.hpp>
#include <string_view>

namespace sporades {

/// The number that the indices of a text file count from.
enum class IndexBase {
  automatic,  // one; zero in all modes if an "sptensor" file has an index 0
  one,
  zero,
  per_mode  // zero in the modes in which an index is 0, one in the others
};

/// The values that a file may hold.
enum class Values {
  any,           // any finite number
  non_negative,  // numbers >= 0
  counts         // whole numbers >= 0
};

/// What the readers do with coordinates that come more than once.
enum class Duplicates {
  sum,  // add their values; the tensor is then sorted by modes 0 to N-1
  keep  // keep them as separate nonzeros, in the order of the file
};

/// What the first line of a text that begins with numbers is.
enum class FirstLine {
  automatic,  // a header if the lines after it show that, else a nonzero; notes say what may be
              // both
  nonzero,
  header  // the dims and the number of nonzeros; or the order and that number, then the dims
};

/// How a reader reads a file.
struct ReadOptions {
  Dims dims;  // empty: from the file's header, or else from the largest indices
  IndexBase index_base = IndexBase::automatic;
  FirstLine first_line = FirstLine::automatic;
  Duplicates duplicates = Duplicates::sum;
  Values values = Values::any;
  bool pattern = false;      // the file has no column of values: every value is 1
  std::uint64_t memory = 0;  // bytes that reading may take; 0: all that it needs. Nonzeros that
                             // take more stay in files: see ReadResult::out_of_core
  int threads = 0;           // 0: as many as the host's execution space has
  std::size_t block_size = std::size_t{1} << 20;  // bytes of text that a thread takes at once; no
                                                  // line may be longer
};

/// What a reader returns. Index: that of the tensor, or void for one of the width that it needs.
template <class Scalar, class Index = void>
struct ReadResult {
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "readers give tensors of float or double");
  static_assert(std::is_void_v<Index> || std::is_same_v<Index, std::uint32_t> ||
                    std::is_same_v<Index, std::uint64_t>,
                "readers give tensors with indices of type std::uint32_t or std::uint64_t");
  using Tensor =
      std::conditional_t<std::is_void_v<Index>, AnyCooTensor<Scalar>, CooTensor<Scalar, Index>>;

  Tensor tensor;            // on the host; copy_to brings it to a device
  Position duplicates = 0;  // nonzeros that were added to another of the same coordinates
  std::string dialect;      // "FROSTT", "FROSTT with a header", "extended FROSTT", "sptensor",
                            // "ParTI", "tensor", "MatrixMarket", "TensorMarket" or "spt"
  std::vector<std::string> notes;     // what the reader had to decide, one sentence each
  std::shared_ptr<void> out_of_core;  // where the nonzeros lie in files that are mapped into
                                      // memory: holds them. Else empty
};

/// Reads a sparse tensor from a file:
///   auto const X = read_tensor<double, std::uint32_t>("x.tns").tensor;  // a CooTensor
///   auto const file = read_tensor<double>("x.tns");  // any: std::visit(function, file.tensor)
/// 32-bit indices serve modes of up to 2^32 rows. Without an index type the tensor has the type
/// that its file needs (see AnyCooTensor). The reader tells the format by the file's content, not
/// by its name:
///   FROSTT    one line a nonzero: N indices from 1, then the value. FROSTT with a header: first a
///             line with the dims and nnz. It is known by its columns if lines have no values, else
///             by nnz lines that follow, whose indices are in the dims. Extended FROSTT (MLIR):
///             first the lines "N nnz" and the dims
///   sptensor  (Tensor Toolbox, pyttb, GenTen, SparTen) first the lines "sptensor", N, the dims and
///             nnz; "sptensor indices-start-at-zero" and "...-one" state the base of the indices
///   ParTI     first the lines N and the dims. A file is read as ParTI's if its first line holds
///             one integer N, its second line N, and its third line, if any, N + 1 columns
///   tensor    (Tensor Toolbox) lines "tensor", N, the dims, then every entry, first mode fastest;
///             zeros are left out
///   MatrixMarket  "%%MatrixMarket matrix coordinate" (or "array") of real, integer, unsigned or
///             pattern values, general, symmetric or skew-symmetric: a tensor of order 2. Entries
///             that the symmetry leaves out follow those of the file. TensorMarket (taco):
///             "%%MatrixMarket tensor", of any order
///   spt       binary, with checksums: see write_spt
/// Text may be gzipped, and have comments (#, // or %), blank lines, any number of blanks, and LF
/// or CRLF at the end of lines; a carriage return inside a line is an error. Indices may be written
/// as 1.0e+00, exponents with Fortran's D. Values are rounded to the nearest number of the type;
/// notes count integers that are rounded, and values that become 0. "-" and "/dev/stdin" are the
/// standard input. It and pipes are read as a whole first: into memory, or with ReadOptions::memory
/// into a file. The result is the same for every number of threads.
///
/// Memory, in addition to the result and what summing duplicates takes:
/// - one block of text a thread;
/// - for gzipped text a second copy of the nonzeros for a time;
/// - a second copy of the indices while they are given another type than the file needs.
///
/// Sizes are checked before memory is allocated; for gzipped text while it is uncompressed. With
/// ReadOptions::memory, nonzeros that would take more while they are read and summed go to files
/// without a name, and sums are formed by parts. The files are in the folder that TMPDIR names,
/// else in /tmp, or in /var/tmp where /tmp is in memory.
///
/// Throws Error naming file, line and column (or mode; for .spt files the nonzero) of the first
/// thing that is wrong, or the mode that is too long for Index. Throws RunError if the file does
/// not fit the memory or changes while it is read, or a disk fails or has no room.
template <class Scalar, class Index = void>
ReadResult<Scalar, Index> read_tensor(std::string const& path, ReadOptions const& options = {});

/// read_tensor by several processes, each of which opens the file and takes a share of its
/// nonzeros, in the order of ranks:
/// - of text a range of lines; of gzipped text each process uncompresses what is before its range,
///   too;
/// - of .spt files a range of nonzeros;
/// - a dense tensor and a matrix with symmetry are read by the first process alone.
///
/// No process holds more. Where duplicates are summed, the nonzeros of all processes in the order
/// of ranks are those that one process reads; `duplicates` and the notes are the same on all.
/// Collective. Throws as read_tensor, and RunError on the processes where nothing was wrong.
template <class Scalar, class Index = void>
ReadResult<Scalar, Index> read_tensor(Communicator const& processes, std::string const& path,
                                      ReadOptions const& options = {});

/// read_tensor for the content of a file. name: how error messages call the file.
template <class Scalar, class Index = void>
ReadResult<Scalar, Index> parse_tensor(std::string_view content, std::string const& name,
                                       ReadOptions const& options = {});

/// Writes FROSTT text, gzipped if path ends in ".gz": indices from 1, values in the shortest
/// decimals that read back exactly. If the last slices of a mode are empty, a comment states the
/// dims, and read_tensor reads it:
///   # sporades dims: I_0 ... I_{N-1}
/// If anything fails, there is no file, and an older file of this name stays. Holds at most 256 MiB
/// of text, for any number of threads. Throws Error for an index past its mode and for values that
/// are not finite, RunError if the file cannot be written.
template <class Scalar, class Index>
void write_tns(std::string const& path, CooTensor<Scalar, Index> const& X);

/// write_tns for a tensor as read_tensor returns it.
template <class Scalar>
void write_tns(std::string const& path, AnyCooTensor<Scalar> const& X) {
  std::visit([&](auto const& tensor) { write_tns(path, tensor); }, X);
}

}  // namespace sporades

#include <sporades/formats/files/detail/refuse_types.hpp>

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sporades::command {

/// What a computation is, as names and texts of one line, in the order to be told.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Contiguous bytes that a checkpoint stores under a name without blanks.
struct CheckpointArray {
  std::string name;
  void const* data;
  std::uint64_t bytes;  // here
  int mode = -1;        // whose rows have as many bytes each; -1: the same bytes on all processes
};

/// Writes the state of a computation, little endian:
///     0  8 bytes  magic, 89 53 50 43 0D 0A 1A 0A
///     8  u64      version of the format, 2; zeros to 64
///    64  the arrays at multiples of 64, then at a multiple of 64
///        the directory, text lines: "fact NAME TEXT" and "array NAME OFFSET BYTES CHECKSUM MODE",
///        offsets from the begin of the file, checksums as in spt_file.hpp, modes those of the
///        arrays
///  and in the last 40 bytes
///        u64      offset of the directory
///        u64      its bytes
///        u64      its XXH64
///        u64      bytes of the file
///        u64      XXH64 of the 32 bytes before
/// rows: of each mode, where processes share them; none where each has all. The first process
/// writes, and gets the rows in pieces. The file does not depend on how many processes there are.
/// The file that was there stays whole until the new one is on the disk, so that a kill at any
/// moment leaves one of the two. Collective. Throws RunError where it cannot be written.
void write_checkpoint(std::string const& path, Facts const& facts,
                      std::vector<CheckpointArray> const& arrays,
                      std::vector<RowMap> const& rows = {});

/// A checkpoint on disk, all of it verified, by several processes together.
class Checkpoint {
 public:
  /// Throws Error naming what is wrong: no checkpoint, another format, cut off, changed.
  explicit Checkpoint(std::string const& path);

  /// Throws Error naming every fact that differs: "rank is 8 there and 16 here".
  void expect_same(Facts const& facts) const;

  std::map<std::string, std::string> const& facts() const { return facts_; }

  /// The text of a fact. Throws Error if there is none.
  std::string const& fact(std::string const& name) const;

  /// The mode of whose rows an array has as many bytes each, or -1.
  int mode(std::string const& name) const { return modes_.at(name); }

  bool has_array(std::string const& name) const { return sizes_.count(name) > 0; }

  /// How many bytes each array has, by its name.
  std::map<std::string, std::uint64_t> const& arrays() const { return sizes_; }

  /// So many bytes of an array, from number `first` on. Throws Error if it has fewer, RunError if
  /// the file has changed.
  std::vector<std::byte> bytes(std::string const& name, std::uint64_t first,
                               std::uint64_t count) const;

 private:
  void read();

  std::string path_;
  sporades::detail::InputFile file_;
  std::map<std::string, std::string> facts_;
  std::map<std::string, std::uint64_t> places_, sizes_;  // of the arrays
  std::map<std::string, int> modes_;
};

/// The start's name, or the checksum of the file that the run starts from. A resumed run has this
/// from its checkpoint.
std::string start_fact(std::string const& init, bool is_given);

/// A checksum of dims and of the nonzeros of all processes, in any order. Collective.
template <class Scalar, class Index>
std::string tensor_fingerprint(CooTensor<Scalar, Index> const& X);

}  // namespace sporades::command

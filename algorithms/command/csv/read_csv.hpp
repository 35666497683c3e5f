// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/labels.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::command {

/// A tensor, and the names of its indices and modes.
template <class Scalar>
struct NamedTensor {
  ReadResult<Scalar> read;
  Labels labels;
  std::vector<std::string> lines;  // what there is to say of each mode
};

/// Reads a CSV file, gzipped or not: a row becomes a nonzero, a name of a column that is a mode its
/// index. Names that are numbers are in their order, others in that of their bytes. Without a
/// column of values a row counts 1. Rows without a name or a value are left out, which a note says.
/// names: a folder of labels; then indices are those of these names, and rows with others are left
/// out, too. memory: bytes that it may take, 0: those that are left. Throws Error naming line and
/// column of what is wrong, RunError where the memory is too small.
template <class Scalar>
NamedTensor<Scalar> read_csv(std::string const& file, CsvArguments const& csv,
                             std::string const& names, Duplicates duplicates, std::uint64_t memory);

/// read_csv for the content of a file, which may take any memory, in blocks of so many bytes: no
/// line, nor the first record, may be longer. name: how error messages call the file.
template <class Scalar>
NamedTensor<Scalar> parse_csv(std::string_view content, std::string const& name,
                              CsvArguments const& csv, std::string const& names,
                              Duplicates duplicates, std::size_t block_size);

}  // namespace sporades::command

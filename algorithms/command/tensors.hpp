// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::command {

/// "183x24x1140" as dims. Throws Error naming the option that has it.
Dims parse_dims(std::string const& text, char const* option);

/// "8x8x4" or "8,8,4" as ranks, of 1 or more. Throws Error naming the option that has them.
std::vector<int> parse_ranks(std::string const& text, char const* option);

/// "8,64,512" as numbers of processes. Throws Error naming the option that has them.
std::vector<int> parse_processes(std::string const& text, char const* option);

/// "1,3" as modes. Throws Error naming the option that has them.
std::vector<int> parse_modes(std::string const& text, char const* option);

ReadOptions read_options(ReadArguments const& arguments);

/// Reads the tensor and says on standard error what the reader had to decide. memory: see
/// ReadOptions.
template <class Scalar>
ReadResult<Scalar> read(ReadArguments const& arguments, Duplicates duplicates = Duplicates::sum,
                        std::uint64_t memory = 0);

/// Whether the name ends in .csv or .tsv, or one of them and .gz.
bool has_csv_name(std::string const& path);

/// Throws Error unless the name ends in .tns, .tns.gz or .spt.
void check_tensor_name(std::string const& path);

/// Writes in the format that the name asks for.
template <class Scalar>
void write_tensor(std::string const& path, AnyCooTensor<Scalar> const& X);

}  // namespace sporades::command

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

/// X of that file with the model's dims, which may be longer than X's. Throws Error where one is
/// shorter.
template <class Tensor>
void take_dims(char const* subcommand, Tensor& X, Dims const& dims, std::string const& file) {
  bool fits = X.dims.size() == dims.size();
  for (std::size_t n = 0; n < dims.size() && fits; ++n) fits = X.dims[n] <= dims[n];
  expects(fits, subcommand, ": ", file, " is ", to_string(X.dims), ", the model ", to_string(dims));
  X.dims = dims;
}

/// Whether the name ends in .csv or .tsv, or one of them and .gz.
bool has_csv_name(std::string const& path);

/// Throws Error unless the name ends in .tns, .tns.gz or .spt.
void check_tensor_name(std::string const& path);

/// Writes in the format that the name asks for.
template <class Scalar>
void write_tensor(std::string const& path, AnyCooTensor<Scalar> const& X);

}  // namespace sporades::command

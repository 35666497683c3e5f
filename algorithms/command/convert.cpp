// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>

namespace sporades::command {
namespace {

template <class Scalar>
void convert_as(ConvertArguments const& arguments) {
  auto const result = read<Scalar>(
      arguments.read, arguments.duplicates == "keep" ? Duplicates::keep : Duplicates::sum);
  write_tensor(arguments.output, result.tensor);
  if (arguments.quiet) return;
  std::visit(
      [&](auto const& X) {
        std::printf("%s: %s, %llu nonzeros, from %s (%s)\n", arguments.output.c_str(),
                    to_string(X.dims).c_str(), static_cast<unsigned long long>(X.nnz()),
                    arguments.read.file.c_str(), result.dialect.c_str());
      },
      result.tensor);
}

}  // namespace

int convert(ConvertArguments const& arguments) {
  expect_one_process("convert");
  check_tensor_name(arguments.output);
  check_files({{"FILE", arguments.read.file}}, {{"OUT", arguments.output}});
  if (arguments.precision == "float")
    convert_as<float>(arguments);
  else
    convert_as<double>(arguments);
  return 0;
}

}  // namespace sporades::command

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/kernels/model_values.hpp>

namespace sporades::command {
namespace {

std::size_t order_of(AnyCooTensor<double> const& any) {
  return std::visit([](auto const& X) { return X.dims.size(); }, any);
}

/// The coordinates of a file in its order, which has a column of values or not.
ReadResult<double> read_coordinates(ReadArguments read, std::size_t order) {
  auto result = command::read<double>(read, Duplicates::keep);
  if (!read.pattern && order_of(result.tensor) + 1 == order) {
    expects(!is_pipe(read.file), "predict: ", read.file,
            " has no column of values, and cannot be read twice: give --pattern");
    read.pattern = true;
    result = command::read<double>(read, Duplicates::keep);
  }
  expects(order_of(result.tensor) == order, "predict: ", read.file, " has ",
          order_of(result.tensor), " modes, the model ", order);
  return result;
}

}  // namespace

int predict(PredictArguments const& arguments) {
  expect_one_process("predict");
  check_tensor_name(arguments.output);
  check_files({{"MODEL", arguments.model}, {"FILE", arguments.read.file}},
              {{"-o", arguments.output}});
  auto const [model, facts] = read_model(arguments.model);
  Kokkos::DefaultHostExecutionSpace const exec;
  std::visit(
      [&](auto const& M) {
        auto any = read_coordinates(arguments.read, M.factors.size());
        std::visit(
            [&](auto& X) {
              take_dims("predict", X, M.dims(), arguments.read.file);
              check_coordinates(exec, X, "predict");
              X.values = model_values(exec, X, M);
              for (Position p = 0; p < X.nnz(); ++p) X.values(p) = arguments.bounds.of(X.values(p));
            },
            any.tensor);
        write_tensor(arguments.output, any.tensor);
        if (arguments.quiet) return;
        std::printf("%s: %llu values of %s at the coordinates of %s\n", arguments.output.c_str(),
                    static_cast<unsigned long long>(
                        std::visit([](auto const& X) { return X.nnz(); }, any.tensor)),
                    arguments.model.c_str(), arguments.read.file.c_str());
      },
      model);
  return 0;
}

}  // namespace sporades::command

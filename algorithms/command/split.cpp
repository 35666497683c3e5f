// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/formats/split_coo.hpp>

namespace sporades::command {

int split(SplitFileArguments const& arguments) {
  expect_one_process("split");
  expects(arguments.fraction > 0 && arguments.fraction < 1, "split: --fraction ",
          arguments.fraction, " is not between 0 and 1");
  check_tensor_name(arguments.train);
  check_tensor_name(arguments.test);
  check_files({{"FILE", arguments.read.file}},
              {{"--train", arguments.train}, {"--test", arguments.test}});
  auto const any = command::read<double>(arguments.read, Duplicates::keep).tensor;
  Kokkos::DefaultHostExecutionSpace const exec;
  std::visit(
      [&](auto const& X) {
        expects(arguments.mode <= X.order(), "split: --by-slice ", arguments.mode,
                ": the tensor has ", X.order(), " modes");
        auto const parts =
            sporades::split(exec, X, arguments.fraction, arguments.seed, arguments.mode - 1);
        expects(parts.train.nnz() > 0 && parts.test.nnz() > 0, "split: --fraction ",
                arguments.fraction, " of ", X.nnz(), " values leaves ", parts.train.nnz(),
                " to learn from and ", parts.test.nnz(),
                " to test with: each part needs some; another --seed or --fraction may give it");
        write_tensor<double>(arguments.train, parts.train);
        write_tensor<double>(arguments.test, parts.test);
        if (arguments.quiet) return;
        auto const say = [](std::string const& file, auto const& part) {
          std::printf("%s: %llu values\n", file.c_str(),
                      static_cast<unsigned long long>(part.nnz()));
        };
        say(arguments.train, parts.train);
        say(arguments.test, parts.test);
      },
      any);
  return 0;
}

}  // namespace sporades::command

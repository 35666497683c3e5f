// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdio>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/timer.hpp>

namespace sporades::command {
namespace {

/// Values are counts, which float holds as exactly as double does: .tns text is the same for both.
AnyCooTensor<float> make_tensor(GenerateArguments const& arguments) {
  Kokkos::DefaultExecutionSpace const exec;
  Kokkos::DefaultHostExecutionSpace const host;
  auto const seed = arguments.seed.value_or(default_generate_seed);
  // Keys, counts and places of the cells of two rounds; 128-bit keys take more.
  auto const check = [&](Position nnz, Dims const& dims) {
    if (nnz > Position{1} << 33) return;  // which is refused for another reason
    int bits = 0;
    for (auto dim : dims) bits += sporades::detail::index_bits(dim);
    check_fits_memory((bits > 64 ? 72. : 46.) * static_cast<double>(nnz),
                      sporades::detail::memory_left(exec),
                      "generate: making " + std::to_string(nnz) + " nonzeros");
  };
  if (!arguments.like.empty()) {
    auto const recipe = sporades::detail::recipe_like(arguments.like, arguments.nnz);
    check(recipe.nnz, recipe.dims());
    return copy_to(host, generate_like<float>(exec, arguments.like, arguments.nnz, seed));
  }
  Dims const dims = parse_dims(arguments.dims, "--dims");
  check(*arguments.nnz, dims);
  if (std::all_of(dims.begin(), dims.end(), [](auto dim) { return dim <= 0x100000000u; }))
    return copy_to(host, sporades::generate<float, std::uint32_t>(exec, dims, *arguments.nnz,
                                                                  arguments.skew, seed));
  return copy_to(host, sporades::generate<float, std::uint64_t>(exec, dims, *arguments.nnz,
                                                                arguments.skew, seed));
}

}  // namespace

int generate(GenerateArguments const& arguments) {
  expect_one_process("generate");
  expects(!arguments.like.empty() || !arguments.dims.empty(),
          "generate: expected --dims (with --nnz) or --like");
  expects(!arguments.like.empty() || arguments.nnz, "generate: expected --nnz with --dims");
  check_tensor_name(arguments.output);
  check_files({}, {{"-o", arguments.output}});
  sporades::detail::Timer const timer;
  auto const X = make_tensor(arguments);
  double const made = timer.seconds();
  write_tensor(arguments.output, X);
  if (arguments.quiet) return 0;
  std::visit(
      [&](auto const& tensor) {
        std::printf("%s: %s, %llu nonzeros, made in %.2f s, written in %.2f s\n",
                    arguments.output.c_str(), to_string(tensor.dims).c_str(),
                    static_cast<unsigned long long>(tensor.nnz()), made, timer.seconds() - made);
      },
      X);
  return 0;
}

}  // namespace sporades::command

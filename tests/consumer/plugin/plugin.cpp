// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/formats/files/tns_file.hpp>

/// The fit of a model of the tensor in that file; -1 where there is none.
extern "C" double fit_of(char const* path) {
  Kokkos::ScopeGuard const guard{};
  Kokkos::DefaultExecutionSpace const exec{};
  try {
    auto const file = sporades::read_tensor<double, std::uint32_t>(path);
    sporades::CpAlsOptions options;
    options.rank = 6;
    options.iterations = 20;
    return sporades::cp_als(exec, sporades::copy_to(exec, file.tensor), options).fit();
  } catch (sporades::Error const&) {
    return -1;
  }
}

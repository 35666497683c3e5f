// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/formats/files/ttensor_file.hpp>
#include <string>

namespace {

template <class Read>
bool refuses(std::string const& function, Read const& read) {
  try {
    read();
  } catch (sporades::Error const& error) {
    return std::string(error.what()).rfind(function + ": Kokkos is not initialised", 0) == 0;
  }
  return false;
}

}  // namespace

/// Whether reading says that Kokkos is not initialised.
extern "C" bool refuses_to_read(char const* path) {
  return refuses("read_tensor", [&] { sporades::read_tensor<double>(path); }) &&
         refuses("parse_tensor", [&] { sporades::parse_tensor<double>("1 1 1\n", path); }) &&
         refuses("read_ktensor", [&] { sporades::read_ktensor<double>(path); }) &&
         refuses("read_ttensor", [&] { sporades::read_ttensor<double>(path); });
}

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

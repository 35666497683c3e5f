// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/kokkos.hpp>

namespace sporades::command {
namespace {

bool begins_with(std::string const& text, std::string const& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string name_of(std::string const& option) {
  return option.substr(0, option.find('='));
}

/// The option as this Kokkos spells it. Numbers are checked here: Kokkos would abort.
std::string checked_option(std::string const& option) {
  std::string name = name_of(option);
  if (name == "--kokkos-threads") name = "--kokkos-num-threads";
  for (auto const& [number, least] :
       {std::pair<std::string, int>{"--kokkos-num-threads", 1}, {"--kokkos-device-id", 0}}) {
    if (name != number) continue;
    auto const equals = option.find('=');
    std::string const value = equals == std::string::npos ? "" : option.substr(equals + 1);
    bool const is_number = !value.empty() && value.size() < 7 &&
                           value.find_first_not_of("0123456789") == std::string::npos;
    expects(is_number && std::atoi(value.c_str()) >= least, "'", option, "' is not ", number,
            "=N with an integer N of ", least, " or more");
    return kokkos_option(number) + "=" + value;
  }
  return option;
}

std::uint64_t device_bytes = 0;
std::uint64_t most_device_bytes = 0;

bool is_device(Kokkos_Profiling_SpaceHandle const& space) {
  return std::string(space.name).find("Host") == std::string::npos;
}

void count_allocation(Kokkos_Profiling_SpaceHandle space, char const*, void const*,
                      std::uint64_t bytes) {
  if (!is_device(space)) return;
  device_bytes += bytes;
  most_device_bytes = std::max(most_device_bytes, device_bytes);
}

void count_deallocation(Kokkos_Profiling_SpaceHandle space, char const*, void const*,
                        std::uint64_t bytes) {
  if (is_device(space)) device_bytes -= std::min(bytes, device_bytes);
}

void count_device_bytes() {
  for (char const* variable :
       {"KOKKOS_PROFILE_LIBRARY", "KOKKOS_TOOLS_LIBS", "KOKKOS_TOOLS_LIBRARIES"})
    if (std::getenv(variable) != nullptr) return;
  if constexpr (!is_gpu<Kokkos::DefaultExecutionSpace>) return;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(count_deallocation);
}

}  // namespace

std::uint64_t peak_device_bytes() {
  return most_device_bytes;
}

std::string threads_option(int threads) {
  return checked_option("--kokkos-num-threads=" + std::to_string(threads));
}

SplitArguments split_arguments(int argc, char** argv) {
  SplitArguments split;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (begins_with(argument, "--kokkos-"))
      split.kokkos.push_back(checked_option(argument));
    else
      split.own.push_back(argument);
  }
  return split;
}

struct KokkosScope::Guard {
  Kokkos::ScopeGuard scope;
  Guard(int& argc, char** argv) : scope(argc, argv) {}
};

KokkosScope::KokkosScope(char* program, std::vector<std::string> options) {
  // Advice on OMP_PROC_BIND and its like is for who asks for it.
  bool const asks = std::any_of(options.begin(), options.end(), [](std::string const& option) {
    return name_of(option) == "--kokkos-disable-warnings";
  });
  if (!asks && std::getenv("KOKKOS_DISABLE_WARNINGS") == nullptr)
    options.push_back("--kokkos-disable-warnings");
  std::vector<char*> argv{program};
  for (auto& option : options) argv.push_back(option.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  try {
    guard_ = std::make_unique<Guard>(argc, argv.data());
  } catch (std::exception const& error) {
    fail("Kokkos cannot start: ", error.what());
  }
  for (int i = 1; i < argc; ++i)  // Kokkos takes out what it knows
    if (begins_with(argv[i], "--kokkos-")) fail("'", argv[i], "' is no option of this Kokkos");
  count_device_bytes();
}

KokkosScope::~KokkosScope() = default;

}  // namespace sporades::command

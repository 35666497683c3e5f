// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/core/detail/cgroups.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/error.hpp>
#include <thread>
#include <tuple>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace sporades::command {
namespace {

bool begins_with(std::string const& text, std::string const& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string name_of(std::string const& option) {
  return option.substr(0, option.find('='));
}

/// Kokkos has room for no more of OpenMP's, and does not check it.
constexpr int most_threads = 512;

/// The number that a text is from its begin to its end, or the largest; -1 where it is none.
int whole_number(std::string const& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  auto const digits = text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
  return digits.size() < 9 ? std::atoi(digits.c_str()) : std::numeric_limits<int>::max();
}

/// The option as this Kokkos spells it. Numbers are checked here: Kokkos would abort.
std::string checked_option(std::string const& option) {
  std::string name = name_of(option);
  if (name == "--kokkos-threads") name = "--kokkos-num-threads";
  for (auto const& [number, least, most] :
       {std::tuple<std::string, int, int>{"--kokkos-num-threads", 1, most_threads},
        {"--kokkos-device-id", 0, 99999999}}) {
    if (name != number) continue;
    auto const equals = option.find('=');
    std::string const value = equals == std::string::npos ? "" : option.substr(equals + 1);
    int const given = whole_number(value);
    expects(given >= least, "'", option, "' is not ", number, "=N with an integer N of ", least,
            " or more");
    expects(given <= most, "'", option, "': at most ", most);
    return sporades::detail::kokkos_option(number) + "=" + value;
  }
  return option;
}

/// Threads of the host that Kokkos starts where nothing says how many; 1 where it has none.
int threads_by_default() {
  if (Kokkos::DefaultHostExecutionSpace::name() == std::string("Serial")) return 1;
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return static_cast<int>(std::thread::hardware_concurrency());
#endif
}

/// As many threads as the host has processors, or as a variable asks for, may be too many: for
/// Kokkos, or for a quota of processors, whose threads would wait for one another.
void check_number_of_threads(std::vector<std::string>& options) {
  for (auto const& option : options)
    if (name_of(option) == sporades::detail::kokkos_option("--kokkos-num-threads")) return;
  for (char const* const variable : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    char const* const value = std::getenv(variable);
    if (value == nullptr) continue;
    bool const is_openmps = std::string(variable) == "OMP_NUM_THREADS";
    std::string const text = value;
    if (is_openmps && text.empty()) continue;
    std::string first = text.substr(0, text.find(','));  // OpenMP's, by nesting
    if (is_openmps) first.erase(0, std::min(first.find_first_not_of(' '), first.size()));
    expects(whole_number(first) > 0, variable, " is '", text, "': no number of threads");
    expects(whole_number(first) <= most_threads, variable, " is ", text, ": at most ",
            most_threads);
    return;
  }
  double const quota = std::ceil(sporades::detail::cgroup_processors());
  int const most = static_cast<int>(std::clamp(quota, 1.0, double{most_threads}));
  if (threads_by_default() > most) options.push_back(threads_option(most));
}

std::uint64_t device_bytes = 0;
std::uint64_t most_device_bytes = 0;
std::uint64_t all_device_bytes = 0;

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
  if constexpr (!sporades::detail::is_gpu<Kokkos::DefaultExecutionSpace>) return;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(count_deallocation);
}

}  // namespace

std::uint64_t peak_device_bytes() {
  return most_device_bytes;
}

std::uint64_t device_memory_bytes() {
  return all_device_bytes;
}

std::string threads_option(int threads) {
  return checked_option("--kokkos-num-threads=" + std::to_string(threads));
}

SplitArguments split_arguments(int argc, char** argv) {
  SplitArguments split;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    // What a variable was to give that is not set: an option that stays away would go unnoticed.
    expects(!argument.empty() || i == 1, "the argument after '", argv[i - 1], "' is empty");
    bool const is_option = begins_with(argument, "--");
    expects(!is_option || argument.back() != '=', "'", argument, "' has an empty value");
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
  check_number_of_threads(options);
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
  using Default = Kokkos::DefaultExecutionSpace;
  if (sporades::detail::is_gpu<Default>)
    all_device_bytes = static_cast<std::uint64_t>(sporades::detail::memory_bytes(Default()));
  count_device_bytes();
}

KokkosScope::~KokkosScope() = default;

}  // namespace sporades::command

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/spin_limit.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/execution_spaces.hpp>
#include <string>
#include <vector>

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>
#endif
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace sporades {
namespace {

// On a virtual machine it takes up to about this long to put a thread to sleep and wake it. A
// thread that spins for as long, and then sleeps, loses at most twice the time that the best choice
// would lose, however long the wait is.
constexpr double seconds_to_spin = 3e-4;

template <class... Spaces>
constexpr bool has_openmp(std::tuple<Spaces...>*) {
  return (detail::wakes_threads<Spaces> || ...);
}

/// Rounds of the waiting loop of GNU's OpenMP library that take this long on this machine. They are
/// measured, since an instruction `pause` takes 20 to 150 cycles.
long spins_in(double seconds) {
  constexpr int trial = 1000;
  std::atomic<int> word{0};
  double best = 1;
  for (int repeat = 0; repeat < 5; ++repeat) {
    detail::Timer const timer;
    for (int i = 0; i < trial && word.load(std::memory_order_relaxed) == 0; ++i) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
    best = std::min(best, timer.seconds());
  }
  return static_cast<long>(std::clamp(trial * seconds / best, 1e3, 1e6));
}

#if defined(__linux__)
/// Holds "PROCESS:DESCRIPTOR" of the standard error that the second execution takes back. What the
/// libraries say that are loaded, as the OpenMP library of variables that it does not like, the
/// first execution has said already.
constexpr char const* kept_standard_error = "SPORADES_STANDARD_ERROR";

void turn_off_standard_error() {
  int const kept = fcntl(STDERR_FILENO, F_DUPFD, STDERR_FILENO + 1);
  int const nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  auto const text = std::to_string(getpid()) + ":" + std::to_string(kept);
  if (kept >= 0 && nowhere >= 0 && setenv(kept_standard_error, text.c_str(), 1) == 0)
    dup2(nowhere, STDERR_FILENO);
  if (nowhere >= 0) close(nowhere);
}

void take_back_standard_error() {
  char const* const text = std::getenv(kept_standard_error);
  if (text == nullptr) return;
  long process = 0;
  int kept = -1;
  bool const is_own = std::sscanf(text, "%ld:%d", &process, &kept) == 2 && process == getpid();
  if (is_own && kept > STDERR_FILENO && dup2(kept, STDERR_FILENO) >= 0) close(kept);
  unsetenv(kept_standard_error);
}

/// Gives this thread all processors again that OpenMP may use. If threads are to be bound, the
/// OpenMP library bound this one to the first place when it was loaded; the program that is
/// executed next would inherit that place only.
void unbind() {
#if defined(_OPENMP)
  std::vector<int> processors;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> more(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, more.data());
    processors.insert(processors.end(), more.begin(), more.end());
  }
  if (processors.empty()) return;
  auto const count =
      static_cast<std::size_t>(*std::max_element(processors.begin(), processors.end())) + 1;
  cpu_set_t* const all = CPU_ALLOC(count);
  if (all == nullptr) return;
  std::size_t const bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, all);
  for (int const processor : processors) CPU_SET_S(static_cast<std::size_t>(processor), bytes, all);
  sched_setaffinity(0, bytes, all);
  CPU_FREE(all);
#endif
}
#endif

}  // namespace

void limit_spinning(char** argv) {
#if defined(__linux__)
  take_back_standard_error();
  if (!has_openmp(static_cast<ExecutionSpaces*>(nullptr))) return;
  for (char const* variable : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"})
    if (std::getenv(variable) != nullptr) return;
  // If the user executed the dynamic linker to load the program, /proc/self/exe is the linker.
  if (getauxval(AT_BASE) == 0) return;
  std::string program(4096, '\0');
  auto const length = readlink("/proc/self/exe", program.data(), program.size());
  if (length <= 0 || static_cast<std::size_t>(length) == program.size()) return;
  program.resize(static_cast<std::size_t>(length));
  if (setenv("GOMP_SPINCOUNT", std::to_string(spins_in(seconds_to_spin)).c_str(), 1) != 0 ||
      setenv("KMP_BLOCKTIME", "1", 1) != 0)
    return;
  unbind();
  turn_off_standard_error();
  execv(program.c_str(), argv);  // returns only if it fails; then threads spin as without this
  take_back_standard_error();
#else
  static_cast<void>(argv);
#endif
}

}  // namespace sporades

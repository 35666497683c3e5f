// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

Communicator& all() {
  static Communicator one;
  return one;
}

/// Of the processes that something started together, as it tells each of them: how many there are,
/// and which one this is.
struct Started {
  int processes = 1;
  int rank = 0;
};

/// By Open MPI, MPICH and its like, MVAPICH, or Slurm's srun; a script of sbatch is one process of
/// its own, whatever tasks its job has.
Started started() {
  constexpr char const* variables[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                          {"PMI_SIZE", "PMI_RANK"},
                                          {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                          {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  auto const number = [](char const* variable) {
    char const* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::atoi(text);
  };
  for (auto const& [size, rank] : variables)
    if (number(size) > 0) return {number(size), number(rank)};
  return {};
}

/// As started(), where these processes are not joined by MPI: each does the whole work.
Started copies() {
  return all().size() == 1 ? started() : Started{};
}

constexpr char const* reason =
#ifdef SPORADES_HAS_MPI
    "what started them is not of the MPI that this program was built with";
#else
    "this program was built without MPI";
#endif

#ifdef SPORADES_HAS_MPI
/// What starters of processes tell those that they start: Open MPI, PMIx, MPICH and its like, Slurm
/// with PMI, Cray and IBM.
bool is_started_by_mpi() {
  for (char const* const variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                     "PALS_RANKID", "ALPS_APP_PE", "MPI_LOCALNRANKS"})
    if (std::getenv(variable) != nullptr) return true;
  return false;
}

/// Standard output goes nowhere from now on.
void silence_output() {
  int const nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  close(nowhere);
}
#endif

}  // namespace

#ifdef SPORADES_HAS_MPI
ProcessesScope::ProcessesScope(int argc, char** argv) : is_mpi_(is_started_by_mpi()) {
  if (!is_mpi_) return;
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  all() = Communicator(MPI_COMM_WORLD);
  if (!speaks()) silence_output();
}

ProcessesScope::~ProcessesScope() {
  if (!is_mpi_) return;
  all() = {};
  MPI_Finalize();
}

int ProcessesScope::agreed(int status) const {
  int greatest = status;
  if (is_mpi_) MPI_Allreduce(&status, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return greatest;
}
#else
ProcessesScope::ProcessesScope(int, char**) {}
ProcessesScope::~ProcessesScope() = default;
int ProcessesScope::agreed(int status) const {
  return status;
}
#endif

Communicator const& processes() {
  return all();
}

bool speaks() {
  return processes().rank() == 0;
}

void tell(std::string const& text) {
  if (speaks() && copies().rank == 0)
    std::fprintf(stderr, "sporades: %s\n", printable(text).c_str());
}

std::uint64_t sum_of_all(std::uint64_t here) {
  std::uint64_t sum = 0;
  for (auto const one : sporades::detail::all_gather(processes(), "numbers told", here)) sum += one;
  return sum;
}

std::uint64_t greatest_of_all(std::uint64_t here) {
  auto const all = sporades::detail::all_gather(processes(), "numbers told", here);
  return *std::max_element(all.begin(), all.end());
}

std::map<std::string, Traffic> traffic_of_all() {
  auto traffic = processes().traffic();  // telling it adds to it
  for (auto& [name, total] : traffic) {
    auto const parts = sporades::detail::all_gather(processes(), "numbers told", total);
    total = {};
    for (auto const& part : parts) {
      total.messages += part.messages;
      total.bytes += part.bytes;
      total.seconds = std::max(total.seconds, part.seconds);
    }
  }
  return traffic;
}

void expect_one_process(char const* what) {
  expects(processes().size() == 1, what, ": works on one process, and ", processes().size(),
          " were started");
}

void warn_of_copies() {
  if (copies().processes > 1)
    tell(std::string("warning: ") + reason + ": each of " + std::to_string(copies().processes) +
         " processes did the whole work");
}

void expect_one_writer(std::string const& option, std::string const& path) {
  expects(copies().processes == 1, option, " ", path, ": ", reason, ", and each of ",
          copies().processes, " processes would write this file");
}

}  // namespace sporades::command

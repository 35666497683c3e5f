// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/core/detail/exchange.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

Communicator& all() {
  static Communicator one;
  return one;
}

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
// Open MPI, MPICH and its like tell their processes how many there are.
ProcessesScope::ProcessesScope(int, char**) {
  for (std::string const starter : {"OMPI_COMM_WORLD", "PMI"}) {
    char const* const size = std::getenv((starter + "_SIZE").c_str());
    char const* const rank = std::getenv((starter + "_RANK").c_str());
    if (size == nullptr || std::atoi(size) < 2 || (rank != nullptr && std::atoi(rank) != 0))
      continue;
    tell(std::string("this program was built without MPI: each of ") + size +
         " processes does the whole work, and writes the same files");
    return;
  }
}
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
  if (speaks()) std::fprintf(stderr, "sporades: %s\n", text.c_str());
}

std::uint64_t sum_of_all(std::uint64_t here) {
  std::uint64_t sum = 0;
  for (auto const one : sporades::detail::all_gathered(processes(), "numbers told", here))
    sum += one;
  return sum;
}

std::uint64_t greatest_of_all(std::uint64_t here) {
  auto const all = sporades::detail::all_gathered(processes(), "numbers told", here);
  return *std::max_element(all.begin(), all.end());
}

std::map<std::string, Traffic> traffic_of_all() {
  auto traffic = processes().traffic();  // telling it adds to it
  for (auto& [name, total] : traffic) {
    auto const parts = sporades::detail::all_gathered(processes(), "numbers told", total);
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

}  // namespace sporades::command

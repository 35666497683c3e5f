// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/core/detail/kokkos.hpp>

namespace sporades::detail {

namespace {

struct CallWorker {
  std::function<void()> const* worker;
  void operator()(int) const { (*worker)(); }
};

}  // namespace

void FirstProblem::record(std::size_t block) {
  std::lock_guard const lock(mutex_);
  if (problem_ && block >= block_) return;
  block_ = block;
  problem_ = std::current_exception();
}

bool FirstProblem::is_before(std::size_t block) const {
  std::lock_guard const lock(mutex_);
  return problem_ && block_ < block;
}

void FirstProblem::rethrow() const {
  if (problem_) std::rethrow_exception(problem_);
}

int number_of_threads(int threads) {
  if (!Kokkos::is_initialized()) return 1;
  return threads > 0 ? threads : Kokkos::DefaultHostExecutionSpace().concurrency();
}

void on_threads(int threads, std::function<void()> const& worker) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>;
  threads = number_of_threads(threads);
  if (threads == 1) return worker();
  Space const exec{};
  Kokkos::parallel_for("sporades::host_blocks", Policy(exec, 0, threads, Kokkos::ChunkSize(1)),
                       CallWorker{&worker});
  fence(exec, "sporades::host_blocks");
}

void for_each_block(int threads, std::size_t blocks, std::function<void(std::size_t)> const& work) {
  FirstProblem problem;
  std::atomic<std::size_t> begun{0};
  auto const wanted = std::min<std::size_t>(number_of_threads(threads), blocks);
  on_threads(std::max(1, static_cast<int>(wanted)), [&] {
    // A block that was taken is worked on even if a later one has thrown meanwhile.
    for (auto block = begun++; block < blocks && !problem.is_before(block); block = begun++) {
      try {
        work(block);
      } catch (...) {
        problem.record(block);
      }
    }
  });
  problem.rethrow();
}

void for_each_range(int threads, std::uint64_t size, std::uint64_t block_size,
                    std::function<void(std::uint64_t, std::uint64_t)> const& work) {
  auto const blocks = size / block_size + (size % block_size != 0);
  for_each_block(threads, blocks, [&](std::size_t block) {
    auto const begin = block * block_size;
    work(begin, begin + std::min(block_size, size - begin));
  });
}

}  // namespace sporades::detail

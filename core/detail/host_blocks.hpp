// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>

/// Blocks of work, such as blocks of a text, on the threads of the host.

namespace sporades::detail {

/// Threads work on many blocks in any order, and some blocks throw. Keeps the exception of the
/// lowest of these blocks.
class FirstProblem {
 public:
  /// Keeps the exception that is being handled, if no lower block has thrown: call it inside a
  /// catch block.
  void record(std::size_t block);
  /// True if a block before this one has thrown, so that this one need not begin.
  bool is_before(std::size_t block) const;
  /// The block of the exception that is kept.
  std::size_t block() const { return block_; }
  /// Throws the exception that is kept, if there is one.
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::size_t block_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr problem_;
};

/// `threads` if it is positive, else the number of threads of the host's execution space.
int number_of_threads(int threads);

/// Calls worker once on each of this many threads of the host's execution space (0: on all), and
/// waits for all calls; once on the calling thread while Kokkos is not initialized. The worker must
/// not throw.
void on_threads(int threads, std::function<void()> const& worker);

/// Calls work(0) to work(blocks - 1) on threads as on_threads does, begun in this order. If some
/// throw, throws the exception of the lowest block, after all blocks before it are done.
void for_each_block(int threads, std::size_t blocks, std::function<void(std::size_t)> const& work);

/// for_each_block for the ranges [begin, end) of block_size items each, the last of them shorter,
/// that `size` items are divided into: calls work(begin, end).
void for_each_range(int threads, std::uint64_t size, std::uint64_t block_size,
                    std::function<void(std::uint64_t, std::uint64_t)> const& work);

}  // namespace sporades::detail

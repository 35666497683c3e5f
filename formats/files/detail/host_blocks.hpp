// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>

namespace sporades::detail {

/// Keeps the exception of the first of many blocks that are worked on in any order.
class FirstProblem {
 public:
  /// Call inside a catch block.
  void record(std::size_t block);
  /// True where a block before this one has thrown: this one need not begin.
  bool is_before(std::size_t block) const;
  /// The block of the exception that is kept.
  std::size_t block() const { return block_; }
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::size_t block_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr problem_;
};

/// How many threads the host's execution space has, unless threads says it.
int number_of_threads(int threads);

/// Calls worker once on each thread of the host's execution space, at most so many at once (0: as
/// many as it has), and waits. The worker must not throw.
void on_threads(int threads, std::function<void()> const& worker);

/// Calls work(0) to work(blocks - 1) on threads as above, begun in this order. Where some throw,
/// the exception of the lowest block is thrown on, after all blocks before it were done.
void for_each_block(int threads, std::size_t blocks, std::function<void(std::size_t)> const& work);

/// The same for the parts [begin, end) of size things, as large as a block of size block_size.
void for_each_range(int threads, std::uint64_t size, std::uint64_t block_size,
                    std::function<void(std::uint64_t, std::uint64_t)> const& work);

}  // namespace sporades::detail

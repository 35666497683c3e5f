// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bytes/touched.hpp>
#include <vector>

namespace sporades::test {
namespace {

struct Memory {
  std::string name;
  std::uintptr_t begin, end;
  std::vector<bool> touched;  // bytes
  std::vector<char> before;   // what they were

  void touch(std::uintptr_t first, std::uintptr_t last) {
    if (first >= end || last <= begin) return;
    for (auto at = std::max(first, begin); at < std::min(last, end); ++at)
      touched[at - begin] = true;
  }
  std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), true));
  }
};

std::vector<Memory> watched;
bool is_counting = false;

void touch(void const* place, std::size_t bytes) {
  if (!is_counting) return;
  auto const first = reinterpret_cast<std::uintptr_t>(place);
  for (auto& memory : watched) memory.touch(first, first + bytes);
}

}  // namespace

void watch_nothing() {
  watched.clear();
}

void watch_memory(std::string const& name, void const* begin, std::size_t bytes) {
  auto const first = reinterpret_cast<std::uintptr_t>(begin);
  bool const is_known = std::any_of(watched.begin(), watched.end(), [&](Memory const& memory) {
    return memory.begin <= first && first + bytes <= memory.end;
  });
  if (bytes > 0 && !is_known) watched.push_back({name, first, first + bytes, {}, {}});
}

namespace detail {

void start() {
  for (auto& memory : watched) {
    auto const* const bytes = reinterpret_cast<char const*>(memory.begin);
    memory.touched.assign(memory.end - memory.begin, false);
    memory.before.assign(bytes, bytes + (memory.end - memory.begin));
  }
  is_counting = true;
}

/// Bytes that have changed were touched, too: std::memset, which clears products, calls nothing.
std::uint64_t stop() {
  is_counting = false;
  std::uint64_t sum = 0;
  for (auto& memory : watched) {
    auto const* const bytes = reinterpret_cast<char const*>(memory.begin);
    for (std::size_t k = 0; k < memory.touched.size(); ++k)
      if (bytes[k] != memory.before[k]) memory.touched[k] = true;
    sum += memory.count();
  }
  return sum;
}

}  // namespace detail

std::string touched_text() {
  std::string text;
  for (auto const& memory : watched)
    text += memory.name + " " + std::to_string(memory.count()) + " of " +
            std::to_string(memory.touched.size()) + "\n";
  return text;
}

}  // namespace sporades::test

// What compilers call: GCC 12 and Clang 14, with Kokkos 3.4 to 4.7 and what it inlines.
using sporades::test::touch;

template <class Number>
Number added(Number volatile* place, Number number) {
  touch(const_cast<Number*>(place), sizeof(Number));
  return __atomic_fetch_add(place, number, __ATOMIC_SEQ_CST);
}

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read1(void* p) {
  touch(p, 1);
}
void __tsan_read2(void* p) {
  touch(p, 2);
}
void __tsan_read4(void* p) {
  touch(p, 4);
}
void __tsan_read8(void* p) {
  touch(p, 8);
}
void __tsan_read16(void* p) {
  touch(p, 16);
}
void __tsan_write1(void* p) {
  touch(p, 1);
}
void __tsan_write2(void* p) {
  touch(p, 2);
}
void __tsan_write4(void* p) {
  touch(p, 4);
}
void __tsan_write8(void* p) {
  touch(p, 8);
}
void __tsan_write16(void* p) {
  touch(p, 16);
}
void __tsan_unaligned_read2(void* p) {
  touch(p, 2);
}
void __tsan_unaligned_read4(void* p) {
  touch(p, 4);
}
void __tsan_unaligned_read8(void* p) {
  touch(p, 8);
}
void __tsan_unaligned_read16(void* p) {
  touch(p, 16);
}
void __tsan_unaligned_write2(void* p) {
  touch(p, 2);
}
void __tsan_unaligned_write4(void* p) {
  touch(p, 4);
}
void __tsan_unaligned_write8(void* p) {
  touch(p, 8);
}
void __tsan_unaligned_write16(void* p) {
  touch(p, 16);
}
void __tsan_read_range(void* p, unsigned long bytes) {
  touch(p, bytes);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  touch(p, bytes);
}
void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

using Word8 = std::uint8_t;
using Word32 = std::uint32_t;
using Word64 = std::uint64_t;

Word8 __tsan_atomic8_load(Word8 const volatile* p, int) {
  return *p;
}
void __tsan_atomic8_store(Word8 volatile* p, Word8 word, int) {
  *p = word;
}
Word8 __tsan_atomic8_exchange(Word8 volatile* p, Word8 word, int) {
  return __atomic_exchange_n(p, word, __ATOMIC_SEQ_CST);
}
Word32 __tsan_atomic32_load(Word32 const volatile* p, int) {
  return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}
void __tsan_atomic32_store(Word32 volatile* p, Word32 word, int) {
  __atomic_store_n(p, word, __ATOMIC_SEQ_CST);
}
Word32 __tsan_atomic32_exchange(Word32 volatile* p, Word32 word, int) {
  return __atomic_exchange_n(p, word, __ATOMIC_SEQ_CST);
}
Word32 __tsan_atomic32_fetch_add(Word32 volatile* p, Word32 word, int) {
  return added(p, word);
}
Word32 __tsan_atomic32_fetch_sub(Word32 volatile* p, Word32 word, int) {
  return added(p, 0 - word);
}
Word32 __tsan_atomic32_fetch_or(Word32 volatile* p, Word32 word, int) {
  return __atomic_fetch_or(p, word, __ATOMIC_SEQ_CST);
}
int __tsan_atomic32_compare_exchange_strong(Word32 volatile* p, Word32* expected, Word32 word, int,
                                            int) {
  return __atomic_compare_exchange_n(p, expected, word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
Word64 __tsan_atomic64_load(Word64 const volatile* p, int) {
  touch(const_cast<Word64 const*>(p), 8);
  return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}
void __tsan_atomic64_store(Word64 volatile* p, Word64 word, int) {
  touch(const_cast<Word64*>(p), 8);
  __atomic_store_n(p, word, __ATOMIC_SEQ_CST);
}
Word64 __tsan_atomic64_fetch_add(Word64 volatile* p, Word64 word, int) {
  return added(p, word);
}
Word64 __tsan_atomic64_fetch_sub(Word64 volatile* p, Word64 word, int) {
  return added(p, 0 - word);
}
Word64 __tsan_atomic64_exchange(Word64 volatile* p, Word64 word, int) {
  touch(const_cast<Word64*>(p), 8);
  return __atomic_exchange_n(p, word, __ATOMIC_SEQ_CST);
}
int __tsan_atomic64_compare_exchange_strong(Word64 volatile* p, Word64* expected, Word64 word, int,
                                            int) {
  touch(const_cast<Word64*>(p), 8);
  return __atomic_compare_exchange_n(p, expected, word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
}  // extern "C"

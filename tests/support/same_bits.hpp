// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Checks that results have the same bits on repeated runs and on every number of threads.
/// The test files' ctest entry threads_1 writes the hash of every result, by name, to the file that
/// the environment's SPORADES_WRITE_BITS names; threads_2, _4 and _8 compare with it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sporades/core/matrix.hpp>
#include <string>
#include <support/catch.hpp>

namespace sporades::test {

/// The FNV-1a hash of size bytes. To continue over several blocks, pass the hash of those before.
inline std::uint64_t hash_bytes(void const* data, std::size_t size,
                                std::uint64_t hash = 14695981039346656037u) {
  auto const* const bytes = static_cast<unsigned char const*>(data);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

/// The hash of the entries of a View of rank 1 or 2, on host or device, row by row, without
/// padding.
template <class ViewType>
std::uint64_t hash_bits(ViewType const& view) {
  std::uint64_t hash = hash_bytes(nullptr, 0);
  if constexpr (ViewType::rank == 1) {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
    for (std::size_t i = 0; i < host.extent(0); ++i)
      hash = hash_bytes(&host(i), sizeof host(i), hash);
  } else {
    auto const host = copy_matrix(Kokkos::DefaultHostExecutionSpace{}, view);
    for (std::size_t i = 0; i < host.extent(0); ++i)
      hash = hash_bytes(&host(i, 0), host.extent(1) * sizeof host(i, 0), hash);
  }
  return hash;
}

namespace internal {

inline std::map<std::string, std::uint64_t>& known_bits() {
  static std::map<std::string, std::uint64_t> known = [] {
    std::map<std::string, std::uint64_t> read;
    if (char const* const path = std::getenv("SPORADES_READ_BITS")) {
      std::ifstream file(path);
      std::uint64_t hash;
      for (std::string name; file >> hash && std::getline(file >> std::ws, name);)
        read[name] = hash;
    }
    if (char const* const path = std::getenv("SPORADES_WRITE_BITS")) std::ofstream(path).flush();
    return read;
  }();
  return known;
}

}  // namespace internal

/// Tests that the hash is the one that this name had earlier in this run, and in the run with one
/// thread. The name says what was computed, including the backend and the types:
///   check_same_bits("mttkrp sorted OpenMP double mode 2", hash_bits(V));
/// Use it in tests tagged [threads].
inline void check_same_bits(std::string const& name, std::uint64_t hash) {
  auto& known = internal::known_bits();
  auto const [entry, is_new] = known.emplace(name, hash);
  INFO("bits of " << name);
  if (std::getenv("SPORADES_READ_BITS")) CHECK(!is_new);
  CHECK(entry->second == hash);
  if (char const* const path = std::getenv("SPORADES_WRITE_BITS"); path && is_new)
    std::ofstream(path, std::ios::app) << hash << ' ' << name << '\n';
}

}  // namespace sporades::test

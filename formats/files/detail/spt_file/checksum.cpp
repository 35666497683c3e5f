// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>

namespace sporades::detail {

namespace {

constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t prime_2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t prime_3 = 0x165667B19E3779F9;
constexpr std::uint64_t prime_4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t prime_5 = 0x27D4EB2F165667C5;

std::uint64_t rotate(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

template <class Integer>
std::uint64_t load(unsigned char const* p) {
  Integer integer;
  std::memcpy(&integer, p, sizeof integer);
  return integer;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
  return rotate(lane + input * prime_2, 31) * prime_1;
}

}  // namespace

std::uint64_t xxh64(void const* bytes, std::size_t size) {
  auto const* p = static_cast<unsigned char const*>(bytes);
  auto const* const end = p + size;
  std::uint64_t hash = prime_5;
  if (size >= 32) {
    std::uint64_t lanes[4] = {prime_1 + prime_2, prime_2, 0, 0 - prime_1};
    for (; end - p >= 32; p += 32)
      for (int k = 0; k < 4; ++k) lanes[k] = round(lanes[k], load<std::uint64_t>(p + 8 * k));
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (auto const lane : lanes) hash = (hash ^ round(0, lane)) * prime_1 + prime_4;
  }
  hash += size;
  for (; end - p >= 8; p += 8)
    hash = rotate(hash ^ round(0, load<std::uint64_t>(p)), 27) * prime_1 + prime_4;
  for (; end - p >= 4; p += 4)
    hash = rotate(hash ^ (load<std::uint32_t>(p) * prime_1), 23) * prime_2 + prime_3;
  for (; p != end; ++p) hash = rotate(hash ^ (*p * prime_5), 11) * prime_1;
  hash = (hash ^ (hash >> 33)) * prime_2;
  hash = (hash ^ (hash >> 29)) * prime_3;
  return hash ^ (hash >> 32);
}

std::uint64_t blocked_checksum(void const* bytes, std::size_t size, int threads) {
  auto const* const p = static_cast<unsigned char const*>(bytes);
  std::vector<std::uint64_t> hashes((size + checksum_block - 1) / checksum_block);
  for_each_range(threads, size, checksum_block, [&](std::uint64_t begin, std::uint64_t end) {
    hashes[begin / checksum_block] = xxh64(p + begin, end - begin);
  });
  return xxh64(hashes.data(), hashes.size() * sizeof(std::uint64_t));
}

std::uint64_t blocked_checksum(InputFile const& file, std::uint64_t place, std::uint64_t size,
                               int threads) {
  std::vector<std::uint64_t> hashes((size + checksum_block - 1) / checksum_block);
  for_each_range(threads, size, checksum_block, [&](std::uint64_t begin, std::uint64_t end) {
    auto const block = file.text(place + begin, end - begin);
    hashes[begin / checksum_block] = xxh64(block.data(), block.size());
  });
  return xxh64(hashes.data(), hashes.size() * sizeof(std::uint64_t));
}

void BlockedChecksum::add(void const* bytes, std::size_t size) {
  auto const* from = static_cast<std::byte const*>(bytes);
  while (size > 0) {
    auto const taken = std::min(size, checksum_block - block_.size());
    block_.insert(block_.end(), from, from + taken);
    from += taken;
    size -= taken;
    if (block_.size() < checksum_block) continue;
    hashes_.push_back(xxh64(block_.data(), checksum_block));
    block_.clear();
  }
}

std::uint64_t BlockedChecksum::value() const {
  auto hashes = hashes_;
  if (!block_.empty()) hashes.push_back(xxh64(block_.data(), block_.size()));
  return xxh64(hashes.data(), hashes.size() * sizeof(std::uint64_t));
}

}  // namespace sporades::detail

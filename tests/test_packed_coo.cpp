// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/formats/blocked_coo.hpp>
#include <sporades/formats/morton_order.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

Kokkos::DefaultHostExecutionSpace host() {
  return {};
}

/// The key that Morton order compares, bit by bit from the definition; all of it fits 64 bits.
template <class Tensor>
std::uint64_t morton_key(Tensor const& X, Position p) {
  std::uint64_t key = 0;
  int place = 0;
  for (int bit = 0; bit < 32; ++bit)
    for (int n = 0; n < X.order(); ++n)
      if (bit < index_bits(X.dims[n]))
        key |= (static_cast<std::uint64_t>(X.coordinates(n, p)) >> bit & 1) << place++;
  return key;
}

template <class Tensor>
void check_same_nonzeros(Tensor const& X, Tensor const& Y) {
  REQUIRE(X.nnz() == Y.nnz());
  Position wrong = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    bool same = X.values(p) == Y.values(p);
    for (int n = 0; n < X.order(); ++n) same = same && X.coordinates(n, p) == Y.coordinates(n, p);
    wrong += !same;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("packed COO gives back its nonzeros", "[formats][packed_coo]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  for (Dims const& dims : {Dims{9}, Dims{7, 4}, Dims{6, 1, 4}, Dims{300, 200, 100, 50},
                           Dims{70000, 60000, 50000}, Dims{2, 1u << 31, 1u << 31}, Dims{5, 0}}) {
    auto const X = random_coo<Scalar, Index>(exec, dims, dims.back() == 0 ? 0 : 3000, 5, 2);
    for (int n = 0; n < X.order(); ++n) {
      if (!fits_packed_coo(dims, n)) continue;
      std::vector<int> modes{n};
      for (int m = X.order() - 1; m >= 0; --m)
        if (m != n) modes.push_back(m);
      auto const list = sorted(exec, X, modes);
      auto const packed = make_packed_coo(exec, list, n);
      INFO(to_string(dims) << ", mode " << n);
      auto const back = to_coo(exec, packed);
      exec.fence();
      check_same_nonzeros(copy_to(host(), list), copy_to(host(), back));
      CHECK(to_coo(exec, packed).sorted_modes == std::vector<int>{n});
      if (X.nnz() > 0)
        CHECK((packed.narrow.extent(0) > 0) == (sporades::detail::packed_bits(dims, n) <= 32));
    }
  }
}

TEST_CASE("packed COO of 3,000 nonzeros takes the bytes that it says", "[formats][packed_coo]") {
  auto const X =
      sorted(host(), random_coo<double, std::uint32_t>(host(), {4, 100, 100}, 3000), {0, 1, 2});
  auto const packed = make_packed_coo(host(), X, 0);
  CHECK(packed.rows.extent(0) == 4);
  CHECK(packed.storage_bytes() == 3000 * (8 + 4) + 4 * 4 + 24 * 8);
}

TEMPLATE_LIST_TEST_CASE("blocked COO gives back its nonzeros, block by block",
                        "[formats][blocked_coo]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  for (Dims const& dims : {Dims{900}, Dims{70, 400}, Dims{300, 200, 100, 5}, Dims{5, 0},
                           Dims{9000, 60000, 5000}, Dims(5, 8000)}) {
    auto const X = random_coo<Scalar, Index>(exec, dims, dims.back() == 0 ? 0 : 30000, 5, 2);
    for (int n = 0; n < X.order(); ++n)
      for (int bits : {1, 4, 31}) {
        std::vector<int> modes{n};
        for (int m = 0; m < X.order(); ++m)
          if (m != n) modes.push_back(m);
        auto const blocked = make_blocked_coo(exec, X, modes, bits);
        auto const back = to_coo(exec, blocked);
        exec.fence();
        auto const Y = copy_to(host(), back);
        INFO(to_string(dims) << ", mode " << n << ", blocks of 2^" << bits);
        check_same_nonzeros(copy_to(host(), sum_duplicates(exec, X).tensor),
                            sum_duplicates(host(), Y).tensor);
        auto const slices =
            Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, blocked.slices);
        Position next = 0, wrong = 0;
        for (Position s = 0; s < slices.extent(0); ++s) {
          wrong += slices(s).begin != next || slices(s).end <= next;
          next = slices(s).end;
          for (Position p = slices(s).begin; p < slices(s).end; ++p)
            wrong += Y.coordinates(n, p) < slices(s).row ||
                     Y.coordinates(n, p) >= slices(s).row + slices(s).row_count;
        }
        CHECK(next == Y.nnz());
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("packed COO refuses what does not fit", "[formats][packed_coo]") {
  using Catch::Matchers::ContainsSubstring;
  auto const X = random_coo<double, std::uint32_t>(host(), {6, 5, 4}, 10);
  CHECK_THROWS_WITH(make_packed_coo(host(), sorted(host(), X, {1}), 0),
                    ContainsSubstring("not sorted by mode 0 first"));
  Dims const large{2, 1u << 31, 1u << 31, 4};
  CHECK(!fits_packed_coo(large, 0));
  CHECK(fits_packed_coo(large, 1));
  CHECK_THROWS_WITH(
      make_packed_coo(host(),
                      sorted(host(), random_coo<double, std::uint32_t>(host(), large, 10), {0}), 0),
      ContainsSubstring("take 64 bits, a word has 63"));
}

TEMPLATE_LIST_TEST_CASE("morton order is that of interleaved bits", "[formats][morton]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  for (Dims const& dims : {Dims{1000}, Dims{700, 4}, Dims{300, 1, 4000}, Dims{183, 24, 1140, 1717},
                           Dims{5, 4, 3, 4, 5}}) {
    auto const X = random_coo<Scalar, Index>(exec, dims, 20000, 5, 1);
    auto const Y = copy_to(host(), morton_sorted(exec, X));
    Position descents = 0;
    for (Position p = 1; p < Y.nnz(); ++p) descents += morton_key(Y, p) < morton_key(Y, p - 1);
    INFO(to_string(dims));
    CHECK(descents == 0);
    std::vector<int> modes;
    for (int n = 0; n < X.order(); ++n) modes.push_back(n);
    check_same_nonzeros(copy_to(host(), sum_duplicates(exec, X).tensor),
                        sum_duplicates(host(), Y).tensor);
  }
}

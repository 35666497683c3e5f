// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

Kokkos::DefaultHostExecutionSpace host() {
  return {};
}

/// The linear index from its definition, bit by bit: the high word and the low one.
template <class Tensor>
std::array<std::uint64_t, 2> linear_index(Tensor const& X, Position p) {
  std::vector<int> modes;
  for (int bits = 0; bits <= 64; ++bits)
    for (int n = 0; n < X.order(); ++n)
      if (sporades::detail::index_bits(X.dims[n]) == bits) modes.push_back(n);
  std::uint64_t words[2] = {0, 0};
  int place = 0;
  for (int bit = 0; bit < 64; ++bit)
    for (int n : modes)
      if (bit < sporades::detail::index_bits(X.dims[n])) {
        words[place / 64] |= (static_cast<std::uint64_t>(X.coordinates(n, p)) >> bit & 1)
                             << place % 64;
        ++place;
      }
  return {words[1], words[0]};
}

std::vector<Dims> shapes() {
  return {{1000},
          {700, 4},
          {300, 1, 4000},
          {183, 24, 1140, 1717},
          {5, 4, 3, 4, 5},
          {1u << 31, 1u << 31, 2},         // 63 bits
          {1u << 31, 1u << 31, 4},         // 64
          {1u << 31, 1u << 31, 8},         // 65: two words
          {1u << 31, 1u << 31, 70000, 9},  // a mode's bits in both words
          Dims(16, 3),
          Dims(9, 10000)};  // 126
}

}  // namespace

TEST_CASE("bits are extracted and deposited one by one", "[core][bits]") {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    std::uint64_t mask = random();
    for (int thinner = trial % 6; thinner > 0; --thinner) mask &= random();
    if (trial % 7 == 0) mask = ~mask;
    if (trial < 2) mask = trial == 0 ? 0 : ~std::uint64_t{0};
    std::uint64_t const word = random();
    std::uint64_t extracted = 0, deposited = 0;
    int count = 0;
    for (int b = 0; b < 64; ++b) {
      if (!(mask >> b & 1)) continue;
      extracted |= (word >> b & 1) << count;
      deposited |= (word >> count & 1) << b;
      ++count;
    }
    sporades::detail::BitMask const bits(mask);
    REQUIRE(bits.count() == count);
    REQUIRE(sporades::detail::extract_bits(word, bits) == extracted);
    REQUIRE(sporades::detail::deposit_bits(word, bits) == deposited);
    REQUIRE(sporades::detail::extract_in_steps(word, bits) == extracted);
    REQUIRE(sporades::detail::deposit_in_steps(word, bits) == deposited);
  }
}

TEMPLATE_LIST_TEST_CASE("ALTO orders by interleaved bits and gives back its nonzeros",
                        "[formats][alto_tensor]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  for (auto const& dims : shapes()) {
    auto const X = random_coo<Scalar, Index>(exec, dims, 5000, 5, 1);
    auto const alto = make_alto(exec, X);
    auto const back = to_coo(exec, alto);
    exec.fence();
    auto const Y = copy_to(host(), back);
    INFO(to_string(dims));
    Position descents = 0;
    auto before = linear_index(Y, 0);
    for (Position p = 1; p < Y.nnz(); ++p) {
      auto const now = linear_index(Y, p);
      descents += now < before;
      before = now;
    }
    CHECK(descents == 0);
    check_same_nonzeros(copy_to(host(), sum_duplicates(exec, X).tensor),
                        sum_duplicates(host(), Y).tensor);
    auto const low = on_host(alto.low);
    bool const two_words = alto.layout.bits > 64;
    CHECK(alto.storage_words() == (two_words ? 3 : 2) * X.nnz());
    CHECK(low(7) == linear_index(Y, 7)[1]);
    if (two_words) CHECK(on_host(alto.high)(7) == linear_index(Y, 7)[0]);
  }
}

TEMPLATE_LIST_TEST_CASE("the parts of a partition hold all nonzeros and name their rows",
                        "[formats][alto_tensor]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  int partitions = 0, undivided = 0;
  for (Dims const& dims : {Dims{40, 30, 20}, Dims{2000, 30, 20}, Dims{100000, 90000, 4}}) {
    auto const X = random_coo<Scalar, Index>(exec, dims, 60000, 5, 1);
    auto const alto = make_alto(exec, X);
    auto const back = to_coo(exec, alto);
    exec.fence();
    auto const Y = copy_to(host(), back);
    for (int n = 0; n < 3; ++n) {
      auto const parts = on_host(alto.partitions[n].parts);
      auto const begins = on_host(alto.partitions[n].begins);
      auto const touched = on_host(alto.partitions[n].touched);
      INFO(to_string(dims) << ", mode " << n << ", " << parts.extent(0) << " parts");
      if (parts.extent(0) == 0) {
        ++undivided;
        continue;
      }
      ++partitions;
      Position next = 0, own = 0, wrong = 0;
      for (std::size_t k = 0; k < parts.extent(0); ++k) {
        wrong += parts(k).begin != next || parts(k).buffer_row != own;
        next = parts(k).end;
        own += parts(k).row_count;
        for (Position p = parts(k).begin; p < parts(k).end; ++p) {
          Position const row = Y.coordinates(n, p), block = row / 64;
          wrong += row - parts(k).row >= parts(k).row_count;
          bool listed = false;
          for (Position t = begins(block); t < begins(block + 1); ++t)
            listed = listed || touched(t) == k;
          wrong += !listed;
        }
      }
      CHECK(wrong == 0);
      CHECK(next == Y.nnz());
      CHECK(own == alto.partitions[n].buffer_rows);
    }
  }
  CHECK(partitions > 3);
  CHECK(undivided > 0);
}

TEMPLATE_LIST_TEST_CASE("a mode of far more rows than nonzeros keeps nothing for them",
                        "[formats][alto_tensor]", Cases) {
  using Tensor = sporades::AltoTensor<typename TestType::Scalar, typename TestType::Index,
                                      typename TestType::MemorySpace>;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<typename TestType::Scalar, typename TestType::Index>(
      exec, {4000000000, 60000, 30}, 1000);
  Tensor const alto = make_alto(exec, X);
  CHECK(alto.partitions[0].parts.extent(0) == 0);
  CHECK(alto.partitions[0].begins.extent(0) == 0);
  CHECK(alto.partitions[1].parts.extent(0) == 1);
  CHECK(alto.storage_bytes() < 50000);
}

TEMPLATE_LIST_TEST_CASE("ALTO labels its kernels and runs them on its instance",
                        "[formats][alto_tensor]", Cases) {
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  for (Dims const& dims : {Dims{30, 20, 10}, Dims(9, 10000)}) {
    auto const X = random_coo<typename TestType::Scalar, std::uint32_t>(exec, dims, 5000);
    check_launches(exec, [&] { to_coo(exec, make_alto(exec, X)); });
  }
}

TEST_CASE("ALTO refuses indices of more than 128 bits", "[formats][alto_tensor]") {
  auto const X = random_coo<double, std::uint32_t>(host(), Dims(10, 8000), 10);
  CHECK_THROWS_WITH(make_alto(host(), X),
                    Catch::Matchers::ContainsSubstring("130 bits, two words have 128"));
}

TEMPLATE_LIST_TEST_CASE("an empty tensor has an empty linear order", "[formats][alto_tensor]",
                        Cases) {
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<typename TestType::Scalar, std::uint32_t>(exec, {4, 0, 3}, 0);
  auto const alto = make_alto(exec, X);
  CHECK(alto.nnz() == 0);
  CHECK(to_coo(exec, alto).nnz() == 0);
}

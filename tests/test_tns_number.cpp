// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <string>
#include <support/catch.hpp>
#include <vector>

using namespace sporades;

namespace {

template <class Bits, class Scalar>
Bits bits(Scalar value) {
  Bits result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("values round to the nearest", "[tns]", float, double) {
  using Bits = std::conditional_t<sizeof(TestType) == 4, std::uint32_t, std::uint64_t>;
  std::vector<std::string> numbers = {"0",
                                      "-0",
                                      "1e5",
                                      ".5",
                                      "5.",
                                      "-.5e-3",
                                      "1E+2",
                                      "0.1",
                                      "123456789012345678901234567890",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "16777217",
                                      "1e-400",
                                      "-1e-400",
                                      "4e-320",
                                      "1e-45",
                                      "0.7e-45",
                                      "2.4703282292062327e-324",
                                      "3.4028235e38",
                                      "1e22",
                                      "1e23",
                                      "8.5e10",
                                      "0e999999999",
                                      "0.000000000000000000000000000000000000000000001",
                                      "1.0000000000000000e+00",
                                      "1.00000000000000011102230246251565404",
                                      "33554433e-10",
                                      "1e-10",
                                      "00000000000000000000001.5"};
  std::mt19937_64 random(1);
  for (int k = 0; k < 20000; ++k) {
    auto const digits = std::to_string(random() >> (random() % 64));
    auto const point = random() % (digits.size() + 1);
    auto text = digits.substr(0, point) + "." + digits.substr(point);
    if (random() % 2) text += "e" + std::to_string(static_cast<int>(random() % 60) - 30);
    numbers.push_back(text);
  }
  for (auto const& number : numbers) {
    TestType expected;
    if constexpr (sizeof(TestType) == 4)
      expected = std::strtof(number.c_str(), nullptr);
    else
      expected = std::strtod(number.c_str(), nullptr);
    TestType careful = 7, fast = 7;
    CAPTURE(number);
    auto const read = detail::parse_real(std::string_view(number), careful);
    if (std::isinf(expected)) {
      REQUIRE(read == detail::Number::out_of_range);
      continue;
    }
    REQUIRE(read == detail::Number::good);
    REQUIRE(bits<Bits>(careful) == bits<Bits>(expected));
    auto const line = number + "\n";
    auto const* p = line.c_str();
    if (detail::parse_real_fast(p, fast)) {
      REQUIRE(bits<Bits>(fast) == bits<Bits>(expected));
      REQUIRE(*p == '\n');
    }
  }
}

TEST_CASE("common numbers go the fast way", "[tns]") {
  for (std::string const number :
       {"1", "-2.5", "1.0000000000000000e+00", "0.125", "1e5", "376882"}) {
    auto const line = number + "\n";
    auto const* p = line.c_str();
    double value = 0;
    CAPTURE(number);
    CHECK(detail::parse_real_fast(p, value));
  }
}

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The draws of coordinates do not depend on the mathematics library.

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <vector>

using namespace sporades;
using Exec = Kokkos::DefaultHostExecutionSpace;

namespace {

/// A mathematics library far worse than any: off by up to 2^-21, and saying so.
struct RoughMath {
  static constexpr double error = 0x1p-20;
  KOKKOS_FUNCTION static double blur(double exact) {
    auto const bits = sporades::detail::splitmix64(static_cast<std::uint64_t>(exact * 0x1p30));
    return exact * (1 + (detail::generate_unit(bits) - 0.5) * 0x1p-20);
  }
  KOKKOS_FUNCTION static double exp(double x) { return blur(std::exp(x)); }
  KOKKOS_FUNCTION static double pow(double x, double y) { return blur(std::pow(x, y)); }
};

/// RoughMath that claims to be exact.
struct CarelessMath : RoughMath {
  static constexpr double error = 0;
};

/// Hash of the keys of a recipe's pool and draws.
template <class Math, class ExecutionSpace>
std::uint64_t draw_with(ExecutionSpace const& exec, detail::Recipe const& recipe, Position count,
                        Position* redraws = nullptr) {
  using Keys = Kokkos::View<sporades::detail::Key128*, typename ExecutionSpace::memory_space>;
  detail::CoordinateDraw const draw(recipe, 1);
  Keys tuples;
  Keys keys;
  auto const recording = test::record([&] {
    if (recipe.pool > 0)
      tuples = detail::draw_keys<Math>(exec, detail::TupleKeys<Keys>{draw}, recipe.pool);
    keys = detail::draw_keys<Math>(exec, detail::CoordinateKeys<Keys>{draw, 12345, tuples}, count);
  });
  exec.fence();
  if (redraws)
    for (auto const& launch : recording.launches)
      *redraws += launch.label == "sporades::generate::redraw";
  return test::hash_bits(keys) ^ 3 * test::hash_bits(tuples);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("draws do not depend on the mathematics library", "[generate]",
                        test::ExecutionSpaces) {
  TestType const exec;
  std::vector<detail::Recipe> recipes;
  for (auto const& name : generate_like_names())
    recipes.push_back(detail::recipe_like(name, 50000));
  for (double skew : {0., 0.9, 1., 1.3})
    recipes.push_back({"skew " + std::to_string(skew),
                       {{1, skew, detail::SliceOrder::natural},
                        {2, skew, detail::SliceOrder::natural},
                        {3000, skew, detail::SliceOrder::shuffled},
                        {std::uint64_t{1} << 30, skew, detail::SliceOrder::centred},
                        {std::uint64_t{1} << 60, skew, detail::SliceOrder::shuffled}},
                       0,
                       0,
                       0,
                       0});
  for (auto const& recipe : recipes) {
    INFO(recipe.name);
    Position redraws = 0;
    auto const exact = draw_with<detail::HostMath>(Exec{}, recipe, 20000);
    CHECK(draw_with<RoughMath>(exec, recipe, 20000, &redraws) == exact);
    CHECK(redraws > 0);
    CHECK(draw_with<CarelessMath>(exec, recipe, 20000) != exact);
    CHECK(draw_with<detail::DeviceMath>(exec, recipe, 20000) == exact);
  }
}

namespace {

/// Off by 2^-21 upwards or downwards.
template <int sign>
struct BiasedMath {
  static constexpr double error = 0x1p-20;
  KOKKOS_FUNCTION static double bias(double exact) { return exact * (1 + sign * 0x1p-21); }
  KOKKOS_FUNCTION static double exp(double x) { return bias(std::exp(x)); }
  KOKKOS_FUNCTION static double pow(double x, double y) { return bias(std::pow(x, y)); }
};

/// How often a place is called certain and is not the host's; adds up how many are uncertain.
template <class Math>
Position wrong_places(detail::PowerLaw const& zipf, std::vector<double> const& us,
                      Position& uncertain) {
  Position wrong = 0;
  for (double const u : us) {
    bool is_certain = true;
    auto const place = zipf.place(u, Math{}, is_certain);
    bool ignored = true;
    wrong += is_certain && place != zipf.place(u, detail::HostMath{}, ignored);
    uncertain += !is_certain;
  }
  return wrong;
}

}  // namespace

TEST_CASE("a place is certain only where two mathematics libraries agree", "[generate]") {
  for (std::uint64_t const n : {1, 2, 3, 7, 100})
    for (double const skew : {0., 0.5, 1., 2.}) {
      INFO(n << " places, skew " << skew);
      detail::PowerLaw const zipf(n, skew);
      std::vector<double> near;    // where x is about an integer, the ends included
      std::vector<double> midway;  // and where it is not
      auto const u_of = [&](double x) {
        return (skew == 1 ? std::log(x) : std::pow(x, 1 - skew) - 1) / zipf.a;
      };
      for (std::uint64_t m = 1; m <= n + 1; ++m)
        for (int step = -24; step <= 24; ++step) {
          double const u = u_of(static_cast<double>(m) * (1 + step * 0x1p-23));
          if (u > 0 && u <= 1) near.push_back(u);
        }
      for (std::uint64_t m = 1; m <= n; ++m) midway.push_back(u_of(static_cast<double>(m) + 0.4));
      Position uncertain = 0;
      CHECK(wrong_places<BiasedMath<1>>(zipf, near, uncertain) == 0);
      CHECK(wrong_places<BiasedMath<-1>>(zipf, near, uncertain) == 0);
      if (n > 1) CHECK(uncertain > 0);
      uncertain = 0;
      CHECK(wrong_places<BiasedMath<1>>(zipf, midway, uncertain) == 0);
      CHECK(wrong_places<BiasedMath<-1>>(zipf, midway, uncertain) == 0);
      CHECK(uncertain == 0);
    }
}

TEST_CASE("no fused multiply-add changes a place", "[generate]") {
  detail::PowerLaw const zipf(std::uint64_t{1} << 60, 1.1);  // 1 + u a cancels most of its digits
  Position different = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    double const u = 0.9 + 0.1 * detail::generate_unit(sporades::detail::splitmix64(i));
    double const volatile product = u * zipf.a;
    double const x = std::pow(1 + product, zipf.exponent);
    bool ignored = true;
    different += zipf.place(u, detail::HostMath{}, ignored) != static_cast<std::uint64_t>(x) - 1;
  }
  CHECK(different == 0);
}

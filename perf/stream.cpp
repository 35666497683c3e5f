// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/stream.hpp>
#include <support/benchmarks.hpp>
#include <support/measure.hpp>
#include <support/native_stream.hpp>

namespace sporades::perf {
namespace {

template <class Scalar>
struct Arrays {
  explicit Arrays(std::size_t length) : a("a", length), b("b", length), c("c", length) {
    Kokkos::deep_copy(a, Scalar(1));
    Kokkos::deep_copy(b, Scalar(2));
    Kokkos::deep_copy(c, Scalar(0));
  }
  Vector<Scalar, MemorySpace> a, b, c;
};

template <class Scalar>
void add_for(Settings const& settings) {
  auto const length = static_cast<std::size_t>(settings.stream_megabytes * 1e6 / sizeof(Scalar));
  auto add_one = [&](std::string const& name, int words, auto work) {
    add("stream/" + name + "/" + scalar_name<Scalar>(), [=](benchmark::State& state) {
      Arrays<Scalar> const arrays(length);
      ExecutionSpace const exec{};
      measure(state, exec, [&] { work(exec, arrays); });
      count<Scalar>(state, static_cast<double>(words * length * sizeof(Scalar)), 0);
    });
  };
  using Exec = ExecutionSpace;
  using A = Arrays<Scalar>;
  Scalar const s = Scalar(0.5);
  add_one("copy", 2, [](Exec const& exec, A const& x) { stream_copy(exec, x.a, x.c); });
  add_one("scale", 2, [s](Exec const& exec, A const& x) { stream_scale(exec, s, x.c, x.b); });
  add_one("add", 3, [](Exec const& exec, A const& x) { stream_add(exec, x.a, x.b, x.c); });
  add_one("triad", 3, [s](Exec const& exec, A const& x) { stream_triad(exec, s, x.b, x.c, x.a); });
  add_one("multiply", 3,
          [](Exec const& exec, A const& x) { stream_multiply(exec, x.a, x.b, x.c); });
  for (auto const& native : native_stream<Scalar>())
    add_one("native_" + native.name, native.words, [native, s, length](Exec const&, A const& x) {
      native.run(s, x.a.data(), x.b.data(), x.c.data(), length);
    });
}

}  // namespace

template <class Scalar>
double triad_bandwidth() {
  static double const bandwidth = [] {
    ExecutionSpace const exec{};
    std::size_t const length = std::size_t{256} * 1000 * 1000 / sizeof(Scalar);
    Arrays<Scalar> const arrays(length);
    double best = 1e30;
    for (int repetition = 0; repetition < 10; ++repetition) {
      exec.fence();
      sporades::detail::Timer const timer;
      stream_triad(exec, Scalar(0.5), arrays.b, arrays.c, arrays.a);
      exec.fence();
      best = std::min(best, timer.seconds());
    }
    return static_cast<double>(3 * length * sizeof(Scalar)) / best;
  }();
  return bandwidth;
}
template double triad_bandwidth<float>();
template double triad_bandwidth<double>();

void add_stream(Settings const& settings) {
  for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(settings); });
}

}  // namespace sporades::perf

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Sums of fibers: by windows, as GPUs take them, on hosts too, and as each backend takes them.

#include <sporades/kernels/sptv.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;
namespace inner = sporades::detail;

namespace {

/// Fibers of these lengths, one after another, of whole numbers.
template <class Scalar, class ExecutionSpace>
struct FiberProblem {
  using MemorySpace = typename ExecutionSpace::memory_space;
  static constexpr std::size_t columns = 1000;

  std::vector<Position> begin{0};
  std::vector<std::uint32_t> index;
  std::vector<Scalar> values, v;

  explicit FiberProblem(std::vector<Position> const& lengths) {
    std::mt19937_64 engine(3);
    for (std::size_t i = 0; i < columns; ++i) v.push_back(Scalar(engine() % 7) - 3);
    for (auto length : lengths) {
      for (Position k = 0; k < length; ++k) {
        index.push_back(static_cast<std::uint32_t>(engine() % columns));
        values.push_back(Scalar(engine() % 9) - 4);
      }
      begin.push_back(index.size());
    }
  }

  /// The fibers from fiber `first` on.
  FiberProblem from(Position first) const {
    FiberProblem rest = *this;
    Position const entry = begin[first];
    rest.begin.assign(begin.begin() + static_cast<long>(first), begin.end());
    for (auto& place : rest.begin) place -= entry;
    rest.index.assign(index.begin() + static_cast<long>(entry), index.end());
    rest.values.assign(values.begin() + static_cast<long>(entry), values.end());
    return rest;
  }

  std::vector<double> definition() const {
    std::vector<double> sums;
    for (std::size_t f = 0; f + 1 < begin.size(); ++f) {
      double sum = 0;
      for (Position p = begin[f]; p < begin[f + 1]; ++p)
        sum += double(values[p]) * double(v[index[p]]);
      sums.push_back(sum);
    }
    return sums;
  }

  std::vector<Scalar> sums(bool by_windows) const {
    constexpr int lanes = inner::is_gpu<ExecutionSpace> ? 32 : 1;
    ExecutionSpace const exec{};
    auto const view = [&](auto const& entries) { return inner::to_view(exec, "entries", entries); };
    auto const i = view(index);
    auto const x = view(values), u = view(v);
    Vector<Scalar, MemorySpace> const y("y", begin.size() - 1);
    Kokkos::deep_copy(y, std::numeric_limits<Scalar>::quiet_NaN());
    Vector<Position, MemorySpace> const starts = view(begin);
    using Terms = inner::VectorTerms<Scalar, std::uint32_t, MemorySpace>;
    constexpr char const* label = "sporades::sptv::test";
    auto const split = by_windows ? inner::find_windows<Scalar>(exec, starts, index.size())
                                  : inner::split_fibers<Scalar>(exec, starts, index.size());
    if (by_windows)
      inner::sum_by_windows<lanes>(exec, label, Terms{i, x, u}, split, y);
    else
      inner::sum_fibers_of_vector(exec, label, Terms{i, x, u}, starts, split, y);
    exec.fence();
    auto const host = on_host(y);
    return {host.data(), host.data() + host.extent(0)};
  }
};

std::vector<std::vector<Position>> lists_of_lengths() {
  std::vector<std::vector<Position>> lists{
      {},       {1},        {9000},           {223, 1, 1},     {224, 224}, {225, 1},
      {256, 5}, {257, 256}, {223, 256, 1, 1}, {100, 257, 300}, {5, 4096},  {4097, 3, 8192, 8193}};
  lists.push_back(std::vector<Position>(3000, 1));
  lists.push_back(std::vector<Position>(300, 33));
  auto& few_pairs = lists.emplace_back();
  for (Position f = 0; f < 3000; ++f) few_pairs.push_back(f % 40 == 0 ? 1 + f / 40 % 12 : 1);
  auto& near_eight = lists.emplace_back();
  for (Position f = 0; f < 3000; ++f)
    near_eight.push_back(f / 100 % 2 == 0 ? 3 + f % 6 : 7 + f % 9);
  std::mt19937_64 engine(5);
  for (Position most : {2, 5, 10, 17, 40, 300, 2000}) {
    auto& lengths = lists.emplace_back();
    for (int f = 0; f < 700; ++f) {
      double const u = double(engine() % 1000) / 1000;
      lengths.push_back(1 + static_cast<Position>(u * u * u * double(most)));
    }
    for (int f = 0; f < 500; ++f) lengths.push_back(1);
  }
  return lists;
}

template <class Scalar, class ExecutionSpace>
void check_sums(bool by_windows) {
  for (auto const& lengths : lists_of_lengths()) {
    INFO(lengths.size() << " fibers, the first of " << (lengths.empty() ? 0 : lengths[0]));
    FiberProblem<Scalar, ExecutionSpace> const problem(lengths);
    auto const expected = problem.definition();
    auto const found = problem.sums(by_windows);
    REQUIRE(found.size() == expected.size());
    Position wrong = 0;
    for (std::size_t f = 0; f < found.size(); ++f) wrong += double(found[f]) != expected[f];
    CHECK(wrong == 0);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sums of fibers equal their definition", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  for (bool by_windows : {true, false})
    check_sums<Scalar, typename TestType::ExecutionSpace>(by_windows);
}

TEMPLATE_LIST_TEST_CASE("sums of fibers have the same bits wherever a tensor is cut",
                        "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  bool const by_windows = GENERATE(true, false);
  for (auto const& lengths : lists_of_lengths()) {
    FiberProblem<Scalar, Exec> problem(lengths);
    std::mt19937_64 engine(7);
    for (auto& x : problem.values) x = Scalar(double(engine() % 100000) / 77777 - .5);
    for (auto& x : problem.v) x = Scalar(double(engine() % 100000) / 77777 - .5);
    auto const whole = problem.sums(by_windows);
    for (Position cut = 1; cut < lengths.size(); cut += 1 + lengths.size() / 9) {
      INFO(lengths.size() << " fibers, cut before " << cut);
      auto const rest = problem.from(cut).sums(by_windows);
      CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<long>(cut)));
    }
  }
}

TEST_CASE("windows hold each fiber that is not long once", "[kernels][sptv]") {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  Exec const exec{};
  for (auto const& lengths : lists_of_lengths()) {
    FiberProblem<double, Exec> const problem(lengths);
    auto const begin = inner::to_view(exec, "begin", problem.begin);
    auto const split = inner::find_windows<double>(exec, begin, problem.index.size());
    std::vector<int> held(lengths.size());
    for (Position w = 0; w < split.windows.extent(0); ++w) {
      auto const window = split.windows(w);
      for (Position f = window.fiber; f < window.fiber + window.fibers; ++f) {
        ++held.at(f);
        CHECK(w * split.window_length + split.starts(f) == problem.begin[f]);
      }
      if (window.fibers == 0) continue;
      CHECK(w * split.window_length + window.begin == problem.begin[window.fiber]);
      CHECK(w * split.window_length + window.end == problem.begin[window.fiber + window.fibers]);
    }
    for (Position k = 0; k < split.fibers.extent(0); ++k) ++held.at(split.fibers(k).place);
    CHECK(std::count(held.begin(), held.end(), 1) == static_cast<long>(held.size()));
  }
}

/// A fiber of 300 nonzeros and two of one: two windows, and the starts of three fibers.
TEST_CASE("the cost of sptv by windows is what counting gives", "[kernels][sptv][cost]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto X = sporades::detail::allocate_coo<double, std::uint32_t>(exec, {3, 300}, 302);
  exec.fence();
  for (Position p = 0; p < 302; ++p) {
    X.coordinates(0, p) = p < 300 ? 0 : p - 299;
    X.coordinates(1, p) = p % 300;
    X.values(p) = 1;
  }
  for (auto strategy : {SptvStrategy::cfb, SptvStrategy::hocfs}) {
    auto plan = make_sptv_plan(exec, X, 1, {strategy});
    double const by_begins = sptv_cost(exec, plan).bytes;
    std::visit(
        [&](auto const& tensor) {
          if constexpr (!inner::is_instance<std::decay_t<decltype(tensor)>, HocooTensor>)
            plan.split = inner::find_windows<double>(exec, tensor.begin, 302);
        },
        plan.tensor);
    CHECK(sptv_cost(exec, plan).bytes == by_begins - 4 * 8 + 2 * 16 + 3);
  }
}

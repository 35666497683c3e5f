// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The four formats of Yang, Li & Li, TKDD 2019, on random tensors: what their arrays hold, by
/// their definitions in plain loops; round trips; what is refused.

#include <algorithm>
#include <map>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Numbers = std::vector<std::uint64_t>;

template <class ViewType>
auto entries_of(ViewType const& view) {
  auto const host = on_host(view);
  using Entry = typename ViewType::non_const_value_type;
  using Listed = std::conditional_t<std::is_integral_v<Entry>, std::uint64_t, Entry>;
  return std::vector<Listed>(host.data(), host.data() + host.extent(0));
}

/// A tensor's fibers of mode n that are not empty, in the cyclic order of the other modes.
template <class Scalar>
struct FiberList {
  Dims dims;
  int n;
  std::vector<int> modes;       // n + 1, ..., n
  std::vector<Numbers> others;  // every fiber: its indices in modes, without the last
  std::vector<std::vector<std::pair<std::uint64_t, Scalar>>> fibers;  // (index, value), ascending

  template <class Tensor>
  FiberList(Tensor const& X, int mode) : dims(X.dims), n(mode) {
    int const N = X.order();
    for (int m = n + 1; m <= n + N; ++m) modes.push_back(m % N);
    std::map<Numbers, std::vector<std::pair<std::uint64_t, Scalar>>> sorted;
    for (Position p = 0; p < X.nnz(); ++p) {
      Numbers tuple;
      for (int l = 0; l + 1 < N; ++l) tuple.push_back(X.coordinates(modes[l], p));
      sorted[tuple].push_back({X.coordinates(n, p), X.values(p)});
    }
    for (auto& [tuple, fiber] : sorted) {
      std::stable_sort(fiber.begin(), fiber.end(),
                       [](auto const& a, auto const& b) { return a.first < b.first; });
      others.push_back(tuple);
      fibers.push_back(fiber);
    }
  }

  /// The numbers of the fibers among all, empty ones included.
  Numbers numbers() const {
    Numbers result;
    for (auto const& tuple : others) {
      std::uint64_t number = 0;
      for (std::size_t l = 0; l < tuple.size(); ++l) number = number * dims[modes[l]] + tuple[l];
      result.push_back(number);
    }
    return result;
  }

  /// True if fiber f is the first of those that agree with it in this many modes.
  bool begins(std::size_t f, int count) const {
    return f == 0 ||
           !std::equal(others[f].begin(), others[f].begin() + count, others[f - 1].begin());
  }

  template <class Tensor>
  void check_same(Tensor const& X) const {
    CHECK(X.dims == dims);
    CHECK(X.sorted_modes == modes);
    Position p = 0, wrong = 0;
    for (std::size_t f = 0; f < fibers.size(); ++f)
      for (auto const& [index, value] : fibers[f]) {
        REQUIRE(p < X.nnz());
        wrong += X.coordinates(n, p) != index || X.values(p) != value;
        for (std::size_t l = 0; l < others[f].size(); ++l)
          wrong += X.coordinates(modes[l], p) != others[f][l];
        ++p;
      }
    CHECK(X.nnz() == p);
    CHECK(wrong == 0);
  }
};

/// begin, index and values, where fiber f takes lengths[f] entries.
template <class Scalar>
struct Rows {
  Numbers begin = {0};
  Numbers index;
  std::vector<Scalar> values;

  Rows(FiberList<Scalar> const& list, Numbers const& lengths, std::uint64_t no_index = 0) {
    for (std::size_t f = 0; f < lengths.size(); ++f) {
      for (auto const& [i, value] : list.fibers[f]) {
        index.push_back(i);
        values.push_back(value);
      }
      begin.push_back(begin.back() + lengths[f]);
      index.resize(begin.back(), no_index);
      values.resize(begin.back(), 0);
    }
  }

  /// Stores fibers first to last - 1, which are of one length, column by column.
  void transpose(std::size_t first, std::size_t last) {
    std::size_t const rows = last - first, from = begin[first];
    auto const own = *this;
    for (std::size_t p = from; p < begin[last]; ++p) {
      std::size_t const r = (p - from) % rows, k = (p - from) / rows;
      index[p] = own.index[begin[first + r] + k];
      values[p] = own.values[begin[first + r] + k];
    }
  }

  template <class Tensor>
  void check(Tensor const& X) const {
    CHECK((entries_of(X.index) == index));
    CHECK((entries_of(X.values) == values));
  }
};

std::vector<Problem> problems() {
  return {{{200}, 90},
          {{1}, 2},
          {{7}, 0},
          {{30, 40}, 500},
          {{4, 3}, 0},
          {{0, 3}, 0},
          {{20, 3, 9}, 300},
          {{6, 5, 4}, 800},  // most coordinates are there several times
          {{40, 1, 9}, 128},
          {{1, 1, 1}, 3},
          {{5, 0, 3}, 0},
          {{300, 20, 90}, 3000, 9},  // one fiber has most nonzeros
          {{80, 90, 70}, 300},       // most slices have one fiber
          {{3, 4, 5000}, 12000},     // fibers of about the same length
          {{5, 4, 3, 4}, 200},
          {{5, 4, 3, 4, 5}, 400},
          {{2, 3, 4, 2, 3, 2}, 300},
          {Dims(16, 2), 300}};
}

/// How many slices of each format there were where both might be.
struct Taken {
  int csr = 0, ell = 0;
};

template <class Scalar, class Index, class ExecutionSpace, class Tensor>
void check_hocfs(ExecutionSpace const& exec, Tensor const& X, FiberList<Scalar> const& expected,
                 HocfsSlices slices, double least_fill, Taken& taken) {
  auto const H = make_hocfs(exec, X, expected.n, slices, least_fill);
  int const N = X.order();
  std::size_t const fibers = expected.fibers.size();
  CHECK(H.mode_order == expected.modes);
  CHECK(H.nnz() == X.nnz());
  CHECK(H.fibers() == fibers);
  REQUIRE(H.indices.size() + 1 == static_cast<std::size_t>(N));
  REQUIRE(H.first_child.size() == static_cast<std::size_t>(std::max(0, N - 2)));

  std::uint64_t nodes = 0, positions = 0;
  for (int l = 0; l < N - 1; ++l) {
    Numbers index, first_child;
    std::uint64_t children = 0;
    for (std::size_t f = 0; f < fibers; ++f) {
      if (expected.begins(f, l + 1)) {
        index.push_back(expected.others[f][l]);
        first_child.push_back(children);
      }
      if (l < N - 2 && expected.begins(f, l + 2)) ++children;
    }
    first_child.push_back(children);
    nodes += index.size();
    CHECK((entries_of(H.indices[l]) == index));
    if (l == N - 2) continue;
    positions += first_child.size();
    CHECK((entries_of(H.first_child[l]) == first_child));
  }

  Numbers first_fiber, formats, lengths;
  for (std::size_t f = 0; f < fibers; ++f)
    if (expected.begins(f, std::max(0, N - 2))) first_fiber.push_back(f);
  first_fiber.push_back(fibers);
  for (std::size_t s = 0; s + 1 < first_fiber.size(); ++s) {
    std::uint64_t own = 0, longest = 0;
    for (std::size_t f = first_fiber[s]; f < first_fiber[s + 1]; ++f) {
      std::uint64_t const length = expected.fibers[f].size();
      own += length;
      longest = std::max(longest, length);
    }
    auto const padded = static_cast<double>(longest * (first_fiber[s + 1] - first_fiber[s]));
    // A vector is one fiber, with nothing to pad: it stays in rows.
    bool const is_ell =
        N > 1 && slices == HocfsSlices::ell && static_cast<double>(own) >= least_fill * padded;
    formats.push_back(is_ell ? 1 : 0);
    for (std::size_t f = first_fiber[s]; f < first_fiber[s + 1]; ++f)
      lengths.push_back(is_ell ? longest : expected.fibers[f].size());
    if (least_fill > 0) ++(is_ell ? taken.ell : taken.csr);
  }
  CHECK((entries_of(H.first_fiber) == first_fiber));
  CHECK((entries_of(H.formats) == formats));
  CHECK(H.ell_slices == static_cast<Position>(std::count(formats.begin(), formats.end(), 1)));
  Rows<Scalar> rows(expected, lengths, std::numeric_limits<Index>::max());
  for (std::size_t s = 0; s < formats.size(); ++s)
    if (formats[s] == 1) rows.transpose(first_fiber[s], first_fiber[s + 1]);
  CHECK((entries_of(H.begin) == rows.begin));
  rows.check(H);

  CHECK(H.storage_words() == 2 * nodes + 2 * X.nnz());
  if (N < 3) positions += first_fiber.size();
  CHECK(H.storage_bytes() == nodes * sizeof(Index) + (positions + fibers + 1) * 8 + formats.size() +
                                 rows.index.size() * (sizeof(Index) + sizeof(Scalar)));
  expected.check_same(copy_to(Host{}, to_coo(exec, H)));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HOCOO, HOCSR, CFB and HOCFS hold what they are defined to hold",
                        "[formats][yan19]", IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  Taken taken;
  for (auto const& [dims, nnz, skew] : problems()) {
    auto const X = random_coo<Scalar, Index>(exec, dims, nnz, 7, skew);
    for (int n = 0; n < X.order(); ++n) {
      INFO(to_string(dims) << ", mode " << n);
      FiberList<Scalar> const expected(copy_to(Host{}, X), n);
      std::vector<int> const others(expected.modes.begin(), expected.modes.end() - 1);
      Numbers lengths, all_lengths;
      for (auto const& fiber : expected.fibers) lengths.push_back(fiber.size());
      Rows<Scalar> const rows(expected, lengths);

      auto const hocoo = make_hocoo(exec, X, n);
      CHECK(hocoo.mode() == n);
      CHECK(hocoo.storage_words() == (dims.size() + 1) * nnz);
      CHECK(hocoo.storage_bytes() == (dims.size() * sizeof(Index) + sizeof(Scalar)) * nnz);
      expected.check_same(copy_to(Host{}, to_coo(exec, hocoo)));

      auto const cfb = make_cfb(exec, hocoo.tensor, n);
      CHECK(cfb.mode == n);
      CHECK(cfb.other_modes == others);
      CHECK((entries_of(cfb.number) == expected.numbers()));
      CHECK((entries_of(cfb.begin) == rows.begin));
      rows.check(cfb);
      CHECK(cfb.storage_words() == 2 * lengths.size() + 2 * nnz);
      CHECK(cfb.storage_bytes() ==
            (2 * lengths.size() + 1) * 8 + nnz * (sizeof(Index) + sizeof(Scalar)));
      expected.check_same(copy_to(Host{}, to_coo(exec, cfb)));

      auto const hocsr = make_hocsr(exec, X, n);
      std::uint64_t all = 1;
      for (int mode : others) all *= dims[mode];
      Numbers begin = {0};
      auto const numbers = expected.numbers();
      for (std::uint64_t r = 0, f = 0; r < all; ++r) {
        bool const is_there = f < numbers.size() && numbers[f] == r;
        begin.push_back(begin.back() + (is_there ? lengths[f++] : 0));
      }
      CHECK(hocsr.mode == n);
      CHECK(hocsr.row_modes == others);
      CHECK(hocsr.rows() == all);
      CHECK((entries_of(hocsr.begin) == begin));
      rows.check(hocsr);
      CHECK(hocsr.storage_words() == all + 2 * nnz);
      CHECK(hocsr.storage_bytes() == (all + 1) * 8 + nnz * (sizeof(Index) + sizeof(Scalar)));
      expected.check_same(copy_to(Host{}, to_coo(exec, hocsr)));

      for (auto slices : {HocfsSlices::automatic, HocfsSlices::csr})
        check_hocfs<Scalar, Index>(exec, X, expected, slices, 0, taken);
      for (double least_fill : {0.0, 0.5, 0.75, 1.0})
        check_hocfs<Scalar, Index>(exec, X, expected, HocfsSlices::ell, least_fill, taken);
    }
  }
  CHECK(taken.csr > 0);
  CHECK(taken.ell > 0);
}

TEMPLATE_LIST_TEST_CASE("the four formats refuse what they cannot hold, with the numbers",
                        "[formats][yan19]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Catch::Matchers::ContainsSubstring;
  typename TestType::ExecutionSpace const exec{};
  constexpr std::uint64_t longest = std::uint64_t{1} << 32;
  std::uint64_t const last = longest - 1;
  auto const on = [&](Dims const& dims, Entries<Scalar> const& nonzeros) {
    return copy_to(exec, sporades::test::make_coo<Scalar>(dims, nonzeros));
  };

  SECTION("modes that there are not") {
    auto const X = on({2, 2, 2}, {});
    for (int n : {-1, 3}) {
      auto const says = "mode " + std::to_string(n) + " of a tensor of order 3";
      CHECK(message_of([&] { make_hocoo(exec, X, n); }) == "make_hocoo: " + says);
      CHECK(message_of([&] { make_hocsr(exec, X, n); }) == "make_hocsr: " + says);
      CHECK(message_of([&] { make_cfb(exec, X, n); }) == "make_cfb: " + says);
      CHECK(message_of([&] { make_hocfs(exec, X, n); }) == "make_hocfs: " + says);
    }
  }
  SECTION("fills that there are not") {
    auto const X = on({2, 2, 2}, {});
    for (double fill : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
      CHECK_THAT(message_of([&] { make_hocfs(exec, X, 0, HocfsSlices::ell, fill); }),
                 ContainsSubstring("make_hocfs: least_fill is ") &&
                     ContainsSubstring("; it may be from 0 to 1"));
  }
  SECTION("fibers that 64 bits can number just so") {
    auto const X =
        on({longest, longest, 5}, {{{last, last, 3}, Scalar(2)}, {{0, 1, 4}, Scalar(1)}});
    auto const C = make_cfb(exec, X, 2);
    CHECK(entries_of(C.number) == Numbers{1, ~std::uint64_t{0}});
    check_same_nonzeros(copy_to(Host{}, to_coo(exec, C)),
                        copy_to(Host{}, sorted(exec, X, {0, 1, 2})));
    CHECK_THAT(message_of([&] { make_hocsr(exec, X, 2); }),
               ContainsSubstring("make_hocsr: mode 2 has 1.8446744073709552e+19 fibers") &&
                   ContainsSubstring("take 147.6 EB, and "));
    CHECK(make_hocsr(exec, on({1, 1, longest}, {{{0, 0, last}, Scalar(1)}}), 2).rows() == 1);
  }
  SECTION("fibers that 64 bits cannot number") {
    auto const X = on({longest, longest, 2, 5}, {{{last, last, 0, 3}, Scalar(2)}});
    auto const says =
        ": mode 3 has 3.6893488147419103e+19 fibers, empty ones included, more than "
        "the 2^64 = 18446744073709551616 that 64 bits number";
    CHECK(message_of([&] { make_cfb(exec, X, 3); }) == std::string("make_cfb") + says);
    CHECK(message_of([&] { make_hocsr(exec, X, 3); }) == std::string("make_hocsr") + says);
    CHECK(make_hocfs(exec, X, 3).fibers() == 1);
    CHECK(make_cfb(exec, X, 0).buckets() == 1);
    CHECK(make_cfb(exec, on({longest, longest, longest, 0}, {}), 0).buckets() == 0);
  }
  SECTION("rows that take more memory than there is") {
    auto const X = on({10000000, 3, 1000000}, {{{0, 1, 2}, Scalar(2)}});
    CHECK_THAT(message_of([&] { make_hocsr(exec, X, 1); }),
               ContainsSubstring("make_hocsr: mode 1 has 10000000000000 fibers, empty ones "
                                 "included; their positions take 80.1 TB, and ") &&
                   ContainsSubstring("B of memory are free"));
  }
  SECTION("padding that takes more memory than there is") {
    Position const many = 500000;
    Entries<Scalar> nonzeros;
    for (Position i = 0; i < many; ++i) {
      nonzeros.push_back({{0, i}, Scalar(1)});
      nonzeros.push_back({{i, 0}, Scalar(2)});
    }
    auto const X = on({many, many}, nonzeros);
    auto const bytes = std::is_same_v<Scalar, float> ? "2.1 TB" : "3.1 TB";
    CHECK_THAT(message_of([&] { make_hocfs(exec, X, 1, HocfsSlices::ell); }),
               ContainsSubstring("make_hocfs: ELL slices of mode 1 take 250000500000 entries for "
                                 "1000000 nonzeros") &&
                   ContainsSubstring(bytes) && ContainsSubstring("B of memory are free"));
    CHECK(make_hocfs(exec, X, 1, HocfsSlices::ell, 0.01).entries() == 2 * many);
  }
  SECTION("an index that marks padding") {
    auto const X =
        on({3, longest}, {{{2, last}, Scalar(1)}, {{2, 0}, Scalar(2)}, {{0, last}, Scalar(3)}});
    CHECK_THAT(
        message_of([&] { make_hocfs(exec, X, 1, HocfsSlices::ell); }),
        ContainsSubstring("make_hocfs: mode 1 has length 4294967296; ELL slices mark padding "
                          "by the index 4294967295"));
    for (auto slices : {HocfsSlices::automatic, HocfsSlices::csr}) {
      auto const H = make_hocfs(exec, X, 1, slices);
      CHECK(entries_of(H.formats) == Numbers{0});
      check_same_nonzeros(copy_to(Host{}, to_coo(exec, H)),
                          copy_to(Host{}, sorted(exec, X, {0, 1})));
    }
    auto const shorter = on({3, longest - 1},
                            {{{2, last - 1}, Scalar(1)}, {{2, 0}, Scalar(2)}, {{0, 5}, Scalar(3)}});
    auto const H = make_hocfs(exec, shorter, 1, HocfsSlices::ell);
    CHECK(entries_of(H.index) == Numbers{5, 0, last, last - 1});
    check_same_nonzeros(copy_to(Host{}, to_coo(exec, H)),
                        copy_to(Host{}, sorted(exec, shorter, {0, 1})));
  }
}

TEMPLATE_LIST_TEST_CASE("the four formats label their kernels and run them on their instance",
                        "[formats][yan19]", Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<typename TestType::Scalar, std::uint32_t>(exec, {30, 20, 10}, 500);
  check_launches(exec, [&] { to_coo(exec, make_hocoo(exec, X, 1)); });
  check_launches(exec, [&] { to_coo(exec, make_hocsr(exec, X, 1)); });
  check_launches(exec, [&] { to_coo(exec, make_cfb(exec, X, 1)); });
  check_launches(exec, [&] { to_coo(exec, make_hocfs(exec, X, 1)); });
  check_launches(exec, [&] { to_coo(exec, make_hocfs(exec, X, 1, HocfsSlices::ell)); });
  auto const sorted_before = make_hocoo(exec, X, 1).tensor;
  CHECK(make_hocoo(exec, sorted_before, 1).tensor.values.data() == sorted_before.values.data());
}

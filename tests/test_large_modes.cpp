// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/memory_need.hpp>
#include <sporades/kernels/sptv.hpp>
#include <string>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <vector>

/// Modes so long that sums and products of their lengths are past 2^64, as hashes make them: half
/// of all hashes of 64 bits are past 2^63. All that needs room for a row of each says so at once.

using namespace sporades;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::uint64_t lengths[] = {std::uint64_t{1} << 31,       std::uint64_t{1} << 32,
                                     (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63,
                                     (std::uint64_t{1} << 63) + 1, ~std::uint64_t{0}};

/// Four nonzeros, one of them in the last row of mode n, which is that long.
template <class ExecutionSpace>
auto long_tensor(ExecutionSpace const& exec, int n, std::uint64_t length) {
  Dims dims{3, 2, 4};
  dims[n] = length;
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X = detail::allocate_coo<double, std::uint64_t>(host, dims, 4);
  host.fence();
  for (Position p = 0; p < 4; ++p) {
    for (int m = 0; m < 3; ++m) X.coordinates(m, p) = p % 2;
    X.values(p) = static_cast<double>(p + 1);
  }
  X.coordinates(n, 3) = length - 1;
  return copy_to(exec, X);
}

/// Ends the program where what it stands before takes longer: a loop over 2^63 rows never ends.
/// Catch2 answers SIGTERM with what was captured.
struct Deadline {
  Deadline() {
    std::signal(SIGALRM, [](int) { std::raise(SIGTERM); });
    alarm(30);
  }
  ~Deadline() { alarm(0); }
};

/// Whether `make` made something; else it threw our error, with numbers, at once. Any other
/// exception, as Kokkos' own, fails the test.
template <class Make>
bool is_made(Make const& make) {
  Deadline const deadline;
  try {
    make();
    return true;
  } catch (Error const& error) {
    CHECK(std::string(error.what()).find_first_of("0123456789") != std::string::npos);
  }
  return false;
}

/// FLYCOO has an entry for each row, HOCSR one for each fiber; where there is room for so many, the
/// walks over them take long.
bool is_slow(bool has_entry_for_each, std::uint64_t length) {
  return has_entry_for_each && length < lengths[2];
}

/// The nonzeros in lexicographic order.
template <class Tensor>
auto sorted_entries(Tensor const& X) {
  auto list = sporades::test::entries(copy_to(Kokkos::DefaultHostExecutionSpace{}, X));
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

TEST_CASE("blocks of rows cover any number of rows", "[core][large_modes]") {
  for (auto const rows : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{257}, lengths[0] + 1,
                          lengths[3], lengths[4], lengths[5]})
    for (std::uint64_t const entries : {1, 16, 65536, 1 << 23}) {
      CAPTURE(rows, entries);
      for (auto const& blocks :
           {detail::RowBlocks(rows, entries), detail::RowBlocks::of_columns(rows, entries),
            detail::RowBlocks::of_products(rows, entries)}) {
        CHECK(blocks.count <= detail::RowBlocks::most_blocks(1));
        CHECK(static_cast<double>(blocks.count) * static_cast<double>(blocks.rows_per_block) >=
              static_cast<double>(rows));
        CHECK((blocks.count == 0) == (rows == 0));
      }
    }
  detail::RowBlocks const known(1 << 30, 16);
  CHECK(known.rows_per_block == 4096);
  CHECK(known.count == 1 << 18);
}

TEMPLATE_LIST_TEST_CASE("decompositions of modes near 2^64 are refused with numbers",
                        "[algorithms][large_modes]", sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const length = GENERATE(from_range(std::begin(lengths), std::end(lengths)));
  int const n = GENERATE(0, 2);
  CAPTURE(length, n);
  auto const X = long_tensor(exec, n, length);
  double const row = static_cast<double>(length) * sizeof(double);
  auto const check = [&](auto options, auto const& decompose) {
    options.iterations = 1;
    CHECK(memory_need(exec, X, options).peak > row);
    options.memory = 1000000000;
    CHECK_THROWS_WITH(decompose(options), ContainsSubstring("may be taken"));
    if (length < lengths[2]) return;  // some machines have so much
    options.memory = 0;
    CHECK_THROWS_WITH(decompose(options), ContainsSubstring("may be taken"));
  };
  for (auto const strategy :
       {MttkrpStrategy::automatic, MttkrpStrategy::atomic, MttkrpStrategy::permuted,
        MttkrpStrategy::sorted, MttkrpStrategy::fibers, MttkrpStrategy::csf,
        MttkrpStrategy::flycoo}) {
    CAPTURE(to_string(strategy));
    CpAlsOptions options;
    options.rank = 2;
    options.strategy = strategy;
    check(options, [&](auto const& with) { cp_als(exec, X, with); });
  }
  for (auto const method : {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr}) {
    CAPTURE(to_string(method));
    CpAprOptions options;
    options.rank = 2;
    options.method = method;
    check(options, [&](auto const& with) { cp_apr(exec, X, with); });
  }
  for (auto const strategy : {TtmChainStrategy::automatic, TtmChainStrategy::semi_sparse,
                              TtmChainStrategy::csf}) {  // fused takes indices of 63 bits
    CAPTURE(to_string(strategy));
    TuckerOptions options;
    options.ranks = {2, 2, 2};
    options.strategy = strategy;
    check(options, [&](auto const& with) { tucker(exec, X, with); });
  }
}

TEMPLATE_LIST_TEST_CASE("plans of long modes are made at once, or refused",
                        "[kernels][large_modes]", sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const length = GENERATE(from_range(std::begin(lengths), std::end(lengths)));
  int const n = GENERATE(0, 1, 2);
  CAPTURE(length, n);
  auto const X = long_tensor(exec, n, length);
  for (auto const& name : names_of<MttkrpStrategy>()) {
    CAPTURE(name);
    MttkrpOptions options;
    options.strategy = from_name<MttkrpStrategy>(name);
    options.rank = 3;
    if (is_slow(sporades::detail::facts_of(options.strategy).is_flycoo, length)) continue;
    bool const made = is_made([&] {
      auto const plan = make_mttkrp_plan(exec, X, options);
      CHECK(plan.nnz == 4);
    });
    // Lists of the rows that are hit take no room for the others.
    if (name == "sorted" || name == "csf" || name == "permuted") CHECK(made);
    if (name == "fibers" && length < lengths[2]) CHECK(made);  // words of 63 bits
  }
  for (auto const& name : names_of<PhiStrategy>()) {
    CAPTURE(name);
    PhiOptions options;
    options.strategy = from_name<PhiStrategy>(name);
    options.rank = 3;
    is_made([&] {
      auto const plan = make_phi_plan(exec, X, options);
      CHECK(plan.nnz == 4);
    });
  }
  for (auto const& name : names_of<TtmChainStrategy>()) {
    CAPTURE(name);
    TtmChainOptions options;
    options.strategy = from_name<TtmChainStrategy>(name);
    bool const made = is_made([&] { make_ttm_chain_plan(exec, X, {2, 2, 2}, options); });
    if (name == "csf" || name == "semi-sparse") CHECK(made);
  }
}

TEMPLATE_LIST_TEST_CASE("formats of long modes are exact, or refused", "[formats][large_modes]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const length = GENERATE(from_range(std::begin(lengths), std::end(lengths)));
  int const n = GENERATE(0, 1, 2);
  CAPTURE(length, n);
  auto const X = long_tensor(exec, n, length);
  auto const wanted = sorted_entries(X);
  auto const is_exact = [&](auto const& make) {
    return is_made([&] {
      auto const entries = sorted_entries(to_coo(exec, make()));
      CHECK(entries == wanted);
    });
  };
  CHECK(is_exact([&] { return make_csf(exec, X, {n, (n + 1) % 3, (n + 2) % 3}); }));
  CHECK(is_exact([&] { return make_hierarchical(exec, X, {(n + 1) % 3, (n + 2) % 3, n}); }));
  auto const packed = [&](int m) { return make_packed(exec, sorted(exec, X, {m}), m); };
  CHECK(is_exact([&] { return packed(n); }));  // the long mode's rows are listed
  CHECK(is_exact([&] { return make_alto(exec, X); }));
  if (!is_slow(true, length)) is_exact([&] { return make_flycoo(exec, X); });
  CHECK(is_exact([&] { return packed((n + 1) % 3); }) == (length < lengths[2]));  // 63 bits
}

TEMPLATE_LIST_TEST_CASE("products on short modes of long tensors equal their definition",
                        "[kernels][large_modes]", sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const length = GENERATE(from_range(std::begin(lengths), std::end(lengths)));
  int const n = GENERATE(0, 1, 2);
  CAPTURE(length, n);
  auto const X = long_tensor(exec, n, length);
  int const m = (n + 1) % 3;  // of two to four rows
  Vector<double, typename TestType::memory_space> const v("test::v", X.dims[m]);
  Kokkos::deep_copy(exec, v, 2.0);
  auto wanted = sorted_entries(X);
  for (auto& [indices, value] : wanted) {
    indices.erase(indices.begin() + m);
    value *= 2;
  }
  for (std::size_t p = 1; p < wanted.size();)  // sums of nonzeros that differ in mode m alone
    if (wanted[p].first == wanted[p - 1].first) {
      wanted[p - 1].second += wanted[p].second;
      wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(p));
    } else {
      ++p;
    }
  for (auto const& name : names_of<SptvStrategy>()) {
    CAPTURE(name);
    SptvOptions options;
    options.strategy = from_name<SptvStrategy>(name);
    if (is_slow(options.strategy == SptvStrategy::hocsr, length)) continue;
    bool const made = is_made([&] {
      auto plan = make_sptv_plan(exec, X, m, options);
      auto const Y = make_sptv_output(exec, plan);
      sptv(exec, plan, v, Y);
      CHECK(sorted_entries(Y) == wanted);
    });
    if (name == "automatic" || name == "hocoo") CHECK(made);
  }
}

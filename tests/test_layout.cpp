// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/mttkrp.hpp>
#include <string>
#include <support/catch.hpp>
#include <vector>

/// The table of decide_layout: what each mode gets, for shapes, options and machines.

using namespace sporades;
using Catch::Matchers::ContainsSubstring;

namespace {

using sporades::detail::CooShape;
using sporades::detail::Layout;
using sporades::detail::PlanPlace;

constexpr auto sorted_rows = MttkrpStrategy::sorted;
constexpr auto linear = MttkrpStrategy::alto;

CooShape shape(Dims const& dims, double nnz, double scalar_bytes = 8, double index_bytes = 4) {
  return {dims, nnz, {}, scalar_bytes, index_bytes};
}

Layout layout_of(CooShape const& X, MttkrpOptions const& options, PlanPlace const& place = {}) {
  return sporades::detail::decide_layout(X, options, place);
}

void check(CooShape const& X, MttkrpOptions const& options, PlanPlace const& place = {}) {
  sporades::detail::check_layout(layout_of(X, options, place), X, options, place);
}

PlanPlace const host{};
PlanPlace const gpu{true};
PlanPlace const gpu_beside_host{true, false, true};
PlanPlace const processes{false, true};

/// Lets the second-level cache be 1 MiB, whatever this machine has.
struct KnownCaches {
  decltype(sporades::detail::host_caches()) caches = sporades::detail::host_caches();
  std::decay_t<decltype(sporades::detail::host_caches())> before = caches;
  KnownCaches() { caches.second_level = 1 << 20; }
  ~KnownCaches() { caches = before; }
};

std::string out_of_core(Layout const& layout) {
  std::string text;
  for (auto const& mode : layout.modes) text += mode.is_out_of_core ? 'o' : 'r';
  return text;
}

}  // namespace

TEST_CASE("automatic lays nonzeros out by rows or in a linear order", "[kernels][layout]") {
  KnownCaches const known;
  struct Case {
    Dims dims;
    double nnz;
    int rank;
    PlanPlace place;
    MttkrpStrategy strategy;
    char const* reason;
  };
  std::uint64_t const big = 1 << 20;
  for (auto const& [dims, nnz, rank, place, strategy, reason] : std::vector<Case>{
           {{100, 200, 300}, 1e6, 16, host, sorted_rows, "second-level cache 0.0732 <= 20.6"},
           {{10, 20, big}, 1e7, 16, host, linear, "longest mode / all modes 1 > 0.645"},
           {{10, 20, 500000}, 1e7, 4, host, sorted_rows, "second-level cache 15.3 <= 20.6"},
           {{big, big, big}, 1e7, 16, host, sorted_rows, "longest mode / all modes 0.333 <="},
           {{10, 20, big}, 1e7, 16, gpu, sorted_rows, ""},
           {{10, 20, big}, 1e7, 16, processes, linear, "longest mode"},
           {{10, 20, big}, 0, 16, host, sorted_rows, ""},
           {{1, 1ull << 63, 1ull << 63, 1ull << 20}, 1e7, 16, host, sorted_rows, ""}}) {
    MttkrpOptions options;
    options.rank = rank;
    auto const layout = layout_of(shape(dims, nnz), options, place);
    CAPTURE(to_string(dims), nnz, rank);
    REQUIRE(layout.modes.size() == dims.size());
    for (auto const& mode : layout.modes) {
      CHECK(mode.choice.strategy == strategy);
      CHECK(mode.choice.order == RowOrder::lexicographic);
      CHECK_THAT(mode.choice.reason, ContainsSubstring(reason));
      CHECK(!mode.is_out_of_core);
    }
  }
  sporades::detail::MttkrpPlanUse by_rows;
  by_rows.may_be_linear = false;
  auto const shared =
      sporades::detail::decide_layout(shape({10, 20, big}, 1e7), {}, processes, by_rows);
  CHECK(shared.strategy() == sorted_rows);
  CHECK_THAT(shared.modes[0].choice.reason, ContainsSubstring("are what processes share"));
  // Rows of which there is one in 10 nonzeros have no parts of their own.
  auto const layout = layout_of(shape({10, 20, big}, 1e7), {});
  CHECK(!layout.modes[0].may_revert);
  CHECK(layout.modes[2].may_revert);
  MttkrpOptions asked;
  asked.strategy = linear;
  CHECK(!layout_of(shape({10, 20, big}, 1e7), asked).modes[2].may_revert);
}

TEST_CASE("what is asked for decides the layout", "[kernels][layout]") {
  auto const X = shape({30, 40, 50, 60}, 1e5);
  MttkrpOptions options;
  options.rows.order = RowOrder::morton;
  CHECK(layout_of(X, options).modes[1].choice.order == RowOrder::morton);
  CHECK(layout_of(X, options).modes[1].choice.reason == "this order was asked for");
  options = {};
  options.gather = GatherPrecision::half;
  CHECK(layout_of(X, options).modes[3].choice.strategy == sorted_rows);
  CHECK(layout_of(X, options).modes[3].choice.reason == "this precision was asked for");
  options = {};
  options.strategy = MttkrpStrategy::fibers;
  CHECK(layout_of(X, options).modes[0].choice.split == 2);  // as many as there are
  options.rows.split = 1;
  CHECK(layout_of(X, options).modes[0].choice.split == 1);
  options = {};
  options.strategy = MttkrpStrategy::csf;
  CHECK(layout_of(X, options).strategy() == MttkrpStrategy::csf);
  CHECK(!layout_of(X, options).is_by_rows());
}

TEST_CASE("slices are of the longest mode, and none where they cannot be", "[kernels][layout]") {
  MttkrpOptions options;
  options.slices.count = 4;
  auto const slices = [&](Dims const& dims, double nnz, double index_bytes) {
    return layout_of(shape(dims, nnz, 8, index_bytes), options).slices;
  };
  CHECK(slices({30, 60, 50}, 1e5, 4) == 4);
  CHECK(layout_of(shape({30, 60, 50}, 1e5), options).sliced_mode == 1);
  CHECK(layout_of(shape({30, 60, 50}, 1e5), options).modes[0].choice.reason ==
        "slices were asked for");
  CHECK(slices({30, 60}, 1e5, 4) == 1);
  CHECK(slices({30, 60, 50}, 0, 4) == 1);
  CHECK(slices({30, 60, 50}, 4294967295., 4) == 1);  // parts of rows might be too many
  CHECK(slices({30, 60, 50}, 4294967294., 4) == 4);
  CHECK(slices({30, 60, 50}, 4294967295., 8) == 4);
  CHECK(slices(Dims(16, 2), 1e4, 4) == 1);  // slices are one mode more
  options.slices.mode = 2;
  CHECK(layout_of(shape({30, 60, 50}, 1e5), options).sliced_mode == 2);
}

TEST_CASE("a GPU keeps as many copies as fit beside windows", "[kernels][layout]") {
  // Words of 8, 4 and 8 bytes: copies of 16, 12 and 16 MB.
  auto const X = shape({1 << 10, 1ull << 24, 1 << 12}, 1e6);
  CHECK(layout_of(X, {}).modes[0].bytes == 16e6);
  CHECK(layout_of(X, {}).modes[1].bytes == 12e6);
  CHECK(layout_of(X, {}).bytes() == 44e6);
  MttkrpOptions options;
  options.strategy = sorted_rows;
  options.streaming.streams = 1;
  options.streaming.window = 1 << 20;
  std::uint64_t const window = (1 << 20) + 4096 + sporades::detail::gpu_instance_bytes;
  struct Case {
    std::uint64_t memory;
    char const *on_host, *on_gpu, *beside_host;
  };
  for (auto const& [memory, on_host, on_gpu, beside_host] :
       std::vector<Case>{{0, "rrr", "rrr", "ooo"},
                         {44000000, "rrr", "rrr", "rrr"},
                         {43999999, "ooo", "ror", "ror"},
                         {window + 32000000, "ooo", "ror", "ror"},
                         {window + 31999999, "ooo", "rro", "rro"},
                         {window + 16000000, "ooo", "roo", "roo"},
                         {window + 15999999, "ooo", "oro", "oro"},
                         {window + 12000000, "ooo", "oro", "oro"},
                         {window + 11999999, "ooo", "ooo", "ooo"}}) {
    options.streaming.memory = memory;
    CAPTURE(memory);
    CHECK(out_of_core(layout_of(X, options)) == on_host);
    CHECK(out_of_core(layout_of(X, options, gpu)) == on_gpu);
    CHECK(out_of_core(layout_of(X, options, gpu_beside_host)) == beside_host);
    CHECK(layout_of(X, options).streams == (memory > 0 && memory < 44000000));
  }
  options.streaming.memory = 44000000;
  options.streaming.always = true;
  CHECK(out_of_core(layout_of(X, options, gpu)) == "ooo");
  // A linear order is never streamed; it stays where it alone fits.
  KnownCaches const known;
  auto const long_mode = shape({10, 20, 1 << 20}, 1e7);
  MttkrpOptions automatic;
  automatic.streaming.memory = 160000000;
  CHECK(layout_of(long_mode, automatic).strategy() == linear);
  CHECK(layout_of(long_mode, automatic).streams);
  automatic.streaming.memory = 159999999;
  CHECK(layout_of(long_mode, automatic).strategy() == sorted_rows);
  CHECK(layout_of(long_mode, automatic).modes[0].choice.reason ==
        "rows in order are what is streamed");
  CHECK(out_of_core(layout_of(long_mode, automatic)) == "ooo");
}

TEST_CASE("layouts that cannot be are refused", "[kernels][layout]") {
  auto const X = shape({30, 40, 50}, 1e5);
  auto const wide = shape({30, 1ull << 40, 1ull << 40}, 1e5, 8, 8);
  auto const refuses = [](CooShape const& of, MttkrpOptions const& options, PlanPlace const& place,
                          char const* text) {
    CHECK_THROWS_WITH(check(of, options, place), ContainsSubstring(text));
  };
  MttkrpOptions options;
  check(X, options);
  check(wide, options);
  check(X, options, processes);
  options.strategy = MttkrpStrategy::fibers;
  refuses(wide, options, host, "strategy fibers: the indices of all modes but 0 take 80 bits");
  options.strategy = MttkrpStrategy::csf;
  check(X, options);
  refuses(X, options, processes, "strategy csf works on one process: sorted, fibers and alto on");
  refuses(X, options, gpu_beside_host, "strategy csf cannot stream");
  options.streaming.memory = 1000;
  refuses(X, options, host, "strategy csf cannot stream");
  CHECK(out_of_core(layout_of(X, options)) == "rrr");  // it has no copies in the order of rows
  options.strategy = MttkrpStrategy::sorted;
  check(X, options);
  refuses(X, options, processes, "nonzeros that processes share are not streamed");
  refuses(wide, options, host, "(of all modes but 0 they take 80) cannot be streamed");
  options.updatable = true;
  refuses(X, options, host, "values are updated where nothing is streamed");
  options.updatable = false;
  options.slices.count = 2;
  refuses(X, options, host, "nonzeros in slices are not streamed");
  options = {};
  refuses(wide, options, gpu_beside_host, "cannot be streamed");
  options.streaming.memory =
      1ull << 40;  // all would be resident; a GPU gets words alone from the host
  refuses(wide, options, gpu_beside_host, "cannot be streamed");
  options = {};
  options.gather = GatherPrecision::half;
  refuses(wide, options, host, "gathered in full precision where the indices");
  options = {};
  options.memory = 1000;
  refuses(X, options, processes, "options.memory is for one process");
  options = {};
  options.rows.atomic_flush = true;
  refuses(X, options, processes, "lexicographic order");
  options = {};
  options.strategy = linear;
  check(X, options, processes);
  PlanPlace gpus = gpu;
  gpus.is_distributed = true;
  refuses(X, options, gpus, "strategy alto works on one process: sorted and fibers on several");
}

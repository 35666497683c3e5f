// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/detail/memory/mttkrp_plan.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/kernels/mttkrp.hpp>

namespace sporades::command {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Position>>;
using Starts = Kokkos::View<Position*, Exec::memory_space>;

/// Notes where each run of nonzeros that agree in some modes starts.
template <class Coordinates>
struct FindRuns {
  sporades::detail::CompareNonzeros<Coordinates> compare;
  Starts starts;
  KOKKOS_FUNCTION void operator()(Position p, Position& runs, bool is_last) const {
    if (!compare.begins_run(p)) return;
    if (is_last) starts(runs) = p;
    ++runs;
  }
};

struct LongestRun {
  Starts starts;
  Position runs;
  Position end;
  KOKKOS_FUNCTION void operator()(Position k, Position& longest) const {
    Position const length = (k + 1 < runs ? starts(k + 1) : end) - starts(k);
    if (length > longest) longest = length;
  }
};

struct Runs {
  Position count = 0;
  Position longest = 0;
};

/// Runs of nonzeros that agree in these modes, by which Y is sorted first.
template <class Tensor>
Runs count_runs(Exec const& exec, Tensor const& Y, std::vector<int> const& modes) {
  using Coordinates = typename Tensor::Coordinates;
  Position const nnz = Y.nnz();
  if (nnz == 0) return {};
  Starts const starts =
      sporades::detail::uninitialized<Starts>(exec, "sporades::info::starts", nnz);
  Runs runs;
  Kokkos::parallel_scan("sporades::info::find_runs", Range(exec, 0, nnz),
                        FindRuns<Coordinates>{{Y.coordinates, modes}, starts}, runs.count);
  Kokkos::parallel_reduce("sporades::info::longest_run", Range(exec, 0, runs.count),
                          LongestRun{starts, runs.count, nnz}, Kokkos::Max<Position>(runs.longest));
  exec.fence();
  return runs;
}

template <class Tensor>
ModeInfo mode_info(Exec const& exec, Tensor const& X, int n) {
  auto const mean = [&](Position runs) {
    return runs == 0 ? 0 : static_cast<double>(X.nnz()) / static_cast<double>(runs);
  };
  auto const others = sporades::detail::other_modes({n}, X.order());
  Runs const slices = count_runs(exec, sorted(exec, X, {n}), {n});
  Runs const fibers = count_runs(exec, sorted(exec, X, others), others);
  return {X.dims[n],      slices.count, mean(slices.count),
          slices.longest, fibers.count, mean(fibers.count),
          fibers.longest, {},           {}};
}

template <class Tensor>
void add_values(Tensor const& X, TensorInfo& info) {
  for (Position p = 0; p < X.nnz(); ++p) {
    double const value = X.values(p);
    info.least = p == 0 ? value : std::min(info.least, value);
    info.greatest = p == 0 ? value : std::max(info.greatest, value);
  }
  // In this unit no square leaves the range of double.
  double const unit = std::ldexp(1.0, sporades::detail::binary_exponent(
                                          std::max(std::abs(info.least), std::abs(info.greatest))));
  double squares = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    double const value = X.values(p) / unit;
    squares += value * value;
  }
  info.norm = std::sqrt(squares) * unit;
}

/// Builds the linear order, if it has room for the bits of these dims.
template <class Tensor>
LinearOrder linear_order(Exec const& exec, Tensor const& X) {
  LinearOrder order;
  for (auto dim : X.dims) order.mode_bits.push_back(sporades::detail::index_bits(dim));
  order.bits = std::accumulate(order.mode_bits.begin(), order.mode_bits.end(), 0);
  if (order.bits > AltoLayout::most_bits) return order;
  auto const linear = make_alto(exec, X);
  order.words = linear.layout.has_two_words() ? 2 : 1;
  order.bytes = linear.storage_bytes();
  return order;
}

/// Builds what each strategy builds, to say its size and what `automatic` chooses.
template <class Tensor>
void add_formats(Exec const& exec, Tensor const& X, TensorInfo& info) {
  info.bytes.emplace_back("coo", X.storage_bytes());
  if (info.linear_order.words > 0) info.bytes.emplace_back("alto", info.linear_order.bytes);
  for (auto strategy : {MttkrpStrategy::permuted, MttkrpStrategy::sorted, MttkrpStrategy::csf,
                        MttkrpStrategy::automatic}) {
    auto const plan = make_mttkrp_plan(exec, X, MttkrpOptions{strategy, info.rank});
    info.bytes.emplace_back(to_string(strategy), plan.storage_bytes());
    if (strategy == MttkrpStrategy::automatic)
      for (int n = 0; n < X.order(); ++n) {
        auto const& choice = plan.choices[n];
        info.modes[n].automatic = describe(choice);
        info.modes[n].reason = choice.reason;
      }
  }
}

/// Throws RunError where less memory is left than the largest of what is built in turn takes.
template <class Tensor>
void check_memory(Exec const& exec, Tensor const& X, int rank) {
  namespace detail = sporades::detail;
  detail::MostTuples<Exec, Tensor> tuples(exec, X);
  auto const shape = detail::shape_of(X);
  auto const rows_of = [&](int n) { return tuples.rows(n); };
  sporades::detail::MemoryCount most;
  most.pass(shape.bytes() + 8 * shape.nnz);  // a sorted copy, and its runs
  for (auto strategy : {MttkrpStrategy::permuted, MttkrpStrategy::sorted, MttkrpStrategy::csf}) {
    sporades::detail::MemoryCount plan;
    detail::count_mttkrp_plan<double>(exec, plan, shape, false, MttkrpOptions{strategy, rank},
                                      strategy, tuples, rows_of);
    most.take_larger(plan);
  }
  check_fits_memory(sporades::detail::with_small_views(most.peak()),
                    sporades::detail::memory_left(exec), "info");
}

/// "18 + 17 + 4 = 39 bits, one word a nonzero"
void print(LinearOrder const& order) {
  std::printf("linear order of all modes:");
  for (std::size_t n = 0; n < order.mode_bits.size(); ++n)
    std::printf("%s %d", n > 0 ? " +" : "", order.mode_bits[n]);
  std::printf(" = %d bits, ", order.bits);
  if (order.words == 0)
    std::printf("more than its %d: there is no `alto`\n", AltoLayout::most_bits);
  else
    std::printf("%s a nonzero, %llu bytes with the values\n",
                order.words == 1 ? "one word" : "two words",
                static_cast<unsigned long long>(order.bytes));
}

void print(TensorInfo const& info) {
  std::printf("%s: order %zu, %s\n", info.file.c_str(), info.dims.size(),
              to_string(Dims(info.dims)).c_str());
  std::printf("%llu nonzeros (%s), density %.4g\n", static_cast<unsigned long long>(info.nnz),
              info.dialect.c_str(), info.density);
  if (info.duplicates > 0)
    std::printf("%llu nonzeros of the file were added to others of the same coordinates\n",
                static_cast<unsigned long long>(info.duplicates));
  std::printf("values from %.6g to %.6g, norm %.10g\n\n", info.least, info.greatest, info.norm);
  std::printf("%4s %20s %12s %10s %12s %12s %10s %12s  %s\n", "mode", "length", "slices", "mean",
              "longest", "fibers", "mean", "longest", "automatic");
  for (std::size_t n = 0; n < info.modes.size(); ++n) {
    auto const& mode = info.modes[n];
    std::printf("%4zu %20llu %12llu %10.1f %12llu %12llu %10.2f %12llu  %s\n", n,
                static_cast<unsigned long long>(mode.length),
                static_cast<unsigned long long>(mode.slices), mode.mean_slice,
                static_cast<unsigned long long>(mode.longest_slice),
                static_cast<unsigned long long>(mode.fibers), mode.mean_fiber,
                static_cast<unsigned long long>(mode.longest_fiber), mode.automatic.c_str());
  }
  std::printf("(slices and fibers that hold a nonzero, with their numbers of nonzeros)\n\n");
  for (std::size_t n = 0; n < info.modes.size(); ++n)
    std::printf("automatic, mode %zu: %s: %s\n", n, info.modes[n].automatic.c_str(),
                info.modes[n].reason.c_str());
  print(info.linear_order);
  std::printf("\n");
  std::printf("bytes in double precision; strategies with their buffers on %s at rank %d:\n",
              info.backend.c_str(), info.rank);
  for (auto const& [format, bytes] : info.bytes)
    std::printf("  %-10s %15llu  %s\n", format.c_str(), static_cast<unsigned long long>(bytes),
                sporades::detail::bytes_text(bytes).c_str());
}

}  // namespace

int info(InfoArguments const& arguments) {
  Exec const exec;
  expects(arguments.rank < 65536, "info: rank ", arguments.rank, " is not in 1 to 65535");
  auto const result = read<double>(arguments.read);
  TensorInfo info;
  info.file = arguments.read.file;
  info.dialect = result.dialect;
  info.duplicates = result.duplicates;
  info.backend = backend_name(Exec::name());
  info.precision = "double";
  info.rank = arguments.rank;
  std::visit(
      [&](auto const& X) {
        info.dims = X.dims;
        info.nnz = X.nnz();
        double const cells = sporades::detail::dense_size(X.dims);
        info.density = cells > 0 ? static_cast<double>(X.nnz()) / cells : 0;
        check_memory(exec, X, info.rank);
        add_values(X, info);
        for (int n = 0; n < X.order(); ++n) info.modes.push_back(mode_info(exec, X, n));
        info.linear_order = linear_order(exec, X);
        add_formats(exec, X, info);
      },
      result.tensor);
  if (arguments.json)
    std::fputs(to_json(info).c_str(), stdout);
  else
    print(info);
  return 0;
}

}  // namespace sporades::command

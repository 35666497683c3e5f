// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <sporades/algorithms/command/absent_cells.hpp>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/expected.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/model_info.hpp>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/ttm_chain.hpp>

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

/// The entries of a dense tensor.
Count cells(Dims const& dims) {
  std::uint64_t product = 1;
  for (auto dim : dims) {
    if (dim > 0 && product > std::numeric_limits<std::uint64_t>::max() / dim)
      return sporades::detail::dense_size(dims);
    product *= dim;
  }
  return product;
}

Count hocsr_words(Dims dims, int n, Position nnz) {
  dims.erase(dims.begin() + n);
  auto const rows = cells(dims);
  auto const* const exact = std::get_if<std::uint64_t>(&rows);
  if (exact && *exact <= std::numeric_limits<std::uint64_t>::max() - 2 * nnz)
    return sporades::detail::hocsr_words(*exact, nnz);
  return sporades::detail::hocsr_words(sporades::detail::dense_size(dims),
                                       static_cast<double>(nnz));
}

/// Counts, from one sorted copy a mode, the runs that the formats for products on this mode n
/// store: fibers along n, and all nodes of HOCFS. Its first level is the slices of mode n + 1.
template <class Tensor>
void add_modes(Exec const& exec, Tensor const& X, TensorInfo& info) {
  namespace detail = sporades::detail;
  int const N = X.order();
  Position const nnz = X.nnz();
  auto const mean = [&](Position runs) {
    return runs == 0 ? 0 : static_cast<double>(nnz) / static_cast<double>(runs);
  };
  info.modes.resize(N);
  for (int n = 0; n < N; ++n) {
    auto const modes = detail::cyclic_modes(n, N, "info");
    auto const Y = sorted(exec, X, modes);
    std::vector<Runs> runs;  // runs[l]: of nonzeros that agree in the first l modes
    for (int l = 0; l <= std::max(1, N - 1); ++l)
      runs.push_back(count_runs(exec, Y, {modes.begin(), modes.begin() + l}));
    Position nodes = 0;
    for (int l = 1; l < N; ++l) nodes += runs[l].count;

    Runs const slices = runs[1], fibers = runs[N - 1];
    auto& sliced = info.modes[modes[0]];
    sliced.slices = slices.count;
    sliced.mean_slice = mean(slices.count);
    sliced.longest_slice = slices.longest;
    auto& mode = info.modes[n];
    mode.length = X.dims[n];
    mode.fibers = fibers.count;
    mode.mean_fiber = mean(fibers.count);
    mode.longest_fiber = fibers.longest;
    mode.storage_words = {{"coo", X.storage_words()},
                          {"permuted", detail::permuted_words(N, nnz)},
                          {"hocoo", detail::hocoo_words(N, nnz)},
                          {"hocsr", hocsr_words(X.dims, n, nnz)},
                          {"cfb", detail::cfb_words(fibers.count, nnz)},
                          {"hocfs", detail::hocfs_words(nodes, nnz)},
                          {"hierarchical", detail::hierarchical_words(N, fibers.count, nnz)}};
  }
}

/// Geronimo Anderson & Choi, section 3.1: words of a nonzero are compared with the one word of a
/// cell that a dense array takes.
std::vector<BreakEven> break_even(Dims const& dims) {
  std::vector<BreakEven> result;
  int const N = static_cast<int>(dims.size());
  for (auto const& [format, words] :
       {std::pair{"coo", sporades::detail::hocoo_words(N, 1)},
        std::pair{"permuted", sporades::detail::permuted_words(N, 1)}}) {
    auto const nonzeros = std::visit(
        [words = words](auto all) { return Count(all / static_cast<decltype(all)>(words)); },
        cells(dims));
    result.push_back({format, "dense", 1 / static_cast<double>(words), nonzeros});
  }
  return result;
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

/// Strategies of MTTKRP whose plans are built to say their sizes.
constexpr MttkrpStrategy sized[] = {MttkrpStrategy::permuted, MttkrpStrategy::sorted,
                                    MttkrpStrategy::csf};

/// Builds what each strategy builds, to say its size and what `automatic` chooses.
template <class Tensor>
void add_formats(Exec const& exec, Tensor const& X, TensorInfo& info) {
  info.bytes.emplace_back("coo", X.storage_bytes());
  if (info.linear_order.words > 0) info.bytes.emplace_back("alto", info.linear_order.bytes);
  auto const build = [&](MttkrpStrategy strategy) {
    auto const plan = make_mttkrp_plan(exec, X, MttkrpOptions{strategy, info.rank});
    info.bytes.emplace_back(to_string(strategy), plan.storage_bytes());
    return plan.choices;
  };
  for (auto strategy : sized) build(strategy);
  auto const choices = build(MttkrpStrategy::automatic);
  for (int n = 0; n < X.order(); ++n)
    info.modes[n].automatic.push_back({"mttkrp", describe(choices[n]), choices[n].reason});
}

/// What `automatic` chooses for the other operations.
template <class Tensor>
void add_choices(Exec const& exec, Tensor const& X, TensorInfo& info) {
  namespace detail = sporades::detail;
  using Scalar = typename Tensor::Scalar;
  auto const phi = make_phi_plan(exec, X, PhiOptions{PhiStrategy::automatic, info.rank});
  detail::TupleCounts const tuples(exec, X);
  std::vector<int> ranks;
  for (auto dim : X.dims)
    ranks.push_back(static_cast<int>(std::min(dim, static_cast<std::uint64_t>(info.rank))));
  for (int n = 0; n < X.order(); ++n) {
    auto& choices = info.modes[n].automatic;
    auto const& product = phi.products.choices[n];
    choices.push_back(
        {"phi", product.strategy == MttkrpStrategy::alto ? "alto" : "pull", product.reason});
    auto const fibers = make_hierarchical(exec, X, detail::spttm_mode_order(X.dims, n));
    auto const spttm = detail::choose_spttm(exec, fibers, info.rank);
    choices.push_back({"spttm", to_string(spttm.strategy), spttm.reason});
    auto const sptv = detail::choose_sptv<Exec>(X.dims, X.nnz(), n);
    choices.push_back({"sptv", sptv.choice, sptv.path});
    auto const chain = detail::choose_chain<Exec, Scalar>(
        tuples, X.dims, ranks, n, TtmChainStrategy::automatic, detail::memory_bytes(exec));
    choices.push_back({"ttm_chain", describe(chain), chain.reason});
  }
}

/// Throws RunError where less memory is left than the largest of what is built in turn takes.
template <class Tensor>
void check_memory(Exec const& exec, Tensor const& X, int rank) {
  namespace detail = sporades::detail;
  detail::FiberCountEstimate<Exec, Tensor> tuples(exec, X);
  auto shape = detail::shape_of(X);
  shape.is_kept = true;
  sporades::detail::MemoryCount most;
  most.pass(shape.bytes() + 8 * shape.nnz);  // a sorted copy, and its runs
  for (auto strategy : sized) {
    sporades::detail::MemoryCount plan;
    MttkrpOptions const options{strategy, rank};
    detail::count_mttkrp_plan<double>(exec, plan, shape, options,
                                      detail::decide_layout<Exec>(shape, options), tuples);
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

/// A line a mode, and where formats break even.
void print_words(TensorInfo const& info) {
  if (info.nnz == 0) return;
  auto const width = [](std::string const& format) {
    return std::max(9, static_cast<int>(format.size()));
  };
  std::printf("words a nonzero in the formats for products on a mode:\nmode");
  for (auto const& [format, words] : info.modes[0].storage_words)
    std::printf(" %*s", width(format), format.c_str());
  std::printf("  smallest\n");
  for (std::size_t n = 0; n < info.modes.size(); ++n) {
    auto const& all = info.modes[n].storage_words;
    auto least = all[0].second;
    std::printf("%4zu", n);
    for (auto const& [format, words] : all) {
      least = std::min(least, words);
      double const number =
          std::visit([](auto count) { return static_cast<double>(count); }, words);
      std::printf(" %*.4g", width(format), number / static_cast<double>(info.nnz));
    }
    char const* before = "  ";
    for (auto const& [format, words] : all)
      if (words == least) {
        std::printf("%s%s", before, format.c_str());
        before = ", ";
      }
    std::printf("\n");
  }
  std::printf("(a word is an index, a position or a value; coo and permuted serve all modes)\n");
  char const* before = "break even: ";
  for (auto const& one : info.break_even) {
    std::printf("%s%s and %s at density %.4g", before, one.format.c_str(), one.other.c_str(),
                one.density);
    before = ", ";
  }
  std::printf(" (dense: an array of all cells)\n\n");
}

void print(TensorInfo const& info) {
  std::printf("%s: order %zu, %s\n", info.file.c_str(), info.dims.size(),
              to_string(Dims(info.dims)).c_str());
  std::printf("%llu nonzeros (%s), density %.4g\n", static_cast<unsigned long long>(info.nnz),
              info.dialect.c_str(), info.density);
  if (info.density < 1)
    std::printf("%s; the others count as 0\n", share_of_cells(info.density).c_str());
  if (info.duplicates > 0)
    std::printf("%llu nonzeros of the file were added to others of the same coordinates\n",
                static_cast<unsigned long long>(info.duplicates));
  std::printf("values from %.6g to %.6g, norm %.10g\n\n", info.least, info.greatest, info.norm);
  std::printf("%4s %20s %12s %10s %12s %12s %10s %12s  %s\n", "mode", "length", "slices", "mean",
              "longest", "fibers", "mean", "longest", "automatic");
  for (std::size_t n = 0; n < info.modes.size(); ++n) {
    auto const& mode = info.modes[n];
    std::printf(
        "%4zu %20llu %12llu %10.1f %12llu %12llu %10.2f %12llu  %s\n", n,
        static_cast<unsigned long long>(mode.length), static_cast<unsigned long long>(mode.slices),
        mode.mean_slice, static_cast<unsigned long long>(mode.longest_slice),
        static_cast<unsigned long long>(mode.fibers), mode.mean_fiber,
        static_cast<unsigned long long>(mode.longest_fiber), mode.automatic[0].strategy.c_str());
  }
  std::printf("(slices and fibers that hold a nonzero, with their numbers of nonzeros)\n\n");
  print_words(info);
  std::printf("automatic:\n");
  for (std::size_t n = 0; n < info.modes.size(); ++n)
    for (auto const& choice : info.modes[n].automatic)
      std::printf("  %-9s mode %zu: %s: %s\n", choice.operation.c_str(), n, choice.strategy.c_str(),
                  choice.reason.c_str());
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
  expects(arguments.rank < 65536, "info: rank ", arguments.rank, " is not in 1 to 65535");
  for (int const P : arguments.processes)
    expects(P <= 65536, "info: --processes ", P, " is more than 65536");
  bool const is_model = is_model_file(arguments.read.file);
  expects(!is_model || arguments.processes.empty(), "info --processes: ", arguments.read.file,
          " is a model; this is of tensors");
  if (!arguments.processes.empty()) return expected(arguments);
  expect_one_process("info");
  Exec const exec;
  check_files({{"FILE", arguments.read.file}}, {{"--report", arguments.report}});
  if (is_model) return model_info(arguments);
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
        add_modes(exec, X, info);
        info.break_even = break_even(info.dims);
        info.linear_order = linear_order(exec, X);
        add_formats(exec, X, info);
        add_choices(exec, X, info);
      },
      result.tensor);
  if (!arguments.report.empty()) {
    sporades::detail::OutputFile file(arguments.report);
    file.write(to_json(info));
    file.commit();
  }
  if (arguments.json)
    std::fputs(to_json(info).c_str(), stdout);
  else
    print(info);
  return 0;
}

}  // namespace sporades::command

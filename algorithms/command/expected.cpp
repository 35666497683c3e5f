// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdio>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/expected.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/detail/cp_als/model_processes.hpp>
#include <sporades/core/names.hpp>
#include <sporades/core/timer.hpp>

namespace sporades::command {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using sporades::detail::Network;

/// Seconds of one way of so many bytes between the first process and the last, the least of some
/// round trips. Collective.
double seconds_of_way(std::size_t bytes, int rounds) {
  namespace detail = sporades::detail;
  auto const& all = processes();
  int const first = 0, last = all.size() - 1;
  bool const is_first = all.rank() == first, is_last = all.rank() == last;
  std::vector<std::byte> data(bytes);
  double least = 1e300;
  for (int k = 0; k < rounds; ++k) {
    sporades::detail::Timer const timer;
    for (int const from : {first, last}) {
      int const to = first + last - from;
      std::vector<detail::Sent> sent;
      std::vector<detail::Received> received;
      if (all.rank() == from) sent.push_back({to, data.data(), bytes});
      if (all.rank() == to) received.push_back({from, data.data(), bytes});
      if (is_first || is_last) detail::exchange(all, "ping", sent, received);
    }
    least = std::min(least, timer.seconds() / 2);
  }
  return least;
}

/// The network as the arguments say, else as measured where there are several processes, else the
/// defaults.
Network network_of(InfoArguments const& arguments) {
  Network network;
  if (processes().size() > 1) {
    constexpr std::size_t much = 16 << 20;
    network.latency = seconds_of_way(8, 1000);
    network.bandwidth = much / std::max(seconds_of_way(much, 10) - network.latency, 1e-9);
  }
  if (arguments.latency) network.latency = *arguments.latency;
  if (arguments.bandwidth) network.bandwidth = *arguments.bandwidth;
  expects(network.latency >= 0 && network.bandwidth > 0,
          "info: --latency is 0 or more, and --bandwidth is more");
  return network;
}

char const* distribution(MttkrpChoice const& choice) {
  return choice.strategy == MttkrpStrategy::alto ? "one copy in linear order" : "rows in order";
}

template <class Tensor>
void print_expected(InfoArguments const& arguments, Network const& network, Tensor const& X) {
  namespace detail = sporades::detail;
  CpAlsOptions options;
  options.rank = arguments.rank;
  options.strategy = from_name<MttkrpStrategy>(arguments.strategy);
  options.tolerance = 0;
  options.iterations = 2;
  double seconds = arguments.seconds.value_or(0);
  expects(seconds >= 0, "info: --seconds ", seconds, " is negative");
  double const copies = static_cast<double>(X.order()) * static_cast<double>(X.storage_bytes());
  check_fits_memory(copies + 16.0 * static_cast<double>(X.nnz()), detail::memory_left(Exec()),
                    "info --processes, which sorts by each mode,", "");
  if (!arguments.seconds) {
    auto const taken = cp_als(Exec(), X, options).seconds;
    seconds = *std::min_element(taken.begin(), taken.end());
  }
  bool is_first = true;
  for (int const P : arguments.processes) {
    auto const model = detail::model_iteration<Exec>(X, options, P, true);
    if (is_first) {
      std::printf("an iteration of cp-als --rank %d --precision %s on %s:\n", options.rank,
                  arguments.precision.c_str(), backend_name(Exec::name()).c_str());
      for (std::size_t n = 0; n < model.choices.size(); ++n)
        std::printf("mode %zu: %s: %s\n", n, distribution(model.choices[n]),
                    model.choices[n].reason.c_str());
      std::printf(
          "one process takes %.3g s (%s); a message %.3g s and a second for %.3g bytes (%s)\n\n",
          seconds, arguments.seconds ? "--seconds" : "measured", network.latency, network.bandwidth,
          processes().size() > 1 ? "measured" : "--latency, --bandwidth");
      std::printf("%9s %12s %12s %15s %15s %12s %10s %10s\n", "processes", "nonzeros", "memory",
                  "bytes of all", "bytes of one", "messages", "exchange", "iteration");
      is_first = false;
    }
    Position nonzeros = 0;
    std::uint64_t bytes = 0;
    for (auto const here : model.nonzeros) nonzeros = std::max(nonzeros, here);
    for (auto const here : model.bytes) bytes = std::max(bytes, here);
    double const exchange = model.seconds(network);
    double const share =
        X.nnz() > 0 ? static_cast<double>(nonzeros) / static_cast<double>(X.nnz()) : 0;
    std::printf("%9d %12llu %12s %15llu %15llu %12llu %8.2e s %8.2e s\n", P,
                static_cast<unsigned long long>(nonzeros),
                detail::bytes_text(static_cast<double>(bytes)).c_str(),
                static_cast<unsigned long long>(model.all().bytes),
                static_cast<unsigned long long>(model.largest().bytes),
                static_cast<unsigned long long>(model.all().messages), exchange,
                seconds * share + exchange);
  }
  std::printf("(nonzeros, memory and bytes of the process that has most; bytes sent)\n");
}

}  // namespace

int expected(InfoArguments const& arguments) {
  return sporades::detail::together(processes(), [&] {
    auto const network = network_of(arguments);
    int status = 0;
    if (speaks()) {
      check_files({{"FILE", arguments.read.file}}, {});
      status = with_precision(arguments.precision, [&](auto number) {
        auto options = read_options(arguments.read);
        options.duplicates = Duplicates::sum;
        auto const result = read_tensor<decltype(number)>(arguments.read.file, options);
        for (auto const& note : result.notes) tell("note: " + note);
        std::visit([&](auto const& X) { print_expected(arguments, network, X); }, result.tensor);
        return 0;
      });
    }
    sporades::detail::wait_for_all(processes(), "info");
    return status;
  });
}

}  // namespace sporades::command

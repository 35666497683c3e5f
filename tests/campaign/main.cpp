// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// sporades_campaign --seed S [--first K] [--draws N] [--bits FILE]: N random draws of a tensor, an
/// operation and its options, from the K-th of seed S on; each is checked against its definition,
/// and one that fails says how to repeat it. --bits writes hashes of all results that promise the
/// same bits on every number of threads: campaign.sh compares them.

#include <campaign/outcome.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sporades/core/detail/kokkos.hpp>

namespace sporades::campaign {
namespace {

Outcome draw(std::uint64_t seed, std::uint64_t number) {
  static auto const all = [] {
    auto checks = kernel_checks();
    auto const models = model_checks();
    for (std::size_t k = 0; k < checks.size(); ++k)
      checks[k].list.insert(checks[k].list.end(), models[k].list.begin(), models[k].list.end());
    return checks;
  }();
  Source source(seed, number);
  Outcome outcome;
  auto const& [types, list] = all[source.below(all.size())];
  try {
    list[source.below(list.size())](source, outcome);
  } catch (std::exception const& error) {
    outcome.faults.push_back(error.what());
  }
  outcome.text += std::string(", ") + types;
  return outcome;
}

int run(int argc, char** argv) {
  std::uint64_t seed = 1, first = 0, draws = 200;
  std::ofstream bits;
  for (int k = 1; k < argc; k += 2) {
    std::string const option = argv[k];
    expects(k + 1 < argc, option, " has no value");
    if (option == "--bits")
      bits.open(argv[k + 1]);
    else if (option == "--seed" || option == "--first" || option == "--draws")
      (option == "--seed"    ? seed
       : option == "--first" ? first
                             : draws) = std::strtoull(argv[k + 1], nullptr, 10);
    else
      fail(option, " is none of --seed, --first, --draws and --bits");
  }
  std::uint64_t failures = 0;
  for (std::uint64_t number = first; number < first + draws; ++number) {
    auto const outcome = draw(seed, number);
    for (auto const& one : outcome.bits) bits << "draw " << number << " " << one << "\n";
    if (outcome.faults.empty()) continue;
    ++failures;
    std::printf("draw %llu: %s\n", static_cast<unsigned long long>(number), outcome.text.c_str());
    for (auto const& fault : outcome.faults) std::printf("  %s\n", fault.c_str());
    std::printf("  again: %s --seed %llu --first %llu --draws 1\n", argv[0],
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(number));
    std::fflush(stdout);
  }
  std::printf("%llu of %llu draws failed\n", static_cast<unsigned long long>(failures),
              static_cast<unsigned long long>(draws));
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sporades::campaign

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  try {
    return sporades::campaign::run(argc, argv);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "campaign: %s\n", error.what());
    return 2;
  }
}

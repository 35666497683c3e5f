// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a subcommand's run does with its model, by kind: Kruskal or Tucker tensor.

#include <algorithm>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/ttensor_file.hpp>

namespace sporades::command {

/// Factors with their padding on the host.
template <class Scalar, class Memory>
Factors<Scalar, Kokkos::HostSpace> factors_on_host(Factors<Scalar, Memory> const& factors) {
  Factors<Scalar, Kokkos::HostSpace> copies;
  for (auto const& A : factors) {
    auto const mirror =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sporades::detail::with_padding(A));
    copies.push_back(
        Kokkos::subview(mirror, Kokkos::ALL, std::make_pair(std::size_t{0}, A.extent(1))));
  }
  return copies;
}

/// Leaves the rows of factors that `rows` says, of a model of these dims. Throws Error, as `where`,
/// for other dims.
template <class Model>
void take_rows(Model& model, std::vector<RowMap> const& rows, Dims const& dims, char const* where) {
  expects(model.dims() == dims, where, ": the start is ", to_string(model.dims()), ", X is ",
          to_string(dims));
  for (std::size_t n = 0; n < rows.size(); ++n) {
    auto& A = model.factors[n];
    std::uint64_t const first = rows[n].first(), end = first + rows[n].here(dims[n]);
    A = Kokkos::subview(A, std::make_pair(first, end), Kokkos::ALL);
  }
}

template <class Scalar>
struct KtensorKind {
  using Model = KruskalTensor<Scalar>;
  static constexpr bool is_cp = true;
  static constexpr char const* extension = ".ktns";

  static Model read(std::string const& path) { return read_ktensor<Scalar>(path); }
  /// rows: of each mode, where processes share them; else empty.
  static void write(std::string const& path, Model const& model, std::vector<RowMap> const& rows,
                    ModelFacts const& facts) {
    write_ktensor(path, model, rows, facts);
  }

  /// Options: an algorithm's, or its subcommand's arguments.
  template <class Options>
  static std::string rank_text(Options const& options) {
    return "rank " + std::to_string(options.rank);
  }
  template <class Options>
  static std::pair<std::string, std::string> rank_fact(Options const& options) {
    return {"rank", std::to_string(options.rank)};
  }
  /// Columns of each mode's factor.
  template <class Options>
  static std::vector<int> ranks(Options const& options, Dims const& dims) {
    return std::vector<int>(dims.size(), options.rank);
  }
  template <class Options>
  static void report_rank(Options const& options, Report& report) {
    report.rank = options.rank;
  }
  /// A note where no tensor of these dims needs such a rank: each fiber of the longest mode can be
  /// a component.
  template <class Options>
  static std::string rank_note(Options const& options, Dims const& dims) {
    double fibers = 1;
    for (auto dim : dims) fibers *= static_cast<double>(dim);
    fibers /= static_cast<double>(*std::max_element(dims.begin(), dims.end()));
    if (!(options.rank > fibers)) return "";
    return sporades::detail::concatenate("rank ", options.rank, " is more than any tensor of ",
                                         to_string(dims), " needs: rank ", fibers,
                                         ", the product of all modes but the longest, fits it");
  }
  template <class Options>
  static double factor_numbers(Options const& options, Dims const& dims) {
    double rows = 0;
    for (auto dim : dims) rows += static_cast<double>(dim);
    return rows * static_cast<double>(padded_columns(static_cast<std::size_t>(options.rank)));
  }
  template <class Options>
  static int largest_rank(Options const& options) {
    return options.rank;
  }
  template <class Options>
  static Options with_largest_rank(Options options, int rank) {
    options.rank = rank;
    return options;
  }

  template <class Memory>
  static Model host_copy(KruskalTensor<Scalar, Memory> const& model) {
    return {Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.weights),
            factors_on_host(model.factors)};
  }
};

template <class Scalar>
struct TuckerKind {
  using Model = TuckerTensor<Scalar>;
  static constexpr bool is_cp = false;
  static constexpr char const* extension = ".ttns";

  static Model read(std::string const& path) { return read_ttensor<Scalar>(path); }
  /// rows: of each mode, where processes share them; else empty.
  static void write(std::string const& path, Model const& model, std::vector<RowMap> const& rows,
                    ModelFacts const& facts) {
    write_ttensor(path, model, rows, facts);
  }

  template <class Options>
  static std::string rank_text(Options const& options) {
    return "ranks " + rank_fact(options).second;
  }
  template <class Options>
  static std::pair<std::string, std::string> rank_fact(Options const& options) {
    std::string text;
    for (int rank : options.ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
    return {"ranks", text};
  }
  template <class Options>
  static std::vector<int> ranks(Options const& options, Dims const&) {
    return options.ranks;
  }
  template <class Options>
  static void report_rank(Options const& options, Report& report) {
    report.ranks = options.ranks;
  }
  /// None: ranks that are too large are refused.
  template <class Options>
  static std::string rank_note(Options const&, Dims const&) {
    return "";
  }
  /// Half the core included, which is there as Scalar and in double.
  template <class Options>
  static double factor_numbers(Options const& options, Dims const& dims) {
    double numbers = 0, core = 1;
    for (std::size_t n = 0; n < dims.size() && n < options.ranks.size(); ++n) {
      numbers += static_cast<double>(dims[n]) *
                 static_cast<double>(padded_columns(static_cast<std::size_t>(options.ranks[n])));
      core *= options.ranks[n];
    }
    return numbers + core / 2 * (1 + sizeof(double) / sizeof(Scalar));
  }
  template <class Options>
  static int largest_rank(Options const& options) {
    return *std::max_element(options.ranks.begin(), options.ranks.end());
  }
  /// The others in proportion, and none larger than the product of the rest.
  template <class Options>
  static Options with_largest_rank(Options options, int rank) {
    double const share = static_cast<double>(rank) / largest_rank(options);
    for (int& one : options.ranks) one = std::max(1, static_cast<int>(one * share));
    for (std::size_t n = 0; n < options.ranks.size(); ++n) {
      double others = 1;
      for (std::size_t m = 0; m < options.ranks.size(); ++m)
        if (m != n) others *= options.ranks[m];
      options.ranks[n] = static_cast<int>(std::min<double>(options.ranks[n], others));
    }
    return options;
  }

  template <class Memory>
  static Model host_copy(TuckerTensor<Scalar, Memory> const& model) {
    return {Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.core),
            factors_on_host(model.factors)};
  }
};

}  // namespace sporades::command

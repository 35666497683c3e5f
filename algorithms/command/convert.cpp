// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <sporades/algorithms/command/csv/read_csv.hpp>
#include <sporades/algorithms/command/labels_output.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/small_slices.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <sporades/formats/aggregate_coo.hpp>

namespace sporades::command {
namespace {

bool is_csv(ConvertArguments const& arguments) {
  return !arguments.csv.columns.empty() || has_csv_name(arguments.read.file);
}

/// The tensor, with the names that --names tells or else none.
template <class Scalar>
NamedTensor<Scalar> read_named(ConvertArguments const& arguments, Duplicates duplicates) {
  if (is_csv(arguments)) {
    auto result = read_csv<Scalar>(arguments.read.file, arguments.csv, arguments.names, duplicates,
                                   arguments.memory);
    for (auto const& note : result.read.notes) tell("note: " + note);
    return result;
  }
  NamedTensor<Scalar> result{read<Scalar>(arguments.read, duplicates, arguments.memory), {}, {}};
  if (!arguments.names.empty())
    result.labels = std::visit([&](auto const& X) { return read_labels(arguments.names, X.dims); },
                               result.read.tensor);
  return result;
}

/// Leaves out small slices and their names; without names the indices before become them.
template <class Tensor>
void keep_large_slices(Tensor& X, Labels& labels, std::uint64_t least) {
  auto const before = X.dims;
  auto const kept = without_small_slices(hand_over(X), least);
  X = kept.tensor;
  expects(X.nnz() > 0, "--min-slice ", least, ": no nonzero is left of ", to_string(before));
  labels.names.resize(kept.indices.size());
  for (std::size_t n = 0; n < kept.indices.size(); ++n) {
    std::vector<std::string> names;
    for (auto const i : kept.indices[n])
      names.push_back(labels.names[n].empty() ? std::to_string(i + 1) : labels.names[n][i]);
    labels.names[n] = std::move(names);
  }
}

/// Values in memory, where those of a file are only to be read.
template <class Values>
Values copy_of(Values const& values) {
  Values copy("sporades::convert::values", values.extent(0));
  Kokkos::deep_copy(copy, values);
  return copy;
}

template <class Tensor>
void take_log1p(Tensor const& X, std::string const& file) {
  for (Position p = 0; p < X.nnz(); ++p) {
    double const value = static_cast<double>(X.values(p));
    expects(value > -1, "--log1p: ", file, " has the value ", value,
            "; the logarithm of 1 + x needs values above -1");
    X.values(p) = static_cast<typename Tensor::Scalar>(std::log1p(value));
  }
}

template <class Tensor>
void take_one(Tensor const& X) {
  for (Position p = 0; p < X.nnz(); ++p)
    if (X.values(p) != 0) X.values(p) = 1;
}

/// Makes one of the nonzeros of each coordinate, as --duplicates says, where the reader has not.
template <class Tensor>
void merge_duplicates(Tensor& X, std::string const& how) {
  if (how == "sum" || how == "keep") return;
  auto merged = aggregate_duplicates(Kokkos::DefaultHostExecutionSpace(), hand_over(X),
                                     from_name<Aggregation>(how));
  X = merged.tensor;
  if (merged.merged > 0)
    tell(sporades::detail::concatenate("note: ", merged.merged, " nonzeros had the coordinates of ",
                                       "others; each value is the ", how, " of its nonzeros"));
}

template <class Scalar>
void convert_as(ConvertArguments const& arguments) {
  auto result = read_named<Scalar>(
      arguments, arguments.duplicates == "sum" ? Duplicates::sum : Duplicates::keep);
  auto& read = result.read;
  auto& labels = result.labels;
  std::visit([&](auto& X) { merge_duplicates(X, arguments.duplicates); }, read.tensor);
  auto const nnz = [&] { return std::visit([](auto const& X) { return X.nnz(); }, read.tensor); };
  auto const nnz_before = nnz();
  std::visit(
      [&](auto& X) {
        if (arguments.min_slice > 0) keep_large_slices(X, labels, arguments.min_slice);
        if (read.out_of_core && (arguments.log1p || arguments.binarize))
          X.values = copy_of(X.values);
        if (arguments.log1p) take_log1p(X, arguments.read.file);
        if (arguments.binarize) take_one(X);
      },
      read.tensor);
  LabelsOutput output(arguments.labels, labels);
  write_tensor(arguments.output, read.tensor);
  output.commit();
  if (arguments.quiet) return;
  for (auto const& line : result.lines) std::printf("%s\n", printable(line).c_str());
  if (nnz() < nnz_before)
    std::printf("%llu nonzeros are in slices of fewer than %llu, and left out\n",
                static_cast<unsigned long long>(nnz_before - nnz()),
                static_cast<unsigned long long>(arguments.min_slice));
  std::visit(
      [&](auto const& X) {
        std::printf("%s: %s, %llu nonzeros, from %s (%s)\n", arguments.output.c_str(),
                    to_string(X.dims).c_str(), static_cast<unsigned long long>(X.nnz()),
                    arguments.read.file.c_str(), read.dialect.c_str());
      },
      read.tensor);
}

/// Throws Error for options of a CSV file where there is another, and the other way round.
void check_options(ConvertArguments const& arguments) {
  bool const csv = is_csv(arguments);
  auto const& read = arguments.read;
  auto const refuse = [&](char const* option, bool is_given, char const* what) {
    expects(!is_given, option, ": ", read.file, " is ", what);
  };
  refuse("--dims", csv && !read.dims.empty(), "a CSV file, whose names tell the dims");
  refuse("--index-base", csv && read.index_base != "automatic", "a CSV file, which has names");
  refuse("--pattern", csv && read.pattern, "a CSV file; its rows are counted without --value");
  constexpr char const* no_csv = "no CSV file, which --columns would say";
  refuse("--value", !csv && arguments.csv.value.has_value(), no_csv);
  refuse("--separator", !csv && !arguments.csv.separator.empty(), no_csv);
  refuse("--bin", !csv && !arguments.csv.bin.empty(), no_csv);
  refuse("--no-header", !csv && !arguments.csv.has_header, no_csv);
  expects(arguments.labels.empty() || csv || !arguments.names.empty() || arguments.min_slice > 0,
          "--labels: ", read.file, " has no names; --names tells them");
}

}  // namespace

int convert(ConvertArguments const& arguments) {
  expect_one_process("convert");
  check_tensor_name(arguments.output);
  check_options(arguments);
  std::vector<NamedFile> inputs{{"FILE", arguments.read.file}};
  for (auto const& path : label_candidates(arguments.names)) inputs.push_back({"--names", path});
  auto outputs = label_outputs(arguments.labels);
  outputs.push_back({"OUT", arguments.output});
  check_files(inputs, outputs);
  if (arguments.precision == "float")
    convert_as<float>(arguments);
  else
    convert_as<double>(arguments);
  return 0;
}

}  // namespace sporades::command

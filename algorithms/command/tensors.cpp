// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/formats/files/spt_file.hpp>

namespace sporades::command {
namespace {

bool ends_with(std::string const& text, std::string const& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Whole numbers of at least `least` with x or commas between them.
template <class Number>
std::vector<Number> parse_list(std::string const& text, char const* option, Number least,
                               char const* expected, char const* of = "mode") {
  std::vector<Number> numbers;
  char const* at = text.data();
  char const* const end = at + text.size();
  while (true) {
    Number number = 0;
    auto const [next, error] = std::from_chars(at, end, number);
    expects(
        error == std::errc() && number >= least && (next == end || *next == 'x' || *next == ','),
        option, " ", text, ": expected ", expected, ", found '", std::string(at, end), "' for ", of,
        " ", numbers.size());
    numbers.push_back(number);
    if (next == end) return numbers;
    at = next + 1;
  }
}

}  // namespace

Dims parse_dims(std::string const& text, char const* option) {
  return parse_list<std::uint64_t>(text, option, 0, "lengths as 183x24x1140");
}

std::vector<int> parse_ranks(std::string const& text, char const* option) {
  return parse_list<int>(text, option, 1, "whole numbers of 1 or more, as 8x8x4");
}

std::vector<int> parse_processes(std::string const& text, char const* option) {
  return parse_list<int>(text, option, 1, "numbers of processes of 1 or more, as 8,64,512",
                         "number");
}

std::vector<int> parse_modes(std::string const& text, char const* option) {
  return parse_list<int>(text, option, 0, "modes, which count from 0, as 1,3");
}

ReadOptions read_options(ReadArguments const& arguments) {
  ReadOptions options;
  if (!arguments.dims.empty()) options.dims = parse_dims(arguments.dims, "--dims");
  options.index_base = arguments.index_base == "one"        ? IndexBase::one
                       : arguments.index_base == "zero"     ? IndexBase::zero
                       : arguments.index_base == "per-mode" ? IndexBase::per_mode
                                                            : IndexBase::automatic;
  options.first_line = arguments.first_line == "header"    ? FirstLine::header
                       : arguments.first_line == "nonzero" ? FirstLine::nonzero
                                                           : FirstLine::automatic;
  options.pattern = arguments.pattern;
  options.values = arguments.values == "counts"         ? Values::counts
                   : arguments.values == "non-negative" ? Values::non_negative
                                                        : Values::any;
  return options;
}

template <class Scalar>
ReadResult<Scalar> read(ReadArguments const& arguments, Duplicates duplicates,
                        std::uint64_t memory) {
  auto options = read_options(arguments);
  options.duplicates = duplicates;
  options.memory = memory;
  auto result = [&] {
    try {
      return read_tensor<Scalar>(processes(), arguments.file, options);
    } catch (RunError const&) {
      throw;
    } catch (Error const& error) {
      if (!has_csv_name(arguments.file)) throw;
      fail(error.what(), "; `sporades convert --columns` makes a tensor of a CSV file");
    }
  }();
  for (auto const& note : result.notes) tell("note: " + note);
  return result;
}

bool has_csv_name(std::string const& path) {
  return ends_with(path, ".csv") || ends_with(path, ".tsv") || ends_with(path, ".csv.gz") ||
         ends_with(path, ".tsv.gz");
}

void check_tensor_name(std::string const& path) {
  expects(ends_with(path, ".tns") || ends_with(path, ".tns.gz") || ends_with(path, ".spt"),
          "output ", path, ": expected a name that ends in .tns, .tns.gz or .spt");
}

template <class Scalar>
void write_tensor(std::string const& path, AnyCooTensor<Scalar> const& X) {
  if (ends_with(path, ".spt"))
    write_spt(path, X);
  else
    write_tns(path, X);
}

template ReadResult<double> read(ReadArguments const&, Duplicates, std::uint64_t);
template ReadResult<float> read(ReadArguments const&, Duplicates, std::uint64_t);
template void write_tensor(std::string const&, AnyCooTensor<double> const&);
template void write_tensor(std::string const&, AnyCooTensor<float> const&);

}  // namespace sporades::command

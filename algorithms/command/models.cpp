// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/components.hpp>
#include <sporades/formats/files/detail/model_text.hpp>

namespace sporades::command {
namespace {

/// The first word of a model.
std::string_view kind_of(sporades::detail::TokenReader& in) {
  auto const kind = in.next();
  return kind == "ktensor" || kind == "ttensor" ? kind : std::string_view();
}

template <class Columns>
bool has_negative(Columns const& columns) {
  for (std::size_t i = 0; i < columns.extent(0); ++i)
    for (std::size_t r = 0; r < columns.extent(1); ++r)
      if (columns(i, r) < 0) return true;
  return false;
}

bool is_non_negative(KruskalTensor<double> const& model) {
  for (int r = 0; r < model.rank(); ++r)
    if (model.weights(r) < 0) return false;
  return std::none_of(model.factors.begin(), model.factors.end(),
                      [](auto const& A) { return has_negative(A); });
}

/// The logarithm of the 1-norm or 2-norm of a column; -infinity of zeros.
template <class Columns>
double log_length(Columns const& A, std::size_t r, bool is_sum) {
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < A.extent(0); ++i) largest = std::max(largest, std::abs(A(i, r)));
  if (largest == 0) return std::log(0.0);
  for (std::size_t i = 0; i < A.extent(0); ++i) {
    double const part = std::abs(A(i, r)) / largest;
    sum += is_sum ? part : part * part;
  }
  return std::log(largest) + (is_sum ? std::log(sum) : std::log(sum) / 2);
}

}  // namespace

bool is_model_file(std::string const& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  sporades::detail::InputFile const file(path);
  auto const begin = file.text(0, std::size_t{1} << 16);  // comments may come first
  std::string_view text = begin;
  if (text.substr(0, 2) == "\x1f\x8b" || sporades::detail::foreign_format(text) != nullptr)
    return false;
  auto const& mark = sporades::detail::byte_order_mark;
  if (text.substr(0, mark.size()) == mark) text.remove_prefix(mark.size());
  sporades::detail::InputFile const head(text, path);
  sporades::detail::TokenReader in(head);
  return !kind_of(in).empty();
}

ModelFile read_model(std::string const& path) {
  sporades::detail::InputFile const file(path);
  return sporades::detail::read_unchanged(file, [&]() -> ModelFile {
    auto in = sporades::detail::model_reader(file);
    auto const kind = in.next();
    auto facts = parse_model_facts(file.view(0, file.size()));
    for (auto& [fact, value] : facts)
      for (auto* text : {&fact, &value})
        std::replace_if(
            text->begin(), text->end(),
            [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, '?');
    if (kind == "ktensor") return {sporades::detail::parse_ktensor<double>(file), facts};
    if (kind == "ttensor") return {sporades::detail::parse_ttensor<double>(file), facts};
    in.refuse("expected a model, which begins with \"ktensor\" or \"ttensor\", found ",
              in.found(kind));
  });
}

std::string describe(KruskalTensor<double> const& model) {
  return "CP model, " + to_string(model.dims()) + ", rank " + std::to_string(model.rank());
}

std::string describe(TuckerTensor<double> const& model) {
  auto const ranks = model.ranks();
  return "Tucker model, " + to_string(model.dims()) + ", core " +
         to_string(Dims(ranks.begin(), ranks.end()));
}

std::string run_text(ModelFacts const& facts) {
  std::string text;
  for (auto const& [name, value] : facts)
    if (name.compare(0, 5, "mode ") != 0) text += (text.empty() ? "" : ", ") + name + " " + value;
  return text;
}

std::vector<std::string> mode_names(ModelFacts const& facts, std::size_t order) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < order; ++n)
    for (auto const& [name, value] : facts)
      if (name == "mode " + std::to_string(n) && names.size() == n) names.push_back(value);
  if (names.size() < order) names.clear();
  return names;
}

ColumnLengths column_lengths(KruskalTensor<double> const& model) {
  ColumnLengths lengths{is_non_negative(model), {}, {}};
  for (int r = 0; r < model.rank(); ++r)
    lengths.components.push_back(std::log(std::abs(model.weights(r))));
  for (auto const& A : model.factors) {
    lengths.columns.emplace_back();
    for (std::size_t r = 0; r < A.extent(1); ++r) {
      lengths.columns.back().push_back(log_length(A, r, lengths.is_sum));
      lengths.components[r] += lengths.columns.back().back();
    }
  }
  return lengths;
}

ShownModel shown(KruskalTensor<double> const& model) {
  auto const lengths = column_lengths(model);
  ShownModel result{model, {}, lengths.is_sum, {}};
  bool has_units = true;
  for (int r = 0; r < model.rank(); ++r) has_units = has_units && model.weights(r) == 1;
  double const longest = *std::max_element(lengths.components.begin(), lengths.components.end());
  if (has_units && longest < std::log(std::numeric_limits<double>::max())) {
    NormalizeOptions options;
    options.norm = lengths.is_sum ? ColumnNorm::one : ColumnNorm::two;
    result.model = normalize(Kokkos::DefaultHostExecutionSpace(), model, options);
    result.note = sporades::detail::concatenate("All weights of the file are 1: here columns have ",
                                                lengths.is_sum ? "the sum" : "length",
                                                " 1, and weights what they had.");
  }
  double all = 0;
  for (double const length : lengths.components) {
    bool const is_zero = !std::isfinite(length);
    result.shares.push_back(is_zero ? 0 : std::exp((length - longest) * (lengths.is_sum ? 1 : 2)));
    all += result.shares.back();
  }
  for (double& share : result.shares) share = all > 0 ? share / all : 0;
  return result;
}

}  // namespace sporades::command

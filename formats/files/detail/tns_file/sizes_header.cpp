// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/files/detail/tns_file/first_lines.hpp>
#include <sporades/formats/files/detail/tns_file/sizes_header.hpp>

namespace sporades::detail {

namespace {

/// The order and the number of nonzeros, and the dims in the next line.
bool find_extended(FirstLines& lines, std::vector<std::uint64_t> const& first, bool has_value,
                   TextHeader& header, SizesHeader& sizes) {
  auto const order = first[0];
  if (first.size() != 2 || order < 1 || order > max_order || !lines.reach(2, header)) return false;
  if (!all_integers(lines[1].columns(), sizes.dims) || sizes.dims.size() != order) return false;
  bool const is_followed = lines.reach(3, header);
  auto const columns = is_followed ? static_cast<std::uint64_t>(lines[2].columns().count) : 0;
  if (is_followed ? columns != order + has_value : order == 2 || first[1] != 0) return false;
  sizes.lines = 2;
  sizes.is_certain = order != 2 || columns != 2;
  return true;
}

/// One more than the largest coordinate of each mode, except in the first `skipped` nonzeros of
/// all.
template <class Scalar, class Index>
Dims dims_without(CooTensor<Scalar, Index> const& X, std::uint64_t skipped,
                  Communicator const& processes, std::vector<std::uint64_t> const& counts) {
  std::uint64_t before = 0;
  for (int p = 0; p < processes.rank(); ++p) before += counts[static_cast<std::size_t>(p)];
  std::array<std::uint64_t, max_order> here = {};
  for (int n = 0; n < X.order(); ++n)
    for (Position p = skipped > before ? skipped - before : 0; p < X.nnz(); ++p)
      here[n] = std::max(here[n], std::uint64_t{X.coordinates(n, p)} + 1);
  Dims dims(X.dims.size());
  for (auto const& part : all_gather(processes, "lengths of modes", here))
    for (std::size_t n = 0; n < dims.size(); ++n) dims[n] = std::max(dims[n], part[n]);
  return dims;
}

}  // namespace

std::optional<SizesHeader> find_sizes(FirstLines& lines, bool has_value, TextHeader& header) {
  SizesHeader sizes;
  std::vector<std::uint64_t> first;
  if (!all_integers(lines[0].columns(), first) || first.size() < 2) return {};
  auto const& text = lines[0].text;
  sizes.text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  sizes.nnz = first.back();
  if (find_extended(lines, first, has_value, header, sizes)) return sizes;
  auto const order = first.size() - 1;
  if (order > max_order) return {};
  first.pop_back();
  sizes.dims = first;
  if (!lines.reach(2, header)) return sizes;
  if (lines[1].columns().count != static_cast<int>(order) + has_value) return {};
  sizes.is_certain = !has_value;
  return sizes;
}

std::size_t take_sizes(SizesHeader const& sizes, FirstLines const& lines, TextHeader& header) {
  header.dialect = sizes.lines == 1 ? Dialect::frostt_with_sizes : Dialect::extended_frostt;
  header.order = static_cast<int>(sizes.dims.size());
  header.dims = sizes.dims;
  header.dims_line = lines[static_cast<std::size_t>(sizes.lines) - 1].number;
  header.nnz = sizes.nnz;
  header.nnz_line = lines[0].number;
  return static_cast<std::size_t>(sizes.lines);
}

template <class Scalar, class Index>
FirstLinesAre judge_sizes(TextTask const& task, CooTensor<Scalar, Index> const& X,
                          Dims const& smallest) {
  auto const& sizes = *task.header.sizes;
  auto const lines = static_cast<std::uint64_t>(sizes.lines);
  auto const counts = all_gather(task.processes, "counts of nonzeros", X.nnz());
  std::uint64_t others = 0;
  for (auto const count : counts) others += count;
  others -= std::min(others, lines);
  if (others == 0 || sizes.nnz == 0) return FirstLinesAre::nonzeros;
  // Nonzeros in no order have their largest indices in the first one by chance in one file of about
  // so many, or of as many as the mode is long if several have the largest one. The value is then
  // the number of the others in one of as many.
  double rarity = 1;
  for (auto const dim : sizes.dims) rarity *= static_cast<double>(std::min(dim, others + 1));
  if (others == sizes.nnz) {
    auto const needed = dims_without(X, lines, task.processes, counts);
    for (std::size_t n = 0; n < needed.size(); ++n)
      if (needed[n] > sizes.dims[n]) return FirstLinesAre::nonzeros;
    constexpr double least = 20;
    return rarity * static_cast<double>(others) >= least ? FirstLinesAre::sizes
                                                         : FirstLinesAre::unclear;
  }
  // Another number of nonzeros may follow because the file is cut short.
  constexpr double least = 1000;
  return lines == 1 && smallest == Dims(sizes.dims) && rarity >= least ? FirstLinesAre::unclear
                                                                       : FirstLinesAre::nonzeros;
}

std::string sizes_note(SizesHeader const& sizes, FirstLinesAre verdict) {
  bool const is_one = sizes.lines == 1;
  auto const these = concatenate(is_one ? "the first line, " : "the first two lines, from ",
                                 quoted(sizes.text), is_one ? "," : " on,");
  if (verdict == FirstLinesAre::sizes)
    return concatenate(these, is_one ? " was" : " were", " read as dims and number of nonzeros: ",
                       "so many follow, and no index is past the dims; --first-line nonzero reads ",
                       is_one ? "it as a nonzero" : "them as nonzeros");
  return concatenate(these, is_one ? " was read as a nonzero" : " were read as nonzeros",
                     ", and may be dims and number of nonzeros: --first-line header reads ",
                     is_one ? "it" : "them", " so");
}

template FirstLinesAre judge_sizes(TextTask const&, CooTensor<float, std::uint32_t> const&,
                                   Dims const&);
template FirstLinesAre judge_sizes(TextTask const&, CooTensor<float, std::uint64_t> const&,
                                   Dims const&);
template FirstLinesAre judge_sizes(TextTask const&, CooTensor<double, std::uint32_t> const&,
                                   Dims const&);
template FirstLinesAre judge_sizes(TextTask const&, CooTensor<double, std::uint64_t> const&,
                                   Dims const&);

}  // namespace sporades::detail

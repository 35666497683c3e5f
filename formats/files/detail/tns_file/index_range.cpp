// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <limits>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/files/detail/tns_file/index_range.hpp>

namespace sporades::detail {

namespace {

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Dims stated_dims(TextTask const& task) {
  auto const& [name, header, options, processes] = task;
  auto const dims = header.dims ? Dims(*header.dims) : options.dims;
  if (header.dims && !options.dims.empty() && options.dims != dims)
    fail(name, ":", header.dims_line, ": the dims are ", sporades::to_string(dims), ", expected ",
         sporades::to_string(options.dims));
  expects(header.order != 0 || !dims.empty(), name,
          ": holds no nonzeros, and nothing says its dims");
  expects(dims.size() <= max_order, name, ": order ", dims.size(), " is not in 1 to ", max_order);
  expects(dims.empty() || header.order == 0 || static_cast<int>(dims.size()) == header.order, name,
          ": the nonzeros have ", header.order, header.order == 1 ? " index" : " indices",
          ", the dims ", sporades::to_string(dims), " have ", dims.size());
  return dims;
}

LineShape line_shape(TextTask const& task, Dims const& dims) {
  auto const& [name, header, options, processes] = task;
  auto const wanted = options.index_base;
  LineShape shape;
  shape.order = dims.empty() ? header.order : static_cast<int>(dims.size());
  shape.has_value = !options.pattern && !header.pattern;
  shape.values = options.values;
  if (wanted == IndexBase::automatic)
    shape.base = header.stated_base.value_or(1);
  else
    shape.base = wanted == IndexBase::zero ? 0 : 1;
  shape.zero_may_come =
      wanted == IndexBase::per_mode || (wanted == IndexBase::automatic &&
                                        header.dialect == Dialect::sptensor && !header.stated_base);
  for (int n = 0; n < shape.order; ++n) shape.limits[n] = dims.empty() ? unlimited : dims[n];
  return shape;
}

void IndexRange::merge(BlockSummary const& block, std::uint64_t first_line) {
  losses_.add(block.losses);
  for (int n = 0; n < max_order; ++n) {
    largest_[n] = std::max(largest_[n], block.largest[n]);
    any_index_[n] = any_index_[n] || block.any_index[n];
    if (block.any_zero[n] && zero_line_[n] == 0) zero_line_[n] = first_line + block.zero_line[n];
  }
}

void IndexRange::join(Communicator const& processes, std::uint64_t lines) {
  if (processes.size() == 1) return;
  auto const counts = all_gather(processes, "counts of lines", lines);
  auto const parts = all_gather(processes, "ranges of indices", *this);
  *this = {};
  std::uint64_t before = 0;
  for (std::size_t p = 0; p < parts.size(); before += counts[p++]) {
    auto const& part = parts[p];
    losses_.add(part.losses_);
    for (int n = 0; n < max_order; ++n) {
      largest_[n] = std::max(largest_[n], part.largest_[n]);
      any_index_[n] = any_index_[n] || part.any_index_[n];
      if (part.zero_line_[n] != 0 && zero_line_[n] == 0)
        zero_line_[n] = before + part.zero_line_[n];
    }
  }
}

std::vector<bool> IndexRange::modes_from_zero(TextTask const& task, LineShape const& shape) const {
  auto const& [name, header, options, processes] = task;
  bool const all_alike = options.index_base != IndexBase::per_mode;
  std::vector<bool> from_zero(static_cast<std::size_t>(shape.order));
  for (int n = 0; n < shape.order; ++n)
    from_zero[n] = zero_line_[n] != 0 ||
                   (all_alike && std::any_of(zero_line_, zero_line_ + shape.order,
                                             [](std::uint64_t line) { return line != 0; }));
  for (int n = 0; n < shape.order; ++n) {
    if (!from_zero[n] || !any_index_[n] || largest_[n] + 1 < shape.limits[n]) continue;
    int mode = n;
    while (zero_line_[mode] == 0) mode = (mode + 1) % shape.order;
    fail(name, ":", header.lines + zero_line_[mode], ": column ", mode + 1, " (mode ", mode,
         "): the index 0, so indices count from 0, but one of mode ", n, " is its length ",
         largest_[n] + 1);
  }
  return from_zero;
}

Dims IndexRange::smallest_dims(TextTask const& task, std::vector<bool> const& from_zero) const {
  Dims dims(from_zero.size());
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const largest = any_index_[n] ? largest_[n] + from_zero[n] : 0;
    expects(largest != unlimited, task.name, ": an index of mode ", n, " is past 64-bit dims");
    dims[n] = largest + 1;
  }
  return dims;
}

std::vector<std::string> IndexRange::notes(TextTask const& task, LineShape const& shape,
                                           std::vector<bool> const& from_zero) const {
  if (!shape.zero_may_come) return {};
  bool const any_zero = std::find(from_zero.begin(), from_zero.end(), true) != from_zero.end();
  std::string note;
  if (task.options.index_base == IndexBase::per_mode) {
    for (std::size_t n = 0; n < from_zero.size(); ++n)
      if (from_zero[n]) note += (note.empty() ? "" : ", ") + std::to_string(n);
    return {note.empty() ? "indices count from 1 in every mode"
                         : "indices count from 0 in the modes " + note + " and from 1 in others"};
  }
  if (any_zero) return {"indices count from 0: an index is 0"};
  for (int n = 0; n < shape.order; ++n)
    if (any_index_[n] && largest_[n] + 1 == shape.limits[n])
      return {"indices count from 1: one of mode " + std::to_string(n) + " is its length"};
  return {"indices were taken to count from 1: none is 0, none is its mode's length"};
}

}  // namespace sporades::detail

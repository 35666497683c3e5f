// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/memory.hpp>
#include <sporades/formats/files/detail/read_room.hpp>
#include <sporades/formats/files/detail/tns_file/parsed_blocks.hpp>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>

namespace sporades::detail {

void check_memory(std::string const& name, std::uint64_t nnz, int copies, int order,
                  std::size_t index_bytes, std::size_t value_bytes) {
  auto const one = static_cast<std::uint64_t>(order) * index_bytes + value_bytes;
  auto const memory = static_cast<std::uint64_t>(host_memory_bytes());
  if (nnz <= memory / one / static_cast<std::uint64_t>(copies)) return;
  throw RunError(concatenate(name, ": ", nnz, " nonzeros of ", one, " bytes each",
                             copies > 1 ? ", held twice for a while," : "",
                             " do not fit the memory of ", memory, " bytes"));
}

template <class Scalar, class Index>
ParsedLines<Scalar, Index> read_twice(TextSource& source, TextBlock first, TextTask const& task,
                                      LineShape const& shape) {
  std::vector<TextRange> ranges;
  for (TextRange range; source.next_range(range);) ranges.push_back(range);
  // Block 0 is `first`, the others are the ranges.
  auto const text_of_block = [&](std::size_t b, std::string& storage) {
    return b == 0 ? first.text() : text_of(*source.file(), ranges[b - 1], storage);
  };
  std::vector<BlockCount> counts(ranges.size() + 1);
  int const threads = task.options.threads;
  for_each_block(threads, counts.size(), [&](std::size_t b) {
    std::string storage;
    counts[b] = count_block(text_of_block(b, storage));
  });
  auto const places = block_places(counts);

  Dims const no_dims(static_cast<std::size_t>(shape.order));
  if (!exceeds_memory<Scalar, Index>(task.options, no_dims.size(), places.nnz()))
    check_memory(task.name, places.nnz(), 1, shape.order, sizeof(Index), sizeof(Scalar));
  auto const room = room_for<Scalar, Index>(task.options, no_dims, places.nnz());
  ParsedLines<Scalar, Index> parsed;
  parsed.tensor = room.tensor;
  parsed.out_of_core = room.memory;
  auto* const coordinates = parsed.tensor.indices(0);
  auto* const values = parsed.tensor.values.data();
  std::vector<BlockSummary> summaries(counts.size());
  for_each_block(threads, counts.size(), [&](std::size_t b) {
    auto const begin = places.first_nonzero[b];
    BlockOutput<Scalar, Index> const output{coordinates + begin, places.nnz(), values + begin,
                                            counts[b].nonzeros};
    try {
      std::string storage;
      summaries[b] = parse_block(text_of_block(b, storage), shape, output);
    } catch (OtherText const&) {
      source.file()->fail_changed();
    } catch (LineProblem const& problem) {
      fail(task.name, ":",
           task.header.lines + source.lines_before() + places.first_line[b] + problem.line, ": ",
           problem.what);
    }
  });
  merge_summaries(summaries, places, parsed.range);
  parsed.lines = places.lines();
  check_nnz(task, places.nnz());
  return parsed;
}

template ParsedLines<float, std::uint32_t> read_twice(TextSource&, TextBlock, TextTask const&,
                                                      LineShape const&);
template ParsedLines<float, std::uint64_t> read_twice(TextSource&, TextBlock, TextTask const&,
                                                      LineShape const&);
template ParsedLines<double, std::uint32_t> read_twice(TextSource&, TextBlock, TextTask const&,
                                                       LineShape const&);
template ParsedLines<double, std::uint64_t> read_twice(TextSource&, TextBlock, TextTask const&,
                                                       LineShape const&);

}  // namespace sporades::detail

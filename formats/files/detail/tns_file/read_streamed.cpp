// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <memory>
#include <mutex>
#include <sporades/formats/files/detail/read_room.hpp>
#include <sporades/formats/files/detail/tns_file/parsed_blocks.hpp>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>

namespace sporades::detail {

namespace {

/// The nonzeros of one block.
template <class Scalar, class Index>
struct Piece {
  BlockCount count;
  BlockSummary summary;
  std::unique_ptr<char[]> resident;  // holds the arrays, unless they are in out-of-core memory
  Index* coordinates = nullptr;      // N x count.nonzeros
  Scalar* values = nullptr;
};

/// Out-of-core memory for the arrays of pieces, in large portions.
class OutOfCoreRoom {
 public:
  /// Room for an array of so many bytes, from a multiple of 64 on.
  void* room(std::uint64_t bytes) {
    std::lock_guard const lock(mutex_);
    bytes = (bytes + 63) / 64 * 64;
    if (bytes > left_) {
      left_ = std::max(bytes, portion_);
      portion_ = std::min(2 * portion_, std::uint64_t{64} << 20);
      portions_.push_back(map_scratch_file(left_));
      next_ = static_cast<char*>(portions_.back().get());
    }
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }

 private:
  std::mutex mutex_;
  std::vector<OutOfCoreMemory> portions_;
  std::uint64_t portion_ = 1 << 20;  // bytes of the next one
  char* next_ = nullptr;
  std::uint64_t left_ = 0;
};

template <class Scalar, class Index>
void parse_piece(std::string_view text, LineShape const& shape, OutOfCoreRoom* out_of_core,
                 Piece<Scalar, Index>& piece) {
  piece.count = count_block(text);
  auto const nonzeros = piece.count.nonzeros;
  MemoryLayout sizes(nullptr);
  auto const place = [&](MemoryLayout& layout) {
    piece.coordinates = layout.room<Index>(static_cast<std::size_t>(shape.order) * nonzeros);
    piece.values = layout.room<Scalar>(nonzeros);
  };
  place(sizes);
  // new char[n] without parentheses leaves the memory untouched
  if (!out_of_core) piece.resident.reset(new char[sizes.bytes()]);
  MemoryLayout layout(out_of_core ? out_of_core->room(sizes.bytes()) : piece.resident.get());
  place(layout);
  BlockOutput<Scalar, Index> const output{piece.coordinates, nonzeros, piece.values, nonzeros};
  piece.summary = parse_block(text, shape, output);
}

/// Gives the blocks of a source to several threads, and keeps the pieces in the order of the
/// blocks.
template <class Scalar, class Index>
class Pieces {
 public:
  Pieces(TextSource& source, TextBlock first, TextTask const& task)
      : source_(source), first_(std::move(first)), task_(task) {}

  /// The next block and its piece; null at the end or after a problem.
  Piece<Scalar, Index>* next(TextBlock& block, std::size_t& number) {
    std::lock_guard const lock(mutex_);
    number = pieces_.size();
    if (problem_.is_before(number)) return nullptr;
    try {
      if (number == 0 && !first_.text().empty())
        block = std::move(first_);
      else if (!source_.next(block))
        return nullptr;
      pieces_.push_back(std::make_unique<Piece<Scalar, Index>>());
    } catch (...) {
      problem_.record(number);
      return nullptr;
    }
    return pieces_.back().get();
  }

  /// Call when a piece is parsed. If there are more nonzeros than the header states, drops them:
  /// the text is refused at its end, when their number is known. Throws RunError if all nonzeros so
  /// far and the tensor that they will be copied to do not fit the memory.
  void add(Piece<Scalar, Index>& piece, int order) {
    std::lock_guard const lock(mutex_);
    nonzeros_ += piece.count.nonzeros;
    if (task_.header.nnz && nonzeros_ > *task_.header.nnz && task_.processes.size() == 1) {
      piece.resident.reset();
    } else if (task_.options.memory == 0) {
      check_memory(task_.name, nonzeros_, 2, order, sizeof(Index), sizeof(Scalar));
    }
  }

  FirstProblem& problem() { return problem_; }
  std::vector<std::unique_ptr<Piece<Scalar, Index>>>& all() { return pieces_; }

 private:
  TextSource& source_;
  TextBlock first_;
  TextTask const& task_;
  std::mutex mutex_;
  std::uint64_t nonzeros_ = 0;
  FirstProblem problem_;
  std::vector<std::unique_ptr<Piece<Scalar, Index>>> pieces_;
};

/// Throws the first problem, if any, with its place. lines_before: after the header, and before the
/// first piece.
template <class Scalar, class Index>
void throw_problem(FirstProblem const& problem,
                   std::vector<std::unique_ptr<Piece<Scalar, Index>>> const& pieces,
                   TextTask const& task, std::uint64_t lines_before) {
  try {
    problem.rethrow();
  } catch (LineProblem const& found) {
    auto line = task.header.lines + lines_before + 1 + found.line;
    for (std::size_t b = 0; b < problem.block(); ++b) line += pieces[b]->count.lines;
    fail(task.name, ":", line, ": ", found.what);
  }
}

}  // namespace

template <class Scalar, class Index>
ParsedLines<Scalar, Index> read_streamed(TextSource& source, TextBlock first, TextTask const& task,
                                         LineShape const& shape) {
  Pieces<Scalar, Index> pieces(source, std::move(first), task);
  int const threads = task.options.threads;
  OutOfCoreRoom room;
  OutOfCoreRoom* const out_of_core = task.options.memory > 0 ? &room : nullptr;
  on_threads(threads, [&] {
    TextBlock block;
    std::size_t number = 0;
    while (auto* const piece = pieces.next(block, number)) {
      try {
        parse_piece(block.text(), shape, out_of_core, *piece);
        pieces.add(*piece, shape.order);
      } catch (...) {
        pieces.problem().record(number);
      }
    }
  });
  auto& all = pieces.all();
  throw_problem(pieces.problem(), all, task, source.lines_before());

  std::vector<BlockCount> counts;
  std::vector<BlockSummary> summaries;
  for (auto const& piece : all) {
    counts.push_back(piece->count);
    summaries.push_back(piece->summary);
  }
  auto const places = block_places(counts);
  check_nnz(task, places.nnz());
  auto const tensor = room_for<Scalar, Index>(
      task.options, Dims(static_cast<std::size_t>(shape.order)), places.nnz());
  ParsedLines<Scalar, Index> parsed;
  parsed.tensor = tensor.tensor;
  parsed.out_of_core = tensor.memory;
  auto* const values = parsed.tensor.values.data();
  for_each_block(threads, all.size(), [&](std::size_t b) {
    auto const begin = places.first_nonzero[b];
    auto const size = all[b]->count.nonzeros;
    for (int n = 0; n < shape.order; ++n)
      std::copy_n(all[b]->coordinates + n * size, size, parsed.tensor.indices(n) + begin);
    std::copy_n(all[b]->values, size, values + begin);
    all[b].reset();
  });
  merge_summaries(summaries, places, parsed.range);
  parsed.lines = places.lines();
  return parsed;
}

template ParsedLines<float, std::uint32_t> read_streamed(TextSource&, TextBlock, TextTask const&,
                                                         LineShape const&);
template ParsedLines<float, std::uint64_t> read_streamed(TextSource&, TextBlock, TextTask const&,
                                                         LineShape const&);
template ParsedLines<double, std::uint32_t> read_streamed(TextSource&, TextBlock, TextTask const&,
                                                          LineShape const&);
template ParsedLines<double, std::uint64_t> read_streamed(TextSource&, TextBlock, TextTask const&,
                                                          LineShape const&);

}  // namespace sporades::detail

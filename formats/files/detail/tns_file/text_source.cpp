// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>
#include <utility>

namespace sporades::detail {

namespace {

[[noreturn]] void refuse_long_line(std::string const& name, std::size_t block_size,
                                   std::string_view line) {
  fail(name, ": a line is longer than ", block_size, " bytes",
       line.find('\r') == std::string_view::npos
           ? ""
           : ", and has carriage returns inside: lines end in LF or CRLF");
}

std::uint64_t lines_of(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Empties the block unless it is of part 0, and returns its lines.
std::uint64_t take_from(TextBlock& first, int part) {
  return part == 0 ? 0 : lines_of(std::exchange(first, {}).text());
}

/// Where a part of so many begins, of `size` bytes.
std::uint64_t place_of_part(std::uint64_t size, int part, int parts) {
  auto const whole = static_cast<std::uint64_t>(parts), p = static_cast<std::uint64_t>(part);
  return size / whole * p + size % whole * p / whole;
}

/// Calls work(piece) for the text from `begin` to `end` in pieces, until it returns true.
template <class Work>
void for_each_piece(InputFile const& file, std::uint64_t begin, std::uint64_t end, std::size_t size,
                    Work const& work) {
  for (; begin < end; begin += size) {
    auto const piece = file.text(begin, std::min<std::uint64_t>(size, end - begin));
    if (work(std::string_view(piece))) return;
  }
}

class PlainSource final : public TextSource {
 public:
  PlainSource(InputFile const& file, std::size_t block_size)
      : file_(file), block_size_(block_size), end_(file.size()) {}

  bool next(TextBlock& block) override {
    TextRange range;
    if (!next_range(range)) return false;
    block.storage = file_.text(range.place, range.size);
    if (!range.ends) block.storage += '\n';
    if (block.storage.back() != '\n') file_.fail_changed();
    return true;
  }

  InputFile const* file() const override { return &file_; }

  bool next_range(TextRange& range) override {
    if (place_ == end_) return false;
    auto const window =
        static_cast<std::size_t>(std::min<std::uint64_t>(block_size_, end_ - place_));
    range = {place_, up_to_last_line_end(window), true};
    if (range.size == 0) {
      if (window == block_size_)
        refuse_long_line(file_.name(), block_size_, file_.text(place_, window));
      range = {place_, window, false};
    }
    place_ += range.size;
    return true;
  }

  void keep_part(int part, int parts, TextBlock& first) override {
    lines_before_ = take_from(first, part);
    auto const cut = [&](int p) {
      if (p == 0 || p == parts) return p == 0 ? place_ : end_;
      return after_line_end(place_ + place_of_part(end_ - place_, p, parts));
    };
    begin_ = place_;
    auto const begin = cut(part), end = cut(part + 1);
    place_ = begin, end_ = end;
    part_ = begin;
  }

  std::uint64_t lines_before() const override {
    std::uint64_t lines = lines_before_;
    for_each_piece(file_, begin_, part_, block_size_, [&](std::string_view piece) {
      lines += lines_of(piece);
      return false;
    });
    return lines;
  }

 private:
  static constexpr std::size_t short_piece = 4096;  // more than most lines

  /// The bytes from place_ to the last line end in the `window` bytes after it; 0 without one.
  std::size_t up_to_last_line_end(std::size_t window) const {
    for (auto end = window; end > 0;) {
      auto const size = std::min(end, short_piece);
      auto const found = file_.text(place_ + end - size, size).rfind('\n');
      if (found != std::string::npos) return end - size + found + 1;
      end -= size;
    }
    return 0;
  }

  /// The place after the first line end from `place` on.
  std::uint64_t after_line_end(std::uint64_t place) const {
    auto after = end_;
    for_each_piece(file_, place, end_, short_piece, [&](std::string_view piece) {
      auto const found = piece.find('\n');
      if (found != std::string_view::npos) after = place + found + 1;
      place += piece.size();
      return found != std::string_view::npos;
    });
    return after;
  }

  InputFile const& file_;
  std::size_t block_size_;
  std::uint64_t place_ = 0, end_;       // of what is left
  std::uint64_t lines_before_ = 0;      // before begin_
  std::uint64_t begin_ = 0, part_ = 0;  // of all parts, and of this one
};

class GzipSource final : public TextSource {
 public:
  GzipSource(InputFile const& file, std::size_t block_size)
      : file_(file), name_(file.name()), block_size_(block_size) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK)
      throw RunError(name_ + ": no memory to uncompress");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  /// A block belongs to the part in which its first compressed byte lies.
  bool next(TextBlock& block) override {
    for (auto place = this->place(); place < end_ && uncompress(block); place = this->place()) {
      if (place >= begin_) return true;
      lines_before_ += lines_of(block.text());
    }
    return false;
  }

  void keep_part(int part, int parts, TextBlock& first) override {
    lines_before_ = take_from(first, part);
    begin_ = place_of_part(file_.size(), part, parts);
    if (part + 1 < parts) end_ = place_of_part(file_.size(), part + 1, parts);
  }

  std::uint64_t lines_before() const override { return lines_before_; }

 private:
  static constexpr std::size_t piece_size = std::size_t{1} << 18;  // of compressed bytes

  /// The place in the file of the next byte to be uncompressed.
  std::uint64_t place() const { return loaded_ - rest_.size(); }

  /// Loads the bytes from place() on; `rest_` is empty only at the end of the file.
  void load() {
    auto const begin = place();
    piece_ = file_.text(begin, piece_size);
    rest_ = piece_;
    loaded_ = begin + piece_.size();
  }

  /// The next block, of any part.
  bool uncompress(TextBlock& block) {
    auto& text = block.storage;
    text.resize(block_size_);
    auto const carried = carry_.copy(text.data(), block_size_);
    carry_.clear();
    auto const size = carried + inflate_into(text.data() + carried, block_size_ - carried);
    text.resize(size);
    auto const line_end = text.rfind('\n');
    if (size == block_size_) {
      if (line_end == std::string::npos) refuse_long_line(name_, block_size_, text);
      carry_.assign(text, line_end + 1, std::string::npos);
      text.resize(line_end + 1);
    } else if (size > 0 && line_end + 1 != size) {
      text.push_back('\n');
    }
    return !text.empty();
  }

  /// Uncompresses up to `room` bytes. Returns how many; fewer only at the end.
  std::size_t inflate_into(char* text, std::size_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(text);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out > 0 && !finished_) {
      if (rest_.empty()) load();
      auto const given = rest_.size();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
      stream_.avail_in = static_cast<uInt>(given);
      int const state = inflate(&stream_, Z_NO_FLUSH);
      rest_.remove_prefix(given - stream_.avail_in);
      if (state == Z_STREAM_END)
        end_member();
      else if (state == Z_BUF_ERROR ||
               (state == Z_OK && place() == file_.size() && stream_.avail_out > 0))
        fail(name_, ": the gzip data is cut short");
      else if (state == Z_MEM_ERROR)
        throw RunError(name_ + ": no memory to uncompress");
      else if (state != Z_OK)
        fail(name_, ": the gzip data is damaged: ", stream_.msg ? stream_.msg : "unknown format");
    }
    return room - stream_.avail_out;
  }

  /// Another gzip member may follow, or zeros that fill the block of a tape.
  void end_member() {
    if (rest_.size() < 2) load();
    if (rest_.substr(0, 2) == "\x1f\x8b") return static_cast<void>(inflateReset(&stream_));
    finished_ = true;
    for_each_piece(file_, place(), file_.size(), piece_size, [&](std::string_view piece) {
      if (piece.find_first_not_of('\0') != std::string_view::npos)
        fail(name_, ": ", file_.size() - place(), " bytes that are not gzip follow the gzip data");
      return false;
    });
  }

  InputFile const& file_;
  std::string piece_;         // compressed bytes
  std::string_view rest_;     // of the piece
  std::uint64_t loaded_ = 0;  // the place after the piece
  std::uint64_t begin_ = 0, end_ = std::numeric_limits<std::uint64_t>::max();  // of the part
  std::uint64_t lines_before_ = 0;
  std::string const& name_;
  std::size_t block_size_;
  std::string carry_;  // the beginning of a line whose end is in the next block
  z_stream stream_ = {};
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<TextSource> make_text_source(InputFile const& file, std::size_t block_size) {
  expects(block_size > 0, file.name(), ": blocks of 0 bytes");
  block_size = std::min(block_size, std::size_t{1} << 30);
  if (file.text(0, 2) == "\x1f\x8b") return std::make_unique<GzipSource>(file, block_size);
  return std::make_unique<PlainSource>(file, block_size);
}

std::string_view text_of(InputFile const& file, TextRange const& range, std::string& storage) {
  if (range.ends) return file.view(range.place, range.size);
  storage = file.text(range.place, range.size) + '\n';
  return storage;
}

}  // namespace sporades::detail

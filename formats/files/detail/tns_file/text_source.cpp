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
std::size_t place_of_part(std::size_t size, int part, int parts) {
  auto const whole = static_cast<std::size_t>(parts), p = static_cast<std::size_t>(part);
  return size / whole * p + size % whole * p / whole;
}

class MappedSource final : public TextSource {
 public:
  MappedSource(std::string_view text, std::string const& name, std::size_t block_size)
      : rest_(text), name_(name), block_size_(block_size) {}

  bool next(TextBlock& block) override {
    if (rest_.empty()) return false;
    auto const window = rest_.substr(0, block_size_);
    auto const line_end = window.rfind('\n');
    block = {};
    if (line_end != std::string_view::npos)
      block.mapped = window.substr(0, line_end + 1);
    else if (window.size() < block_size_)
      block.storage.assign(window).push_back('\n');
    else
      refuse_long_line(name_, block_size_, window);
    rest_.remove_prefix(std::min(block.text().size(), rest_.size()));
    return true;
  }

  bool is_mapped() const override { return true; }

  void keep_part(int part, int parts, TextBlock& first) override {
    lines_before_ = take_from(first, part);
    auto const cut = [&](int p) {
      if (p == 0 || p == parts) return p == 0 ? std::size_t{0} : rest_.size();
      auto const line_end = rest_.find('\n', place_of_part(rest_.size(), p, parts));
      return line_end == std::string_view::npos ? rest_.size() : line_end + 1;
    };
    auto const begin = cut(part), end = cut(part + 1);
    before_ = rest_.substr(0, begin);
    rest_ = rest_.substr(begin, end - begin);
  }

  std::uint64_t lines_before() const override { return lines_before_ + lines_of(before_); }

 private:
  std::uint64_t lines_before_ = 0;  // before before_
  std::string_view before_;         // the parts before
  std::string_view rest_;
  std::string const& name_;
  std::size_t block_size_;
};

class GzipSource final : public TextSource {
 public:
  GzipSource(std::string_view content, std::string const& name, std::size_t block_size)
      : rest_(content), size_(content.size()), name_(name), block_size_(block_size) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK)
      throw RunError(name_ + ": no memory to uncompress");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  /// A block belongs to the part in which its first compressed byte lies.
  bool next(TextBlock& block) override {
    for (auto place = size_ - rest_.size(); place < end_ && uncompress(block);
         place = size_ - rest_.size()) {
      if (place >= begin_) return true;
      lines_before_ += lines_of(block.text());
    }
    return false;
  }

  bool is_mapped() const override { return false; }

  void keep_part(int part, int parts, TextBlock& first) override {
    lines_before_ = take_from(first, part);
    begin_ = place_of_part(size_, part, parts);
    if (part + 1 < parts) end_ = place_of_part(size_, part + 1, parts);
  }

  std::uint64_t lines_before() const override { return lines_before_; }

 private:
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
      auto const given = std::min<std::size_t>(rest_.size(), std::numeric_limits<uInt>::max());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
      stream_.avail_in = static_cast<uInt>(given);
      int const state = inflate(&stream_, Z_NO_FLUSH);
      rest_.remove_prefix(given - stream_.avail_in);
      if (state == Z_STREAM_END)
        end_member();
      else if (state == Z_BUF_ERROR || (state == Z_OK && rest_.empty() && stream_.avail_out > 0))
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
    finished_ = rest_.find_first_not_of('\0') == std::string_view::npos;
    if (finished_) return;
    if (rest_.substr(0, 2) != "\x1f\x8b")
      fail(name_, ": ", rest_.size(), " bytes that are not gzip follow the gzip data");
    inflateReset(&stream_);
  }

  std::string_view rest_;
  std::size_t size_;  // of the compressed bytes
  std::size_t begin_ = 0, end_ = std::numeric_limits<std::size_t>::max();  // of the part
  std::uint64_t lines_before_ = 0;
  std::string const& name_;
  std::size_t block_size_;
  std::string carry_;  // the beginning of a line whose end is in the next block
  z_stream stream_ = {};
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<TextSource> make_text_source(std::string_view content, std::string const& name,
                                             std::size_t block_size) {
  expects(block_size > 0, name, ": blocks of 0 bytes");
  block_size = std::min(block_size, std::size_t{1} << 30);
  if (content.substr(0, 2) == "\x1f\x8b")
    return std::make_unique<GzipSource>(content, name, block_size);
  return std::make_unique<MappedSource>(content, name, block_size);
}

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/tns_file/text_source.hpp>

namespace sporades::detail {

namespace {

[[noreturn]] void refuse_long_line(std::string const& name, std::size_t block_size,
                                   std::string_view line) {
  fail(name, ": a line is longer than ", block_size, " bytes",
       line.find('\r') == std::string_view::npos
           ? ""
           : ", and has carriage returns inside: lines end in LF or CRLF");
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

 private:
  std::string_view rest_;
  std::string const& name_;
  std::size_t block_size_;
};

class GzipSource final : public TextSource {
 public:
  GzipSource(std::string_view content, std::string const& name, std::size_t block_size)
      : rest_(content), name_(name), block_size_(block_size) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK)
      throw RunError(name_ + ": no memory to uncompress");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  bool next(TextBlock& block) override {
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

  bool is_mapped() const override { return false; }

 private:
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

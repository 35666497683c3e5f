// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/core/detail/processes/row_pieces.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sstream>

namespace sporades::command {
namespace {

constexpr std::string_view magic{"\x89SPC\r\n\x1a\n", 8};
constexpr std::uint64_t format_version = 2;

struct Header {
  char magic[8];
  std::uint64_t version;
  std::uint64_t zeros[6];
};
static_assert(sizeof(Header) == 64);

struct Trailer {
  std::uint64_t directory_offset;
  std::uint64_t directory_bytes;
  std::uint64_t directory_checksum;
  std::uint64_t file_bytes;
  std::uint64_t trailer_checksum;
};
static_assert(sizeof(Trailer) == 40);

std::uint64_t checksum_of(Trailer const& trailer) {
  return sporades::detail::xxh64(&trailer, offsetof(Trailer, trailer_checksum));
}

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

/// A file that is written from its begin to its end, by the first process.
class CheckpointFile {
 public:
  void open(std::string const& path) {
    file_.emplace(path);
    Header header{};
    std::memcpy(header.magic, magic.data(), magic.size());
    header.version = format_version;
    write(&header, sizeof header);
  }
  void write(void const* data, std::size_t bytes) {
    file_->write(data, bytes);
    end_ += bytes;
  }
  void begin_array() {
    offset_ = end_;
    checksum_ = {};
  }
  void write_array(void const* data, std::size_t bytes) {
    write(data, bytes);
    checksum_.add(data, bytes);
  }
  void end_array(CheckpointArray const& array) {
    directory_ << "array " << array.name << ' ' << offset_ << ' ' << end_ - offset_ << ' '
               << checksum_.value() << ' ' << array.mode << '\n';
    char const zeros[64] = {};
    write(zeros, (64 - end_ % 64) % 64);
  }
  void commit(Facts const& facts) {
    for (auto const& [name, value] : facts) directory_ << "fact " << name << ' ' << value << '\n';
    std::string const text = directory_.str();
    Trailer trailer{end_, text.size(), sporades::detail::xxh64(text.data(), text.size()),
                    end_ + text.size() + sizeof trailer, 0};
    trailer.trailer_checksum = checksum_of(trailer);
    write(text.data(), text.size());
    write(&trailer, sizeof trailer);
    file_->commit();
  }

 private:
  std::optional<sporades::detail::OutputFile> file_;
  std::uint64_t end_ = 0, offset_ = 0;
  sporades::detail::BlockedChecksum checksum_;
  std::ostringstream directory_;
};

/// The hash of a number after others.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) {
  return sporades::detail::splitmix64(hash ^ number);
}

}  // namespace

void write_checkpoint(std::string const& path, Facts const& facts,
                      std::vector<CheckpointArray> const& arrays, std::vector<RowMap> const& rows) {
  sporades::detail::FirstProcess first(processes());
  CheckpointFile file;
  first([&] { file.open(path); });
  for (auto const& array : arrays) {
    first([&] { file.begin_array(); });
    if (array.mode < 0 || rows.empty()) {
      first([&] { file.write_array(array.data, array.bytes); });
    } else {
      auto const& own = rows[static_cast<std::size_t>(array.mode)];
      std::uint64_t const here = own.here(0);
      std::uint64_t row = 0;
      for (auto const bytes : sporades::detail::all_gather(processes(), "bytes of rows",
                                                           here == 0 ? 0 : array.bytes / here))
        row = std::max(row, bytes);
      auto const* const bytes = static_cast<std::byte const*>(array.data);
      sporades::detail::for_all_rows<std::byte>(
          own, here, row, [&](std::uint64_t i) { return bytes + i * row; },
          [&](std::byte const* piece, std::uint64_t, std::uint64_t count) {
            first([&] { file.write_array(piece, count * row); });
          });
    }
    first([&] { file.end_array(array); });
  }
  first([&] { file.commit(facts); });
  first.end();
}

Checkpoint::Checkpoint(std::string const& path) : path_(path), file_(path) {
  sporades::detail::read_unchanged(file_, [&] { read(); });
}

void Checkpoint::read() {
  auto const size = file_.size();
  Header header{};
  expects(size >= sizeof header && file_.text(0, magic.size()) == magic, "--resume ", path_,
          ": this is no checkpoint of sporades");
  file_.read(0, &header, sizeof header);
  expects(header.version == format_version, "--resume ", path_, ": the checkpoint's format is ",
          header.version, ", this command reads format ", format_version);
  expects(std::all_of(std::begin(header.zeros), std::end(header.zeros),
                      [](std::uint64_t zero) { return zero == 0; }),
          "--resume ", path_, ": the checkpoint is damaged (its first bytes differ)");
  Trailer trailer{};
  bool const has_trailer = size >= sizeof header + sizeof trailer;
  if (has_trailer) file_.read(size - sizeof trailer, &trailer, sizeof trailer);
  expects(has_trailer && trailer.trailer_checksum == checksum_of(trailer), "--resume ", path_,
          ": the checkpoint is damaged or cut off (the checksum of its last bytes differs)");
  expects(trailer.file_bytes == size, "--resume ", path_, ": the checkpoint has ", size,
          " bytes, it was written with ", trailer.file_bytes);
  auto const directory = file_.text(trailer.directory_offset, trailer.directory_bytes);
  expects(trailer.directory_checksum == sporades::detail::xxh64(directory.data(), directory.size()),
          "--resume ", path_, ": the checkpoint is damaged (its directory's checksum differs)");
  std::istringstream lines{directory};
  int number = 0;
  for (std::string kind, name; lines >> kind >> name;) {
    if (kind == "fact") {
      lines.ignore(1);
      std::getline(lines, facts_[name]);
    } else {
      std::uint64_t checksum = 0;
      lines >> places_[name] >> sizes_[name] >> checksum >> modes_[name];
      bool const is_mine = number++ % processes().size() == processes().rank();
      expects(
          !is_mine ||
              checksum == sporades::detail::blocked_checksum(file_, places_[name], sizes_[name], 0),
          "--resume ", path_, ": the checkpoint is damaged (the checksum of ", name, " differs)");
    }
  }
}

void Checkpoint::expect_same(Facts const& facts) const {
  std::string differences;
  for (auto const& [name, here] : facts) {
    auto const there = facts_.find(name);
    std::string const text = there == facts_.end() ? "not known" : there->second;
    if (text != here)
      differences +=
          (differences.empty() ? "" : "; ") + name + " is " + text + " there and " + here + " here";
  }
  expects(differences.empty(), "--resume ", path_, " is of another computation: ", differences);
}

std::string const& Checkpoint::fact(std::string const& name) const {
  auto const found = facts_.find(name);
  expects(found != facts_.end(), "--resume ", path_, ": the checkpoint does not tell ", name);
  return found->second;
}

std::vector<std::byte> Checkpoint::bytes(std::string const& name, std::uint64_t first,
                                         std::uint64_t count) const {
  auto const found = sizes_.find(name);
  expects(found != sizes_.end(), "--resume ", path_, ": the checkpoint has no ", name);
  expects(first <= found->second && count <= found->second - first, "--resume ", path_, ": ", name,
          " has ", found->second, " bytes there and ", first + count, " here");
  std::vector<std::byte> bytes(count);
  sporades::detail::read_unchanged(
      file_, [&] { file_.read(places_.at(name) + first, bytes.data(), count); });
  return bytes;
}

std::string start_fact(std::string const& init, bool is_given) {
  if (!is_given || init.compare(0, 6, "given ") == 0) return init;
  sporades::detail::InputFile const file(init);
  return sporades::detail::read_unchanged(file, [&] {
    return sporades::detail::concatenate(
        "given ", sporades::detail::blocked_checksum(file, 0, file.size(), 0));
  });
}

template <class Scalar, class Index>
std::string tensor_fingerprint(CooTensor<Scalar, Index> const& X) {
  using Bits = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
  std::atomic<std::uint64_t> here{0};
  sporades::detail::for_each_range(0, X.nnz(), std::uint64_t{1} << 16,
                                   [&](std::uint64_t begin, std::uint64_t end) {
                                     std::uint64_t sum = 0;
                                     for (auto p = begin; p < end; ++p) {
                                       Bits bits;
                                       std::memcpy(&bits, &X.values(p), sizeof bits);
                                       std::uint64_t hash = mixed(0, bits);
                                       for (int n = 0; n < X.order(); ++n)
                                         hash = mixed(hash, X.coordinates(n, p));
                                       sum += hash;
                                     }
                                     here += sum;
                                   });
  std::vector<std::uint64_t> parts(X.dims);
  std::uint64_t nnz = 0, sum = 0;
  for (auto const count : sporades::detail::all_gather(processes(), "fingerprints", X.nnz()))
    nnz += count;
  for (auto const part : sporades::detail::all_gather(processes(), "fingerprints", here.load()))
    sum += part;
  parts.push_back(nnz);
  parts.push_back(sum);
  return hexadecimal(sporades::detail::xxh64(parts.data(), parts.size() * sizeof parts[0]));
}

template std::string tensor_fingerprint(CooTensor<double, std::uint32_t> const&);
template std::string tensor_fingerprint(CooTensor<double, std::uint64_t> const&);
template std::string tensor_fingerprint(CooTensor<float, std::uint32_t> const&);
template std::string tensor_fingerprint(CooTensor<float, std::uint64_t> const&);

}  // namespace sporades::command

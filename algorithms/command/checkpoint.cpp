// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <sporades/algorithms/command/checkpoint.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sstream>

namespace sporades::command {
namespace {

constexpr std::string_view magic{"\x89SPC\r\n\x1a\n", 8};
constexpr std::uint64_t format_version = 1;

struct Header {
  char magic[8];
  std::uint64_t version;
  std::uint64_t file_bytes;
  std::uint64_t directory_bytes;
  std::uint64_t directory_checksum;
  std::uint64_t header_checksum;
  std::uint64_t zeros[2];
};
static_assert(sizeof(Header) == 64);

std::uint64_t checksum_of(Header const& header) {
  return sporades::detail::xxh64(&header, offsetof(Header, header_checksum));
}

std::uint64_t checksum_of(void const* data, std::uint64_t bytes) {
  return sporades::detail::blocked_checksum(data, bytes, 0);
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

/// Offsets count from the end of the directory, so that they do not depend on its length.
std::string directory_of(Facts const& facts, std::vector<CheckpointArray> const& arrays) {
  std::ostringstream text;
  for (auto const& [name, value] : facts) text << "fact " << name << ' ' << value << '\n';
  std::uint64_t offset = 0;
  for (auto const& array : arrays) {
    text << "array " << array.name << ' ' << offset << ' ' << array.bytes << ' '
         << checksum_of(array.data, array.bytes) << '\n';
    offset = aligned(offset + array.bytes);
  }
  return text.str();
}

}  // namespace

void write_checkpoint(std::string const& path, Facts const& facts,
                      std::vector<CheckpointArray> const& arrays) {
  std::string directory = directory_of(facts, arrays);
  directory.resize(aligned(directory.size()), '\n');
  Header header{};
  std::memcpy(header.magic, magic.data(), magic.size());
  header.version = format_version;
  header.file_bytes = sizeof header + directory.size();
  for (auto const& array : arrays) header.file_bytes += aligned(array.bytes);
  header.directory_bytes = directory.size();
  header.directory_checksum = sporades::detail::xxh64(directory.data(), directory.size());
  header.header_checksum = checksum_of(header);

  sporades::detail::OutputFile file(path);
  file.write(&header, sizeof header);
  file.write(directory);
  char const zeros[64] = {};
  for (auto const& array : arrays) {
    file.write(array.data, array.bytes);
    file.write(zeros, aligned(array.bytes) - array.bytes);
  }
  file.commit();
}

Checkpoint::Checkpoint(std::string const& path)
    : path_(path), file_(std::make_shared<sporades::detail::MappedFile>(path)) {
  auto const bytes = file_->bytes();
  Header header{};
  expects(bytes.size() >= sizeof header && bytes.substr(0, magic.size()) == magic, "--resume ",
          path, ": this is no checkpoint of sporades");
  std::memcpy(&header, bytes.data(), sizeof header);
  expects(header.version == format_version, "--resume ", path, ": the checkpoint's format is ",
          header.version, ", this command reads format ", format_version);
  expects(header.header_checksum == checksum_of(header), "--resume ", path,
          ": the checkpoint is damaged (its header's checksum differs)");
  expects(header.file_bytes == bytes.size(), "--resume ", path, ": the checkpoint has ",
          bytes.size(), " bytes, it was written with ", header.file_bytes);
  auto const directory = bytes.substr(sizeof header, header.directory_bytes);
  expects(header.directory_checksum == sporades::detail::xxh64(directory.data(), directory.size()),
          "--resume ", path, ": the checkpoint is damaged (its directory's checksum differs)");
  auto const contents = bytes.substr(sizeof header + directory.size());
  std::istringstream lines{std::string(directory)};
  for (std::string kind, name; lines >> kind >> name;) {
    if (kind == "fact") {
      lines.ignore(1);
      std::getline(lines, facts_[name]);
    } else {
      std::uint64_t offset = 0;
      std::uint64_t size = 0;
      std::uint64_t checksum = 0;
      lines >> offset >> size >> checksum;
      auto const array = contents.substr(offset, size);
      expects(checksum == checksum_of(array.data(), array.size()), "--resume ", path,
              ": the checkpoint is damaged (the checksum of ", name, " differs)");
      arrays_[name] = array;
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

std::string_view Checkpoint::array(std::string const& name) const {
  auto const found = arrays_.find(name);
  expects(found != arrays_.end(), "--resume ", path_, ": the checkpoint has no ", name);
  return found->second;
}

void Checkpoint::copy(std::string const& name, void* to, std::uint64_t bytes) const {
  auto const from = array(name);
  expects(from.size() == bytes, "--resume ", path_, ": ", name, " has ", from.size(),
          " bytes there and ", bytes, " here");
  if (bytes > 0) std::memcpy(to, from.data(), bytes);
}

template <class Scalar, class Index>
std::string tensor_fingerprint(CooTensor<Scalar, Index> const& X) {
  std::vector<std::uint64_t> parts(X.dims);
  parts.push_back(X.nnz());
  if (X.nnz() > 0) {
    for (int n = 0; n < X.order(); ++n)
      parts.push_back(checksum_of(&X.coordinates(n, 0), X.nnz() * sizeof(Index)));
    parts.push_back(checksum_of(X.values.data(), X.nnz() * sizeof(Scalar)));
  }
  return hexadecimal(sporades::detail::xxh64(parts.data(), parts.size() * sizeof parts[0]));
}

template std::string tensor_fingerprint(CooTensor<double, std::uint32_t> const&);
template std::string tensor_fingerprint(CooTensor<double, std::uint64_t> const&);
template std::string tensor_fingerprint(CooTensor<float, std::uint32_t> const&);
template std::string tensor_fingerprint(CooTensor<float, std::uint64_t> const&);

}  // namespace sporades::command

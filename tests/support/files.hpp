// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdlib.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sporades/core/error.hpp>
#include <sporades/formats/any_coo_tensor.hpp>
#include <string>
#include <support/catch.hpp>
#include <utility>
#include <vector>

namespace sporades::test {

/// A new folder, which is removed with its content at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (std::filesystem::temp_directory_path() / "sporades-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  std::string operator/(std::string const& name) const { return (path_ / name).string(); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (auto const& entry : std::filesystem::directory_iterator(path_))
      result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  std::filesystem::path path_;
};

inline void write_text(std::string const& path, std::string const& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text, with the first occurrence of `from` replaced by `to`.
inline std::string replaced(std::string text, std::string const& from, std::string const& to) {
  auto const place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

/// The text as one gzip member.
inline std::string zipped(std::string const& text) {
  z_stream stream = {};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The message of the Error that the call throws; "no error" if it throws none.
template <class Call>
std::string message_of(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return "no error";
}

template <class Scalar>
using Entries = std::vector<std::pair<std::vector<std::uint64_t>, Scalar>>;

/// The nonzeros of a tensor, in its order.
template <class Scalar, class Index>
Entries<Scalar> entries(CooTensor<Scalar, Index> const& X) {
  Entries<Scalar> result(X.nnz());
  for (Position p = 0; p < X.nnz(); ++p) {
    for (int n = 0; n < X.order(); ++n) result[p].first.push_back(X.coordinates(n, p));
    result[p].second = X.values(p);
  }
  return result;
}

template <class Scalar>
Entries<Scalar> entries(AnyCooTensor<Scalar> const& X) {
  return std::visit([](auto const& tensor) { return entries(tensor); }, X);
}

template <class Scalar>
Dims dims_of(AnyCooTensor<Scalar> const& X) {
  return std::visit([](auto const& tensor) { return tensor.dims; }, X);
}

/// A tensor with these nonzeros, in this order.
template <class Scalar, class Index = std::uint32_t>
CooTensor<Scalar, Index> make_coo(Dims const& dims, Entries<Scalar> const& nonzeros) {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto X = sporades::detail::allocate_coo<Scalar, Index>(exec, dims, nonzeros.size());
  for (Position p = 0; p < X.nnz(); ++p) {
    for (int n = 0; n < X.order(); ++n)
      X.coordinates(n, p) = static_cast<Index>(nonzeros[p].first[n]);
    X.values(p) = nonzeros[p].second;
  }
  return X;
}

/// A file of tests/data.
inline std::string data_file(std::string const& name) {
  return std::string(SPORADES_TEST_DATA) + "/" + name;
}

/// A file of peers' data; empty, and the test says so, where it is absent or SPORADES_SHARED_DATA
/// names no folder.
inline std::string shared_file(std::string const& name) {
  std::string const folder = SPORADES_SHARED_DATA;
  auto const path = folder + "/" + name;
  if (!folder.empty() && std::filesystem::exists(path)) return path;
  if (folder.empty())
    WARN("skipped: " << name << " is absent, as SPORADES_SHARED_DATA is empty");
  else
    WARN("skipped: " << path << " is absent");
  return {};
}

/// A file of peers' data where the name has a folder, and of tests/data where it has none.
inline std::string data_or_shared_file(std::string const& name) {
  return name.find('/') == std::string::npos ? data_file(name) : shared_file(name);
}

}  // namespace sporades::test

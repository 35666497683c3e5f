// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace sporades::detail {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// What a file is that begins so and that no reader here takes, and what to do with it, as in "a
/// bzip2 file: ..."; null for all others. 300 bytes tell.
inline char const* foreign_format(std::string_view begin) {
  struct Format {
    std::size_t place;
    std::string_view bytes;
    char const* name;
  };
  static constexpr Format formats[] = {
      {0, {"PK\3\4", 4}, "a zip archive: unzip -p FILE writes its text to a pipe"},
      {0, {"PK\5\6", 4}, "an empty zip archive"},
      {0, {"BZh", 3}, "a bzip2 file: bzip2 -dc FILE writes its text to a pipe"},
      {0,
       {"\xfd"
        "7zXZ",
        5},
       "an xz file: xz -dc FILE writes its text to a pipe"},
      {0, {"\x28\xb5\x2f\xfd", 4}, "a zstd file: zstd -dc FILE writes its text to a pipe"},
      {0, {"\x04\x22\x4d\x18", 4}, "an lz4 file: lz4 -dc FILE writes its text to a pipe"},
      {0, {"\x1f\x9d", 2}, "a compress file: gzip -dc FILE writes its text to a pipe"},
      {0, {"7z\xbc\xaf\x27\x1c", 6}, "a 7z archive: 7z x -so FILE writes its text to a pipe"},
      {0, {"Rar!\x1a", 5}, "a rar archive: unrar p FILE writes its text to a pipe"},
      {257, {"ustar", 5}, "a tar archive: tar -xf FILE unpacks it, tar -xOf FILE NAME into a pipe"},
      {0, {"\xff\xfe", 2}, "UTF-16 text: iconv -f UTF-16 -t UTF-8 FILE writes it as plain text"},
      {0, {"\xfe\xff", 2}, "UTF-16 text: iconv -f UTF-16 -t UTF-8 FILE writes it as plain text"},
      {0,
       {"\x93NUMPY", 6},
       "an array of numpy: write its nonzeros as text, an index a mode and the "
       "value a line"},
      {0,
       {"MATLAB ", 7},
       "a MATLAB file: write its nonzeros as text, such as by Tensor Toolbox' "
       "export_data"},
      {0,
       {"\x89HDF", 4},
       "an HDF5 file: write its nonzeros as text, an index a mode and the value a "
       "line"},
      {0,
       {"PAR1", 4},
       "a Parquet file: write its nonzeros as text, an index a mode and the value a "
       "line"}};
  for (auto const& [place, bytes, name] : formats)
    if (begin.size() > place && begin.substr(place, bytes.size()) == bytes) return name;
  return nullptr;
}

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <zlib.h>

#include <algorithm>
#include <fuzz/fuzzing.hpp>
#include <sporades/formats/any_coo_tensor.hpp>
#include <string>

namespace sporades::fuzzing {

inline std::string zipped(std::string_view text) {
  z_stream stream = {};
  require(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// Bytes of the longest line with its line end, at least 1.
inline std::size_t longest_line(std::string_view text) {
  std::size_t longest = 1, line = 1;
  for (char const c : text) longest = std::max(longest, line = c == '\n' ? 1 : line + 1);
  return longest;
}

/// Visits two tensors, which must be the same in types, dims, nonzeros and their order.
struct RequireEqual {
  template <class Tensor>
  void operator()(Tensor const& X, Tensor const& Y) const {
    require(X.dims == Y.dims && X.nnz() == Y.nnz() && X.sorted_modes == Y.sorted_modes);
    for (Position p = 0; p < X.nnz(); ++p) {
      for (int n = 0; n < X.order(); ++n) require(X.coordinates(n, p) == Y.coordinates(n, p));
      require(X.values(p) == Y.values(p));
    }
  }
  template <class First, class Second>
  void operator()(First const&, Second const&) const {
    require(false);
  }
};

}  // namespace sporades::fuzzing

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <fuzz/fuzzing.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/tns_file.hpp>

/// Reads the input as a tensor file: first as it is, then, where it is text, gzipped, in blocks of
/// other sizes and on two threads. The result, or the message, must be the same.

using namespace sporades;
using namespace sporades::fuzzing;

namespace {

struct Outcome {
  std::string message;  // of the error; empty: there is a result
  ReadResult<double> result;
};

Outcome outcome(std::string_view content, ReadOptions const& options) {
  Outcome it;
  try {
    it.result = parse_tensor<double>(content, "x", options);
  } catch (Error const& error) {
    it.message = error.what();
    require(!it.message.empty());
  }
  return it;
}

template <class Tensor>
void require_valid(Tensor const& X) {
  require(!X.dims.empty() && X.dims.size() <= max_order);
  require(X.coordinates.extent(0) == X.dims.size() && X.coordinates.extent(1) == X.nnz());
  for (int n = 0; n < X.order(); ++n)
    for (Position p = 0; p < X.nnz(); ++p) require(X.coordinates(n, p) < X.dims[n]);
  for (Position p = 0; p < X.nnz(); ++p) require(X.values(p) - X.values(p) == 0);
}

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

void require_equal(Outcome const& one, Outcome const& other) {
  require(one.message == other.message);
  require(one.result.duplicates == other.result.duplicates);
  require(one.result.dialect == other.result.dialect && one.result.notes == other.result.notes);
  std::visit(RequireEqual{}, one.result.tensor, other.result.tensor);
}

std::string zipped(std::string_view text) {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  start_kokkos();
  Choices choices(data, size);
  ReadOptions options;
  auto const flags = choices.next();
  options.index_base = static_cast<IndexBase>(flags % 4);
  options.duplicates = (flags & 4) != 0 ? Duplicates::keep : Duplicates::sum;
  options.pattern = (flags & 8) != 0;
  if ((flags & 16) != 0) options.dims = {5, 4, 3};
  options.first_line = static_cast<FirstLine>(choices.next() % 3);
  options.threads = 1;
  auto const content = choices.rest();

  auto const whole = outcome(content, options);
  if (whole.message.empty())
    std::visit([](auto const& X) { require_valid(X); }, whole.result.tensor);
  if (content.empty() || content[0] == '\x1f' || content[0] == '\x89') return 0;
  if ((flags & 32) != 0) require_equal(whole, outcome(zipped(content), options));
  std::size_t longest = 1, line = 1;
  for (char const c : content) longest = std::max(longest, line = c == '\n' ? 1 : line + 1);
  options.block_size = longest + flags / 64;
  if ((flags & 64) != 0) options.threads = 2;
  require_equal(whole, outcome(content, options));
  if ((flags & 32) != 0) require_equal(whole, outcome(zipped(content), options));
  return 0;
}

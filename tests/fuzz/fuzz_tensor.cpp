// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fuzz/texts.hpp>
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

void require_equal(Outcome const& one, Outcome const& other) {
  require(one.message == other.message);
  require(one.result.duplicates == other.result.duplicates);
  require(one.result.dialect == other.result.dialect && one.result.notes == other.result.notes);
  std::visit(RequireEqual{}, one.result.tensor, other.result.tensor);
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
  options.block_size = longest_line(content) + flags / 64;
  if ((flags & 64) != 0) options.threads = 2;
  require_equal(whole, outcome(content, options));
  if ((flags & 32) != 0) require_equal(whole, outcome(zipped(content), options));
  return 0;
}

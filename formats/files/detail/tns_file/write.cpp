// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/tns_file/write_blocks.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

namespace {

/// The nonzeros [begin, end) as lines of text. Throws Error if a value is not finite.
template <class Scalar, class Index>
std::string format_lines(CooTensor<Scalar, Index> const& X, Position begin, Position end) {
  std::string text;
  auto const order = X.dims.size();
  text.resize((end - begin) * longest_line(X.dims));
  auto* p = text.data();
  for (auto nonzero = begin; nonzero < end; ++nonzero) {
    for (std::size_t n = 0; n < order; ++n) {
      auto const index = static_cast<std::uint64_t>(X.coordinates(n, nonzero)) + 1;
      p = std::to_chars(p, p + longest_number, index).ptr;
      *p++ = ' ';
    }
    auto const value = X.values(nonzero);
    expects(std::isfinite(value), "write_tns: the value of nonzero ", nonzero, " is ", value);
    p = std::to_chars(p, p + longest_number, value).ptr;
    *p++ = '\n';
  }
  text.resize(static_cast<std::size_t>(p - text.data()));
  return text;
}

/// A whole gzip member; members one after another are a gzip file.
std::string compress(std::string const& text) {
  z_stream stream = {};
  constexpr int gzip_format = 16 + MAX_WBITS, memory_level = 8;
  bool good = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, memory_level,
                           Z_DEFAULT_STRATEGY) == Z_OK;
  std::string packed;
  if (good) {
    packed.resize(deflateBound(&stream, static_cast<uLong>(text.size())));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    good = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    packed.resize(stream.total_out);
    deflateEnd(&stream);
  }
  if (!good) throw RunError("write_tns: no memory to compress");
  return packed;
}

template <class Scalar, class Index>
bool dims_show(CooTensor<Scalar, Index> const& X) {
  Dims smallest(X.dims.size(), 0);
  std::mutex mutex;
  for_each_range(0, X.nnz(), lines_per_block, [&](Position begin, Position end) {
    Dims lengths(X.dims.size());
    for (std::size_t n = 0; n < lengths.size(); ++n) {
      auto const* const indices = X.indices(static_cast<int>(n));
      lengths[n] = std::uint64_t{*std::max_element(indices + begin, indices + end)} + 1;
    }
    std::lock_guard const lock(mutex);
    for (std::size_t n = 0; n < lengths.size(); ++n)
      smallest[n] = std::max(smallest[n], lengths[n]);
  });
  return X.nnz() > 0 && smallest == X.dims;
}

std::string dims_comment(Dims const& dims) {
  std::string text = "# sporades dims:";
  for (auto dim : dims) text += ' ' + std::to_string(dim);
  return text + '\n';
}

bool ends_with(std::string const& path, std::string const& ending) {
  return path.size() >= ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace
}  // namespace sporades::detail

namespace sporades {

template <class Scalar, class Index>
void write_tns(std::string const& path, CooTensor<Scalar, Index> const& X) {
  using namespace detail;
  check_coordinates(Kokkos::DefaultHostExecutionSpace(), X, "write_tns");
  bool const zipped = ends_with(path, ".gz");
  OutputFile file(path);
  if (!dims_show(X)) {
    auto const comment = dims_comment(X.dims);
    file.write(zipped ? compress(comment) : comment);
  }
  std::vector<std::string> blocks(blocks_at_once(X.dims, number_of_threads(0)));
  auto const round = blocks.size() * lines_per_block;
  for (Position first = 0; first < X.nnz(); first += round) {
    auto const size = std::min(round, X.nnz() - first);
    for_each_range(0, size, lines_per_block, [&](Position begin, Position end) {
      auto text = format_lines(X, first + begin, first + end);
      blocks[begin / lines_per_block] = zipped ? compress(text) : std::move(text);
    });
    for (Position begin = 0; begin < size; begin += lines_per_block)
      file.write(blocks[begin / lines_per_block]);
  }
  file.commit();
}

template void write_tns(std::string const&, CooTensor<float, std::uint32_t> const&);
template void write_tns(std::string const&, CooTensor<float, std::uint64_t> const&);
template void write_tns(std::string const&, CooTensor<double, std::uint32_t> const&);
template void write_tns(std::string const&, CooTensor<double, std::uint64_t> const&);

}  // namespace sporades

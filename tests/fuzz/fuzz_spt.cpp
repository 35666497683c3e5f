// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <fuzz/fuzzing.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sporades/formats/files/detail/spt_file/header.hpp>
#include <sporades/formats/files/detail/spt_file/parse.hpp>

/// Reads the input as a .spt file: once as it is, and once with checksums that fit, so that the
/// code after the checksums is reached.

using namespace sporades;
using namespace sporades::fuzzing;

namespace {

void repair(std::string& content) {
  detail::SptHeader header;
  if (content.size() < sizeof header) return;
  std::memcpy(&header, content.data(), sizeof header);
  header.order %= 17;
  bool const has_widths = header.index_bytes % 4 == 0 && header.value_bytes % 4 == 0;
  if (header.order > 0 && has_widths && header.index_bytes > 0 && header.value_bytes > 0 &&
      header.index_bytes <= 8 && header.value_bytes <= 8 && header.nnz <= content.size()) {
    auto const layout = detail::spt_layout(header, "x");
    content.resize(layout.file_bytes);
    header.file_bytes = layout.file_bytes;
    for (std::uint32_t n = 0; n < header.order; ++n)
      header.checksums[n] = detail::blocked_checksum(content.data() + layout.coordinates[n],
                                                     header.nnz * header.index_bytes, 1);
    header.checksums[header.order] = detail::blocked_checksum(content.data() + layout.values,
                                                              header.nnz * header.value_bytes, 1);
  }
  header.header_checksum = detail::header_checksum(header);
  std::memcpy(content.data(), &header, sizeof header);
}

template <class Scalar>
void read(std::string_view content, ReadOptions const& options) {
  try {
    auto const result = sporades::detail::parse_spt<Scalar>({}, {content, "x"}, options);
    std::visit(
        [](auto const& X) {
          for (int n = 0; n < X.order(); ++n)
            for (Position p = 0; p < X.nnz(); ++p) require(X.coordinates(n, p) < X.dims[n]);
        },
        result.tensor);
  } catch (Error const&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  start_kokkos();
  std::string content(reinterpret_cast<char const*>(data), size);
  ReadOptions options;
  options.threads = 1;
  read<double>(content, options);
  repair(content);
  read<double>(content, options);
  options.duplicates = Duplicates::keep;
  read<float>(content, options);
  return 0;
}

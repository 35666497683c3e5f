// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <limits>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sporades/formats/files/detail/spt_file/header.hpp>

namespace sporades::detail {

namespace {

constexpr std::uint64_t alignment = 64;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void check_sorted_modes(SptHeader const& header, std::string const& name) {
  expects(header.sorted_count <= header.order, name, ": sorted by ", header.sorted_count,
          " modes of ", header.order);
  bool listed[16] = {};
  for (std::uint32_t k = 0; k < header.sorted_count; ++k) {
    auto const mode = header.sorted_modes[k];
    expects(mode < header.order && !listed[mode], name, ": sorted by mode ", mode,
            ", which is no mode or comes twice");
    listed[mode] = true;
  }
}

}  // namespace

SptLayout spt_layout(SptHeader const& header, std::string const& name) {
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  auto const one = std::uint64_t{header.order} * header.index_bytes + header.value_bytes;
  expects(header.nnz <= (largest - 32 * alignment) / one, name, ": ", header.nnz, " nonzeros of ",
          one, " bytes are more than a file holds");
  SptLayout layout = {};
  auto place = aligned(sizeof(SptHeader));
  for (std::uint32_t n = 0; n < header.order; ++n) {
    layout.coordinates[n] = place;
    place = aligned(place + header.nnz * header.index_bytes);
  }
  layout.values = place;
  layout.file_bytes = place + header.nnz * header.value_bytes;
  return layout;
}

std::uint64_t header_checksum(SptHeader const& header) {
  return xxh64(&header, offsetof(SptHeader, header_checksum));
}

SptHeader read_spt_header(InputFile const& file) {
  auto const& name = file.name();
  SptHeader header = {};
  expects(file.size() >= sizeof header, name, ": ends after ", file.size(),
          " bytes, inside the header of ", sizeof header);
  file.read(0, &header, sizeof header);
  expects(header.version == 1, name, ": .spt version ", header.version, ", expected 1");
  expects(header_checksum(header) == header.header_checksum, name,
          ": the header is damaged (its checksum differs)");
  expects(header.order >= 1 && header.order <= 16, name, ": order ", header.order,
          " is not in 1 to 16");
  expects(header.index_bytes == 4 || header.index_bytes == 8, name, ": indices of ",
          header.index_bytes, " bytes, expected 4 or 8");
  expects(header.value_bytes == 4 || header.value_bytes == 8, name, ": values of ",
          header.value_bytes, " bytes, expected 4 or 8");
  check_sorted_modes(header, name);
  auto const layout = spt_layout(header, name);
  expects(header.file_bytes == layout.file_bytes, name, ": the header says ", header.file_bytes,
          " bytes, its sizes lead to ", layout.file_bytes);
  expects(file.size() == layout.file_bytes, name, ": has ", file.size(), " bytes, the header says ",
          layout.file_bytes);
  return header;
}

}  // namespace sporades::detail

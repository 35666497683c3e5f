// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sporades/formats/files/detail/spt_file/header.hpp>
#include <sporades/formats/files/detail/spt_file/parse.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/spt_file.hpp>

namespace sporades {

namespace {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error ".spt files are little endian, and are written and read as memory holds them"
#endif

constexpr std::uint64_t block_size = std::uint64_t{1} << 16;

/// The content of a .spt file.
struct SptContent {
  std::string_view bytes;
  std::string const& name;
  detail::SptHeader header;
  detail::SptLayout layout;
  int threads;
};

void check_padding(SptContent const& content, std::uint64_t begin, std::uint64_t end) {
  auto const gap = content.bytes.substr(begin, end - begin);
  expects(gap.find_first_not_of('\0') == std::string_view::npos, content.name, ": bytes ", begin,
          " to ", end, " are damaged: they are not zero");
}

void check_array(SptContent const& content, std::uint64_t begin, std::uint64_t size,
                 std::uint64_t checksum, std::string const& what) {
  expects(detail::blocked_checksum(content.bytes.data() + begin, size, content.threads) == checksum,
          content.name, ": ", what, " are damaged (bytes ", begin, " to ", begin + size,
          ", their checksum differs)");
}

void check_arrays(SptContent const& content) {
  auto const& [bytes, name, header, layout, threads] = content;
  std::uint64_t end = sizeof header;
  for (std::uint32_t n = 0; n < header.order; ++n) {
    auto const size = header.nnz * header.index_bytes;
    check_padding(content, end, layout.coordinates[n]);
    check_array(content, layout.coordinates[n], size, header.checksums[n],
                "the indices of mode " + std::to_string(n));
    end = layout.coordinates[n] + size;
  }
  check_padding(content, end, layout.values);
  check_array(content, layout.values, header.nnz * header.value_bytes,
              header.checksums[header.order], "the values");
}

/// Copies an array, which need not be aligned in memory, and checks each entry.
template <class From, class To, class Check>
void copy_array(SptContent const& content, std::uint64_t place, To* to, Check const& check) {
  detail::for_each_range(content.threads, content.header.nnz, block_size,
                         [&](std::uint64_t begin, std::uint64_t end) {
                           auto const* from = content.bytes.data() + place + begin * sizeof(From);
                           for (auto p = begin; p < end; ++p, from += sizeof(From)) {
                             From entry;
                             std::memcpy(&entry, from, sizeof entry);
                             check(p, entry);
                             to[p] = static_cast<To>(entry);
                           }
                         });
}

template <class From, class Index>
void copy_coordinates(SptContent const& content, int n, Index* to) {
  auto const length = content.header.dims[n];
  copy_array<From>(content, content.layout.coordinates[n], to, [&](std::uint64_t p, From index) {
    expects(index < length, content.name, ": nonzero ", p, ", mode ", n, ": the index ", index,
            " (from 0) is past the mode's length ", length);
  });
}

template <class From, class Scalar>
void copy_values(SptContent const& content, Scalar* to) {
  copy_array<From>(content, content.layout.values, to, [&](std::uint64_t p, From value) {
    expects(std::isfinite(static_cast<Scalar>(value)), content.name, ": nonzero ", p,
            ": the value ", value, " is not finite");
  });
}

template <class Scalar, class Index>
CooTensor<Scalar, Index> read_arrays(SptContent const& content, Dims const& dims) {
  auto const& header = content.header;
  auto X =
      detail::allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace(), dims, header.nnz);
  for (int n = 0; n < X.order(); ++n) {
    auto* const to = X.indices(n);
    if (header.index_bytes == 4)
      copy_coordinates<std::uint32_t>(content, n, to);
    else
      copy_coordinates<std::uint64_t>(content, n, to);
  }
  if (header.value_bytes == 4)
    copy_values<float>(content, X.values.data());
  else
    copy_values<double>(content, X.values.data());
  X.sorted_modes.assign(header.sorted_modes, header.sorted_modes + header.sorted_count);
  expects(X.sorted_modes.empty() || detail::nonzero_order(X, X.sorted_modes, content.threads) !=
                                        detail::NonzeroOrder::none,
          content.name, ": the nonzeros are not in the order that the header says");
  return X;
}

/// Throws Error naming the first nonzero whose value is not allowed.
template <class Scalar>
void check_values(AnyCooTensor<Scalar> const& tensor, ReadOptions const& options,
                  std::string const& name) {
  if (options.values == Values::any) return;
  std::visit(
      [&](auto const& X) {
        detail::for_each_range(
            options.threads, X.nnz(), block_size, [&](std::uint64_t begin, std::uint64_t end) {
              for (auto p = begin; p < end; ++p)
                if (auto const what =
                        detail::why_refused(options.values, static_cast<double>(X.values(p))))
                  fail(name, ": the value ", X.values(p), " of nonzero ", p, " (counted from 0) ",
                       what);
            });
      },
      tensor);
}

template <class Scalar, class Index>
detail::SptHeader make_header(CooTensor<Scalar, Index> const& X) {
  detail::SptHeader header = {};
  std::copy(detail::spt_magic.begin(), detail::spt_magic.end(), header.magic);
  header.version = 1;
  header.order = static_cast<std::uint32_t>(X.order());
  header.index_bytes = sizeof(Index);
  header.value_bytes = sizeof(Scalar);
  header.nnz = X.nnz();
  header.sorted_count = static_cast<std::uint32_t>(X.sorted_modes.size());
  std::copy(X.dims.begin(), X.dims.end(), header.dims);
  std::copy(X.sorted_modes.begin(), X.sorted_modes.end(), header.sorted_modes);
  for (int n = 0; n < X.order(); ++n)
    header.checksums[n] = detail::blocked_checksum(X.indices(n), X.nnz() * sizeof(Index), 0);
  header.checksums[X.order()] =
      detail::blocked_checksum(X.values.data(), X.nnz() * sizeof(Scalar), 0);
  return header;
}

}  // namespace

template <class Scalar, class Index>
void write_spt(std::string const& path, CooTensor<Scalar, Index> const& X) {
  check_coordinates(Kokkos::DefaultHostExecutionSpace(), X, "write_spt");
  detail::for_each_range(0, X.nnz(), block_size, [&](std::uint64_t begin, std::uint64_t end) {
    for (auto p = begin; p < end; ++p)
      expects(std::isfinite(X.values(p)), "write_spt: the value of nonzero ", p, " is ",
              X.values(p));
  });
  auto header = make_header(X);
  auto const layout = detail::spt_layout(header, path);
  header.file_bytes = layout.file_bytes;
  header.header_checksum = detail::header_checksum(header);

  detail::OutputFile file(path);
  std::uint64_t end = 0;
  auto const write_at = [&](std::uint64_t place, void const* bytes, std::uint64_t size) {
    file.write(std::string(place - end, '\0'));
    file.write(bytes, size);
    end = place + size;
  };
  write_at(0, &header, sizeof header);
  for (int n = 0; n < X.order(); ++n)
    write_at(layout.coordinates[n], X.indices(n), X.nnz() * sizeof(Index));
  write_at(layout.values, X.values.data(), X.nnz() * sizeof(Scalar));
  file.commit();
}

template <class Scalar>
ReadResult<Scalar> detail::parse_spt(std::string_view content, std::string const& name,
                                     ReadOptions const& options) {
  expects(content.substr(0, detail::spt_magic.size()) == detail::spt_magic, name,
          ": is no .spt file");
  auto const header = detail::read_spt_header(content, name);
  SptContent const spt{content, name, header, detail::spt_layout(header, name), options.threads};
  Dims const dims(header.dims, header.dims + header.order);
  expects(options.dims.empty() || options.dims == dims, name, ": the dims are ", to_string(dims),
          ", expected ", to_string(options.dims));
  check_arrays(spt);
  ReadResult<Scalar> result;
  result.dialect = "spt";
  auto const longest = *std::max_element(dims.begin(), dims.end());
  if (longest == 0 || longest - 1 <= std::numeric_limits<std::uint32_t>::max())
    result.tensor = read_arrays<Scalar, std::uint32_t>(spt, dims);
  else
    result.tensor = read_arrays<Scalar, std::uint64_t>(spt, dims);
  check_values(result.tensor, options, name);
  detail::handle_duplicates(result, name, options);
  return result;
}

template void write_spt(std::string const&, CooTensor<float, std::uint32_t> const&);
template void write_spt(std::string const&, CooTensor<float, std::uint64_t> const&);
template void write_spt(std::string const&, CooTensor<double, std::uint32_t> const&);
template void write_spt(std::string const&, CooTensor<double, std::uint64_t> const&);
template ReadResult<float> detail::parse_spt(std::string_view, std::string const&,
                                             ReadOptions const&);
template ReadResult<double> detail::parse_spt(std::string_view, std::string const&,
                                              ReadOptions const&);

}  // namespace sporades

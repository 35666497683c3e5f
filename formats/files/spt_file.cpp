// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/read_room.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sporades/formats/files/detail/spt_file/header.hpp>
#include <sporades/formats/files/detail/spt_file/parse.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>
#include <sporades/formats/files/spt_file.hpp>

namespace sporades {

namespace {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error ".spt files are little endian, and are written and read as memory holds them"
#endif

constexpr std::uint64_t block_size = std::uint64_t{1} << 16;

/// A .spt file, and what of it this process reads.
struct SptContent {
  detail::InputFile const& file;
  detail::SptHeader header;
  detail::SptLayout layout;
  int threads;
  Communicator const& processes;
  Position first, end;  // the nonzeros that this process takes

  std::string const& name() const { return file.name(); }
};

void check_padding(SptContent const& content) {
  auto const& header = content.header;
  auto const& layout = content.layout;
  std::uint64_t end = sizeof header;
  for (std::uint32_t n = 0; n <= header.order; ++n) {
    auto const begin = n < header.order ? layout.coordinates[n] : layout.values;
    auto const gap = content.file.text(end, begin - end);
    expects(gap.find_first_not_of('\0') == std::string::npos, content.name(), ": bytes ", end,
            " to ", begin, " are damaged: they are not zero");
    end = begin + header.nnz * header.index_bytes;
  }
}

/// Reads an array: checks its checksum, if this process is the one of all that does, and each entry
/// of this process's part, which goes to `to`. number: of its checksum. what: names it in messages.
template <class From, class To, class Check>
void read_array(SptContent const& content, std::uint32_t number, std::uint64_t place,
                std::string const& what, To* to, Check const& check) {
  constexpr Position block = detail::checksum_block / sizeof(From);
  auto const nnz = content.header.nnz;
  auto const processes = static_cast<std::uint32_t>(content.processes.size());
  bool const is_whole = static_cast<int>(number % processes) == content.processes.rank();
  auto const first = is_whole ? 0 : content.first / block * block;
  auto const end = is_whole ? nnz : content.end;
  std::vector<std::uint64_t> hashes((end - first + block - 1) / block);
  detail::FirstProblem problem;
  auto const read_block = [&](Position begin, Position size) {
    auto const bytes = content.file.view(place + begin * sizeof(From), size * sizeof(From));
    if (is_whole) hashes[begin / block] = detail::xxh64(bytes.data(), bytes.size());
    auto const last = std::min(begin + size, content.end);
    for (auto p = std::max(begin, content.first); p < last; ++p) {
      From entry;
      std::memcpy(&entry, bytes.data() + (p - begin) * sizeof(From), sizeof entry);
      check(p, entry);
      to[p - content.first] = static_cast<To>(entry);
    }
  };
  detail::for_each_block(content.threads, hashes.size(), [&](std::size_t b) {
    auto const begin = first + b * block;
    try {
      read_block(begin, std::min(block, end - begin));
    } catch (Error const&) {
      problem.record(b);  // an array that is damaged is called so, whatever its entries are
    }
  });
  expects(!is_whole || detail::xxh64(hashes.data(), hashes.size() * sizeof hashes[0]) ==
                           content.header.checksums[number],
          content.name(), ": ", what, " are damaged (bytes ", place, " to ",
          place + nnz * sizeof(From), ", their checksum differs)");
  problem.rethrow();
}

template <class From, class Index>
void read_coordinates(SptContent const& content, std::uint32_t n, Index* to) {
  auto const length = content.header.dims[n];
  read_array<From>(content, n, content.layout.coordinates[n],
                   "the indices of mode " + std::to_string(n), to, [&](Position p, From index) {
                     expects(index < length, content.name(), ": nonzero ", p, ", mode ", n,
                             ": the index ", index, " (from 0) is past the mode's length ", length);
                   });
}

/// Returns what the values lose because Scalar is the narrower type.
template <class From, class Scalar>
detail::Losses read_values(SptContent const& content, Scalar* to) {
  std::atomic<std::uint64_t> integers{0}, underflows{0};
  read_array<From>(content, content.header.order, content.layout.values, "the values", to,
                   [&](Position p, From value) {
                     expects(std::isfinite(static_cast<Scalar>(value)), content.name(),
                             ": nonzero ", p, ": the value ", value, " is not finite");
                     auto const loss = detail::loss_of_conversion<Scalar>(value);
                     if (loss == detail::Loss::integer) ++integers;
                     if (loss == detail::Loss::underflow) ++underflows;
                   });
  return {integers, underflows};
}

/// Reads this process's part of the nonzeros to X, which has room for them. Returns what the values
/// lose.
template <class Scalar, class Index>
detail::Losses read_arrays(SptContent const& content, CooTensor<Scalar, Index>& X) {
  auto const& header = content.header;
  check_padding(content);
  for (std::uint32_t n = 0; n < header.order; ++n) {
    auto* const to = X.indices(static_cast<int>(n));
    if (header.index_bytes == 4)
      read_coordinates<std::uint32_t>(content, n, to);
    else
      read_coordinates<std::uint64_t>(content, n, to);
  }
  auto const losses = header.value_bytes == 4 ? read_values<float>(content, X.values.data())
                                              : read_values<double>(content, X.values.data());
  X.sorted_modes.assign(header.sorted_modes, header.sorted_modes + header.sorted_count);
  expects(X.sorted_modes.empty() || detail::nonzero_order(X, X.sorted_modes, content.threads) !=
                                        detail::NonzeroOrder::none,
          content.name(), ": the nonzeros are not in the order that the header says");
  return losses;
}

/// Throws Error naming the first nonzero whose value is not allowed. first: the number of the
/// first.
template <class Scalar>
void check_values(AnyCooTensor<Scalar> const& tensor, ReadOptions const& options,
                  std::string const& name, Position first) {
  if (options.values == Values::any) return;
  std::visit(
      [&](auto const& X) {
        detail::for_each_range(
            options.threads, X.nnz(), block_size, [&](std::uint64_t begin, std::uint64_t end) {
              for (auto p = begin; p < end; ++p)
                if (auto const what =
                        detail::why_refused(options.values, static_cast<double>(X.values(p))))
                  fail(name, ": the value ", X.values(p), " of nonzero ", first + p,
                       " (counted from 0) ", what);
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
ReadResult<Scalar> detail::parse_spt(Communicator const& processes, InputFile const& file,
                                     ReadOptions const& options) {
  auto const& name = file.name();
  auto const header = read_spt_header(file);
  auto const cuts = even_cuts(processes.size(), header.nnz);
  auto const me = static_cast<std::size_t>(processes.rank());
  SptContent const spt{file,     header,      spt_layout(header, name), options.threads, processes,
                       cuts[me], cuts[me + 1]};
  Dims const dims(header.dims, header.dims + header.order);
  expects(options.dims.empty() || options.dims == dims, name, ": the dims are ",
          sporades::to_string(dims), ", expected ", sporades::to_string(options.dims));
  ReadResult<Scalar> result;
  result.dialect = "spt";
  auto const read = [&](auto index) {
    using Index = decltype(index);
    auto const nnz = spt.end - spt.first;
    if (!exceeds_memory<Scalar, Index>(options, dims.size(), nnz))
      check_memory(name, nnz, 1, static_cast<int>(dims.size()), sizeof(Index), sizeof(Scalar));
    auto room = room_for<Scalar, Index>(options, dims, nnz);
    Losses losses;
    for (auto const& part : all_gather(processes, "losses", read_arrays(spt, room.tensor)))
      losses.add(part);
    result.notes = loss_notes(losses, std::numeric_limits<Scalar>::digits);
    result.tensor = room.tensor;
    result.out_of_core = room.memory;
  };
  auto const longest = *std::max_element(dims.begin(), dims.end());
  if (longest == 0 || longest - 1 <= std::numeric_limits<std::uint32_t>::max())
    read(std::uint32_t{});
  else
    read(std::uint64_t{});
  check_values(result.tensor, options, name, spt.first);
  return result;
}

template void write_spt(std::string const&, CooTensor<float, std::uint32_t> const&);
template void write_spt(std::string const&, CooTensor<float, std::uint64_t> const&);
template void write_spt(std::string const&, CooTensor<double, std::uint32_t> const&);
template void write_spt(std::string const&, CooTensor<double, std::uint64_t> const&);
template ReadResult<float> detail::parse_spt(Communicator const&, InputFile const&,
                                             ReadOptions const&);
template ReadResult<double> detail::parse_spt(Communicator const&, InputFile const&,
                                              ReadOptions const&);

}  // namespace sporades

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <sporades/core/detail/exchange.hpp>
#include <sporades/core/detail/host_blocks.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/read_room.hpp>
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
  Communicator const& processes;
  Position first, end;  // the nonzeros that this process takes
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

/// Each process checks whole arrays.
void check_arrays(SptContent const& content) {
  auto const& header = content.header;
  auto const& layout = content.layout;
  auto const is_mine = [&](std::uint32_t array) {
    auto const owner = array % static_cast<std::uint32_t>(content.processes.size());
    return static_cast<int>(owner) == content.processes.rank();
  };
  std::uint64_t end = sizeof header;
  for (std::uint32_t n = 0; n < header.order; ++n) {
    auto const size = header.nnz * header.index_bytes;
    check_padding(content, end, layout.coordinates[n]);
    if (is_mine(n))
      check_array(content, layout.coordinates[n], size, header.checksums[n],
                  "the indices of mode " + std::to_string(n));
    end = layout.coordinates[n] + size;
  }
  check_padding(content, end, layout.values);
  if (is_mine(header.order))
    check_array(content, layout.values, header.nnz * header.value_bytes,
                header.checksums[header.order], "the values");
}

/// Checks each entry of this process's part of an array, which need not be aligned in memory, and
/// copies it unless `to` is null.
template <class From, class To, class Check>
void copy_array(SptContent const& content, std::uint64_t place, To* to, Check const& check) {
  auto const first = content.first;
  detail::for_each_range(content.threads, content.end - first, block_size,
                         [&](std::uint64_t begin, std::uint64_t end) {
                           auto const* from =
                               content.bytes.data() + place + (first + begin) * sizeof(From);
                           for (auto p = begin; p < end; ++p, from += sizeof(From)) {
                             From entry;
                             std::memcpy(&entry, from, sizeof entry);
                             check(first + p, entry);
                             if (to) to[p] = static_cast<To>(entry);
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

/// Returns what the values lose because Scalar is the narrower type.
template <class From, class Scalar>
detail::Losses copy_values(SptContent const& content, Scalar* to) {
  std::atomic<std::uint64_t> integers{0}, underflows{0};
  copy_array<From>(content, content.layout.values, to, [&](std::uint64_t p, From value) {
    expects(std::isfinite(static_cast<Scalar>(value)), content.name, ": nonzero ", p,
            ": the value ", value, " is not finite");
    auto const loss = detail::loss_of_conversion<Scalar>(value);
    if (loss == detail::Loss::integer) ++integers;
    if (loss == detail::Loss::underflow) ++underflows;
  });
  return {integers, underflows};
}

/// The tensor in the memory of the file's content where the types of arrays are the same; other
/// arrays have room in far memory. That of the file is only to be read.
template <class Scalar, class Index>
detail::FarTensor<CooTensor<Scalar, Index>> share_arrays(SptContent const& content,
                                                         Dims const& dims) {
  using Tensor = CooTensor<Scalar, Index>;
  auto const& header = content.header;
  auto const& layout = content.layout;
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto* const begin = const_cast<char*>(content.bytes.data());
  detail::FarTensor<Tensor> shared{{dims, {}, {}, {}}, {}};
  auto const place = [&](detail::MemoryLayout& room) {
    auto* indices = reinterpret_cast<Index*>(begin + layout.coordinates[0]);
    auto* values = reinterpret_cast<Scalar*>(begin + layout.values);
    Position stride = header.nnz;
    if (header.index_bytes != sizeof(Index))
      indices = room.room<Index>(dims.size() * header.nnz);
    else if (dims.size() > 1)
      stride = (layout.coordinates[1] - layout.coordinates[0]) / sizeof(Index);
    if (header.value_bytes != sizeof(Scalar)) values = room.room<Scalar>(header.nnz);
    typename Tensor::Coordinates const all(indices, dims.size(), stride);
    shared.tensor.coordinates =
        Kokkos::subview(all, Kokkos::ALL, std::make_pair(Position{0}, header.nnz));
    shared.tensor.values = typename Tensor::Values(values, header.nnz);
  };
  detail::MemoryLayout sizes(nullptr);
  place(sizes);
  if (sizes.bytes() == 0) return shared;
  shared.memory = detail::allocate_far(exec, sizes.bytes());
  detail::MemoryLayout room(shared.memory.get());
  place(room);
  return shared;
}

/// is_shared: as share_arrays, whose far memory goes to `far`; else all is copied to near memory.
template <class Scalar, class Index>
CooTensor<Scalar, Index> read_arrays(SptContent const& content, Dims const& dims, bool is_shared,
                                     detail::FarMemory& far, detail::Losses& losses) {
  auto const& header = content.header;
  CooTensor<Scalar, Index> X;
  if (is_shared) {
    auto const shared = share_arrays<Scalar, Index>(content, dims);
    X = shared.tensor;
    far = shared.memory;
  } else {
    X = detail::allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace(), dims,
                                            content.end - content.first);
  }
  for (int n = 0; n < X.order(); ++n) {
    auto* const to = is_shared && header.index_bytes == sizeof(Index) ? nullptr : X.indices(n);
    if (header.index_bytes == 4)
      copy_coordinates<std::uint32_t>(content, n, to);
    else
      copy_coordinates<std::uint64_t>(content, n, to);
  }
  auto* const values =
      is_shared && header.value_bytes == sizeof(Scalar) ? nullptr : X.values.data();
  if (header.value_bytes == 4)
    losses = copy_values<float>(content, values);
  else
    losses = copy_values<double>(content, values);
  X.sorted_modes.assign(header.sorted_modes, header.sorted_modes + header.sorted_count);
  expects(X.sorted_modes.empty() || detail::nonzero_order(X, X.sorted_modes, content.threads) !=
                                        detail::NonzeroOrder::none,
          content.name, ": the nonzeros are not in the order that the header says");
  return X;
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
ReadResult<Scalar> detail::parse_spt(Communicator const& processes, std::string_view content,
                                     std::string const& name, ReadOptions const& options,
                                     FarMemory const& holder) {
  expects(content.substr(0, detail::spt_magic.size()) == detail::spt_magic, name,
          ": is no .spt file");
  auto const header = detail::read_spt_header(content, name);
  auto const cuts = detail::even_cuts(processes.size(), header.nnz);
  auto const me = static_cast<std::size_t>(processes.rank());
  SptContent const spt{content,         name,      header,   detail::spt_layout(header, name),
                       options.threads, processes, cuts[me], cuts[me + 1]};
  Dims const dims(header.dims, header.dims + header.order);
  expects(options.dims.empty() || options.dims == dims, name, ": the dims are ", to_string(dims),
          ", expected ", to_string(options.dims));
  check_arrays(spt);
  ReadResult<Scalar> result;
  result.dialect = "spt";
  auto const read = [&](auto index) {
    using Index = decltype(index);
    bool const is_shared =
        holder && exceeds_memory<Scalar, Index>(options, dims.size(), header.nnz);
    FarMemory others;
    Losses here, losses;
    result.tensor = read_arrays<Scalar, Index>(spt, dims, is_shared, others, here);
    for (auto const& part : all_gathered(processes, "losses", here)) losses.add(part);
    result.notes = loss_notes(losses, std::numeric_limits<Scalar>::digits);
    if (is_shared) result.far = std::make_shared<std::pair<FarMemory, FarMemory>>(holder, others);
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
template ReadResult<float> detail::parse_spt(Communicator const&, std::string_view,
                                             std::string const&, ReadOptions const&,
                                             FarMemory const&);
template ReadResult<double> detail::parse_spt(Communicator const&, std::string_view,
                                              std::string const&, ReadOptions const&,
                                              FarMemory const&);

}  // namespace sporades

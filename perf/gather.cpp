// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/matrix.hpp>
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/work_items.hpp>
#include <support/benchmarks.hpp>
#include <support/measure.hpp>

namespace sporades::perf {
namespace {

/// sums(chunk, :) <- the sum of the rows of A that a chunk of the index names, in two accumulators
/// so that loads are waited for, not additions.
template <class Scalar, int Width, detail::Access access>
struct GatherRows {
  using Columns = detail::TileColumns<Scalar, Width, access>;

  sporades::detail::RawVector<std::uint32_t const, MemorySpace> index;
  sporades::detail::RawMatrix<Scalar const, MemorySpace> A;
  sporades::detail::RawMatrix<Scalar, MemorySpace> sums;
  detail::WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    Position const end = shape.end(item, index.extent(0));
    typename Columns::T even, odd;
    even.fill(0);
    odd.fill(0);
    for (Position p = shape.begin(item); p < end; p += 2) {
      even.add(tile.load(A, index(p)));
      if (p + 1 < end) odd.add(tile.load(A, index(p + 1)));
    }
    even.add(odd);
    tile.store(sums, shape.chunk(item), even);
  }
};

template <class Scalar>
void add_one(int rank, std::size_t kilobytes) {
  auto const name = std::string("gather/") + scalar_name<Scalar>() + "/R" + std::to_string(rank) +
                    "/" + std::to_string(kilobytes) + "KB";
  add(name, [=](benchmark::State& state) {
    constexpr Position gathers = 8 << 20;
    Position const length = detail::chunk_length<ExecutionSpace>(gathers);
    ExecutionSpace const exec{};
    auto const row_bytes = padded_columns(static_cast<std::size_t>(rank)) * sizeof(Scalar);
    auto const A = make_matrix<Scalar>(exec, "A", kilobytes * 1024 / row_bytes, rank);
    auto const sums = make_matrix<Scalar>(exec, "sums", gathers / length, rank);
    Vector<std::uint32_t, MemorySpace> const index("index", gathers);
    auto const host = Kokkos::create_mirror_view(index);
    for (Position p = 0; p < gathers; ++p)
      host(p) = static_cast<std::uint32_t>(sporades::detail::splitmix64(p) % A.extent(0));
    Kokkos::deep_copy(index, host);
    measure(state, exec, [&] {
      detail::for_column_tiles<ExecutionSpace, Scalar, detail::TileWidths::fine>(
          rank, true, [&](auto width, auto access, std::size_t first, Position tiles) {
            detail::launch_items(
                exec, "gather", gathers / length * tiles,
                GatherRows<Scalar, width(), access()>{
                    index, A, sums,
                    detail::WalkShape{length, first, static_cast<std::size_t>(rank), tiles}});
          });
    });
    count<Scalar>(state, static_cast<double>(gathers * row_bytes), 0);
  });
}

}  // namespace

void add_gather(Settings const& settings) {
  for_scalars(settings, [&](auto zero) {
    for (int rank : settings.ranks)
      for (std::size_t kilobytes : {32, 256, 1024, 2048, 4096, 16384, 65536, 262144})
        add_one<decltype(zero)>(rank, kilobytes);
  });
}

}  // namespace sporades::perf

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/kernels/detail/normal_equations/solve.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>
#include <vector>

/// Systems of rows, summed and solved at once, on hosts: a thread solves rows of its chunk of
/// nonzeros while their systems are in its cache, so that these are neither written to memory nor
/// read from it. Rows that chunks share are solved when all chunks are done.

namespace sporades::detail {

/// Bytes of the systems that a thread holds, or more where eight are more.
inline constexpr std::size_t bytes_at_once = std::size_t{1} << 17;

/// How many they are, of rows of S with so many columns.
template <class Scalar>
std::uint64_t systems_at_once(std::size_t columns) {
  return std::max<std::uint64_t>(1, bytes_at_once / (8 * columns * sizeof(Scalar))) * 8;
}

/// What a thread holds of them and of their rows, in doubles: eight systems are whole doubles.
template <class Scalar>
std::size_t numbers_at_once(std::size_t columns) {
  return systems_at_once<Scalar>(columns) * (columns * sizeof(Scalar) / sizeof(double) + 1);
}

/// Where the sums of a chunk go (see RowSums): to a thread's systems, which are solved when there
/// are `most`, and at the end by flush(); and those of rows that it shares as ever.
template <class Solve, class Sums, class Systems>
struct SystemsOfChunk {
  Solve& solve;
  Sums const& shared;
  Systems systems;  // `most` rows, S of solve
  typename Solve::Number* memory;
  std::uint64_t* list;
  std::uint64_t most;

  template <class Columns, class Index, class T>
  KOKKOS_FUNCTION void close(ChunkState const& state, Columns const& columns, Index row,
                             T const& sum) const {
    if (state.first && state.shared)
      shared.close(state, columns, row, sum);
    else
      add(columns, row, sum);
  }
  template <class Columns, class Index, class T>
  KOKKOS_FUNCTION void finish(ChunkState const& state, Columns const& columns, Index first_row,
                              Index row, T const& sum, bool continues) const {
    if (!(state.first && state.shared) && !continues) add(columns, row, sum);
    shared.finish(state, columns, first_row, row, sum, continues);
  }
  KOKKOS_FUNCTION void flush() const {
    auto& count = solve.which.count;
    for (std::uint64_t k = 0; k < count; k += Solve::rows) solve.solve(OneLane{}, memory, k);
    count = 0;
  }

 private:
  template <class Columns, class T>
  KOKKOS_FUNCTION void add(Columns const& columns, std::uint64_t row, T const& sum) const {
    auto& count = solve.which.count;
    if (columns.first == 0) {  // the first piece of a row
      if (count == most) flush();
      list[count++] = row;
    }
    columns.store(systems, count - 1, sum);
  }
};

/// An item takes every parts-th chunk. Walk: NormalWalk, of one panel; Solve: NormalSolve.
template <class Walk, class Solve, class Scalar>
struct SolveChunks {
  Walk walk;
  Solve solve;
  Scalar* systems;       // parts x most x columns
  std::uint64_t* lists;  // parts x most
  std::uint64_t most, parts, chunks;
  std::size_t columns;

  void operator()(std::uint64_t part) const {
    decltype(walk.out.V) const S(systems + part * most * columns, most, columns);
    auto* const list = lists + part * most;
    auto own = solve;
    own.S = S;
    own.which = {0, 1, 0, list, true};
    SystemsOfChunk<Solve, decltype(walk.out), decltype(walk.out.V)> const out{
        own, walk.out, S, solve.memory + part * solve.numbers(), list, most};
    for (std::uint64_t chunk = part; chunk < chunks; chunk += parts) walk.walk(chunk, out);
    out.flush();
  }
};

/// A(i, c) = 0 of free columns c, and residue(i, :) = 0.
template <class Solve>
struct ClearRows {
  Solve solve;

  void operator()(std::uint64_t i) const {
    for (int c = 0; c < solve.R; ++c)
      if (solve.is_free(c)) solve.A(i, static_cast<std::size_t>(c)) = 0;
    if (solve.residue.extent(0) == 0) return;  // there is none
    for (std::size_t r = 0; r < solve.residue.extent(1); ++r) solve.residue(i, r) = 0;
  }
};

/// Whether S of so many rows and columns is much larger than what threads hold of it.
template <class Scalar, class ExecutionSpace>
bool pays_at_once(ExecutionSpace const& exec, double rows, std::size_t columns) {
  return rows * static_cast<double>(columns * sizeof(Scalar)) >=
         4.0 * team_memory(exec, 8, 1).teams * static_cast<double>(bytes_at_once);
}

/// Bytes of its memory, for so many nonzeros, unknowns, and rows of S with so many columns.
template <class ExecutionSpace, class Scalar>
double rows_at_once_bytes(ExecutionSpace const& exec, double nnz, int unknowns, double rows,
                          std::size_t columns) {
  using Solve = NormalSolve<ExecutionSpace, Scalar>;
  bool const is_one_panel = columns <= 16 * host_panel;
  if (is_gpu<ExecutionSpace> || !is_one_panel || !pays_at_once<Scalar>(exec, rows, columns))
    return 0;
  auto const n = static_cast<double>(unknowns);
  double const solution = (n * (n + 3) / 2 + 1) * sizeof(typename Solve::Number);
  auto const systems = static_cast<double>(numbers_at_once<Scalar>(columns));
  double const chunks = std::ceil(
      nnz / static_cast<double>(chunk_length<ExecutionSpace>(static_cast<Position>(nnz))));
  return std::min(chunks, static_cast<double>(team_memory(exec, 8, 1).teams)) *
         (solution + systems * sizeof(double));
}

/// Sums the rows of S by the walk, and solves them in A. `rows`: of begin_rows. finish(): adds what
/// chunks share to S. Fences exec.
template <class ExecutionSpace, class Walk, class Solve, class Scalar, class Index,
          class MemorySpace, class Finish>
void solve_at_once(ExecutionSpace const& exec, Walk const& walk, Solve solve,
                   SortedRows<Scalar, Index, MemorySpace> const& rows, bool every_row,
                   Workspace<MemorySpace>& workspace, Finish const& finish) {
  std::size_t const columns = solve.S.extent(1);
  std::size_t const bytes = solve.numbers() * sizeof(typename Solve::Number);
  SolveChunks<Walk, Solve, Scalar> chunks{
      walk, solve, nullptr, nullptr, systems_at_once<Scalar>(columns), 0, rows.chunks, columns};
  chunks.parts = std::min<std::uint64_t>(rows.chunks, team_memory(exec, bytes, 1).teams);
  auto const numbers = workspace.template get<double>(
      exec, chunks.parts * (bytes / sizeof(double) + numbers_at_once<Scalar>(columns)));
  chunks.solve.memory = reinterpret_cast<typename Solve::Number*>(numbers.data());
  auto* const behind = numbers.data() + chunks.parts * bytes / sizeof(double);
  chunks.systems = reinterpret_cast<Scalar*>(behind);
  chunks.lists = reinterpret_cast<std::uint64_t*>(
      behind + chunks.parts * chunks.most * (columns * sizeof(Scalar) / sizeof(double)));
  if (!every_row)
    launch(exec, "sporades::normal_equations::clear", solve.A.extent(0), columns,
           ClearRows<Solve>{solve});
  launch(exec, "sporades::normal_equations::rows", chunks.parts,
         rows.length * columns * quotient_up(rows.chunks, chunks.parts), chunks);
  finish();
  fence(exec, "sporades::normal_equations::rows");
  std::vector<std::uint64_t> shared;
  for (Position c = 1; c < rows.chunks; ++c)
    if (!walk.nonzeros.opens_row(c * rows.length)) {
      auto const row = static_cast<std::uint64_t>(walk.nonzeros.rows(c * rows.length).row);
      if (shared.empty() || shared.back() != row) shared.push_back(row);
    }
  if (shared.empty()) return;
  solve.which = {0, 1, shared.size(), shared.data()};
  launch_normal_solve(exec, solve, team_memory(exec, bytes, 1), bytes, workspace);
  fence(exec, "sporades::normal_equations::rows");  // the list goes
}

}  // namespace sporades::detail

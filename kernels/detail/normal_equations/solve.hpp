// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/team_memory.hpp>
#include <sporades/kernels/detail/normal_equations/sums.hpp>
#include <sporades/kernels/normal_equations.hpp>

/// solve_normal_equations: on GPUs a team of 32 threads a row, on hosts eight rows side by side, by
/// one code: a Number is a double there, and here eight.

namespace sporades::detail {

/// Rows that one solution takes, entry by entry.
template <int rows>
struct SideBySide {
  using Number = Tile<double, rows>;

  static void set(Number& to, int row, double value) { to.set(row, value); }
  static double get(Number const& from, int row) { return from[row]; }
  /// x -= a b
  static void subtract(Number& x, Number const& a, Number const& b) {
    Number minus = a;
    minus.multiply(-1);
    x.add_product(minus, b);
  }
  static void multiply(Number& x, Number const& by) { x.multiply(by); }
};
template <>
struct SideBySide<1> {
  using Number = double;

  static KOKKOS_FORCEINLINE_FUNCTION void set(Number& to, int, double value) { to = value; }
  static KOKKOS_FORCEINLINE_FUNCTION double get(Number from, int) { return from; }
  static KOKKOS_FORCEINLINE_FUNCTION void subtract(Number& x, Number a, Number b) { x -= a * b; }
  static KOKKOS_FORCEINLINE_FUNCTION void multiply(Number& x, Number by) { x *= by; }
};

/// One lane, which does all: on hosts.
struct OneLane {
  static constexpr int mine = 0, count = 1;
  void wait() const {}
};

/// The threads of a team.
template <class Member>
struct TeamLanes {
  Member const& team;
  int mine, count;
  KOKKOS_FORCEINLINE_FUNCTION explicit TeamLanes(Member const& of)
      : team(of), mine(of.team_rank()), count(of.team_size()) {}
  KOKKOS_FORCEINLINE_FUNCTION void wait() const { team.team_barrier(); }
};

/// A row of a factor, and the row of S that its system is in.
struct RowPlace {
  std::uint64_t row, system;
};

/// Which rows are solved together: all, every second or third one, or those of a list, whose
/// systems may be in its order.
struct RowsOf {
  std::uint64_t begin, step, count;
  std::uint64_t const* list = nullptr;
  bool in_order = false;

  KOKKOS_FORCEINLINE_FUNCTION RowPlace operator()(std::uint64_t k) const {
    std::uint64_t const last = k < count ? k : count - 1;  // past the last: the last
    std::uint64_t const row = list ? list[last] : begin + step * last;
    return {row, in_order ? last : row};
  }
};

/// Solves the systems of rows `first` to first + rows - 1 of `which`, or as many as there are.
template <class ExecutionSpace, class Scalar>
struct NormalSolve {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int rows = is_gpu<ExecutionSpace> ? 1 : 8;
  static constexpr int threads = is_gpu<ExecutionSpace> ? 32 : 1;  // of a team
  using Side = SideBySide<rows>;
  using Number = typename Side::Number;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  RawMatrix<Scalar const, Memory> S;  // I x normal_columns(R)
  RawMatrix<Scalar, Memory> A;        // I x R
  RawMatrix<Scalar, Memory> residue;  // I x R, or none
  RowPenalty penalty;
  RowsOf which;
  double least;  // the least pivot, over the entry of H that it began as
  double tiny;   // and the least at all: what is below lost digits as it was summed
  NormalPieces pieces;
  int R;
  Number* memory;       // numbers() a part or a team; none: in scratch memory
  std::uint64_t parts;  // that rows are divided into, or teams

  /// L, y and c^power.
  KOKKOS_FUNCTION std::size_t numbers() const {
    auto const n = static_cast<std::size_t>(unknowns());
    return n * (n + 3) / 2 + 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION int unknowns() const {
    return penalty.free + (penalty.offset >= 0 ? 1 : 0);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_free(int c) const {
    return c < penalty.free || c == penalty.offset;
  }
  static KOKKOS_FORCEINLINE_FUNCTION std::size_t at(int i, int j) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(i + 1) / 2 +
           static_cast<std::size_t>(j);
  }

  /// A part of the rows: on hosts.
  void operator()(std::uint64_t part) const {
    std::uint64_t const all = (which.count + rows - 1) / rows;
    for (std::uint64_t k = all * part / parts; k < all * (part + 1) / parts; ++k)
      solve(OneLane{}, memory + part * numbers(), k * rows);
  }
  /// Every league_size-th row: on GPUs.
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    TeamLanes<Member> const lanes(team);
    auto const rank = static_cast<std::size_t>(team.league_rank());
    Number* const L =
        memory ? memory + rank * numbers()
               : static_cast<Number*>(team.team_scratch(0).get_shmem(numbers() * sizeof(Number)));
    for (std::uint64_t i = static_cast<std::uint64_t>(team.league_rank()); i < which.count;
         i += static_cast<std::uint64_t>(team.league_size())) {
      solve(lanes, L, i);
      lanes.wait();
    }
  }

  template <class Lanes>
  KOKKOS_FUNCTION void solve(Lanes const& lanes, Number* L, std::uint64_t first) const {
    int const F = unknowns();
    Number *const y = L + at(F, 0), *const weight = y + F;
    if (lanes.mine == 0) weigh(*weight, first);
    lanes.wait();
    load(lanes, L, y, *weight, first);
    lanes.wait();
    // L becomes Cholesky's factor, with the inverses of its diagonal, and y what L y = v gives.
    for (int j = 0; j < F; ++j) {
      Number const inverse = inverse_pivot(L[at(j, j)], *weight, first, j);
      lanes.wait();
      for (int i = j + 1 + lanes.mine; i < F; i += lanes.count)
        Side::multiply(L[at(i, j)], inverse);
      if (lanes.mine == 0) {
        L[at(j, j)] = inverse;
        Side::multiply(y[j], inverse);
      }
      lanes.wait();
      for (int i = j + 1 + lanes.mine; i < F; i += lanes.count) {
        Number const l = L[at(i, j)];
        Side::subtract(y[i], l, y[j]);
        for (int k = j + 1; k <= i; ++k) Side::subtract(L[at(i, k)], l, L[at(k, j)]);
      }
      lanes.wait();
    }
    for (int j = F - 1; j >= 0; --j) {
      if (lanes.mine == 0) Side::multiply(y[j], L[at(j, j)]);
      lanes.wait();
      for (int i = lanes.mine; i < j; i += lanes.count) Side::subtract(y[i], L[at(j, i)], y[j]);
      lanes.wait();
    }
    for (int r = 0; r < rows && first + static_cast<std::uint64_t>(r) < which.count; ++r)
      store(lanes, y, which(first + static_cast<std::uint64_t>(r)), r);
  }

 private:
  /// The column of unknown k.
  KOKKOS_FORCEINLINE_FUNCTION int column(int k) const {
    return k < penalty.free ? k : penalty.offset;
  }
  /// H(i, j) of a row.
  KOKKOS_FORCEINLINE_FUNCTION double entry(RowPlace at, int i, int j) const {
    return static_cast<double>(S(at.system, i < j ? pieces.column(j, i) : pieces.column(i, j)));
  }
  KOKKOS_FORCEINLINE_FUNCTION void weigh(Number& weight, std::uint64_t first) const {
    for (int r = 0; r < rows; ++r) {
      RowPlace const at = which(first + static_cast<std::uint64_t>(r));
      int const c = penalty.offset;
      Side::set(weight, r, penalty.power > 0 ? math::pow(entry(at, c, c), penalty.power) : 1);
    }
  }
  /// What the penalty adds to the diagonal at unknown k.
  KOKKOS_FORCEINLINE_FUNCTION double ridge(double weight, std::uint64_t row, int k) const {
    if (k >= penalty.free) return weight * penalty.offset_mu;
    if (penalty.smoothness == 0) return weight * penalty.mu;
    double squares = 0;
    for_differences(row, [&](double own, std::uint64_t) { squares += own * own; });
    return weight * penalty.mu + penalty.smoothness * squares;
  }
  /// use(c, k) of each difference that row `row` has the coefficient c in; k: its first row.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_differences(std::uint64_t row, Use const& use) const {
    int const d = penalty.differences;
    for (int place = d; place >= 0; --place) {
      std::uint64_t const first = row - static_cast<std::uint64_t>(place);
      if (row >= static_cast<std::uint64_t>(place) &&
          first + static_cast<std::uint64_t>(d) < A.extent(0))
        use(coefficient(place), first);
    }
  }
  /// Of the row at that place in a difference: -1, 1; or 1, -2, 1.
  KOKKOS_FORCEINLINE_FUNCTION double coefficient(int place) const {
    return penalty.differences == 1 ? 2.0 * place - 1 : place == 1 ? -2 : 1;
  }
  /// The right side at unknown k: v less what given coefficients explain, and the neighbours' pull.
  KOKKOS_FORCEINLINE_FUNCTION double right_side(RowPlace at, int k) const {
    int const c = column(k);
    auto v = static_cast<double>(S(at.system, pieces.column(c)));
    for (int j = penalty.free; j < R; ++j)
      if (j != penalty.offset) v -= entry(at, c, j) * static_cast<double>(A(at.row, j));
    if (penalty.smoothness == 0 || k >= penalty.free) return v;
    double neighbours = 0;
    for_differences(at.row, [&](double own, std::uint64_t first_row) {
      for (int place = 0; place <= penalty.differences; ++place) {
        std::uint64_t const other = first_row + static_cast<std::uint64_t>(place);
        if (other != at.row)
          neighbours -= own * coefficient(place) * static_cast<double>(A(other, k));
      }
    });
    return v + penalty.smoothness * neighbours;
  }

  template <class Lanes>
  KOKKOS_FORCEINLINE_FUNCTION void load(Lanes const& lanes, Number* L, Number* y,
                                        Number const& weight, std::uint64_t first) const {
    for (int i = lanes.mine; i < unknowns(); i += lanes.count) {
      int const c = column(i);
      for (int r = 0; r < rows; ++r) {
        RowPlace const at_row = which(first + static_cast<std::uint64_t>(r));
        Scalar const* const s = &S(at_row.system, 0);
        for (int j = 0; j <= i; ++j)  // c >= column(j)
          Side::set(L[at(i, j)], r,
                    static_cast<double>(s[pieces.column(c, column(j))]) +
                        (i == j ? ridge(Side::get(weight, r), at_row.row, i) : 0));
        Side::set(y[i], r, right_side(at_row, i));
      }
    }
  }

  /// One over the square root of pivot j; 0 where it is none, so that coefficient j becomes 0.
  KOKKOS_FORCEINLINE_FUNCTION Number inverse_pivot(Number const& pivot, Number const& weight,
                                                   std::uint64_t first, int j) const {
    Number inverse;
    for (int r = 0; r < rows; ++r) {
      RowPlace const at = which(first + static_cast<std::uint64_t>(r));
      int const c = column(j);
      double const began = entry(at, c, c) + ridge(Side::get(weight, r), at.row, j);
      double const d = Side::get(pivot, r);
      Side::set(inverse, r, d > least * began && d > tiny ? 1 / sqrt(d) : 0);
    }
    return inverse;
  }

  template <class Lanes>
  KOKKOS_FORCEINLINE_FUNCTION void store(Lanes const& lanes, Number const* a, RowPlace at,
                                         int r) const {
    for (int k = lanes.mine; k < unknowns(); k += lanes.count)
      A(at.row, column(k)) = static_cast<Scalar>(Side::get(a[k], r));
    if (residue.extent(0) == 0) return;
    for (int i = lanes.mine; i < R; i += lanes.count) {
      double product = 0;
      for (int k = 0; k < unknowns(); ++k) product += entry(at, i, column(k)) * Side::get(a[k], r);
      for (int c = penalty.free; c < R; ++c)
        if (!is_free(c)) product += entry(at, i, c) * static_cast<double>(A(at.row, c));
      residue(at.row, i) =
          static_cast<Scalar>(static_cast<double>(S(at.system, pieces.column(i))) - product / 2);
    }
  }
};

/// Bytes of its workspace, for so many unknowns of each of so many rows.
template <class ExecutionSpace>
double normal_solve_bytes(ExecutionSpace const& exec, int unknowns, std::uint64_t rows) {
  using Kernel = NormalSolve<ExecutionSpace, double>;
  auto const n = static_cast<std::size_t>(unknowns);
  std::size_t const bytes = sizeof(typename Kernel::Number) * (n * (n + 3) / 2 + 1);
  auto const own = team_memory(exec, bytes, Kernel::threads);
  if (own.in_scratch) return 0;
  return static_cast<double>(bytes) *
         static_cast<double>(std::min<std::uint64_t>(own.teams, quotient_up(rows, Kernel::rows)));
}

/// Solves the rows kernel.which, by teams of so many bytes each.
template <class ExecutionSpace, class Kernel, class TeamMemory, class MemorySpace>
void launch_normal_solve(ExecutionSpace const& exec, Kernel& kernel, TeamMemory const& own,
                         std::size_t bytes, Workspace<MemorySpace>& workspace) {
  char const* const label = "sporades::normal_equations::solve";
  std::uint64_t const rows = kernel.which.count, groups = (rows + Kernel::rows - 1) / Kernel::rows;
  kernel.parts = std::min<std::uint64_t>(groups, own.teams);
  if (!own.in_scratch) {
    auto const memory = workspace.template get<double>(exec, kernel.parts * bytes / sizeof(double));
    kernel.memory = reinterpret_cast<typename Kernel::Number*>(memory.data());
  }
  if constexpr (is_gpu<ExecutionSpace>) {
    auto policy =
        team_policy<Kokkos::TeamPolicy<ExecutionSpace>>(exec, kernel.parts, Kernel::threads);
    if (own.in_scratch) policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)));
    Kokkos::parallel_for(label, policy, kernel);
  } else {
    auto const n = static_cast<std::uint64_t>(kernel.R);
    launch(exec, label, kernel.parts, n * n * rows / kernel.parts + 1, kernel);
  }
}

/// Throws Error where the penalty is not one of R columns.
inline void check_penalty(RowPenalty const& penalty, int R) {
  for (double const number : {penalty.mu, penalty.offset_mu, penalty.power, penalty.smoothness})
    expects(number >= 0 && std::isfinite(number), "solve_normal_equations: ", number,
            " of the penalty is not 0 or a positive number");
  expects(penalty.differences == 1 || penalty.differences == 2,
          "solve_normal_equations: ", penalty.differences, " differences: 1 or 2");
  expects(penalty.free >= -1 && penalty.free <= R, "solve_normal_equations: ", penalty.free,
          " free columns of ", R);
  expects(penalty.offset == -1 ||
              (penalty.free >= 0 && penalty.offset >= penalty.free && penalty.offset < R),
          "solve_normal_equations: column ", penalty.offset, " of ", R, " is no offset beside ",
          penalty.free, " free ones");
  expects(penalty.power <= 1, "solve_normal_equations: power ", penalty.power, " is over 1");
  expects(penalty.power == 0 || penalty.offset >= 0, "solve_normal_equations: power ",
          penalty.power, " takes counts, of an offset's column");
}

/// The kernel that solves systems in S of these rows of A; its rows and memory are not set yet.
template <class ExecutionSpace, class Scalar, class MemorySpace>
NormalSolve<ExecutionSpace, Scalar> normal_solve(Matrix<Scalar, MemorySpace> const& S,
                                                 RowPenalty penalty,
                                                 Matrix<Scalar, MemorySpace> const& A,
                                                 Matrix<Scalar, MemorySpace> const& residue) {
  int const R = static_cast<int>(A.extent(1));
  check_penalty(penalty, R);
  if (penalty.free < 0) penalty.free = R;
  expects(S.extent(0) == A.extent(0) && S.extent(1) == normal_columns(R),
          "solve_normal_equations: S is ", S.extent(0), " x ", S.extent(1), ", not ", A.extent(0),
          " x ", normal_columns(R));
  expects(residue.extent(0) == 0 ||
              (residue.extent(0) == A.extent(0) && residue.extent(1) >= A.extent(1)),
          "solve_normal_equations: the residue is ", residue.extent(0), " x ", residue.extent(1),
          ", A is ", A.extent(0), " x ", A.extent(1));
  double const least = 32.0 * R * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  NormalPieces const pieces{static_cast<int>(padded_columns(static_cast<std::size_t>(R))) / 4};
  double const tiny = static_cast<double>(std::numeric_limits<Scalar>::min()) /
                      static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  return {S, A, residue, penalty, {}, least, tiny, pieces, R, nullptr, 1};
}

/// See solve_normal_equations.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void run_normal_solve(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& S,
                      RowPenalty const& penalty, Matrix<Scalar, MemorySpace> const& A,
                      Matrix<Scalar, MemorySpace> const& residue,
                      Workspace<MemorySpace>& workspace) {
  using Kernel = NormalSolve<ExecutionSpace, Scalar>;
  Kernel kernel = normal_solve<ExecutionSpace>(S, penalty, A, residue);
  if (A.extent(0) == 0 || kernel.R == 0) return;
  std::uint64_t const I = A.extent(0), step = penalty.smoothness > 0 ? penalty.differences + 1 : 1;
  std::size_t const bytes = kernel.numbers() * sizeof(typename Kernel::Number);
  auto const own = team_memory(exec, bytes, Kernel::threads);
  for (std::uint64_t begin = 0; begin < step && begin < I; ++begin) {
    kernel.which = {begin, step, (I - begin + step - 1) / step};
    launch_normal_solve(exec, kernel, own, bytes, workspace);
  }
}

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/types.hpp>

/// Which nonzeros of a tensor the values of a plan are, so that it can be given new ones. A plan is
/// built of the nonzeros' numbers in place of their values: no builder computes with their bits.
/// Then each of its arrays of values tells which nonzeros it holds.

namespace sporades::detail {

/// The most nonzeros that numbers of 32 bits are enough for: they count from 1.
inline constexpr Position most_narrow_numbers = ~std::uint32_t{0};

/// The integer of a scalar's size.
template <class Scalar>
using BitsOf = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;

/// values(p) <- the bits of p + 1
template <class Scalar, class MemorySpace>
struct NumberValues {
  Vector<Scalar, MemorySpace> values;

  KOKKOS_FUNCTION void operator()(Position p) const {
    auto const number = static_cast<BitsOf<Scalar>>(p + 1);
    memcpy(&values(p), &number, sizeof number);
  }
};

/// numbers(p) <- the number that is the bits of from(p)
template <class From, class Numbers>
struct ReadNumbers {
  From from;
  Numbers numbers;

  KOKKOS_FUNCTION void operator()(Position p) const {
    auto const value = from(p);
    BitsOf<decltype(from(p))> number;
    memcpy(&number, &value, sizeof number);
    numbers(p) = static_cast<typename Numbers::value_type>(number);
  }
};

/// put(p, value) of the nonzero that p is, or 0 where it is none.
template <class Put, class Numbers, class Values>
struct PutValues {
  using Scalar = typename Values::non_const_value_type;

  Put put;
  Numbers numbers;
  Values given;

  KOKKOS_FUNCTION void operator()(Position p) const {
    Position const number = numbers(p);
    put(p, number == 0 ? Scalar(0) : given(number - 1));
  }
};

/// An array of a plan.
template <class Scalar, class MemorySpace>
struct ArrayValues {
  Vector<Scalar, MemorySpace> values;

  KOKKOS_FUNCTION Scalar operator()(Position p) const { return values(p); }
  KOKKOS_FUNCTION void operator()(Position p, Scalar value) const { values(p) = value; }
};

/// Which nonzeros some values are, by their numbers from 1; 0 is none, as padding is.
template <class MemorySpace>
struct NonzeroNumbers {
  Kokkos::View<std::uint32_t*, MemorySpace> narrow;  // one of both is empty
  Kokkos::View<std::uint64_t*, MemorySpace> wide;

  std::size_t bytes() const { return 4 * narrow.extent(0) + 8 * wide.extent(0); }
};

/// Bytes of the numbers of so many nonzeros, and of as many values.
inline double numbers_bytes(double nnz) {
  return nnz * (nnz <= static_cast<double>(most_narrow_numbers) ? 4 : 8);
}

/// nnz values whose bits are the nonzeros' numbers. Enqueued on exec. Throws Error where these do
/// not fit; where begins the message.
template <class Scalar, class ExecutionSpace>
Vector<Scalar, typename ExecutionSpace::memory_space> numbered_values(ExecutionSpace const& exec,
                                                                      Position nnz,
                                                                      char const* where) {
  using Memory = typename ExecutionSpace::memory_space;
  expects(sizeof(Scalar) == 8 || nnz <= most_narrow_numbers, where, ": ", nnz,
          " nonzeros are too many for updates of values of 32 bits: ", most_narrow_numbers,
          " at most");
  auto const values =
      uninitialized<Vector<Scalar, Memory>>(exec, "sporades::update_values::numbered", nnz);
  launch_items(exec, "sporades::update_values::number", nnz, NumberValues<Scalar, Memory>{values});
  return values;
}

/// The numbers that `count` values hold of a tensor of nnz nonzeros. Enqueued on exec.
template <class ExecutionSpace, class From>
NonzeroNumbers<typename ExecutionSpace::memory_space> numbers_in(ExecutionSpace const& exec,
                                                                 From const& from, Position count,
                                                                 Position nnz) {
  NonzeroNumbers<typename ExecutionSpace::memory_space> numbers;
  auto const read = [&](auto& list) {
    using List = std::decay_t<decltype(list)>;
    list = uninitialized<List>(exec, "sporades::update_values::numbers", count);
    launch_items(exec, "sporades::update_values::read_numbers", count,
                 ReadNumbers<From, List>{from, list});
  };
  if (nnz <= most_narrow_numbers)
    read(numbers.narrow);
  else
    read(numbers.wide);
  return numbers;
}

/// Gives `count` values those of the nonzeros that they are. Enqueued on exec.
template <class ExecutionSpace, class Put, class Scalar, class Memory>
void put_values(ExecutionSpace const& exec, Put const& put, Position count,
                NonzeroNumbers<Memory> const& numbers, Vector<Scalar, Memory> const& given) {
  auto const launch_put = [&](auto const& list) {
    using List = std::decay_t<decltype(list)>;
    launch_items(exec, "sporades::update_values::put", count,
                 PutValues<Put, List, Vector<Scalar, Memory>>{put, list, given});
  };
  if (numbers.wide.extent(0) > 0)
    launch_put(numbers.wide);
  else
    launch_put(numbers.narrow);
}

/// The arrays of values of a plan, where they are to be updated.
template <class Scalar, class MemorySpace>
class ValueLists {
 public:
  bool are_kept() const { return is_kept_; }
  Position nnz() const { return nnz_; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (auto const& list : lists_) sum += list.numbers.bytes();
    return sum;
  }

  /// From now on they are: of a plan of so many nonzeros.
  void keep(Position nnz) {
    is_kept_ = true;
    nnz_ = nnz;
  }

  /// An array that holds numbers. One that is listed already is left out. Enqueued on exec.
  template <class ExecutionSpace>
  void add(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& values) {
    for (auto const& list : lists_)
      if (list.values.data() == values.data()) return;
    if (values.extent(0) > 0)
      lists_.push_back({values, numbers_in(exec, ArrayValues<Scalar, MemorySpace>{values},
                                           values.extent(0), nnz_)});
  }

  /// All arrays get these values. Enqueued on exec.
  template <class ExecutionSpace>
  void put(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& given) const {
    for (auto const& list : lists_)
      put_values(exec, ArrayValues<Scalar, MemorySpace>{list.values}, list.values.extent(0),
                 list.numbers, given);
  }

 private:
  struct List {
    Vector<Scalar, MemorySpace> values;
    NonzeroNumbers<MemorySpace> numbers;
  };

  bool is_kept_ = false;
  Position nnz_ = 0;
  std::vector<List> lists_;
};

}  // namespace sporades::detail

#include <sporades/eti/value_lists.hpp>

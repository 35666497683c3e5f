// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/algorithms/snapshot.hpp>

#ifndef SPORADES_ALGORITHMS_SNAPSHOT_ARRAYS
#define SPORADES_ALGORITHMS_SNAPSHOT_ARRAYS

#include <algorithm>
#include <cstring>
#include <sporades/algorithms/detail/flat_factors.hpp>
#include <sporades/core/matrix.hpp>
#include <type_traits>

/// One description of a state serves both directions: StateArrays<State>::visit(state, arrays)
/// names every array of the state, and `arrays` is a SnapshotWriter or a SnapshotReader.

namespace sporades {
namespace detail {

/// To be specialised for each state:
///   static constexpr char const* name;  // of the method, for labels and messages
///   template <class State, class Arrays> static void visit(State& state, Arrays& arrays);
template <class State>
struct StateArrays;

inline std::string array_name(char const* name, std::size_t n) {
  return name + ("-" + std::to_string(n));
}

/// Copies a state's arrays to a snapshot whose dims and ranks are set.
template <class ExecutionSpace>
class SnapshotWriter {
 public:
  SnapshotWriter(ExecutionSpace const& exec, Snapshot& to) : exec_(exec), to_(to) {}

  Snapshot const& shape() const { return to_; }

  /// Numbers on the host. A reader expects `size` of them, or any number where that is not given.
  template <class T>
  void numbers(std::string const& name, std::vector<T> const& from, std::size_t = 0) {
    copy(name, from.data(), from.size());
  }
  template <class T>
  void number(std::string const& name, T const& from) {
    copy(name, &from, 1);
  }
  template <class T>
  void any_numbers(std::string const& name, std::vector<T> const& from) {
    copy(name, from.data(), from.size());
  }

  /// One list of `size` numbers a mode, on the host: name-0, name-1 ...
  template <class T>
  void lists(char const* name, std::vector<std::vector<T>> const& from, std::size_t size) {
    for (std::size_t n = 0; n < from.size(); ++n) numbers(array_name(name, n), from[n], size);
  }

  /// One padded I_n x R_n matrix a mode, without its padding.
  template <class MatrixType>
  void matrices(char const* name, std::vector<MatrixType> const& from) {
    for (std::size_t n = 0; n < from.size(); ++n) {
      auto const padded = with_padding(from[n]);
      auto const host = mirror_on_host(padded);
      copy_view(exec_, host, padded);
      fence(exec_, "sporades::snapshot::matrices");
      std::size_t const row = from[n].extent(1) * sizeof(host(0, 0));
      auto& bytes = to_.arrays[array_name(name, n)];
      to_.modes[array_name(name, n)] = static_cast<int>(n);
      bytes.resize(from[n].extent(0) * row);
      for (std::size_t i = 0; i < from[n].extent(0); ++i)
        std::memcpy(bytes.data() + i * row, &host(i, 0), row);
    }
  }

  /// As matrices; all have the rank of mode 0.
  template <class Scalar, class Memory>
  void flat_matrices(char const* name, FlatFactors<Scalar, Memory> const& from) {
    matrices(name, from.factors);
  }

  /// One View a mode, with an entry for each of its padded factor.
  template <class ViewType>
  void padded_views(char const* name, std::vector<ViewType> const& from) {
    for (std::size_t n = 0; n < from.size(); ++n) {
      auto const host = Kokkos::create_mirror_view(from[n]);
      copy_view(exec_, host, from[n]);
      fence(exec_, "sporades::snapshot::views");
      copy(array_name(name, n), host.data(), host.extent(0));
      to_.modes[array_name(name, n)] = static_cast<int>(n);
    }
  }

 private:
  template <class T>
  void copy(std::string const& name, T const* from, std::size_t size) {
    static_assert(std::is_trivially_copyable_v<T>);
    auto& bytes = to_.arrays[name];
    bytes.resize(size * sizeof(T));
    if (size > 0) std::memcpy(bytes.data(), from, bytes.size());
  }

  ExecutionSpace exec_;
  Snapshot& to_;
};

/// The other way round.
template <class ExecutionSpace>
class SnapshotReader {
 public:
  SnapshotReader(ExecutionSpace const& exec, Snapshot const& from, std::string method)
      : exec_(exec), from_(from), method_(std::move(method)) {}

  Snapshot const& shape() const { return from_; }

  template <class T>
  void numbers(std::string const& name, std::vector<T>& to, std::size_t size) const {
    to.resize(size);
    auto const& bytes = array(name, size * sizeof(T));
    if (size > 0) std::memcpy(to.data(), bytes.data(), bytes.size());
  }
  template <class T>
  void number(std::string const& name, T& to) const {
    std::memcpy(&to, array(name, sizeof(T)).data(), sizeof(T));
  }
  template <class T>
  void any_numbers(std::string const& name, std::vector<T>& to) const {
    numbers(name, to, found(name).size() / sizeof(T));
  }

  template <class T>
  void lists(char const* name, std::vector<std::vector<T>>& to, std::size_t size) const {
    to.resize(from_.dims.size());
    for (std::size_t n = 0; n < to.size(); ++n) numbers(array_name(name, n), to[n], size);
  }

  template <class MatrixType>
  void matrices(char const* name, std::vector<MatrixType>& to) const {
    using Scalar = typename MatrixType::non_const_value_type;
    for (std::size_t n = 0; n < from_.dims.size(); ++n) {
      std::size_t const columns = static_cast<std::size_t>(from_.ranks[n]);
      to.push_back(make_matrix<Scalar>(exec_, label(name), from_.dims[n], columns));
      matrix(name, n, to.back());
    }
  }

  template <class Scalar, class Memory>
  void flat_matrices(char const* name, FlatFactors<Scalar, Memory>& to) const {
    to = make_flat_factors<Scalar>(exec_, label(name), from_.dims, from_.ranks[0]);
    for (std::size_t n = 0; n < from_.dims.size(); ++n) matrix(name, n, to.factors[n]);
  }

  template <class ViewType>
  void padded_views(char const* name, std::vector<ViewType>& to) const {
    using Entry = typename ViewType::non_const_value_type;
    for (std::size_t n = 0; n < from_.dims.size(); ++n) {
      std::size_t const size =
          from_.dims[n] * padded_columns(static_cast<std::size_t>(from_.ranks[n]));
      auto const& bytes = array(array_name(name, n), size * sizeof(Entry));
      to.push_back(uninitialized<ViewType>(exec_, label(name), size));
      auto const host = Kokkos::create_mirror_view(to.back());
      if (size > 0) std::memcpy(host.data(), bytes.data(), bytes.size());
      copy_view(exec_, to.back(), host);
      fence(exec_, "sporades::snapshot::restore");
    }
  }

 private:
  std::string label(char const* name) const { return "sporades::" + method_ + "::" + name; }

  /// Mode n's matrix, of its shape.
  template <class MatrixType>
  void matrix(char const* name, std::size_t n, MatrixType const& to) const {
    using Scalar = typename MatrixType::non_const_value_type;
    std::size_t const columns = to.extent(1), row = columns * sizeof(Scalar);
    auto const& bytes = array(array_name(name, n), to.extent(0) * row);
    auto const padded = with_padding(to);
    auto const host = mirror_on_host(padded);
    fence(exec_, "sporades::snapshot::restore");  // the host may be the device
    for (std::size_t i = 0; i < to.extent(0); ++i) {
      std::memcpy(&host(i, 0), bytes.data() + i * row, row);
      std::fill(&host(i, 0) + columns, &host(i, 0) + padded.extent(1), Scalar{0});
    }
    copy_view(exec_, padded, host);
    fence(exec_, "sporades::snapshot::restore");
  }

  std::vector<std::byte> const& found(std::string const& name) const {
    auto const at = from_.arrays.find(name);
    expects(at != from_.arrays.end(), method_, ": the snapshot has no array ", name);
    return at->second;
  }
  std::vector<std::byte> const& array(std::string const& name, std::size_t bytes) const {
    auto const& here = found(name);
    expects(here.size() == bytes, method_, ": the snapshot's array ", name, " has ", here.size(),
            " bytes, expected ", bytes, " for ", to_string(from_.dims));
    return here;
  }

  ExecutionSpace exec_;
  Snapshot const& from_;
  std::string method_;
};

}  // namespace detail

template <class ExecutionSpace, class State>
Snapshot snapshot(ExecutionSpace const& exec, State const& state) {
  Snapshot to;
  for (auto const& A : state.factors) {
    to.dims.push_back(A.extent(0));
    to.ranks.push_back(static_cast<int>(A.extent(1)));
  }
  detail::SnapshotWriter<ExecutionSpace> writer(exec, to);
  detail::StateArrays<State>::visit(state, writer);
  return to;
}

template <class State, class ExecutionSpace>
State restore(ExecutionSpace const& exec, Snapshot const& from) {
  using Arrays = detail::StateArrays<State>;
  expects(!from.dims.empty() && from.ranks.size() == from.dims.size(), Arrays::name,
          ": the snapshot has ", from.dims.size(), " dims and ", from.ranks.size(), " ranks");
  State state;
  detail::SnapshotReader<ExecutionSpace> reader(exec, from, Arrays::name);
  Arrays::visit(state, reader);
  return state;
}

}  // namespace sporades

#endif

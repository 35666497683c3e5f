// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the typed tests run over: every enabled execution space x {float, double}
/// (x {32-bit, 64-bit indices}):
///   TEMPLATE_LIST_TEST_CASE("...", "[...]", sporades::test::Cases) {
///     auto const exec = typename TestType::ExecutionSpace{};
///     using Scalar = typename TestType::Scalar;

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/execution_spaces.hpp>
#include <tuple>
#include <utility>

namespace sporades::test {

using sporades::ExecutionSpaces;

template <class Space, class ScalarType, class IndexType = std::uint32_t>
struct Case {
  using ExecutionSpace = Space;
  using MemorySpace = typename Space::memory_space;
  using Scalar = ScalarType;
  using Index = IndexType;
};

namespace detail {

template <class Spaces>
struct CasesOf;
template <class... Spaces>
struct CasesOf<std::tuple<Spaces...>> {
  using Scalars = decltype(std::tuple_cat(
      std::declval<std::tuple<Case<Spaces, float>, Case<Spaces, double>>>()...));
  using Indices = decltype(std::tuple_cat(
      std::declval<std::tuple<
          Case<Spaces, float, std::uint32_t>, Case<Spaces, float, std::uint64_t>,
          Case<Spaces, double, std::uint32_t>, Case<Spaces, double, std::uint64_t>>>()...));
  using Doubles = std::tuple<Case<Spaces, double>...>;
  template <class Space>
  using OneOrBoth = std::conditional_t<
      sizeof...(Spaces) == 1 || sporades::detail::is_gpu<Space>,
      std::tuple<Case<Space, float>, Case<Space, double>>,
      std::tuple<
          Case<Space, std::conditional_t<std::is_same_v<Space, Kokkos::DefaultExecutionSpace>,
                                         double, float>>>>;
  using Mixed = decltype(std::tuple_cat(std::declval<OneOrBoth<Spaces>>()...));
};

}  // namespace detail

/// Spaces x scalars, with 32-bit indices.
using Cases = detail::CasesOf<ExecutionSpaces>::Scalars;

/// Spaces x scalars x index types. Twice the compile time of Cases.
using IndexCases = detail::CasesOf<ExecutionSpaces>::Indices;

/// Spaces alone, in double: for what takes long and hardly depends on the type of values.
using DoubleCases = detail::CasesOf<ExecutionSpaces>::Doubles;

/// All spaces and scalars, but of host spaces, whose kernels are the same code, the default one
/// with double and the others with float: for what takes long and is the same in all.
using MixedCases = detail::CasesOf<ExecutionSpaces>::Mixed;

/// An instance of the execution space that is not the default one, if the backend has several.
/// (Kokkos Tools see different instances of CUDA, HIP and SYCL. Up to Kokkos 4.7 all instances of
/// Serial or OpenMP have the same number.)
template <class ExecutionSpace>
ExecutionSpace new_instance() {
#if KOKKOS_VERSION >= 40500
  return Kokkos::Experimental::partition_space(ExecutionSpace{}, 1)[0];
#else
  return ExecutionSpace{};
#endif
}

}  // namespace sporades::test

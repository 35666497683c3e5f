// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the typed tests run over: execution spaces x {float, double} (x {32-bit, 64-bit indices}):
///   TEMPLATE_LIST_TEST_CASE("...", "[...]", sporades::test::Cases) {
///     auto const exec = typename TestType::ExecutionSpace{};
///     using Scalar = typename TestType::Scalar;
/// Kernels are the same code for all execution spaces of hosts. Where there are several, most tests
/// run on the default one in double, and on the others in float.

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/execution_spaces.hpp>
#include <tuple>
#include <type_traits>
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

namespace internal {

template <class... Lists>
using Joined = decltype(std::tuple_cat(std::declval<Lists>()...));

template <class Space>
inline constexpr bool is_default = std::is_same_v<Space, Kokkos::DefaultExecutionSpace>;

template <class Spaces>
struct CasesOf;
template <class... Spaces>
struct CasesOf<std::tuple<Spaces...>> {
  template <class Space>
  using Both = std::tuple<Case<Space, float>, Case<Space, double>>;
  template <class Space>
  using One = std::tuple<Case<Space, std::conditional_t<is_default<Space>, double, float>>>;
  template <class Space>
  using Some = std::conditional_t<sizeof...(Spaces) == 1 || sporades::detail::is_gpu<Space>,
                                  Both<Space>, One<Space>>;

  using Scalars = Joined<Some<Spaces>...>;
  using AllScalars = Joined<Both<Spaces>...>;
  using Doubles = std::tuple<Case<Spaces, double>...>;
};

template <class Cases>
struct IndicesOf;
template <class... Cases>
struct IndicesOf<std::tuple<Cases...>> {
  using Indices =
      std::tuple<Cases...,
                 Case<typename Cases::ExecutionSpace, typename Cases::Scalar, std::uint64_t>...>;
};

}  // namespace internal

using Cases = internal::CasesOf<ExecutionSpaces>::Scalars;

/// All spaces x all scalars: for what depends on both, as the bits of several threads.
using AllCases = internal::CasesOf<ExecutionSpaces>::AllScalars;

/// Cases x index types.
using IndexCases = internal::IndicesOf<Cases>::Indices;

/// Spaces alone, in double: for what takes long and hardly depends on the type of values.
using DoubleCases = internal::CasesOf<ExecutionSpaces>::Doubles;

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

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

/// What public functions check of their arguments' types, so that the compiler says in one sentence
/// what does not fit. Functions that take matrices take any type, begin with
///   if constexpr (detail::check_types<ExecutionSpace, Tensor, FactorsType, Output>())
/// and do nothing else where that is false: there is one error, the sentence. Functions of which
/// there is an overload for each format have one more, whose parameter any argument converts to, at
/// worst: the compiler takes it where no other fits. The conversion holds the sentence:
///   struct NotCoo {
///     template <class Given>
///     NotCoo(Given const&) { static_assert(never<Given>, "the tensor must be a CooTensor"); }
///   };

namespace sporades::detail {

template <class...>
inline constexpr bool never = false;

/// Whether T is one of the types of List, a std::tuple.
template <class T, class List>
inline constexpr bool is_one_of = false;
template <class T, class... Types>
inline constexpr bool is_one_of<T, std::tuple<Types...>> = (std::is_same_v<T, Types> || ...);

template <template <class...> class Template>
struct Instances {
  template <class... Types>
  static std::true_type test(Template<Types...> const*);
  static std::false_type test(void const*);
};

/// Whether T is a Template of some types that is not const, or derives from one: is_instance<T,
/// CooTensor>.
template <class T, template <class...> class Template>
inline constexpr bool is_instance =
    !std::is_const_v<T> && decltype(Instances<Template>::test(std::declval<T*>()))::value;

/// Scalar, Index and MemorySpace of a tensor, a plan or a model; void where it has none.
template <class T, class = void>
struct TypesOf {
  using Scalar = void;
  using MemorySpace = void;
};
template <class T>
struct TypesOf<T, std::void_t<typename T::Scalar, typename T::MemorySpace>> {
  using Scalar = typename T::Scalar;
  using MemorySpace = typename T::MemorySpace;
};

/// The types of the vectors and matrices that belong to a tensor, a plan or a model. A function
/// whose template parameter for factors is FactorsOf by default may be called with a list in
/// braces.
template <class T>
using VectorOf = Vector<typename TypesOf<T>::Scalar, typename TypesOf<T>::MemorySpace>;
template <class T>
using MatrixOf = Matrix<typename TypesOf<T>::Scalar, typename TypesOf<T>::MemorySpace>;
template <class T>
using FactorsOf = Factors<typename TypesOf<T>::Scalar, typename TypesOf<T>::MemorySpace>;

/// Factors that check_types has let through, as the kernels take them: themselves, or other Views
/// of the same memory.
template <class T, class Given>
decltype(auto) as_factors(Given const& A) {
  if constexpr (Kokkos::is_view<Given>::value) {
    static_assert(never<Given>,
                  "factors must be a list of matrices, one a mode: a std::vector of rank-2 "
                  "Kokkos::Views, or Views in braces");
    return FactorsOf<T>{};
  } else if constexpr (std::is_same_v<Given, FactorsOf<T>>)
    return (A);
  else
    return FactorsOf<T>(A.begin(), A.end());
}

/// Where exec works on a tensor: in its memory, or in that of exec where exec cannot access it.
template <class ExecutionSpace, class MemorySpace>
using WorkSpace =
    std::conditional_t<Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible,
                       MemorySpace, typename ExecutionSpace::memory_space>;

/// The execution space that makes a plan: exec, or a host's where exec cannot access X.
template <class MemorySpace, class ExecutionSpace>
auto builder_of(ExecutionSpace const& exec) {
  if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible)
    return exec;
  else
    return typename MemorySpace::execution_space{};
}

/// What a plan's maker gives for a CooTensor: PlanOf<MttkrpPlan, CooTensor<double>>. With an
/// execution space: the plan is in memory that this one works in.
template <template <class, class, class> class Plan, class Tensor, class ExecutionSpace,
          class = void>
struct PlanOfTensor {
  using type = void;
};
template <template <class, class, class> class Plan, class Tensor>
struct PlanOfTensor<
    Plan, Tensor, void,
    std::void_t<typename Tensor::Scalar, typename Tensor::Index, typename Tensor::MemorySpace>> {
  using type = Plan<typename Tensor::Scalar, typename Tensor::Index, typename Tensor::MemorySpace>;
};
template <template <class, class, class> class Plan, class Tensor, class ExecutionSpace>
struct PlanOfTensor<
    Plan, Tensor, ExecutionSpace,
    std::void_t<typename Tensor::Scalar, typename Tensor::Index, typename Tensor::MemorySpace,
                typename ExecutionSpace::memory_space>> {
  using type = Plan<typename Tensor::Scalar, typename Tensor::Index,
                    WorkSpace<ExecutionSpace, typename Tensor::MemorySpace>>;
};
template <template <class, class, class> class Plan, class Tensor, class ExecutionSpace = void>
using PlanOf = typename PlanOfTensor<Plan, Tensor, ExecutionSpace>::type;

/// Whether a View is a Matrix<Scalar, MemorySpace> or becomes one without a copy.
template <class Given, class Scalar, class MemorySpace>
constexpr bool check_matrix() {
  if constexpr (!Kokkos::is_view<Given>::value) {
    static_assert(never<Given>, "a matrix must be a rank-2 Kokkos::View");
  } else if constexpr (int(Given::rank) != 2) {
    static_assert(never<Given>, "a matrix must be a Kokkos::View of rank 2");
  } else if constexpr (!std::is_same_v<typename Given::non_const_value_type, Scalar>) {
    static_assert(never<Given>, "a matrix must have the tensor's scalar type");
  } else if constexpr (!std::is_same_v<typename Given::memory_space, MemorySpace>) {
    static_assert(never<Given>,
                  "a matrix must be in the tensor's memory space: make_factor(exec, matrix) copies "
                  "it there");
  } else if constexpr (!std::is_same_v<typename Given::array_layout, Kokkos::LayoutRight>) {
    static_assert(never<Given>,
                  "a matrix must be row-major (Kokkos::LayoutRight): make_factor(exec, matrix) "
                  "copies other layouts, and copy_factor(exec, factor, matrix) copies back");
  } else if constexpr (!std::is_same_v<typename Given::value_type, Scalar>) {
    static_assert(never<Given>,
                  "a matrix must not be const, factors that are only read included: "
                  "make_factor(exec, matrix) copies it");
  } else {
    return true;
  }
  return false;
}

template <class Given, class Scalar, class MemorySpace>
struct CheckMatrices {
  static constexpr bool value = check_matrix<Given, Scalar, MemorySpace>();
};
template <class Given, class Allocator, class Scalar, class MemorySpace>
struct CheckMatrices<std::vector<Given, Allocator>, Scalar, MemorySpace> {
  static constexpr bool value = check_matrix<Given, Scalar, MemorySpace>();
};

/// Whether exec can work on a tensor, a plan or a model, and the matrices (Views, or vectors of
/// Views) fit it.
template <class ExecutionSpace, class Tensor, class... Matrices>
constexpr bool check_types() {
  using Scalar = typename TypesOf<Tensor>::Scalar;
  using MemorySpace = typename TypesOf<Tensor>::MemorySpace;
  if constexpr (!Kokkos::is_execution_space<ExecutionSpace>::value) {
    static_assert(never<ExecutionSpace>,
                  "the first argument must be an instance of a Kokkos execution space");
  } else if constexpr (!Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible) {
    static_assert(never<ExecutionSpace>,
                  "the execution space cannot access the tensor's memory space: copy_to(exec, X) "
                  "copies the tensor");
  } else {
    return (CheckMatrices<Matrices, Scalar, MemorySpace>::value && ...);
  }
  return false;
}

/// Whether a maker of plans can take a tensor: exec can work on it, or exec is a GPU that streams
/// it from the host.
template <class ExecutionSpace, class Tensor>
constexpr bool check_builder() {
  constexpr bool streams = [] {
    if constexpr (Kokkos::is_execution_space<ExecutionSpace>::value)
      return is_gpu<ExecutionSpace> &&
             std::is_same_v<typename TypesOf<Tensor>::MemorySpace, Kokkos::HostSpace>;
    return false;
  }();
  if constexpr (streams)
    return true;
  else
    return check_types<ExecutionSpace, Tensor>();
}

/// Whether a View is a Vector or becomes one without a copy.
template <class Given>
constexpr bool is_vector() {
  if constexpr (Kokkos::is_view<Given>::value)
    return int(Given::rank) == 1 &&
           !std::is_same_v<typename Given::array_layout, Kokkos::LayoutStride> &&
           !std::is_const_v<typename Given::value_type>;
  return false;
}
template <class Given>
struct VectorTypes {
  using Scalar = typename Given::value_type;
  using MemorySpace = typename Given::memory_space;
};
template <class Given>
auto as_vector(Given const& x) {
  return Vector<typename Given::value_type, typename Given::memory_space>(x);
}

/// Whether exec can work on these arrays, of one scalar type and in one memory space.
template <class ExecutionSpace, class First, class... Others>
constexpr bool check_vectors() {
  if constexpr (!(is_vector<First>() && ... && is_vector<Others>())) {
    static_assert(never<First, Others...>,
                  "arrays must be Kokkos::Views of rank 1 without gaps, and not const");
  } else if constexpr (!(std::is_same_v<decltype(as_vector(std::declval<First>())),
                                        decltype(as_vector(std::declval<Others>()))> &&
                         ...)) {
    static_assert(never<First, Others...>, "arrays must have one scalar type and one memory space");
  } else {
    return check_types<ExecutionSpace, VectorTypes<First>>();
  }
  return false;
}

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <numeric>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/permuted_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

template <class HostTensor>
std::vector<std::vector<double>> nonzeros(HostTensor const& X) {
  std::vector<std::vector<double>> list;
  for (Position p = 0; p < X.nnz(); ++p) {
    std::vector<double> nonzero;
    for (int n = 0; n < X.order(); ++n) nonzero.push_back(X.coordinates(n, p));
    nonzero.push_back(X.values(p));
    list.push_back(nonzero);
  }
  std::sort(list.begin(), list.end());
  return list;
}

template <class Tensor>
auto to_host(Tensor const& X) {
  return copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("csf and permuted coo hold every nonzero of the tensor", "[formats][csf]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  for (Dims const& dims : {Dims{7}, Dims{9, 4}, Dims{6, 50, 4}, Dims{3, 4, 2, 30}, Dims(6, 3)})
    for (Position nnz : {0, 1, 130, 5000}) {
      auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz);
      auto const expected = nonzeros(to_host(X));
      auto const permuted = make_permuted(exec, X);
      CHECK(nonzeros(to_host(to_coo(exec, permuted))) == expected);
      CHECK(permuted.storage_words() == (2 * dims.size() + 1) * X.nnz());
      std::vector<int> modes(dims.size());
      std::iota(modes.begin(), modes.end(), 0);
      std::rotate(modes.begin(), modes.begin() + modes.size() / 2, modes.end());
      auto const back = to_coo(exec, make_csf(exec, X, modes));
      CHECK(nonzeros(to_host(back)) == expected);
      CHECK(back.sorted_modes == modes);
      CHECK(is_sorted(exec, back, modes));
    }
}

// 4 x 3 x 2, five nonzeros: two of fiber (1, 0), one of (1, 2), one each of (3, 0) and (3, 1).
TEMPLATE_LIST_TEST_CASE("csf of a small tensor, level by level", "[formats][csf]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, {4, 3, 2}, 5);
  int const entries[5][3] = {{3, 1, 0}, {1, 0, 1}, {1, 2, 0}, {1, 0, 0}, {3, 0, 1}};
  for (int p = 0; p < 5; ++p) {
    for (int n = 0; n < 3; ++n) X.coordinates(n, p) = entries[p][n];
    X.values(p) = static_cast<Scalar>(p + 1);
  }
  auto const T = make_csf(exec, copy_to(exec, X), {0, 1, 2});
  auto list = [](auto const& view) {
    auto const on = on_host(view);
    std::vector<int> entries(on.extent(0));
    for (std::size_t i = 0; i < on.extent(0); ++i) entries[i] = static_cast<int>(on(i));
    return entries;
  };
  CHECK(list(T.indices[0]) == std::vector<int>{1, 3});
  CHECK(list(T.first_child[0]) == std::vector<int>{0, 2, 4});
  CHECK(list(T.indices[1]) == std::vector<int>{0, 2, 0, 1});
  CHECK(list(T.first_child[1]) == std::vector<int>{0, 2, 3, 4, 5});
  CHECK(list(T.indices[2]) == std::vector<int>{0, 1, 0, 1, 0});
  CHECK(list(T.values) == std::vector<int>{4, 2, 3, 5, 1});
  CHECK(list(T.marks[0]) == std::vector<int>{0});
  // 11 indices, 8 pointers, 5 values, 2 marks
  CHECK(T.storage_bytes() == 11 * 4 + 8 * 8 + 5 * sizeof(Scalar) + 2 * 8);
}

TEST_CASE("make_csf labels its kernels and runs them on its instance", "[formats][csf]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  check_launches(exec, [&] {
    auto const T = make_csf(exec, X, {2, 0, 1});
    to_coo(exec, T);
    make_permuted(exec, X);
  });
}

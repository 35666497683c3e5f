// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/formats/strongest.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

/// What applications bring in Views of their own, and take away in them.

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using HostSpace = Host::memory_space;

/// Coordinates and values of four nonzeros of a 3 x 70000 tensor.
constexpr int nonzeros = 4;
constexpr int table[nonzeros][2] = {{2, 69999}, {0, 1}, {2, 0}, {1, 300}};
Dims const dims{3, 70000};
Entries<double> const expected{{{2, 69999}, 1}, {{0, 1}, 2}, {{2, 0}, 3}, {{1, 300}, 4}};

/// A View of 2 x nnz filled with them.
template <class ViewType>
ViewType coordinates() {
  ViewType const view("coordinates", 2, nonzeros);
  for (int p = 0; p < nonzeros; ++p)
    for (int n = 0; n < 2; ++n)
      view(n, p) = static_cast<typename ViewType::value_type>(table[p][n]);
  return view;
}

template <class Value>
Kokkos::View<Value*, HostSpace> values() {
  Kokkos::View<Value*, HostSpace> const view("values", nonzeros);
  for (int p = 0; p < nonzeros; ++p) view(p) = static_cast<Value>(p + 1);
  return view;
}

/// View moved to the space of exec; the View itself where that is the host.
template <class ExecutionSpace, class ViewType>
auto there(ExecutionSpace const&, ViewType const& view) {
  return Kokkos::create_mirror_view_and_copy(typename ExecutionSpace::memory_space{}, view);
}

template <class Tensor>
Entries<typename Tensor::Scalar> entries_on_host(Tensor const& X) {
  return entries(copy_to(Host{}, X));
}

template <class Given, class Index, class ExecutionSpace>
void check_index_type(ExecutionSpace const& exec) {
  using Left = Kokkos::View<Given**, Kokkos::LayoutLeft, HostSpace>;
  using Right = Kokkos::View<Given**, Kokkos::LayoutRight, HostSpace>;
  auto const left = coordinates<Left>();
  auto const right = coordinates<Right>();
  auto const x = values<double>();
  auto const check = [&](auto const& given, auto const& numbers) {
    auto const X = make_coo(exec, dims, given, numbers);
    using Tensor = CooTensor<double, Index, typename ExecutionSpace::memory_space>;
    static_assert(std::is_same_v<std::decay_t<decltype(X)>, Tensor>);
    CHECK(entries_on_host(X) == expected);
    CHECK(X.sorted_modes.empty());
  };
  check(left, x);
  check(right, x);
  check(there(exec, left), there(exec, x));
  Kokkos::View<Given const**, Kokkos::LayoutRight, HostSpace, Kokkos::MemoryUnmanaged> const
      borrowed(right.data(), 2, nonzeros);
  check(borrowed, Kokkos::View<double const*, HostSpace>(x));
  // A row a nonzero, as its columns.
  Kokkos::View<Given* [2], Kokkos::LayoutRight, HostSpace> const rows("rows", nonzeros);
  for (int p = 0; p < nonzeros; ++p)
    for (int n = 0; n < 2; ++n) rows(p, n) = right(n, p);
  check(columns_of(rows), x);
  Kokkos::View<Given**, Kokkos::LayoutLeft, HostSpace> const by_columns("rows", nonzeros, 2);
  Kokkos::deep_copy(by_columns, rows);
  check(columns_of(by_columns), x);
  check(columns_of(there(exec, by_columns)), there(exec, x));
  Kokkos::View<Given**, Kokkos::LayoutStride, HostSpace> const strided = by_columns;
  check(columns_of(strided), x);
  using Mode = Kokkos::View<Given*, HostSpace>;
  Mode const first = Kokkos::subview(right, 0, Kokkos::ALL);
  Mode const second = Kokkos::subview(right, 1, Kokkos::ALL);
  check(std::array<Mode, 2>{first, second}, x);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("nonzeros come from Views of any integers and layouts", "[views][coo]",
                        Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  check_index_type<int, std::uint32_t>(exec);
  check_index_type<unsigned, std::uint32_t>(exec);
  check_index_type<long long, std::uint64_t>(exec);
  check_index_type<std::uint64_t, std::uint64_t>(exec);
  auto const given = coordinates<Kokkos::View<int**, HostSpace>>();
  auto const X = make_coo<std::uint64_t>(exec, dims, given, values<float>());
  static_assert(std::is_same_v<typename decltype(X)::Index, std::uint64_t>);
  static_assert(std::is_same_v<typename decltype(X)::Scalar, float>);
  auto const counts = make_coo(exec, dims, given, values<int>());
  static_assert(std::is_same_v<typename decltype(counts)::Scalar, double>);
  CHECK(entries_on_host(counts) == expected);
  given(0, 0) = 1;  // the tensor is a copy
  CHECK(entries_on_host(counts) == expected);
  auto const x = values<double>();
  check_launches(exec, [&] { make_coo(exec, dims, given, x); });
}

TEST_CASE("make_coo names the first nonzero with an index that is none",
          "[views][coo][bad_input]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const x = values<double>();
  auto const given = coordinates<Kokkos::View<int**, HostSpace>>();
  auto const message = [&] { return message_of([&] { make_coo(exec, dims, given, x); }); };
  CHECK(message() == "no error");
  given(1, 3) = 70000;
  CHECK(message() == "make_coo: nonzero 3, mode 1: the index 70000 (from 0) is not in [0, 70000)");
  given(1, 1) = -2;
  given(0, 1) = -5;
  given(0, 2) = 3;
  CHECK(message() == "make_coo: nonzero 1, mode 0: the index -5 (from 0) is not in [0, 3)");
  given(0, 1) = 0;
  CHECK(message() == "make_coo: nonzero 1, mode 1: the index -2 (from 0) is not in [0, 70000)");
  auto const bytes = coordinates<Kokkos::View<signed char**, HostSpace>>();
  CHECK(message_of([&] {
          make_coo(exec, {3, 40}, bytes, x);
        }) == "make_coo: nonzero 0, mode 1: the index 111 (from 0) is not in [0, 40)");
  auto const wide = coordinates<Kokkos::View<std::int64_t**, HostSpace>>();
  wide(0, 2) = (std::int64_t{1} << 32) + 1;  // 1 in 32 bits
  CHECK(message_of([&] { make_coo<std::uint32_t>(exec, dims, wide, x); }) ==
        "make_coo: nonzero 2, mode 0: the index 4294967297 (from 0) is not in [0, 3)");
}

TEST_CASE("make_coo refuses shapes that disagree", "[views][coo][bad_input]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const x = values<double>();
  auto const given = coordinates<Kokkos::View<int**, HostSpace>>();
  CHECK(message_of([&] {
          make_coo(exec, {3, 70000, 5}, given, x);
        }) == "make_coo: coordinates are 2 x 4, expected 3 x 4, the order x the number of values");
  CHECK(message_of([&] {
          make_coo(exec, dims, given, Kokkos::View<double*, HostSpace>("x", 3));
        }) == "make_coo: coordinates are 2 x 4, expected 2 x 3, the order x the number of values");
  CHECK(
      message_of([&] { make_coo(exec, dims, Kokkos::View<int**, HostSpace>("table", 4, 2), x); }) ==
      "make_coo: coordinates are 4 x 2, expected 2 x 4, the order x the number of values: "
      "pass columns_of(table) of a table with a nonzero a row");
  using Mode = Kokkos::View<int*, HostSpace>;
  CHECK(message_of([&] { make_coo(exec, dims, std::vector{Mode("i", 4)}, x); }) ==
        "make_coo: coordinates of 1 modes, the order is 2");
  CHECK(message_of([&] {
          make_coo(exec, dims, std::vector{Mode("i", 4), Mode("j", 5)}, x);
        }) == "make_coo: mode 1 has 5 indices, there are 4 values");
  CHECK(message_of([&] {
          make_coo<std::uint32_t>(exec, {3, std::uint64_t{1} << 33}, given, x);
        }) == "make_coo: mode 1 has length 8589934592, past its 32-bit indices");
  auto const empty = make_coo(exec, dims, Kokkos::View<int**, HostSpace>("none", 2, 0),
                              Kokkos::View<double*, HostSpace>("none", 0));
  CHECK(empty.nnz() == 0);
  CHECK(empty.dims == dims);
}

TEMPLATE_LIST_TEST_CASE("factors come in and go out in any layout", "[views][matrix]", Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, HostSpace> const left("left", 5, 3);
  for (int i = 0; i < 5; ++i)
    for (int r = 0; r < 3; ++r) left(i, r) = static_cast<Scalar>(10 * i + r);
  auto const check = [&](auto const& given, bool is_used_as_it_is) {
    Matrix<Scalar, Memory> const A = make_factor(exec, given);
    CHECK((static_cast<void const*>(A.data()) == given.data()) == is_used_as_it_is);
    auto const back = matrix_on_host(A);
    for (int i = 0; i < 5; ++i)
      for (int r = 0; r < 3; ++r) CHECK(back(i, r) == left(i, r));
  };
  check(left, false);
  check(there(exec, left), false);
  Matrix<Scalar, Memory> const own("own", 5, 3);
  copy_factor(exec, make_factor(exec, left), own);
  check(own, true);
  check(Kokkos::View<Scalar const**, Kokkos::LayoutRight, Memory>(own), false);
  Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory, Kokkos::MemoryUnmanaged> const borrowed(
      own.data(), 5, 3);
  check(borrowed, true);
  auto const padded = make_matrix<Scalar>(exec, "padded", 5, std::size_t{3});
  copy_factor(exec, own, padded);
  check(padded, true);

  std::array<decltype(left), 2> const both{left, left};
  Factors<Scalar, Memory> const factors = make_factors(exec, both);
  CHECK(factors.size() == 2);
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, HostSpace> const out("out", 5, 3);
  copy_factor(exec, factors[1], out);
  for (int i = 0; i < 5; ++i)
    for (int r = 0; r < 3; ++r) CHECK(out(i, r) == left(i, r));
  Kokkos::View<Scalar**, HostSpace> const small("small", 4, 3);
  CHECK(message_of([&] { copy_factor(exec, factors[0], small); }) ==
        "copy_factor: 5 x 3 numbers into a View of 4 x 3");
}

TEMPLATE_LIST_TEST_CASE("models move between memory spaces", "[views][models]", Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  constexpr bool moves = !std::is_same_v<Memory, HostSpace>;
  auto const A = random_matrix<Scalar>(Host{}, 5, 3, 1), B = random_matrix<Scalar>(Host{}, 4, 3, 2);
  Vector<Scalar, HostSpace> const numbers("numbers", 3);
  for (int r = 0; r < 3; ++r) numbers(r) = static_cast<Scalar>(r + 1);
  auto const same = [](auto const& a, auto const& b) {
    bool equal = a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1);
    for (std::size_t i = 0; equal && i < a.extent(0); ++i)
      for (std::size_t r = 0; r < a.extent(1); ++r) equal = equal && a(i, r) == b(i, r);
    return equal;
  };

  KruskalTensor<Scalar, HostSpace> const kruskal{numbers, {A, B}};
  KruskalTensor<Scalar, Memory> const device_kruskal = copy_to(exec, kruskal);
  CHECK((device_kruskal.factors[0].data() == A.data()) == !moves);
  CHECK((device_kruskal.weights.data() == numbers.data()) == !moves);
  auto const kruskal_back = copy_to(Host{}, device_kruskal);
  CHECK(kruskal_back.dims() == Dims{5, 4});
  CHECK(kruskal_back.weights(2) == 3);
  CHECK(same(kruskal_back.factors[0], A));
  CHECK(same(kruskal_back.factors[1], B));

  TuckerTensor<Scalar, HostSpace> const tucker{numbers, {A, B}};
  TuckerTensor<Scalar, Memory> const device_tucker = copy_to(exec, tucker);
  CHECK((device_tucker.core.data() == numbers.data()) == !moves);
  auto const tucker_back = copy_to(Host{}, device_tucker);
  CHECK(tucker_back.ranks() == std::vector<int>{3, 3});
  CHECK(tucker_back.core(1) == 2);
  CHECK(same(tucker_back.factors[1], B));
}

namespace {

/// What make_coo, make_factor and mttkrp give for Views with these properties in the memory space
/// of exec: the same as for Views of the memory space itself, without a copy of factors.
template <class Scalar, class Device, class ExecutionSpace, class... Traits>
void check_device(ExecutionSpace const& exec) {
  using Memory = typename ExecutionSpace::memory_space;
  using Matrix = Matrix<Scalar, Memory>;
  using Given = Kokkos::View<Scalar**, Kokkos::LayoutRight, Device, Traits...>;
  auto const indices = there(exec, coordinates<Kokkos::View<int**, HostSpace>>());
  auto const x = there(exec, values<Scalar>());
  auto const X =
      make_coo(exec, dims,
               Kokkos::View<int**, typename decltype(indices)::array_layout, Device, Traits...>(
                   indices.data(), 2, nonzeros),
               Kokkos::View<Scalar*, Device, Traits...>(x.data(), nonzeros));
  static_assert(std::is_same_v<typename decltype(X)::MemorySpace, Memory>);
  CHECK(entries_on_host(X) == entries_on_host(make_coo(exec, dims, indices, x)));

  auto const A = random_matrix<Scalar>(exec, dims[1], 3, 1);
  Matrix const packed("packed", dims[1], 3), expected("expected", dims[0], 3),
      product("product", dims[0], 3);
  copy_factor(exec, A, packed);
  Given const B(packed.data(), dims[1], 3), V(product.data(), dims[0], 3);
  Matrix const factor = make_factor(exec, B);
  CHECK(factor.data() == packed.data());
  mttkrp(exec, X, Factors<Scalar, Memory>{packed, packed}, 0, expected);
  mttkrp(exec, X, std::vector<Given>{B, B}, 0, V);
  exec.fence();
  auto const from = matrix_on_host(expected), to = matrix_on_host(product);
  for (std::size_t i = 0; i < dims[0]; ++i)
    for (int r = 0; r < 3; ++r) CHECK(to(i, r) == from(i, r));
  CHECK(from(2, 0) != 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Views of another device in the same memory are taken as they are",
                        "[views]", Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Memory = typename TestType::MemorySpace;
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<Exec>();
  check_device<Scalar, Memory>(exec);
  check_device<Scalar, Kokkos::Device<Exec, Memory>>(exec);
  check_device<Scalar, Memory, Exec, Kokkos::MemoryUnmanaged>(exec);
  if constexpr (std::is_same_v<Memory, HostSpace>) {
    check_device<Scalar, Kokkos::Device<Host, HostSpace>>(exec);
#ifdef KOKKOS_ENABLE_SERIAL
    check_device<Scalar, Kokkos::Device<Kokkos::Serial, HostSpace>>(exec);
#endif
  }
}

TEST_CASE("what derives from a format is taken as that format", "[views][coo]") {
  struct Named : CooTensor<double, std::uint32_t, HostSpace> {
    std::string name;
  };
  Host const exec{};
  Named X;
  using Right = Kokkos::View<int**, Kokkos::LayoutRight, HostSpace>;
  static_cast<CooTensor<double, std::uint32_t, HostSpace>&>(X) =
      make_coo(exec, dims, coordinates<Right>(), values<double>());
  std::vector<int> const modes{1, 0};
  CHECK(entries(copy_to(exec, X)) == expected);
  CHECK(is_sorted(exec, sorted(exec, X, modes), modes));
  auto tree = make_csf(exec, X, modes);
  struct NamedTree : decltype(tree) {};
  auto by_root = expected;
  std::sort(by_root.begin(), by_root.end(),
            [](auto const& a, auto const& b) { return a.first[1] < b.first[1]; });
  CHECK(entries(to_coo(exec, NamedTree{tree})) == by_root);
  TemporaryFolder const folder;
  std::string const path = folder / "named.tns";
  write_tns(path, X);
  CHECK(read_tensor<double, std::uint32_t>(path).tensor.nnz() == X.nnz());
  auto const matrix = [&](std::uint64_t rows) { return make_matrix<double>(exec, "A", rows, 2); };
  Factors<double, HostSpace> const A{matrix(dims[0]), matrix(dims[1])};
  auto const V = matrix(dims[0]), W = matrix(dims[0]);
  Kokkos::deep_copy(A[1], 0.5);
  mttkrp(exec, X, A, 0, V);
  auto plan = make_mttkrp_plan(exec, X);
  mttkrp(exec, plan, A, 0, W);
  CHECK(V(2, 0) == 2);
  CHECK(W(2, 0) == 2);
}

TEST_CASE("the strongest entries come by magnitude, equal ones by index", "[models]") {
  Kokkos::View<double**, Kokkos::LayoutRight, HostSpace> const A("A", 5, 2), B("B", 2, 2);
  double const column[] = {1, -3, 0, 3, 2};
  for (int i = 0; i < 5; ++i) A(i, 1) = column[i];
  B(1, 1) = -1;
  Vector<double, HostSpace> const numbers("numbers", 4);
  double const core[] = {1, -2, 0, 2};
  for (int k = 0; k < 4; ++k) numbers(k) = core[k];
  auto const model = KruskalTensor<double>{Kokkos::subview(numbers, std::make_pair(0, 2)), {A, B}};
  auto const indices = [&](int r, int n, int count) {
    std::vector<std::uint64_t> found;
    for (auto const& [i, value] : strongest(model, r, n, count)) {
      CHECK(value == model.factors[n](i, r));
      found.push_back(i);
    }
    return found;
  };
  CHECK(indices(1, 0, 3) == std::vector<std::uint64_t>{1, 3, 4});
  CHECK(indices(1, 0, 9) == std::vector<std::uint64_t>{1, 3, 4, 0, 2});
  CHECK(indices(1, 1, 1) == std::vector<std::uint64_t>{1});
  CHECK(indices(0, 1, 2) == std::vector<std::uint64_t>{0, 1});
  CHECK(indices(0, 0, 0).empty());
  CHECK(message_of([&] { indices(2, 0, 1); }) == "strongest: column 2 of a factor of 2 columns");
  CHECK(message_of([&] { indices(0, 2, 1); }) == "strongest: mode 2 of a model of order 2");
  CHECK(message_of([&] { indices(0, 0, -1); }) == "strongest: -1 entries");

  TuckerTensor<double> const tucker{numbers, {A, B}};
  auto const cells = strongest(tucker, 3);
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].columns == std::vector<int>{1, 0});
  CHECK(cells[0].value == -2);
  CHECK(cells[1].columns == std::vector<int>{1, 1});
  CHECK(cells[2].columns == std::vector<int>{0, 0});
  CHECK(strongest(tucker, 1, 0, 1)[0].index == 1);

  A(3, 1) = std::numeric_limits<double>::quiet_NaN();  // last
  auto const entries = strongest(model, 1, 0, 5);
  REQUIRE(entries.size() == 5);
  CHECK(entries[0].index == 1);
  CHECK(entries[1].index == 4);
  CHECK(entries[4].index == 3);
}

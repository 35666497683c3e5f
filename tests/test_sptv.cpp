// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// SpTV by every strategy against its definition, and against SpTTM.

#include <sys/mman.h>

#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sptv.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/vector_products.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

std::vector<Problem> fiber_problems() {
  return {{{5}, 9},
          {{400}, 3000},
          {{1}, 4},
          {{7}, 0},
          {{7, 4}, 20},
          {{220, 3}, 600},
          {{3000, 2}, 20000},  // two long fibers: carries of several levels
          {{2, 9000}, 9000},   // many fibers of one and two
          {{6, 5, 4}, 40},
          {{6, 5, 4}, 800},  // most coordinates are there several times
          {{40, 3, 50}, 3000},
          {{60, 300, 200}, 20000},      // many chunks, many fibers
          {{500, 400, 300}, 20000, 6},  // one fiber has most nonzeros
          {{3, 4, 5000}, 12000},        // fibers of about the same length, which ELL pads a little
          {{1, 1, 1}, 3},
          {{9, 8, 1, 6}, 700},  // a mode of length 1
          {{30, 2, 20, 10}, 5000, 2},
          {{5, 4, 3, 4, 5}, 900},
          {{3, 4, 2, 3, 2, 4}, 600},
          {Dims(16, 2), 300},
          {{4, 3}, 0},      // nothing in it
          {{0, 3, 2}, 0}};  // an empty mode
}

/// The order of the values of a product on mode n of a tensor of order N: n + 1, ..., N - 1, 0,
/// ..., n - 1, of which those past n are one less in the product.
std::vector<int> order_of_values(int n, int N) {
  std::vector<int> modes;
  for (int m = n + 1; m < n + N; ++m) modes.push_back(m < N ? m - 1 : m - N);
  return modes;
}

/// Products by every strategy, with a random vector and one of whole numbers, as the tensor is.
template <class Case>
void check_mode(CooTensor<typename Case::Scalar, typename Case::Index> const& X, int n) {
  using Scalar = typename Case::Scalar;
  typename Case::ExecutionSpace const exec{};
  auto const on_device = copy_to(exec, X);
  auto const random = random_vector<Scalar>(exec, X.dims[n], 100 + static_cast<unsigned>(n));
  auto const whole = whole_vector<Scalar>(exec, X.dims[n], 13);
  VectorProduct const of_random(X, {n}, std::vector{random}), of_whole(X, {n}, std::vector{whole});
  auto const modes = order_of_values(n, X.order());
  for (auto const& [name, options] : sptv_ways()) {
    INFO(to_string(X.dims) << ", nnz " << X.nnz() << ", mode " << n << ", " << name);
    auto plan = make_sptv_plan(exec, on_device, n, options);
    CHECK(plan.dims == X.dims);
    CHECK(plan.mode == n);
    CHECK(plan.nnz() == X.nnz());
    CHECK(plan.fibers == of_whole.values.size());
    auto const Y = make_sptv_output(exec, plan);
    for (bool is_whole : {false, true}) {
      Kokkos::deep_copy(exec, Y.values, std::numeric_limits<Scalar>::quiet_NaN());
      sptv(exec, plan, is_whole ? whole : random, Y);
      exec.fence();
      (is_whole ? of_whole : of_random).check(Y, modes, is_whole);
    }
  }
}

template <class Case>
void check_all_modes(Problem const& problem) {
  auto const X = with_whole_values(random_coo<typename Case::Scalar, typename Case::Index>(
                                       Host{}, problem.dims, problem.nnz, 7, problem.skew),
                                   5);
  for (int n = 0; n < X.order(); ++n) check_mode<Case>(X, n);
}

/// Fibers of these lengths along mode n of a tensor of order 3, each alone in a slice with two
/// short ones, so that ELL slices stay small; before, between and after them slices of short ones.
template <class Scalar>
CooTensor<Scalar> long_fibers(int n, std::vector<Position> const& lengths) {
  Dims dims(3);
  dims[n] = 250000;
  dims[(n + 1) % 3] = 4 * lengths.size() + 4;
  dims[(n + 2) % 3] = 40;
  Entries<Scalar> nonzeros;
  auto const add_fiber = [&](std::uint64_t slice, std::uint64_t fiber, Position length) {
    for (Position k = length; k-- > 0;) {
      std::vector<std::uint64_t> place(3);
      place[n] = (k * 104729 + slice) % dims[n];
      place[(n + 1) % 3] = slice;
      place[(n + 2) % 3] = fiber;
      nonzeros.push_back({place, Scalar(1)});
    }
  };
  for (std::uint64_t slice = 0; slice < dims[(n + 1) % 3]; ++slice)
    if (slice % 4 == 2 && slice / 4 < lengths.size()) {
      add_fiber(slice, 7, 2);
      add_fiber(slice, 8, lengths[slice / 4]);
      add_fiber(slice, 39, 1);
    } else {
      for (std::uint64_t fiber = slice % 3; fiber < 40; fiber += 1 + slice % 2)
        add_fiber(slice, fiber, 1 + (slice + fiber) % 5);
    }
  return with_whole_values(sporades::test::make_coo<Scalar>(dims, nonzeros), 5);
}

/// A view of 2^32 entries on the host, zeros, of which the system gives only the pages in use.
template <class Scalar>
class HugeVector {
 public:
  HugeVector()
      : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~HugeVector() {
    if (is_there()) munmap(data_, bytes);
  }
  HugeVector(HugeVector const&) = delete;
  HugeVector& operator=(HugeVector const&) = delete;

  bool is_there() const { return data_ != MAP_FAILED; }
  Vector<Scalar, Kokkos::HostSpace> view() const {
    return Vector<Scalar, Kokkos::HostSpace>(static_cast<Scalar*>(data_), length);
  }

 private:
  static constexpr std::size_t length = std::size_t{1} << 32, bytes = length * sizeof(Scalar);
  void* data_;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("sptv equals its definition", "[kernels][sptv]", IndexCases) {
  for (auto const& problem : fiber_problems()) check_all_modes<TestType>(problem);
}

TEMPLATE_LIST_TEST_CASE("sptv of long fibers among short ones equals its definition",
                        "[kernels][sptv]", Cases) {
  for (int n = 0; n < 3; ++n)
    check_mode<TestType>(
        long_fibers<typename TestType::Scalar>(
            n, {30000, 200000, 31, 2047, 2049, 4095, 4097, 8191, 8192, 8193, 12288, 12289}),
        n);
}

TEMPLATE_LIST_TEST_CASE("sptv of one fiber that has all nonzeros equals its definition",
                        "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  for (Position nnz : {30000, 200000})
    for (auto const& dims : {Dims{90000}, Dims{90000, 1}, Dims{90000, 1, 1}})
      check_mode<TestType>(
          with_whole_values(random_coo<Scalar, std::uint32_t>(Host{}, dims, nnz), 5), 0);
  auto X = random_coo<Scalar, std::uint32_t>(Host{}, {5000, 9, 8}, 30000);
  for (Position p = 0; p < X.nnz(); ++p) {
    X.coordinates(1, p) = 4;
    X.coordinates(2, p) = 7;
  }
  for (int n = 0; n < 3; ++n) check_mode<TestType>(with_whole_values(X, 5), n);
}

TEMPLATE_LIST_TEST_CASE("sptv equals spttm with one column", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  for (auto const& [dims, nnz, skew] : fiber_problems()) {
    auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz, 3, skew);
    auto const host = copy_to(Host{}, X);
    auto columns = make_spttm_plan(exec, X, {SpttmStrategy::lanes, 1});
    for (int n = 0; n < X.order(); ++n) {
      auto const v = random_vector<Scalar>(exec, dims[n], 9);
      auto const U = make_matrix<Scalar>(exec, "U", dims[n], 1);
      Kokkos::deep_copy(exec, Kokkos::subview(U, Kokkos::ALL, 0), v);
      auto const Z = make_spttm_output(exec, columns, n, 1);
      spttm(exec, columns, U, n, Z);
      exec.fence();
      auto const column = matrix_on_host(Z.values);
      auto const places = on_host(Z.coordinates);
      VectorProduct expected(host, {n}, std::vector{v});
      for (auto& [place, value] : expected.values) value.sum = 0;
      for (Position f = 0; f < Z.fibers(); ++f) {
        std::vector<std::uint64_t> place;
        for (int m = 0; m < X.order(); ++m) {
          auto const at = std::find(Z.sparse_modes.begin(), Z.sparse_modes.end(), m);
          if (m != n) place.push_back(places(at - Z.sparse_modes.begin(), f));
        }
        expected.values.at(place).sum += column(f, 0);
      }
      for (auto const& [name, options] : sptv_ways()) {
        INFO(to_string(dims) << ", mode " << n << ", " << name);
        auto plan = make_sptv_plan(exec, X, n, options);
        auto const Y = make_sptv_output(exec, plan);
        sptv(exec, plan, v, Y);
        exec.fence();
        expected.check(Y, order_of_values(n, X.order()));
      }
    }
  }
}

// With factors that are powers of two, every rounding is the same.
TEMPLATE_LIST_TEST_CASE("sptv of very small and very large numbers", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const scaled = [&](auto const& from, int power) {
    std::vector<Scalar> entries;
    auto const host = on_host(from);
    for (std::size_t i = 0; i < host.extent(0); ++i) entries.push_back(std::ldexp(host(i), power));
    return vector_of(exec, entries);
  };
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {2000, 3, 50}, 30000, 5, 2);
  auto const v = random_vector<Scalar>(exec, 2000, 6);
  for (auto const& [name, options] : sptv_ways()) {
    auto const product = [&, &options = options](int of_values, int of_vector) {
      auto Z = X;
      Z.values = scaled(X.values, of_values);
      auto plan = make_sptv_plan(exec, Z, 0, options);
      auto const Y = make_sptv_output(exec, plan);
      sptv(exec, plan, scaled(v, of_vector), Y);
      exec.fence();
      return on_host(Y.values);
    };
    auto const plain = product(0, 0);
    for (int power : {-83, 83})  // 1e-25 and 1e25
      for (auto const& [of_values, of_vector] :
           {std::pair{power, 0}, {0, power}, {power, -power}}) {
        INFO(name << ", 2^" << of_values << ", 2^" << of_vector);
        auto const found = product(of_values, of_vector);
        REQUIRE(found.extent(0) == plain.extent(0));
        Position wrong = 0;
        for (std::size_t f = 0; f < plain.extent(0); ++f)
          wrong += found(f) != std::ldexp(plain(f), of_values + of_vector);
        CHECK(wrong == 0);
      }
  }
}

TEMPLATE_LIST_TEST_CASE("numbers that are not finite reach the fibers that use them, and no other",
                        "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  constexpr Scalar infinite = std::numeric_limits<Scalar>::infinity();
  constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
  std::vector<Problem> const all{
      {{400}, 30},         {{50, 3000}, 9000},      {{9000, 4}, 60000},
      {{40, 30, 50}, 900}, {{50, 40, 30}, 9000, 4}, {{5, 4, 3, 4, 5}, 200}};
  Position finite = 0, other = 0;
  for (auto const& [dims, nnz, skew] : all)
    for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
      auto const X = random_coo<Scalar, std::uint32_t>(Host{}, dims, nnz, 11, skew);
      X.values(nnz / 2) = not_a_number;
      X.values(nnz / 3) = -infinite;
      // Padding has the last index; what reads it as another one reads the first, most likely.
      auto const random = on_host(random_vector<Scalar>(exec, dims[n], 12));
      std::vector<Scalar> entries(random.data(), random.data() + dims[n]);
      entries.back() = -infinite;
      entries[dims[n] / 2] = infinite;
      entries.front() = not_a_number;
      auto const v = vector_of(exec, entries);
      VectorProduct const expected(X, {n}, std::vector{v});
      for (auto const& [place, value] : expected.values)
        ++(std::isfinite(value.sum) ? finite : other);
      for (auto const& [name, options] : sptv_ways()) {
        INFO(to_string(dims) << ", mode " << n << ", " << name);
        auto plan = make_sptv_plan(exec, copy_to(exec, X), n, options);
        auto const Y = make_sptv_output(exec, plan);
        sptv(exec, plan, v, Y);
        exec.fence();
        expected.check(Y, order_of_values(n, X.order()));
      }
    }
  CHECK(finite > 1000);
  CHECK(other > 100);
}

TEMPLATE_LIST_TEST_CASE("sptv with the index that marks padding elsewhere", "[kernels][sptv]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  if constexpr (Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible) {
    HugeVector<Scalar> const memory;
    if (!memory.is_there()) {
      WARN("skipped: no room for the addresses of 2^32 numbers");
      return;
    }
    Exec const exec{};
    auto const v = memory.view();
    std::uint32_t const last = ~0u;
    v(last) = 3;
    v(5) = 2;
    auto const X = sporades::test::make_coo<Scalar>(
        {3, std::uint64_t{1} << 32},
        {{{2, last}, Scalar(10)}, {{0, last}, Scalar(100)}, {{2, 5}, Scalar(1)}});
    for (auto const& [name, options] : sptv_ways()) {
      INFO(name);
      if (options.slices == HocfsSlices::ell) {
        CHECK_THROWS_AS(make_sptv_plan(exec, X, 1, options), Error);
        continue;
      }
      auto plan = make_sptv_plan(exec, X, 1, options);
      auto const Y = make_sptv_output(exec, plan);
      sptv(exec, plan, v, Y);
      exec.fence();
      CHECK(entries(Y) == Entries<Scalar>{{{0}, Scalar(300)}, {{2}, Scalar(32)}});
    }
  }
}

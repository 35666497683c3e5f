// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Chains of SpTV against their definition, against MTTKRP, and on real tensors.

#include <numeric>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/sptv.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <support/vector_products.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

std::vector<int> first_modes(std::size_t count) {
  std::vector<int> modes(count);
  std::iota(modes.begin(), modes.end(), 0);
  return modes;
}

/// A vector for each of these modes: random ones, or whole numbers of 1 and 2.
template <class Scalar, class ExecutionSpace>
auto vectors_of(ExecutionSpace const& exec, Dims const& dims, std::vector<int> const& modes,
                bool is_whole) {
  std::vector<VectorOn<Scalar, ExecutionSpace>> vectors;
  for (int m : modes)
    vectors.push_back(is_whole
                          ? whole_vector<Scalar>(exec, dims[m], 2)
                          : random_vector<Scalar>(exec, dims[m], 20 + static_cast<unsigned>(m)));
  return vectors;
}

/// All ordered selections of up to `most` of N modes.
std::vector<std::vector<int>> selections(int N, std::size_t most) {
  std::vector<std::vector<int>> all{{}};
  for (std::size_t k = 0; k < all.size(); ++k)
    for (int m = 0; m < N && all[k].size() < most; ++m)
      if (std::find(all[k].begin(), all[k].end(), m) == all[k].end()) {
        auto longer = all[k];
        longer.push_back(m);
        all.push_back(longer);
      }
  all.erase(all.begin());
  return all;
}

/// X, of whole numbers, times vectors in these modes, by a chain.
template <class ExecutionSpace, class Tensor>
void check_chain(ExecutionSpace const& exec, Tensor const& X, std::vector<int> const& modes) {
  using Scalar = typename Tensor::Scalar;
  auto const on_device = copy_to(exec, X);
  for (bool is_whole : {false, true}) {
    std::string listed;
    for (int m : modes) listed += " " + std::to_string(m);
    INFO(to_string(X.dims) << ", nnz " << X.nnz() << ", modes" << listed);
    auto const vectors = vectors_of<Scalar>(exec, X.dims, modes, is_whole);
    VectorProduct const expected(X, modes, vectors);
    auto const Y = sptv_chain(exec, on_device, modes, vectors);
    expected.check(Y, first_modes(X.dims.size() - modes.size()), is_whole);
  }
}

template <class Scalar, class Index = std::uint32_t>
CooTensor<Scalar, Index> whole_tensor(Dims const& dims, Position nnz, double skew = 1) {
  return with_whole_values(random_coo<Scalar, Index>(Host{}, dims, nnz, 7, skew), 3);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sptv_chain equals its definition, whatever the modes and their order",
                        "[kernels][sptv]", IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  struct Problem {
    Dims dims;
    Position nnz;
    std::size_t most;  // modes
  };
  for (auto const& [dims, nnz, most] :
       {Problem{{50}, 300, 1}, Problem{{7}, 0, 1}, Problem{{9, 2000}, 900, 2},
        Problem{{20, 1, 9}, 100, 3}, Problem{{30, 40, 50}, 3000, 3}, Problem{{0, 3, 2}, 0, 3},
        Problem{{8, 9, 5, 7}, 900, 4}, Problem{{5, 4, 3, 4, 5}, 500, 2},
        Problem{{3, 4, 2, 3, 2, 4}, 300, 2}}) {
    auto const X = whole_tensor<Scalar, Index>(dims, nnz);
    for (auto const& modes : selections(X.order(), most)) check_chain(exec, X, modes);
  }
}

TEMPLATE_LIST_TEST_CASE("sptv_chain of high orders down to a scalar, a vector and a matrix",
                        "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  for (auto const& [dims, all] :
       {std::pair{Dims{5, 4, 3, 4, 5}, std::vector{3, 0, 4, 2, 1}},
        {Dims{3, 4, 2, 3, 2, 4}, std::vector{5, 4, 3, 2, 1, 0}},
        {Dims(16, 2), std::vector{9, 2, 15, 0, 11, 4, 13, 6, 1, 8, 3, 10, 5, 12, 7, 14}}}) {
    // with vectors of 1 and 2 in 16 modes, sums of few nonzeros stay below 2^24
    auto const X = whole_tensor<Scalar>(dims, dims.size() == 16 ? 60 : 900);
    for (std::size_t stay : {0, 1, 2})
      check_chain(exec, X, std::vector<int>(all.begin(), all.end() - static_cast<int>(stay)));
  }
}

TEMPLATE_LIST_TEST_CASE("sptv_chain of many nonzeros down to a scalar", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  check_chain(exec, whole_tensor<Scalar>({30000}, 200000), {0});
  auto const X = whole_tensor<Scalar>({60, 30000, 50}, 90000, 2);
  for (auto const& modes : {std::vector{1, 0, 2}, {2, 0, 1}, {0, 2}}) check_chain(exec, X, modes);
}

TEMPLATE_LIST_TEST_CASE("sptv takes what sptv gave, as sptv_chain does", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = whole_tensor<Scalar>({30, 2, 20, 9}, 3000);
  auto const v = vectors_of<Scalar>(exec, X.dims, {0, 1, 2, 3}, true);
  for (auto const& modes : selections(4, 4)) {
    if (modes.size() < 2) continue;
    for (auto const& [name, options] : sptv_ways()) {
      INFO(name);
      auto Y = copy_to(exec, X);
      std::vector<int> left = first_modes(4);  // of X, those that Y has
      std::vector<VectorOn<Scalar, typename TestType::ExecutionSpace>> vectors;
      for (int m : modes) {
        auto const at = std::find(left.begin(), left.end(), m);
        auto plan = make_sptv_plan(exec, Y, static_cast<int>(at - left.begin()), options);
        auto const Z = make_sptv_output(exec, plan);
        sptv(exec, plan, v[m], Z);
        exec.fence();
        Y = Z;
        left.erase(at);
        vectors.push_back(v[m]);
      }
      VectorProduct const expected(X, modes, vectors);
      expected.check(Y, Y.sorted_modes, true);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("mttkrp with one component equals sptv_chain", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  for (auto const& dims : {Dims{30, 40}, Dims{30, 40, 50}, Dims{8, 9, 1, 7}, Dims{5, 4, 3, 4, 5}}) {
    auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 700, 4, 2);
    auto plan = make_mttkrp_plan(exec, X);
    auto const A =
        random_factor_list<typename TestType::ExecutionSpace, Scalar>(exec, dims, 1, true);
    for (int n = 0; n < X.order(); ++n) {
      INFO(to_string(dims) << ", mode " << n);
      std::vector<int> modes;
      std::vector<VectorOn<Scalar, typename TestType::ExecutionSpace>> vectors;
      for (int m = X.order(); m-- > 0;) {
        if (m == n) continue;
        modes.push_back(m);
        vectors.emplace_back("v", dims[m]);
        Kokkos::deep_copy(vectors.back(), Kokkos::subview(A[m], Kokkos::ALL, 0));
      }
      auto const V = make_matrix<Scalar>(exec, "V", dims[n], 1);
      mttkrp(exec, plan, A, n, V);
      exec.fence();
      auto const rows = matrix_on_host(V);
      VectorProduct expected(copy_to(Host{}, X), modes, vectors);
      for (auto& [place, value] : expected.values) value.sum = rows(place[0], 0);
      expected.check(sptv_chain(exec, X, modes, vectors), {0});
    }
  }
}

TEMPLATE_LIST_TEST_CASE("sptv_chain without vectors sorts", "[kernels][sptv]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {6, 5, 4}, 300);
  auto const Y = sptv_chain(exec, X, {}, {});
  CHECK(Y.sorted_modes == first_modes(3));
  check_same_nonzeros(copy_to(Host{}, Y), copy_to(Host{}, sorted(exec, X, {0, 1, 2})));
}

TEMPLATE_LIST_TEST_CASE("sptv_chain gives the same bits, by labelled kernels on its instance",
                        "[kernels][sptv][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {30, 20000, 2}, 90000, 3, 2);
  for (auto const& modes : {std::vector{1}, {2, 1}, {0, 2}, {0, 2, 1}}) {
    auto const vectors = vectors_of<Scalar>(exec, X.dims, modes, false);
    std::string name = std::string("sptv_chain ") + Exec::name() + " bytes " +
                       std::to_string(sizeof(Scalar)) + " modes";
    for (int m : modes) name += " " + std::to_string(m);
    for (int run = 0; run < 2; ++run)
      check_launches(exec, [&] {
        auto const Y = sptv_chain(exec, X, modes, vectors);
        check_same_bits(name, hash_bits(Y.values));
      });
  }
}

// Products of every mode by every strategy, and chains, on tensors of counts.
TEST_CASE("sptv and sptv_chain on real tensors", "[kernels][sptv][shared]") {
  Kokkos::DefaultExecutionSpace const exec{};
  for (char const* name : {"marvel-characters-7d.tns.gz", "real/nyc-fhv-2015-3d.tns.gz"}) {
    auto const path = data_or_shared_file(name);
    if (path.empty()) continue;
    auto const X = read_tensor<double, std::uint32_t>(path).tensor;
    auto const on_device = copy_to(exec, X);
    int const N = X.order();
    for (int n = 0; n < N; ++n) {
      auto const v = random_vector<double>(exec, X.dims[n], 3);
      VectorProduct const expected(X, {n}, std::vector{v});
      double const rows = sporades::detail::dense_size(X.dims) / static_cast<double>(X.dims[n]);
      std::vector<int> modes;
      for (int m = n + 1; m < n + N; ++m) modes.push_back(m < N ? m - 1 : m - N);
      for (auto const& [way, options] : sptv_ways()) {
        if (options.strategy == SptvStrategy::hocsr && rows > 1e7) continue;
        INFO(name << ", mode " << n << ", " << way);
        auto plan = make_sptv_plan(exec, on_device, n, options);
        auto const Y = make_sptv_output(exec, plan);
        sptv(exec, plan, v, Y);
        exec.fence();
        expected.check(Y, modes);
      }
    }
    auto modes = first_modes(static_cast<std::size_t>(N));
    do {
      std::rotate(modes.begin(), modes.begin() + 1, modes.end());
      for (int count = 1; count <= N; ++count)
        check_chain(exec, X, std::vector<int>(modes.begin(), modes.begin() + count));
    } while (modes != first_modes(static_cast<std::size_t>(N)));
  }
}

TEST_CASE("sptv_chain refuses what does not fit", "[kernels][sptv]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Catch::Matchers::ContainsSubstring;
  Exec const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  auto const refused = [&](std::vector<int> const& modes, std::vector<int> const& lengths) {
    std::vector<VectorOn<double, Exec>> vectors;
    for (int length : lengths)
      vectors.push_back(random_vector<double>(exec, static_cast<std::size_t>(length), 1));
    return message_of([&] { sptv_chain(exec, X, modes, vectors); });
  };
  CHECK(refused({2, 0}, {4, 6}) == "no error");
  CHECK(sptv_chain(exec, X, {0, 2},
                   {random_vector<double>(exec, 6, 1), random_vector<double>(exec, 4, 1)})
            .order() == 1);
  CHECK(refused({2, 0, 2}, {4, 6, 4}) == "sptv_chain: mode 2 is listed twice");
  CHECK(refused({2, 0}, {4}) == "sptv_chain: 1 vectors for 2 modes");
  CHECK(refused({2}, {4, 6}) == "sptv_chain: 2 vectors for 1 modes");
  CHECK(refused({}, {4}) == "sptv_chain: 1 vectors for 0 modes");
  CHECK(refused({3}, {4}) == "sptv_chain: mode 3 of a tensor of order 3");
  CHECK(refused({1, -1}, {5, 4}) == "sptv_chain: mode -1 of a tensor of order 3");
  CHECK(refused({2, 0}, {6, 4}) == "sptv_chain: the vector of mode 2 has 6 entries, the mode 4");
  CHECK(refused({2, 0}, {4, 5}) == "sptv_chain: the vector of mode 0 has 5 entries, the mode 6");
  auto const bad = sporades::test::make_coo<double>({2, 3}, {{{0, 1}, 1}, {{1, 3}, 1}});
  CHECK_THAT(message_of([&] {
               sptv_chain(exec, copy_to(exec, bad), {0},
                          std::vector{random_vector<double>(exec, 2, 1)});
             }),
             ContainsSubstring("sptv_chain: nonzero 1, mode 1: the index 3"));
}

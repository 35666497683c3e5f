// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The four formats of Yang, Li & Li, TKDD 2019, against the paper: its worked example and its
/// tables of storage; and the order of the four formats' storage on real tensors.

#include <set>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

using List = std::vector<int>;

template <class ViewType>
List list(ViewType const& view) {
  auto const host = on_host(view);
  List entries(host.extent(0));
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<int>(host(i));
  return entries;
}

template <class Views>
std::vector<List> lists(Views const& views) {
  std::vector<List> result;
  for (auto const& view : views) result.push_back(list(view));
  return result;
}

/// The paper counts from 1.
List from_0(List entries) {
  for (int& entry : entries) --entry;
  return entries;
}

/// The paper's 4 x 5 x 4 tensor, the last nonzero first.
template <class Scalar, class ExecutionSpace>
auto example(ExecutionSpace const& exec) {
  int const X[4][5][4] = {{{3, 1, 0, 0}, {0, 9, 0, 0}, {0, 7, 3, 0}, {0, 0, 5, 8}, {2, 0, 0, 0}},
                          {},
                          {{0, 0, 4, 0}, {0, 0, 0, 7}, {5, 0, 0, 2}, {0, 1, 6, 0}, {0, 0, 0, 0}},
                          {{0, 7, 0, 8}, {3, 0, 0, 0}, {0, 0, 2, 1}, {0, 0, 0, 0}, {0, 0, 6, 5}}};
  Entries<Scalar> nonzeros;
  for (std::uint64_t i = 4; i-- > 0;)
    for (std::uint64_t j = 5; j-- > 0;)
      for (std::uint64_t k = 4; k-- > 0;)
        if (X[i][j][k] != 0) nonzeros.push_back({{i, j, k}, static_cast<Scalar>(X[i][j][k])});
  return copy_to(exec, sporades::test::make_coo<Scalar>({4, 5, 4}, nonzeros));
}

// Along the third mode, as the paper has HOCOO, HOCSR and HOCFS.
List const indices = from_0({1, 2, 2, 2, 3, 3, 4, 1, 3, 4, 1, 4, 2, 3, 2, 4, 1, 3, 4, 3, 4});
List const figure_values = {3, 1, 9, 7, 3, 5, 8, 2, 4, 7, 5, 2, 1, 6, 7, 8, 3, 2, 1, 6, 5};

}  // namespace

TEMPLATE_LIST_TEST_CASE("the example of the formats' paper", "[formats][yan19]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = example<Scalar>(exec);

  SECTION("HOCOO: the paper prints one 4 of T_i too few") {
    auto const H = make_hocoo(exec, X, 2);
    auto row = [&](int n) { return list(Kokkos::subview(H.tensor.coordinates, n, Kokkos::ALL)); };
    CHECK(row(0) == from_0({1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4}));
    CHECK(row(1) == from_0({1, 1, 2, 3, 3, 4, 4, 5, 1, 2, 3, 3, 4, 4, 1, 1, 2, 3, 3, 5, 5}));
    CHECK(row(2) == indices);
    CHECK(list(H.tensor.values) == figure_values);
    CHECK(H.mode() == 2);
    CHECK(H.storage_words() == 4 * 21);
  }
  SECTION("HOCSR: the paper prints one 9 of T_j too few") {
    auto const H = make_hocsr(exec, X, 2);
    CHECK(list(H.begin) ==
          from_0({1, 3, 4, 6, 8, 9, 9, 9, 9, 9, 9, 10, 11, 13, 15, 15, 17, 18, 20, 20, 22}));
    CHECK(list(H.index) == indices);
    CHECK(list(H.values) == figure_values);
    CHECK(H.row_modes == List{0, 1});
    CHECK(H.storage_words() == 4 * 5 + 2 * 21);
    CHECK(H.storage_bytes() == 21 * 8 + 21 * (4 + sizeof(Scalar)));
  }
  SECTION("CFB: the paper leaves out (4, 8), which is fiber 4, and (4, 2) of fiber 11") {
    auto const C = make_cfb(exec, X, 0);
    CHECK(list(C.number) == from_0({1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 14, 15, 16, 17, 19, 20}));
    auto const begin = list(C.begin);
    List count;
    for (std::size_t b = 0; b + 1 < begin.size(); ++b) count.push_back(begin[b + 1] - begin[b]);
    CHECK(count == List{1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 2, 1, 1, 1, 1});
    CHECK(list(C.index) == from_0({1, 1, 4, 3, 4, 4, 1, 3, 3, 1, 1, 4, 3, 4, 3, 1, 3, 1, 1, 4, 4}));
    CHECK(list(C.values) == List{3, 1, 7, 4, 8, 3, 9, 7, 5, 7, 3, 2, 2, 1, 1, 5, 6, 8, 2, 6, 5});
    CHECK(C.other_modes == List{1, 2});
    CHECK(C.storage_words() == 2 * 17 + 2 * 21);
    CHECK(C.storage_bytes() == (17 + 18) * 8 + 21 * (4 + sizeof(Scalar)));
  }
  SECTION("HOCFS, Table 1") {
    auto const H = make_hocfs(exec, X, 2, HocfsSlices::csr);
    CHECK(lists(H.indices) ==
          std::vector{from_0({1, 3, 4}), from_0({1, 2, 3, 4, 5, 1, 2, 3, 4, 1, 2, 3, 5})});
    CHECK(lists(H.first_child) == std::vector<List>{{0, 5, 9, 13}});
    CHECK(list(H.first_fiber) == List{0, 5, 9, 13});
    CHECK(list(H.begin) == List{0, 2, 3, 5, 7, 8, 9, 10, 12, 14, 16, 17, 19, 21});
    CHECK(list(H.index) == indices);
    CHECK(list(H.values) == figure_values);
    CHECK(list(H.formats) == List{0, 0, 0});
    CHECK(H.mode_order == List{0, 1, 2});
    CHECK(H.storage_words() == 2 * 3 + 2 * 13 + 2 * 21);
    CHECK(H.storage_bytes() == 16 * 4 + (4 + 14) * 8 + 21 * (4 + sizeof(Scalar)) + 3);
    CHECK(list(make_hocfs(exec, X, 2).formats) == List{0, 0, 0});  // ELL pads too much
  }
  SECTION("HOCFS of ELL slices") {
    auto const H = make_hocfs(exec, X, 2, HocfsSlices::ell);
    CHECK(list(H.begin) == List{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26});
    CHECK(list(H.index) == from_0({1, 2, 2, 3, 1, 2, 0, 3, 4, 0, 3, 4, 1,
                                   2, 0, 0, 4, 3, 2, 1, 3, 3, 4, 0, 4, 4}));  // 0: no_index
    CHECK(list(H.values) ==
          List{3, 9, 7, 5, 2, 1, 0, 3, 8, 0, 4, 7, 5, 1, 0, 0, 2, 6, 7, 3, 2, 6, 8, 0, 1, 5});
    CHECK(list(H.formats) == List{1, 1, 1});
    CHECK(H.ell_slices == 3);
    CHECK(H.nnz() == 21);
    CHECK(H.storage_words() == 2 * 3 + 2 * 13 + 2 * 21);
    CHECK(H.storage_bytes() == 16 * 4 + (4 + 14) * 8 + 26 * (4 + sizeof(Scalar)) + 3);
  }
  SECTION("HOCFS of the slices that are full enough: 8 of 10, 6 of 8 and 7 of 8") {
    auto const formats = [&](double least_fill) {
      return list(make_hocfs(exec, X, 2, HocfsSlices::ell, least_fill).formats);
    };
    CHECK(formats(0.75) == List{1, 1, 1});
    CHECK(formats(0.8) == List{1, 0, 1});
    CHECK(formats(0.81) == List{0, 0, 1});
    CHECK(formats(1) == List{0, 0, 0});
    auto const H = make_hocfs(exec, X, 2, HocfsSlices::ell, 0.81);
    CHECK(H.ell_slices == 1);
    List index(indices.begin(), indices.begin() + 14);
    for (int i : from_0({2, 1, 3, 3, 4, 0, 4, 4})) index.push_back(i);
    CHECK(list(H.index) == index);
    CHECK(list(H.begin) == List{0, 2, 3, 5, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22});
  }
}

TEST_CASE("storage words are those of the paper's Tables 4 to 6", "[formats][yan19]") {
  struct Tensor {
    Dims dims;
    Position nnz;
  };
  Tensor const tensors[] = {{{71534, 65133, 60}, 855598},      {{71534, 65133, 31}, 47957},
                            {{108035, 107253, 31}, 437593},    {{2100, 18745, 60}, 186479},
                            {{6040, 3952, 31}, 1000209},       {{71567, 130642, 31}, 1048575},
                            {{100208, 10147, 10000}, 9999998}, {{100208, 10392, 2000}, 19999898},
                            {{100208, 10504, 1000}, 29999529}};
  struct Row {
    std::uint64_t hocoo, slices, fibers, hocsr, cfb, hocfs;
  };
  Row const rows[3][9] = {{{3422392, 10109, 165687, 5619176, 2042570, 2062788},
                           {191828, 5908, 25086, 2115037, 146086, 157902},
                           {1750372, 69223, 100484, 4200029, 1076154, 1214600},
                           {745916, 12523, 13788, 1497658, 400534, 425580},
                           {4000836, 3706, 89427, 2122930, 2179272, 2186684},
                           {4194300, 14026, 174067, 6147052, 2445284, 2473336},
                           {39999992, 9999, 9516446, 121469996, 39032888, 39052886},
                           {79999592, 9999, 12642118, 60783796, 65284032, 65304030},
                           {119998116, 9999, 9502956, 70503058, 79004970, 79024968}},
                          {{3422392, 60, 27567, 6003236, 1766330, 1766450},
                           {191828, 31, 4688, 2313468, 105290, 105352},
                           {1750372, 31, 34551, 4224271, 944288, 944350},
                           {745916, 60, 2223, 498958, 377404, 377524},
                           {4000836, 31, 17723, 2187658, 2035864, 2035926},
                           {4194300, 31, 26464, 4315727, 2150078, 2150140},
                           {39999992, 9999, 9950117, 1022079996, 39900230, 39920228},
                           {79999592, 1999, 19033609, 240415796, 78067014, 78071012},
                           {119998116, 999, 25917967, 160207058, 111834992, 111836990}},
                          {{3422392, 2113, 855598, 4660935218, 3422392, 3426618},
                           {191828, 2113, 27712, 4659319936, 151338, 155564},
                           {1750372, 1867, 104799, 11587953041, 1084784, 1088518},
                           {745916, 1892, 71064, 39737458, 515086, 518870},
                           {4000836, 6039, 1000209, 25870498, 4000836, 4012914},
                           {4194300, 7119, 1048575, 9351753164, 4194300, 4208538},
                           {39999992, 99999, 9950296, 1036810572, 39900588, 40100586},
                           {79999592, 99999, 19801191, 1081361332, 79602178, 79802176},
                           {119998116, 99999, 29555291, 1112583890, 119109640, 119309638}}};
  for (int n = 0; n < 3; ++n)
    for (int t = 0; t < 9; ++t) {
      auto const& [dims, nnz] = tensors[t];
      Row const& row = rows[n][t];
      INFO("Table " << 4 + n << ", tensor " << t + 1);
      Position const all_rows = dims[(n + 1) % 3] * dims[(n + 2) % 3];
      CHECK(sporades::detail::hocoo_words(3, nnz) == row.hocoo);
      CHECK(sporades::detail::hocsr_words(all_rows, nnz) == row.hocsr);
      CHECK(sporades::detail::cfb_words(row.fibers, nnz) == row.cfb);
      CHECK(sporades::detail::hocfs_words(row.slices + row.fibers, nnz) == row.hocfs);
    }
}

// The order of the formats by storage words. Slices and fibers are counted apart from the formats.
TEST_CASE("storage of real tensors in the four formats", "[formats][yan19][shared]") {
  Kokkos::DefaultExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  int last = 0, not_last = 0;  // places of HOCSR
  for (char const* name :
       {"police-deaths-3d.tns.gz", "marvel-characters-7d.tns.gz", "shakespeare-trigram-3d.tns.gz",
        "real/nyc-fhv-2015-3d.tns.gz", "real/shakespeare-speaker-trigram-4d.tns.gz"}) {
    auto const path = data_or_shared_file(name);
    if (path.empty()) continue;
    auto const X = read_tensor<double, std::uint32_t>(path).tensor;
    auto const on_device = copy_to(exec, X);
    int const N = X.order();
    for (int n = 0; n < N; ++n) {
      INFO(name << ", mode " << n);
      std::uint64_t nodes = 0, fibers = 0;
      for (int level = 0; level < N - 1; ++level) {
        std::set<std::vector<std::uint32_t>> distinct;
        for (Position p = 0; p < X.nnz(); ++p) {
          std::vector<std::uint32_t> node;
          for (int l = 0; l <= level; ++l) node.push_back(X.coordinates((n + 1 + l) % N, p));
          distinct.insert(node);
        }
        fibers = distinct.size();
        nodes += fibers;
      }
      auto const hocoo = make_hocoo(exec, on_device, n);
      auto const cfb = make_cfb(exec, on_device, n);
      auto const hocfs = make_hocfs(exec, on_device, n);
      CHECK(cfb.buckets() == fibers);
      CHECK(cfb.storage_words() <= hocoo.storage_words());
      CHECK(hocfs.storage_words() == 2 * nodes + 2 * X.nnz());
      if (N == 3) CHECK((hocfs.storage_words() > hocoo.storage_words()) == (nodes > X.nnz()));
      double const rows = sporades::detail::dense_size(X.dims) / static_cast<double>(X.dims[n]);
      double const hocsr = sporades::detail::hocsr_words(rows, static_cast<double>(X.nnz()));
      bool const is_last =
          hocsr > static_cast<double>(std::max(hocoo.storage_words(), hocfs.storage_words()));
      if (rows > 20 * static_cast<double>(X.nnz())) CHECK(is_last);
      ++(is_last ? last : not_last);
      if (rows < 1e7) {
        auto const H = make_hocsr(exec, on_device, n);
        CHECK(static_cast<double>(H.storage_words()) == hocsr);
        check_same_nonzeros(copy_to(host, to_coo(exec, H)), copy_to(host, to_coo(exec, hocoo)));
      }
      check_same_nonzeros(copy_to(host, to_coo(exec, cfb)), copy_to(host, to_coo(exec, hocoo)));
      check_same_nonzeros(copy_to(host, to_coo(exec, hocfs)), copy_to(host, to_coo(exec, hocoo)));
    }
  }
  CHECK(last > 0);
  CHECK(not_last > 0);
}

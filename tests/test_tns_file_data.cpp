// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <sporades/formats/files/tns_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;

TEST_CASE("real tensors, and files of other programs", "[tns][shared]") {
  struct Case {
    std::string name;
    std::string dialect;
    Dims dims;
    std::size_t nnz;
    double sum;
  };
  auto const it = GENERATE(values<Case>({
      {"police-deaths-3d.tns.gz", "FROSTT", {36, 199, 60}, 11942, 21581},
      {"marvel-characters-7d.tns.gz", "FROSTT", {5, 4, 25, 26, 5, 2, 75}, 10792, 15561},
      {"shakespeare-trigram-3d.tns.gz", "FROSTT", {12631, 12631, 12631}, 183922, 204060},
      {"packages-small.tns.gz", "FROSTT", {9452, 4093, 9}, 59974, 59974},
      {"readers/sptensor_small.tns", "sptensor", {3, 3, 3}, 3, 6},
      {"readers/genten/A_tensor.txt", "tensor", {4, 3, 2}, 24, 300},
      {"readers/genten/C_sptensor.txt", "sptensor", {4, 3, 2}, 5, 15},
      {"readers/parti/3d_7.tns", "ParTI", {4, 4, 3}, 9, 46},
      {"readers/parti/3d_8.tns", "ParTI", {4, 4, 3}, 8, 36},
      {"readers/parti/4d_3_16.tns", "FROSTT", {3, 3, 3, 3}, 16, 136},
      {"readers/pyttb/sptensor.tns", "sptensor", {5, 4, 3}, 18, 171},
      {"readers/pyttb/sptensor_0_based.tns", "sptensor", {5, 4, 3}, 18, 171},
      {"readers/pyttb/tensor.tns", "tensor", {3, 3, 3}, 27, 378},
      {"readers/sparten/sptensor_one_based_index.tns", "sptensor", {5, 4, 3}, 18, 171},
      {"readers/sparten/sptensor_zero_based_index.tns", "sptensor", {5, 4, 3}, 18, 171},
      {"readers/sparten/sptensor_zero_slice.tns", "sptensor", {5, 4, 3}, 14, 132},
      {"splatt/small.tns", "FROSTT", {2, 3, 2}, 6, 21},
      {"splatt/small4.tns", "FROSTT", {2, 2, 3, 3}, 8, 25},
      {"splatt/med.tns.gz", "FROSTT", {2425, 10816, 29567}, 100000, 376882},
      {"splatt/med4.tns.gz", "FROSTT", {60114, 83826, 23034, 1132}, 100000, 50007.2},
      {"splatt/med5.tns.gz", "FROSTT", {60114, 83826, 23034, 1132, 100}, 100000, 50007.2},
      {"cp_als/aminoacid_data.txt.gz", "sptensor", {5, 201, 61}, 61305, 6896370},
      {"matmul/matmul_2-2-2.tns", "FROSTT", {4, 4, 4}, 8, 8},
  }));
  auto const path = data_or_shared_file(it.name);
  if (path.empty()) return;
  INFO(path);
  auto const result = read_tensor<double>(path);
  double sum = 0;
  for (auto const& entry : entries(result.tensor)) sum += entry.second;
  CHECK(result.dialect == it.dialect);
  CHECK(dims_of(result.tensor) == it.dims);
  CHECK(entries(result.tensor).size() == it.nnz);
  CHECK(std::abs(sum - it.sum) <= 1e-5 * it.sum);
}

TEST_CASE("other programs' files of one tensor load equal", "[tns][shared]") {
  auto const equal = [](std::string const& one, ReadOptions const& options,
                        std::string const& other) {
    auto const a = shared_file(one), b = shared_file(other);
    if (a.empty() || b.empty()) return;
    CHECK(entries(read_tensor<double>(a, options).tensor) ==
          entries(read_tensor<double>(b).tensor));
  };
  equal("readers/pyttb/sptensor.tns", {}, "readers/pyttb/sptensor_0_based.tns");
  equal("readers/sparten/sptensor_one_based_index.tns", {},
        "readers/sparten/sptensor_zero_based_index.tns");
  ReadOptions per_mode;
  per_mode.index_base = IndexBase::per_mode;
  equal("splatt/small4_zeroidx.tns", per_mode, "splatt/small4.tns");
}

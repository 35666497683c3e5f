// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fuzz/fuzzing.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/ktensor_file.hpp>

/// Reads the input as a model's text.

using namespace sporades;
using namespace sporades::fuzzing;

namespace {

template <class Scalar>
void read(std::string_view content) {
  try {
    auto const model = parse_ktensor<Scalar>(content, "x");
    require(model.rank() > 0 && model.order() > 0);
    for (auto const& A : model.factors)
      for (std::size_t i = 0; i < A.extent(0); ++i)
        for (int r = 0; r < model.rank(); ++r) require(A(i, r) - A(i, r) == 0);
  } catch (Error const&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  start_kokkos();
  std::string_view const content(reinterpret_cast<char const*>(data), size);
  read<double>(content);
  read<float>(content);
  return 0;
}

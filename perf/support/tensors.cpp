// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>
#include <sporades/algorithms/generate.hpp>
#include <sporades/formats/tns_file.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

template <class Scalar>
CooTensor<Scalar> load(std::string const& name) {
  auto const known = generate_like_names();
  std::string const preset = name.substr(0, name.find(':'));
  if (std::find(known.begin(), known.end(), preset) == known.end()) {
    auto result = read_tensor<Scalar>(name);
    expects(std::holds_alternative<CooTensor<Scalar>>(result.tensor), name,
            ": benchmarks take 32-bit indices");
    return std::get<CooTensor<Scalar>>(result.tensor);
  }
  std::optional<Position> nnz;
  if (preset != name) nnz = std::stoull(name.substr(preset.size() + 1));
  return copy_to(Kokkos::DefaultHostExecutionSpace{},
                 generate_like<Scalar>(Kokkos::DefaultExecutionSpace{}, preset, nnz));
}

}  // namespace

template <class Scalar>
CooTensor<Scalar> const& tensor(std::string const& name) {
  static std::string loaded;
  static CooTensor<Scalar> X;
  static bool const is_cleared_in_time = [] {
    Kokkos::push_finalize_hook([] { X = {}; });
    return true;
  }();
  static_cast<void>(is_cleared_in_time);
  if (loaded != name) {
    X = {};
    X = load<Scalar>(name);
    loaded = name;
  }
  return X;
}

template CooTensor<float> const& tensor<float>(std::string const&);
template CooTensor<double> const& tensor<double>(std::string const&);

std::string short_name(std::string const& name) {
  return name.substr(name.rfind('/') + 1);
}

}  // namespace sporades::perf

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sstream>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// 100,000 x 100,000 x 100,000, uniform; with a hub, half of the nonzeros lie in row 0 of mode 0.
template <class Scalar>
CooTensor<Scalar> uniform_tensor(Position nnz, bool has_hub) {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = generate<Scalar, std::uint32_t>(exec, {100000, 100000, 100000}, nnz, 0.0);
  if (!has_hub) return X;
  CooTensor<Scalar> Y{X.dims, X.coordinates, X.values, {}};
  auto const coordinates = X.coordinates;
  Kokkos::parallel_for(
      "sporades::perf::hub",
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Position>>(exec, 0,
                                                                                          nnz),
      KOKKOS_LAMBDA(Position p) {
        if (sporades::detail::splitmix64(p) & 1) coordinates(0, p) = 0;
      });
  exec.fence();
  return Y;
}

/// "30x40x5000:100000:0.6": dims, nonzeros and skew.
template <class Scalar>
CooTensor<Scalar> skewed_tensor(std::string const& name) {
  std::istringstream text(name);
  Dims dims(1);
  Position nnz = 0;
  double skew = 0;
  char separator = 0;
  while (text >> dims.back() >> separator && separator == 'x') dims.emplace_back();
  text >> nnz >> separator >> skew;
  return generate<Scalar, std::uint32_t>(Kokkos::DefaultHostExecutionSpace{}, dims, nnz, skew);
}

template <class Scalar>
CooTensor<Scalar> load(std::string const& name) {
  if (name.rfind("uniform:", 0) == 0)
    return uniform_tensor<Scalar>(std::stoull(name.substr(8)), false);
  if (name.rfind("hub:", 0) == 0) return uniform_tensor<Scalar>(std::stoull(name.substr(4)), true);
  if (std::count(name.begin(), name.end(), ':') == 2) return skewed_tensor<Scalar>(name);
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

/// Lets the results say "tensor uber": "183x24x1140x1717 3309490", dims and nonzeros.
void add_context(std::string const& name, Dims const& dims, Position nnz) {
  static std::set<std::string> described;
  if (!described.insert(short_name(name)).second) return;
  std::string text;
  for (auto dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  benchmark::AddCustomContext("tensor " + short_name(name), text + " " + std::to_string(nnz));
}

}  // namespace

template <class Scalar>
CooTensor<Scalar> const& tensor(std::string const& name) {
  static std::string loaded;
  auto& X = kept<CooTensor<Scalar>>();
  if (loaded != name) {
    X = {};
    X = load<Scalar>(name);
    loaded = name;
  }
  return X;
}

template <class Scalar>
int order_of(std::string const& name) {
  static std::map<std::string, int> orders;
  auto const [known, is_new] = orders.try_emplace(name, 0);
  if (is_new) {
    auto const& X = tensor<Scalar>(name);
    known->second = X.order();
    add_context(name, X.dims, X.nnz());
  }
  return known->second;
}

template int order_of<float>(std::string const&);
template int order_of<double>(std::string const&);
template CooTensor<float> const& tensor<float>(std::string const&);
template CooTensor<double> const& tensor<double>(std::string const&);

std::string short_name(std::string const& name) {
  return name.substr(name.rfind('/') + 1);
}

}  // namespace sporades::perf

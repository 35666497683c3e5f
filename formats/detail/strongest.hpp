// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/strongest.hpp>

namespace sporades {
namespace detail {

/// Whether Model is a Kruskal or Tucker tensor that the host can read.
template <class Model>
constexpr bool check_host_model() {
  if constexpr (!is_instance<Model, KruskalTensor> && !is_instance<Model, TuckerTensor>)
    static_assert(never<Model>, "strongest takes a KruskalTensor or a TuckerTensor");
  else if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                                 typename Model::MemorySpace>::accessible)
    static_assert(never<Model>,
                  "strongest takes a model on the host: copy_to(Kokkos::DefaultHostExecutionSpace{}"
                  ", model) copies it there");
  else
    return true;
  return false;
}

struct NoCore {
  template <class Given>
  NoCore(Given const&) {
    static_assert(never<Given>,
                  "strongest(model, count) takes a TuckerTensor: of a KruskalTensor it gives the "
                  "entries of column r of factor n, strongest(model, r, n, count)");
  }
};

/// The `count` places of largest |value(place)| among `size`, largest first, equal ones ascending.
template <class Value>
std::vector<std::size_t> strongest_places(std::size_t size, int count, Value const& value) {
  expects(count >= 0, "strongest: ", count, " entries");
  std::vector<std::size_t> places(size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  auto const end =
      places.begin() + static_cast<std::ptrdiff_t>(std::min(static_cast<std::size_t>(count), size));
  auto const magnitude = [&](std::size_t i) {
    auto const absolute = std::abs(value(i));
    return absolute >= 0 ? absolute : -1;  // NaN last
  };
  std::partial_sort(places.begin(), end, places.end(), [&](std::size_t i, std::size_t j) {
    auto const a = magnitude(i), b = magnitude(j);
    return a > b || (a == b && i < j);
  });
  places.erase(end, places.end());
  return places;
}

}  // namespace detail

template <class Model>
auto strongest(Model const& model, int r, int n, int count) {
  if constexpr (detail::check_host_model<Model>()) {
    expects(n >= 0 && n < model.order(), "strongest: mode ", n, " of a model of order ",
            model.order());
    auto const A = model.factors[static_cast<std::size_t>(n)];
    expects(r >= 0 && static_cast<std::size_t>(r) < A.extent(1), "strongest: column ", r,
            " of a factor of ", A.extent(1), " columns");
    std::vector<FactorEntry<typename Model::Scalar>> entries;
    auto const value = [&](std::size_t i) { return A(i, r); };
    for (std::size_t const i : detail::strongest_places(A.extent(0), count, value))
      entries.push_back({i, A(i, r)});
    return entries;
  }
}

template <class Scalar, class MemorySpace>
std::vector<CoreEntry<Scalar>> strongest(TuckerTensor<Scalar, MemorySpace> const& model,
                                         int count) {
  std::vector<CoreEntry<Scalar>> entries;
  if constexpr (detail::check_host_model<TuckerTensor<Scalar, MemorySpace>>()) {
    auto const value = [&](std::size_t place) { return model.core(place); };
    for (std::size_t const place : detail::strongest_places(model.core.extent(0), count, value)) {
      CoreEntry<Scalar> entry{{}, model.core(place)};
      std::size_t rest = place;
      for (int const rank : model.ranks()) {
        entry.columns.push_back(static_cast<int>(rest % static_cast<std::size_t>(rank)));
        rest /= static_cast<std::size_t>(rank);
      }
      entries.push_back(entry);
    }
  }
  return entries;
}

inline void strongest(detail::NoCore, int) {}

}  // namespace sporades

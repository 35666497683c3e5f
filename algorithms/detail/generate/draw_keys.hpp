// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/generate/draw.hpp>
#include <sporades/core/detail/launch.hpp>

/// Keys are drawn in the memory space of the tensor. On a device, whose exp and pow may differ from
/// the host's in their last bits, the few draws for which that could matter (about one of a
/// million) are listed, and the host does them again: so the tensor has the same bits on any
/// processor.
namespace sporades::detail {

template <class MemorySpace>
struct UncertainDraws {
  Kokkos::View<Position*, MemorySpace> places;  // room for all
  Kokkos::View<Position, MemorySpace> count;
};

template <class Source, class Math>
struct DrawKeys {
  using Keys = typename Source::Keys;

  Source source;
  Keys keys;                                                // draws
  UncertainDraws<typename Keys::memory_space> uncertain{};  // none where Math::error is 0

  KOKKOS_FUNCTION void operator()(Position i) const {
    bool is_certain = true;
    keys(i) = source.key(i, Math{}, is_certain);
    if (!is_certain)
      uncertain.places(Kokkos::atomic_fetch_add(&uncertain.count(), Position{1})) = i;
  }
};

template <class Source>
struct RedrawKeys {
  Source source;
  Kokkos::View<Position*, Kokkos::HostSpace> places;  // which draws
  typename Source::Keys keys;                         // as many

  KOKKOS_FUNCTION void operator()(Position k) const {
    bool is_certain = true;
    keys(k) = source.key(places(k), HostMath{}, is_certain);
  }
};

template <class Keys, class Places>
struct ReplaceKeys {
  Keys from;      // new keys
  Places places;  // as many
  Keys to;        // draws
  KOKKOS_FUNCTION void operator()(Position k) const { to(places(k)) = from(k); }
};

/// The keys of the draws at these places once more, by the host. Fences exec.
template <class ExecutionSpace, class Source, class Places>
void redraw_on_host(ExecutionSpace const& exec, Source const& source, Places const& places,
                    typename Source::Keys const& keys) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  using Keys = typename Source::Keys;
  using OnHost = typename Source::OnHost;
  Host const host{};
  Position const count = places.extent(0);
  auto const host_places = uninitialized<Kokkos::View<Position*, Kokkos::HostSpace>>(
      host, "sporades::generate::host_places", count);
  auto const host_keys =
      uninitialized<typename OnHost::Keys>(host, "sporades::generate::host_keys", count);
  auto const redrawn = uninitialized<Keys>(exec, "sporades::generate::redrawn", count);
  copy_view(exec, host_places, places);
  fence(exec, "sporades::generate::fetch_places");
  launch_items(host, "sporades::generate::redraw", count,
               RedrawKeys<OnHost>{source.on_host(), host_places, host_keys});
  fence(host, "sporades::generate::redraw");
  copy_view(exec, redrawn, host_keys);
  launch_items(exec, "sporades::generate::replace", count,
               ReplaceKeys<Keys, Places>{redrawn, places, keys});
  fence(exec, "sporades::generate::replace");  // before the Views go
}

/// Settles what DrawKeys left uncertain. Fences exec.
template <class ExecutionSpace, class Source, class MemorySpace>
void settle_draws(ExecutionSpace const& exec, Source const& source,
                  typename Source::Keys const& keys, UncertainDraws<MemorySpace> const& uncertain) {
  using Places = Kokkos::View<Position*, MemorySpace>;
  auto const count = Kokkos::create_mirror_view(uncertain.count);
  copy_view(exec, count, uncertain.count);
  fence(exec, "sporades::generate::count_uncertain");
  if (count() == 0) return;
  Places const places = Kokkos::subview(uncertain.places, std::make_pair(Position{0}, count()));
  redraw_on_host(exec, source, places, keys);
}

/// Keys 0 to count-1 of the source, as the host's mathematics gives them. Fences exec on a device.
template <class Math, class ExecutionSpace, class Source>
typename Source::Keys draw_keys(ExecutionSpace const& exec, Source const& source, Position count) {
  using Keys = typename Source::Keys;
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const keys = uninitialized<Keys>(exec, "sporades::generate::keys", count);
  UncertainDraws<MemorySpace> uncertain;
  if (Math::error > 0)
    uncertain = {uninitialized<Kokkos::View<Position*, MemorySpace>>(
                     exec, "sporades::generate::uncertain_places", count),
                 Kokkos::View<Position, MemorySpace>(
                     Kokkos::view_alloc(exec, "sporades::generate::uncertain_count"))};
  launch_items(exec, "sporades::generate::draw", count,
               DrawKeys<Source, Math>{source, keys, uncertain});
  if (Math::error > 0) settle_draws(exec, source, keys, uncertain);
  return keys;
}

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>

namespace sporades::detail {

/// A region that Kokkos Tools show around everything launched while this object lives. Regions
/// nest. Its name is the parts, written one after another; where no tool asks for regions (the
/// command itself counts allocations by callbacks of its own) it is not made:
///   Region const region("sporades::mttkrp ", to_string(strategy), ", mode ", n);
class Region {
 public:
  template <class... Parts>
  explicit Region(Parts const&... parts) : is_open_(is_wanted()) {
    if (is_open_) Kokkos::Tools::pushRegion(concatenate(parts...));
  }
  ~Region() {
    if (is_open_) Kokkos::Tools::popRegion();
  }
  Region(Region const&) = delete;
  Region& operator=(Region const&) = delete;

 private:
  static bool is_wanted() {
    return Kokkos::Tools::profileLibraryLoaded() &&
           Kokkos::Tools::Experimental::get_callbacks().push_region != nullptr;
  }

  bool is_open_;
};

}  // namespace sporades::detail

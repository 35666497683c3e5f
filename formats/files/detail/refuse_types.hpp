// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <string>

/// How the writers refuse what they cannot write: see formats/detail/refuse_types.hpp.

namespace sporades {
namespace detail {

struct NotTns {
  template <class Given>
  NotTns(Given const&) {
    static_assert(never<Given>,
                  "write_tns takes a CooTensor on the host: "
                  "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
  }
};

struct NotSpt {
  template <class Given>
  NotSpt(Given const&) {
    static_assert(never<Given>,
                  "write_spt takes a CooTensor on the host: "
                  "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
  }
};

struct NotKtensor {
  template <class Given>
  NotKtensor(Given const&) {
    static_assert(never<Given>,
                  "write_ktensor takes a KruskalTensor on the host: "
                  "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
  }
};

struct NotTtensor {
  template <class Given>
  NotTtensor(Given const&) {
    static_assert(never<Given>,
                  "write_ttensor takes a TuckerTensor on the host: "
                  "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
  }
};

}  // namespace detail

inline void write_tns(std::string const&, detail::NotTns) {}
inline void write_spt(std::string const&, detail::NotSpt) {}
inline void write_ktensor(std::string const&, detail::NotKtensor) {}
inline void write_ttensor(std::string const&, detail::NotTtensor) {}

}  // namespace sporades

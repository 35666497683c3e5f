// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by the headers of files.

#include <sporades/core/detail/check_types.hpp>
#include <string>

/// How the writers refuse what they cannot write: see formats/detail/refuse_types.hpp.

namespace sporades {

template <class Given>
void write_tns(std::string const&, Given const&) {
  static_assert(detail::never<Given>,
                "write_tns takes a CooTensor on the host: "
                "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
}

template <class Given>
void write_spt(std::string const&, Given const&) {
  static_assert(detail::never<Given>,
                "write_spt takes a CooTensor on the host: "
                "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
}

template <class Given>
void write_ktensor(std::string const&, Given const&) {
  static_assert(detail::never<Given>,
                "write_ktensor takes a KruskalTensor on the host: "
                "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
}

template <class Given>
void write_ttensor(std::string const&, Given const&) {
  static_assert(detail::never<Given>,
                "write_ttensor takes a TuckerTensor on the host: "
                "copy_to(Kokkos::DefaultHostExecutionSpace{}, ...) copies it there");
}

}  // namespace sporades

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Included where Kokkos was looked for or is a target already, here and by the installed package.
# Sees that Kokkos_VERSION, Kokkos_DEVICES and Kokkos_DIR are set, as find_package sets them, when
#   - Kokkos is a subfolder of this build: they are read from the package that it prepares for its
#     installation;
#   - the application found Kokkos in a scope whose variables are not seen here: it is found again.
if(TARGET Kokkos::kokkos)
  get_target_property(imported Kokkos::kokkos IMPORTED)
  if(NOT imported AND EXISTS "${Kokkos_BINARY_DIR}/KokkosConfigVersion.cmake")
    set(Kokkos_DIR ${Kokkos_BINARY_DIR})
    file(READ ${Kokkos_DIR}/KokkosConfigVersion.cmake package)
    string(REGEX MATCH "PACKAGE_VERSION \"([^\"]*)\"" package "${package}")
    set(Kokkos_VERSION ${CMAKE_MATCH_1})
    file(READ ${Kokkos_DIR}/KokkosConfigCommon.cmake package)
    string(REGEX MATCH "Kokkos_DEVICES ([^)]*)" package "${package}")
    set(Kokkos_DEVICES ${CMAKE_MATCH_1})
  elseif(imported AND NOT Kokkos_DEVICES)
    find_package(Kokkos QUIET)
  endif()
endif()

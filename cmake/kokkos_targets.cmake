# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Included after find_package of Kokkos Kernels, here and by the installed package.
# Debian's packages of Trilinos (libtrilinos-kokkos-dev, libtrilinos-kokkos-kernels-dev) name the
# target of Kokkos Kernels otherwise, and give that of Kokkos an include folder that does not exist.
if(TARGET trilinos_kokkoskernels)
  set_target_properties(Kokkos::kokkos PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${KokkosKernels_INCLUDE_DIRS}")
  add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
  target_link_libraries(Kokkos::kokkoskernels INTERFACE trilinos_kokkoskernels Kokkos::kokkos)
endif()

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What Sporades stands on; cmake/bootstrap.sh gets it on Debian.
find_package(Kokkos QUIET)
if(NOT Kokkos_FOUND)
  message(FATAL_ERROR
    "Sporades needs Kokkos 3.4 or later, and found none: give its prefix as -DCMAKE_PREFIX_PATH=..., "
    "or let cmake/bootstrap.sh build one: cmake -S . -B build $(cmake/bootstrap.sh)")
endif()
if(Kokkos_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "Sporades needs Kokkos 3.4 or later, and found ${Kokkos_VERSION} in ${Kokkos_DIR}.")
endif()
if(Kokkos_VERSION VERSION_LESS 4.5 AND Kokkos_DEVICES MATCHES "CUDA|HIP|SYCL")
  message(FATAL_ERROR
    "Sporades runs on GPUs with Kokkos 4.5 or later, and found ${Kokkos_VERSION} with "
    "${Kokkos_DEVICES} in ${Kokkos_DIR}.")
endif()
string(REPLACE ";" " and " sporades_devices "${Kokkos_DEVICES}")
message(STATUS "Sporades: Kokkos ${Kokkos_VERSION} with ${sporades_devices} in ${Kokkos_DIR}")
if(Kokkos_DEVICES STREQUAL "SERIAL")
  message(STATUS
    "Sporades: this Kokkos is Serial only, so everything will run on one core; "
    "give another as -DCMAKE_PREFIX_PATH=..., or let cmake/bootstrap.sh build one with OpenMP")
endif()

find_package(KokkosKernels QUIET)
if(NOT KokkosKernels_FOUND)
  message(FATAL_ERROR
    "Sporades needs Kokkos Kernels of the same release as Kokkos (${Kokkos_VERSION}), and found none: "
    "give its prefix as -DCMAKE_PREFIX_PATH=...")
endif()
include(cmake/kokkos_targets.cmake)
find_package(LAPACK REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

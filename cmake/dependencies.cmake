# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What Sporades stands on; cmake/bootstrap.sh gets it on Debian. Targets that the application has
# already made, by find_package or by add_subdirectory, are used as they are.
if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos QUIET)
endif()
if(NOT TARGET Kokkos::kokkos)
  message(FATAL_ERROR
    "Sporades needs Kokkos 3.4 or later, and found none: give its prefix as -DCMAKE_PREFIX_PATH=..., "
    "or let cmake/bootstrap.sh build one: cmake -S . -B build $(cmake/bootstrap.sh)")
endif()
include(${PROJECT_SOURCE_DIR}/cmake/kokkos_version.cmake)
if(NOT Kokkos_VERSION OR NOT Kokkos_DEVICES)
  message(FATAL_ERROR
    "Kokkos::kokkos is a target already, and Sporades does not find what it was built with: set "
    "Kokkos_VERSION (such as 4.7.00) and Kokkos_DEVICES (such as OPENMP;SERIAL).")
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

if(NOT TARGET Kokkos::kokkoskernels)
  get_target_property(imported Kokkos::kokkos IMPORTED)
  if(NOT imported)
    message(FATAL_ERROR
      "Kokkos is a subfolder of this build, so Kokkos Kernels must be one, too: add it before Sporades.")
  endif()
  find_package(KokkosKernels QUIET)
  include(${PROJECT_SOURCE_DIR}/cmake/kokkos_targets.cmake)
endif()
if(NOT TARGET Kokkos::kokkoskernels)
  message(FATAL_ERROR
    "Sporades needs Kokkos Kernels of the same release as Kokkos (${Kokkos_VERSION}), and found none: "
    "give its prefix as -DCMAKE_PREFIX_PATH=...")
endif()
find_package(LAPACK REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# MPI's functions of C alone: its old bindings of C++ would have to be linked by all.
set(SPORADES_HAS_MPI OFF)
if(SPORADES_ENABLE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  if(SPORADES_ENABLE_MPI STREQUAL "AUTO")
    find_package(MPI 3.0 QUIET COMPONENTS CXX)
  else()
    find_package(MPI 3.0 REQUIRED COMPONENTS CXX)
  endif()
  set(SPORADES_HAS_MPI ${MPI_CXX_FOUND})
  if(SPORADES_HAS_MPI)
    message(STATUS "Sporades: MPI ${MPI_CXX_VERSION} of ${MPI_CXX_COMPILER}")
  endif()
endif()

# NCCL has no CMake package: NCCL_ROOT names its folder, where it is not the system's.
set(SPORADES_HAS_NCCL OFF)
if(SPORADES_ENABLE_NCCL AND SPORADES_HAS_MPI AND Kokkos_DEVICES MATCHES "CUDA")
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} ENV NCCL_ROOT PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${NCCL_ROOT} ENV NCCL_ROOT
    PATH_SUFFIXES lib lib64)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(SPORADES_HAS_NCCL ON)
    message(STATUS "Sporades: NCCL of ${NCCL_LIBRARY}")
  elseif(NOT SPORADES_ENABLE_NCCL STREQUAL "AUTO")
    message(FATAL_ERROR "SPORADES_ENABLE_NCCL is ON, and no NCCL was found: give its folder as -DNCCL_ROOT=...")
  endif()
endif()

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Options of Sporades. All are OFF when it is not the top-level project.
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  set(sporades_is_top_level ON)
else()
  set(sporades_is_top_level OFF)
endif()
option(SPORADES_ENABLE_COMMAND "Build the sporades command" ${sporades_is_top_level})
option(SPORADES_ENABLE_TESTS "Build the tests" ${sporades_is_top_level})
option(SPORADES_ENABLE_BENCHMARKS "Build the benchmarks" OFF)
option(SPORADES_ENABLE_SERIAL "Compile the library for Kokkos::Serial where Kokkos has threads, too" ON)
set(SPORADES_ENABLE_MPI AUTO CACHE STRING
    "Computing on many processes: ON, OFF, or AUTO: where MPI is found")
set_property(CACHE SPORADES_ENABLE_MPI PROPERTY STRINGS AUTO ON OFF)
set(SPORADES_ENABLE_NCCL AUTO CACHE STRING
    "Exchange between GPUs through NCCL where MPI does not take their memory: ON, OFF, or AUTO: where found")
set_property(CACHE SPORADES_ENABLE_NCCL PROPERTY STRINGS AUTO ON OFF)
set(SPORADES_SCALARS float double CACHE STRING
    "Types of values that the library is compiled for; others are compiled where they are used")

if(sporades_is_top_level)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_CXX_EXTENSIONS OFF)
endif()

# Our kernels say which loops are vectors (#pragma omp simd); without OpenMP g++ and clang need to
# be told to listen. No code depends on it, only its speed. For HIP only the host's half of it is:
# clang 15 would call OpenMP's device runtime in every kernel, which nothing links.
# sporades_add_simd(TARGET [INTERFACE])
function(sporades_add_simd target)
  set(scope PRIVATE ${ARGN})
  list(GET scope -1 scope)
  if(Kokkos_DEVICES MATCHES "HIP")
    target_compile_options(${target} ${scope} "SHELL:-Xarch_host -fopenmp-simd")
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} ${scope} -fopenmp-simd)
  endif()
endfunction()

# What ties this build to some processors.
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" sporades_processor_flags)
string(REGEX MATCHALL "-m(arch|cpu)=[^ ]+" sporades_processor_flags
  "${CMAKE_CXX_FLAGS} ${${sporades_processor_flags}}")
if(sporades_processor_flags)
  string(JOIN " " flags ${sporades_processor_flags})
  message(STATUS "Sporades: compiled with ${flags}, for processors that have its instructions only")
endif()

# Warnings for a target of ours: never exported, and not where we are a guest.
function(sporades_add_warnings target)
  if(sporades_is_top_level AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE -Wall -Wextra)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # With C++20, GCC 12 warns of overlaps in its own std::string (its bug 105651).
      target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
  endif()
endfunction()

# For a test that calls decompositions in float and double: it compiles what the library does not hold.
function(sporades_compile_all_scalars target)
  if(NOT ("float" IN_LIST SPORADES_SCALARS AND "double" IN_LIST SPORADES_SCALARS))
    target_compile_options(${target} PRIVATE "SHELL:-include sporades/algorithms/definitions.hpp")
  endif()
endfunction()

# For a program of ours whose own code does little work: with -O1 it is compiled in half the time; GCC
# makes a product and a sum one rounding there, as in the library, only if told. The library stands
# before it on the linker's line, so that a template which both instantiate is the library's, as
# optimised as users have it.
function(sporades_compile_quickly target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT BUILD_SHARED_LIBS)
    target_compile_options(${target} PRIVATE
      $<$<CONFIG:Release>:-O1> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fexpensive-optimizations>)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_link_options(${target} PRIVATE
        LINKER:--whole-archive $<TARGET_FILE:sporades> LINKER:--no-whole-archive)
    endif()
  endif()
endfunction()

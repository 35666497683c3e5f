# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The library: the headers of four folders, every .cpp in them but the command's, and the explicit
# instantiations that their *.eti.in files ask for.
set(sporades_folders core formats kernels algorithms)

# Headers are included as <sporades/core/error.hpp> from the build tree and from an install alike.
set(sporades_include ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${sporades_include}/sporades)
foreach(folder IN LISTS sporades_folders)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${sporades_include}/sporades/${folder} SYMBOLIC)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in ${sporades_include}/sporades/version.hpp @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/mpi.hpp.in ${sporades_include}/sporades/mpi.hpp @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/sporades.hpp ${sporades_include}/sporades/sporades.hpp COPYONLY)

list(TRANSFORM sporades_folders REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE sporades_sources CONFIGURE_DEPENDS ${patterns})
list(FILTER sporades_sources EXCLUDE REGEX "/algorithms/(sporades\\.cpp|command/)")

add_library(sporades ${sporades_sources})
add_library(sporades::sporades ALIAS sporades)
set_target_properties(sporades PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
  POSITION_INDEPENDENT_CODE ON  # for plug-ins and modules of Python that link an archive
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(core_sources ${sporades_sources})  # small ones, compiled as one
list(FILTER core_sources INCLUDE REGEX "/core/")
set_source_files_properties(${core_sources} PROPERTIES UNITY_GROUP core)
target_compile_features(sporades PUBLIC cxx_std_17)
target_include_directories(sporades PUBLIC $<BUILD_INTERFACE:${sporades_include}>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(sporades PUBLIC Kokkos::kokkos Kokkos::kokkoskernels
                               PRIVATE LAPACK::LAPACK Threads::Threads ZLIB::ZLIB)
if(SPORADES_HAS_MPI)
  target_link_libraries(sporades PUBLIC MPI::MPI_CXX)
endif()
if(SPORADES_HAS_NCCL)
  target_include_directories(sporades PRIVATE ${NCCL_INCLUDE_DIR})
  target_link_libraries(sporades PRIVATE ${NCCL_LIBRARY})
endif()
# For AMD's processors GCC rounds products before it adds them where a loop has one sum, and not where
# it has two: a row's bits would hang on how many rows are computed with it.
target_compile_options(sporades PUBLIC
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,8>>:--param=avoid-fma-max-bits=0>")
# Nothing replaces our functions at run time, so that the compiler may inline them, as in an executable.
target_compile_options(sporades PRIVATE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-fno-semantic-interposition>)
sporades_add_simd(sporades)
sporades_add_warnings(sporades)

# Applications whose own types or execution spaces make the compiler instantiate our kernels link
# this, too: they get the flags that made vectors of ours, and those for the processor that the
# library was installed for.
add_library(sporades_simd INTERFACE)
add_library(sporades::simd ALIAS sporades_simd)
set_target_properties(sporades_simd PROPERTIES EXPORT_NAME simd)
sporades_add_simd(sporades_simd INTERFACE)
target_compile_options(sporades_simd INTERFACE "$<INSTALL_INTERFACE:${sporades_processor_flags}>")

include(${PROJECT_SOURCE_DIR}/cmake/instantiate.cmake)
sporades_write_execution_spaces()
list(TRANSFORM patterns REPLACE "cpp$" "eti.in")
file(GLOB_RECURSE templates CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${patterns})
foreach(template IN LISTS templates)
  string(REPLACE ".eti.in" ".hpp" header ${template})
  sporades_instantiate(sporades/${header} ${template})
  get_filename_component(name ${header} NAME)
  list(APPEND sporades_eti_headers ${sporades_include}/sporades/eti/${name})
endforeach()

# Sparse products of Kokkos Kernels. With -O3, GCC 12 takes three times as long for those of float, over
# a minute, and products with 16 or 32 columns take eight times as long (Kokkos Kernels 3.4.01, AVX-512).
foreach(scalar IN LISTS SPORADES_SCALARS)
  set_source_files_properties(${PROJECT_BINARY_DIR}/eti/library_spmm-host-${scalar}.cpp
    PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
endforeach()

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The target sporades_reference: pages about the public headers, made by Doxygen in
# <build>/reference/html. A warning is an error.
if(NOT sporades_is_top_level)
  return()
endif()
find_package(Doxygen 1.9 QUIET)
if(NOT DOXYGEN_FOUND)
  return()
endif()

# Kokkos' macros in declarations, for every run of Doxygen.
set(sporades_doxygen_macros "\
MACRO_EXPANSION        = YES
EXPAND_ONLY_PREDEF     = YES
SEARCH_INCLUDES        = NO
PREDEFINED             = KOKKOS_FUNCTION= KOKKOS_INLINE_FUNCTION=inline KOKKOS_FORCEINLINE_FUNCTION=inline")

set(sporades_reference ${PROJECT_BINARY_DIR}/reference)
set(folders . core formats formats/files kernels algorithms)
list(TRANSFORM folders REPLACE "(.+)" "\"${sporades_include}/sporades/\\1\"")
list(JOIN folders " " sporades_reference_input)
set(pages README.md algorithms/README.md kernels/README.md formats/README.md core/README.md cmake/README.md
  perf/README.md)
list(TRANSFORM pages REPLACE "(.+)" "\"${PROJECT_SOURCE_DIR}/\\1\"")
list(JOIN pages " " sporades_reference_pages)
configure_file(cmake/Doxyfile.in ${sporades_reference}/Doxyfile @ONLY)
set(sporades_make_reference ${CMAKE_COMMAND} -D DOXYGEN=$<TARGET_FILE:Doxygen::doxygen>
  -D DOXYFILE=${sporades_reference}/Doxyfile -P ${PROJECT_SOURCE_DIR}/cmake/run_doxygen.cmake)
add_custom_target(sporades_reference COMMAND ${sporades_make_reference}
  COMMENT "The reference in ${sporades_reference}/html" VERBATIM)

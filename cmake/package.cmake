# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Installation: the library, its headers, the command, and the package that find_package(Sporades)
# reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS sporades sporades_simd EXPORT SporadesTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(folder IN LISTS sporades_folders)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sporades
    FILES_MATCHING PATTERN "*.hpp" PATTERN "${folder}/command" EXCLUDE)
endforeach()
install(FILES ${sporades_include}/sporades/sporades.hpp ${sporades_include}/sporades/version.hpp
  ${sporades_include}/sporades/execution_spaces.hpp ${sporades_include}/sporades/mpi.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sporades)
install(FILES ${sporades_eti_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sporades/eti)

# An installation may be moved, to another machine, too. The command and a shared library find what
# they are linked to beside themselves: shared libraries of Kokkos that do not lie where the system
# looks are installed with them, in a folder of their own. CMAKE_INSTALL_RPATH adds folders of other
# libraries.
set(sporades_own_libraries ${CMAKE_INSTALL_LIBDIR}/sporades)
set(folders "\$ORIGIN" "\$ORIGIN/sporades" ${CMAKE_INSTALL_RPATH})
set_target_properties(sporades PROPERTIES INSTALL_RPATH "${folders}")
if(TARGET sporades_command)
  set(folders "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" "\$ORIGIN/../${sporades_own_libraries}")
  list(APPEND folders ${CMAKE_INSTALL_RPATH})
  set_target_properties(sporades_command PROPERTIES INSTALL_RPATH "${folders}")
  install(TARGETS sporades_command)
endif()
get_target_property(sporades_type sporades TYPE)
if(TARGET sporades_command OR sporades_type STREQUAL "SHARED_LIBRARY")
  foreach(library Kokkos::kokkoscore Kokkos::kokkoscontainers Kokkos::kokkossimd Kokkos::kokkoskernels)
    if(NOT TARGET ${library})
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    get_target_property(imported ${library} IMPORTED)
    if(NOT imported OR NOT type STREQUAL "SHARED_LIBRARY")
      continue()
    endif()
    get_target_property(file ${library} LOCATION)
    get_filename_component(folder ${file} DIRECTORY)
    if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      install(FILES $<TARGET_FILE:${library}> $<TARGET_SONAME_FILE:${library}>
        DESTINATION ${sporades_own_libraries})
    endif()
  endforeach()
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sporades)
install(EXPORT SporadesTargets NAMESPACE sporades:: DESTINATION ${package_folder})
configure_package_config_file(cmake/SporadesConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SporadesConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SporadesConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SporadesConfig.cmake ${PROJECT_BINARY_DIR}/SporadesConfigVersion.cmake
  cmake/kokkos_version.cmake cmake/kokkos_targets.cmake DESTINATION ${package_folder})

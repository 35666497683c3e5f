# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Installation: the library, its headers, the command, and the package that find_package(Sporades)
# reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS sporades EXPORT SporadesTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(folder IN LISTS sporades_folders)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sporades
    FILES_MATCHING PATTERN "*.hpp" PATTERN "${folder}/command" EXCLUDE)
endforeach()
install(FILES ${sporades_include}/sporades/version.hpp ${sporades_include}/sporades/execution_spaces.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sporades)
install(FILES ${sporades_eti_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sporades/eti)
if(TARGET sporades_command)
  set_target_properties(sporades_command PROPERTIES
    INSTALL_RPATH "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS sporades_command)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sporades)
install(EXPORT SporadesTargets NAMESPACE sporades:: DESTINATION ${package_folder})
configure_package_config_file(cmake/SporadesConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SporadesConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SporadesConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SporadesConfig.cmake
  ${PROJECT_BINARY_DIR}/SporadesConfigVersion.cmake DESTINATION ${package_folder})

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The sporades command.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/algorithms/sporades.cpp ${PROJECT_SOURCE_DIR}/algorithms/command/*.cpp)
if(command_sources)
  add_executable(sporades_command ${command_sources})
  set_target_properties(sporades_command PROPERTIES OUTPUT_NAME sporades)
  target_link_libraries(sporades_command PRIVATE
    sporades::sporades CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
  sporades_add_simd(sporades_command)
sporades_add_warnings(sporades_command)
endif()

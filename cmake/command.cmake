# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The sporades command.

# For the source that checks the processor, whichever runs it; it runs before sanitizers are ready.
function(sporades_compile_for_all_processors source)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set_source_files_properties(${source} PROPERTIES
      COMPILE_OPTIONS "-march=x86-64;-fno-sanitize=all")
  endif()
endfunction()

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
  sporades_compile_quickly(sporades_command)
  # Pages, CSV files, options, and what all decompositions share, are compiled as one each.
  file(GLOB view_sources ${PROJECT_SOURCE_DIR}/algorithms/command/view/*.cpp
    ${PROJECT_SOURCE_DIR}/algorithms/command/ranks/rank_*.cpp)
  set_source_files_properties(${view_sources} PROPERTIES UNITY_GROUP view)
  set(csv_sources ${command_sources})
  list(FILTER csv_sources INCLUDE REGEX "/(csv/[a-z_]+|dates|labels_output)\\.cpp$")
  set_source_files_properties(${csv_sources} PROPERTIES UNITY_GROUP csv)
  set(parse_sources ${command_sources})
  list(FILTER parse_sources INCLUDE REGEX "/parse[a-z_]*\\.cpp$")
  set_source_files_properties(${parse_sources} PROPERTIES UNITY_GROUP parse)
  set(model_sources ${command_sources})
  list(FILTER model_sources INCLUDE REGEX "/(evaluate|score|predict|model_info|model_signs)\\.cpp$")
  set_source_files_properties(${model_sources} PROPERTIES UNITY_GROUP models)
  set(shared_sources ${command_sources})
  list(FILTER shared_sources INCLUDE REGEX
    "/(absent_cells|checkpoint|decomposition|files|labels|memory|models|name_search|processes|progress|resume|runtime|signals|tensors)\\.cpp$")
  set_source_files_properties(${shared_sources} PROPERTIES UNITY_GROUP shared)
  set_target_properties(sporades_command PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  string(JOIN " " flags ${sporades_processor_flags})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/algorithms/command/processor.cpp PROPERTIES
    COMPILE_DEFINITIONS "SPORADES_PROCESSOR_FLAGS=\"${flags}\"")
  sporades_compile_for_all_processors(${PROJECT_SOURCE_DIR}/algorithms/command/processor_check.cpp)
endif()

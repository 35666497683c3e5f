# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Explicit instantiation without macros. kernels/mttkrp.eti.in holds declarations in namespace
# sporades such as
#   @extern@ template void mttkrp<@ExecutionSpace@, @Scalar@, @Index@>(...);
# with any of @ExecutionSpace@, @MemorySpace@ (that space's own), @Scalar@ and @Index@; lines that
# begin with // are dropped. (@AnyExecutionSpace@: a space of any device of Kokkos, whether the
# library is compiled for it or not.) They become
#   - <build>/include/sporades/eti/mttkrp.hpp, "extern template" for each of sporades_compiled_devices
#     x SPORADES_SCALARS x {32 and 64 bits}, which kernels/mttkrp.hpp includes as its last line;
#   - <build>/eti/mttkrp-host-<scalar>.cpp (and -cuda-, -hip-) in the library, which define them.
# A declaration is made once for each choice of the names that it mentions. A line
#   @include algorithms/detail/method.in Method=CpAls Model=KruskalTensor
# stands for that file's declarations, with these names filled in.

# The devices of Kokkos that the library is compiled for.
set(sporades_compiled_devices ${Kokkos_DEVICES})
if(NOT SPORADES_ENABLE_SERIAL AND Kokkos_DEVICES MATCHES "(^|;)(OPENMP|THREADS|PTHREAD|HPX)(;|$)")
  list(REMOVE_ITEM sporades_compiled_devices SERIAL)
endif()

# "Kokkos::OpenMP" for the device OPENMP of Kokkos_DEVICES.
function(sporades_execution_space device result)
  set(names SERIAL Serial OPENMP OpenMP THREADS Threads PTHREAD Threads HPX Experimental::HPX
            CUDA Cuda HIP HIP SYCL SYCL)
  list(FIND names ${device} at)
  if(at EQUAL -1)
    message(FATAL_ERROR "Sporades: Kokkos device ${device} is not one of Serial, OpenMP, Threads, HPX, CUDA, HIP, SYCL.")
  endif()
  math(EXPR at "${at} + 1")
  list(GET names ${at} name)
  set(${result} Kokkos::${name} PARENT_SCOPE)
endfunction()

# Writes <build>/include/sporades/execution_spaces.hpp: sporades_compiled_devices and SPORADES_SCALARS, as types.
function(sporades_write_execution_spaces)
  set(spaces)
  foreach(device IN LISTS sporades_compiled_devices)
    sporades_execution_space(${device} space)
    list(APPEND spaces ${space})
  endforeach()
  list(JOIN spaces ", " spaces)
  list(JOIN SPORADES_SCALARS ", " scalars)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/execution_spaces.hpp.in
    ${sporades_include}/sporades/execution_spaces.hpp @ONLY)
endfunction()

# Appends every declaration of the template, with its names filled in, to the variable that result
# names, less those in the list that done names.
function(sporades_append_instances result done template extern ExecutionSpace Scalar)
  set(AnyExecutionSpace ${ExecutionSpace})
  set(MemorySpace Kokkos::HostSpace)
  if(ExecutionSpace MATCHES "Cuda|HIP|SYCL")
    set(MemorySpace ${ExecutionSpace}::memory_space)
  endif()
  foreach(declaration IN LISTS template)  # its semicolons make it a list
    foreach(Index std::uint32_t std::uint64_t)
      string(CONFIGURE "${declaration}" instance @ONLY)
      string(STRIP "${instance}" instance)
      string(MD5 hash "${instance}")
      if(instance AND NOT hash IN_LIST ${done})
        list(APPEND ${done} ${hash})
        string(APPEND ${result} "${instance};\n")
      endif()
    endforeach()
  endforeach()
  set(${done} ${${done}} PARENT_SCOPE)
  set(${result} "${${result}}" PARENT_SCOPE)
endfunction()

# Adds a source of that name with these definitions to the library, if there are any. It sees the
# variables header, licence and group of sporades_instantiate. Sources of a group are compiled as one.
function(sporades_add_instances name suffix definitions)
  if(NOT definitions)
    return()
  endif()
  string(TOLOWER ${name}-${suffix}.cpp file)
  string(REPLACE "-none.cpp" ".cpp" file ${file})
  set(source ${PROJECT_BINARY_DIR}/eti/${file})
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
    "${licence}\n#include <${header}>\n\nnamespace sporades {\n${definitions}}  // namespace sporades\n")
  target_sources(sporades PRIVATE ${source})
  if(group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}-${suffix})
  endif()
endfunction()

# sporades_instantiate(sporades/kernels/mttkrp.hpp kernels/mttkrp.eti.in)
function(sporades_instantiate header template_file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${template_file})
  file(READ ${PROJECT_SOURCE_DIR}/${template_file} template)
  if(template MATCHES "@include ([^ ]+) ([^\n]+)\n")
    set(line "${CMAKE_MATCH_0}")
    set(included ${CMAKE_MATCH_1})
    string(REPLACE " " ";" names "${CMAKE_MATCH_2}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${included})
    file(READ ${PROJECT_SOURCE_DIR}/${included} declarations_of_all)
    foreach(name IN LISTS names)
      string(REGEX MATCH "(.*)=(.*)" name "${name}")
      string(REPLACE "@${CMAKE_MATCH_1}@" "${CMAKE_MATCH_2}" declarations_of_all "${declarations_of_all}")
    endforeach()
    string(REPLACE "${line}" "${declarations_of_all}" template "${template}")
  endif()
  string(REGEX REPLACE "(^|\n)//[^\n]*" "\\1" template "${template}")
  get_filename_component(name ${header} NAME_WE)
  get_property(taken GLOBAL PROPERTY sporades_instantiated)
  if(name IN_LIST taken)
    message(FATAL_ERROR "Sporades: two files are named ${name}.eti.in; their headers would be one.")
  endif()
  set_property(GLOBAL APPEND PROPERTY sporades_instantiated ${name})
  set(group)  # of sources that instantiate much of the same
  if(template_file MATCHES "^formats/|^kernels/detail/[a-z_]+\\.eti")
    set(group formats)
  elseif(name MATCHES "memory_need|_memory$")
    set(group memory_need)
  elseif(name MATCHES "^build_")
    set(group plans)
  endif()
  set(scalars none)
  if(template MATCHES "@Scalar@")
    set(scalars ${SPORADES_SCALARS})
  endif()

  set(devices ${sporades_compiled_devices})
  if(template MATCHES "@AnyExecutionSpace@")
    set(devices ${Kokkos_DEVICES})
  endif()

  set(licence "// SPDX-FileCopyrightText: Sporades contributors\n// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Made by CMake from ${template_file}.\n")
  set(declarations)
  set(declared)
  set(defined)
  foreach(scalar IN LISTS scalars)
    set(host)  # kernels of all host spaces are the same code: one source compiles it once
    foreach(device IN LISTS devices)
      sporades_execution_space(${device} space)
      sporades_append_instances(declarations declared "${template}" extern ${space} ${scalar})
      set(definitions)
      sporades_append_instances(definitions defined "${template}" "" ${space} ${scalar})
      if(device MATCHES "CUDA|HIP|SYCL")
        sporades_add_instances(${name} ${device}-${scalar} "${definitions}")
      else()
        string(APPEND host "${definitions}")
      endif()
    endforeach()
    sporades_add_instances(${name} host-${scalar} "${host}")
  endforeach()
  file(CONFIGURE OUTPUT ${sporades_include}/sporades/eti/${name}.hpp @ONLY CONTENT
    "${licence}#pragma once\n\nnamespace sporades {\n${declarations}}  // namespace sporades\n")
endfunction()

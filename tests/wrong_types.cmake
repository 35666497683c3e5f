# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D BUILD=build -D SOURCE=.../wrong_types.cpp -P wrong_types.cmake
# Compiles SOURCE, which must fail with the sentences of its comments that begin with "says:", and
# with no other error.
cmake_minimum_required(VERSION 3.18...3.25)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target sporades_wrong_types
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles.")
endif()
string(REPLACE ";" "," output "${output}")
string(REGEX REPLACE "[][]" "" output "${output}")  # brackets would hold list items together
string(REPLACE "\n" ";" lines "${output}")
list(FILTER lines INCLUDE REGEX " error: ")
file(STRINGS ${SOURCE} sentences REGEX "// says: ")
foreach(sentence IN LISTS sentences)
  string(REGEX REPLACE "^ *// says: " "" sentence "${sentence}")
  set(found -1)
  foreach(line IN LISTS lines)
    string(FIND "${line}" "${sentence}" at)
    if(NOT at EQUAL -1 AND found EQUAL -1)
      list(FIND lines "${line}" found)
    endif()
  endforeach()
  if(found EQUAL -1)
    message(SEND_ERROR "The compiler does not say: ${sentence}")
  else()
    list(REMOVE_AT lines ${found})
  endif()
endforeach()
if(lines)
  list(JOIN lines "\n" lines)
  message(FATAL_ERROR "The compiler also says:\n${lines}")
endif()

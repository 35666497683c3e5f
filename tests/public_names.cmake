# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D DOXYGEN=... -D LIST=.../public_names.txt -P public_names.cmake
# Compares the names that the installed headers put into namespace sporades, detail excepted, with
# the list. Doxygen finds them: xml/index.xml has a line for each compound, and below it one for each
# of its members.
execute_process(COMMAND ${DOXYGEN} Doxyfile RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "Doxygen ended with ${status}.")
endif()
file(STRINGS xml/index.xml lines REGEX "<compound |kind=\"(function|variable|typedef|enum)\"")
set(found)
foreach(line IN LISTS lines)
  if(line MATCHES "<compound .*kind=\"([a-z]+)\"><name>([^<]*)")
    set(kind ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    set(namespace)
    if(NOT name MATCHES "^sporades(::|$)" OR name MATCHES "::detail(::|$)")
      continue()
    elseif(kind STREQUAL "namespace")
      set(namespace ${name})
    else()
      list(APPEND found ${name})
    endif()
  elseif(namespace AND line MATCHES "<name>([^<]*)")
    list(APPEND found ${namespace}::${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES found)
list(SORT found)
string(REPLACE ";" "\n" text "${found}")
file(WRITE public_names.txt "${text}\n")

file(STRINGS ${LIST} listed)
set(new ${found})
list(REMOVE_ITEM new ${listed})
set(gone ${listed})
list(REMOVE_ITEM gone ${found})
if(new OR gone)
  list(JOIN new "\n  " new)
  list(JOIN gone "\n  " gone)
  message(FATAL_ERROR "The public names are not those of ${LIST}.\nNew:\n  ${new}\nGone:\n  ${gone}\n"
    "Names that users need not know belong in sporades::detail. Where the change is meant: "
    "cp ${CMAKE_CURRENT_BINARY_DIR}/public_names.txt ${LIST}")
endif()

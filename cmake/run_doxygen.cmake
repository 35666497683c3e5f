# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D DOXYGEN=... -D DOXYFILE=... -P run_doxygen.cmake: makes the reference. A warning is an
# error, except for members without a description of their own: that of their class describes them.
execute_process(COMMAND ${DOXYGEN} ${DOXYFILE} RESULT_VARIABLE status ERROR_VARIABLE warnings)
string(REGEX REPLACE "[^\n]*Member [^\n]* of (struct|class) [^\n]* is not documented\\.\n" "" warnings "${warnings}")
if(NOT status EQUAL 0 OR warnings)
  message(FATAL_ERROR "Doxygen ended with ${status}:\n${warnings}")
endif()

# What a search finds names the namespace of an enumerator, and not its enum, whose anchor begins its own.
get_filename_component(reference ${DOXYFILE} DIRECTORY)
file(GLOB enums ${reference}/html/search/enums_*.js)
file(GLOB values ${reference}/html/search/enumvalues_*.js)
foreach(file IN LISTS enums)
  file(READ ${file} text)
  string(REPLACE "[" "(" text "${text}")  # else CMake would take parts in brackets for one of a list
  string(REGEX MATCHALL "'[A-Za-z]+',\\('[^']*#g*a[0-9a-f]+'" entries "${text}")
  foreach(entry IN LISTS entries)
    string(REGEX MATCH "^'([A-Za-z]+)'.*#g*a([0-9a-f]+)'$" entry "${entry}")
    list(APPEND names ${CMAKE_MATCH_1})
    list(APPEND anchors ${CMAKE_MATCH_2})
  endforeach()
endforeach()
foreach(file IN LISTS values)
  file(READ ${file} text)
  foreach(name anchor IN ZIP_LISTS names anchors)
    string(REGEX REPLACE "(#g*a${anchor}a[0-9a-f]+',1,')sporades[^']*'" "\\1sporades::${name}'" text "${text}")
  endforeach()
  file(WRITE ${file} "${text}")
  if(text MATCHES "'([a-z_]+)',\\[[^\n]*1,'sporades(::[a-z][^']*)?'")
    message(FATAL_ERROR "The reference does not say which enum the enumerator ${CMAKE_MATCH_1} is of.")
  endif()
endforeach()

# Doxygen says nothing of pictures that it does not find, nor of links to what is no page of the reference.
file(GLOB pages ${reference}/html/index.html ${reference}/html/md_*.html)
foreach(page IN LISTS pages)
  file(READ ${page} text)
  string(REPLACE "[" "(" text "${text}")
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "<(img src|a href|a class=\"el\" href)=\"[^\"#:]+[\"#]" targets "${text}")
  list(TRANSFORM targets REPLACE ".*=\"([^\"#]+).*" "\\1")
  list(REMOVE_DUPLICATES targets)
  foreach(target IN LISTS targets)
    if(NOT EXISTS ${reference}/html/${target})
      get_filename_component(page ${page} NAME)
      message(FATAL_ERROR "The reference's page ${page} shows or links ${target}, which is not there.")
    endif()
  endforeach()
endforeach()

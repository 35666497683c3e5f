# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D DOXYGEN=... -D DOXYFILE=... -P run_doxygen.cmake: makes the reference. A warning is an
# error, except for members without a description of their own: that of their class describes them.
execute_process(COMMAND ${DOXYGEN} ${DOXYFILE} RESULT_VARIABLE status ERROR_VARIABLE warnings)
string(REGEX REPLACE "[^\n]*Member [^\n]* of (struct|class) [^\n]* is not documented\\.\n" "" warnings "${warnings}")
if(NOT status EQUAL 0 OR warnings)
  message(FATAL_ERROR "Doxygen ended with ${status}:\n${warnings}")
endif()

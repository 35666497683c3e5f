# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Doxygen reads our headers through this filter, so that their comments can be plain text:
#   - "///" lines are paragraphs, lists of "- " and `code`; every other sign stands for itself;
#   - lines that are indented further are formulas or code, and keep their shape;
#   - the first comment that an empty line follows is about its file;
#   - "// ..." behind a member or an enumerator, and below that, is its description;
#   - what a file declares belongs to the chapter of its folder (reference_groups.dox);
#   - `using Scalar = ScalarType;` in a struct gives the template's parameter a name.
# Lines keep their numbers, so that warnings name the right ones.

# The text with the signs escaped that Doxygen would take for commands, outside of `code`, which may
# go on in the comment's next line.
function escaped(text,   parts, count, i, result) {
  count = split(text, parts, "`")
  for (i = 1; i <= count; ++i) {
    if (i > 1) {
      in_code = !in_code
      result = result "`"
    }
    if (!in_code) gsub(/[\\<>&#@%*_[]|::/, "\\\\&", parts[i])
    result = result parts[i]
  }
  return result
}

# True for a line that keeps its shape: what a list's items go on in does not.
function is_formula(text) {
  if (text ~ /^ *- /) in_list = 1
  else if (text !~ /^   /) in_list = 0
  return text ~ /^   / && !in_list
}

function print_comment(   i, before, here, after) {
  in_code = in_list = before = 0
  after = is_formula(comment[1])
  for (i = 1; i <= lines; ++i) {
    here = after
    after = i < lines && is_formula(comment[i + 1])
    if (!here) comment[i] = escaped(comment[i])
    if (here) comment[i] = before ? substr(comment[i], 2) : " @code{.unparsed}" comment[i]
    if (here && !after) comment[i] = comment[i] " @endcode"
    before = here
    print margin "///" comment[i]
  }
  lines = 0
}

function print_member() {
  if (member == "") return
  print member
  for (; more_lines > 0; --more_lines) print ""
  member = ""
}

function chapter() {
  if (FILENAME ~ /\/formats\/files\//) return "files"
  if (FILENAME ~ /\/formats\//) return "formats"
  if (FILENAME ~ /\/kernels\//) return "kernels"
  return FILENAME ~ /\/algorithms\// ? "decompositions" : "core"
}

member != "" && /^     *\/\/ / {
  member = member escaped(substr($0, index($0, "//") + 2))
  ++more_lines
  next
}
{ print_member() }
END { print_member() }

/^ *\/\/\/( |$)/ {
  margin = substr($0, 1, index($0, "///") - 1)
  comment[++lines] = substr($0, length(margin) + 4)
  next
}
lines {
  print_comment()
  if ($0 == "" && !file_is_described) {
    file_is_described = 1
    print "/// @file"
    next
  }
}

# Types at the outermost level, whose members are indented by two blanks.
/^(struct|class|enum) .*\{$/ { in_type = 1 }
/^}/ { in_type = 0 }
in_type && /^  [^ \/].*[;,}A-Za-z0-9_]  *\/\/ / {
  at = match($0, /  *\/\/ [^"]*$/)
  if (at) {
    in_code = 0
    member = substr($0, 1, at - 1) "  ///<" escaped(substr($0, index($0, " // ") + 3))
    next
  }
}
in_type && /^  [A-Z][A-Za-z]* [a-z_]* = [A-Z][A-Za-z]*::[a-z_]*;$/ {
  print $0 "  ///< one of " $1
  next
}
in_type && /^  using [A-Za-z]* = [A-Za-z]*Type;$/ && substr($4, 1, length($2)) == $2 {
  print $0 "  ///< The template's " $2 "."
  next
}
$0 == "namespace sporades {" {
  print $0 "  /** @addtogroup " chapter() " */ /** @{ */"
  next
}
$0 == "}  // namespace sporades" {
  print "/** @} */ }"
  next
}
{ print }

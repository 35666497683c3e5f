// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// What is read, from plain and gzipped text in blocks of all sizes alike.
ReadResult<double> read_alike(std::string const& text, ReadOptions options = {}) {
  auto const result = parse_tensor<double>(text, "x", options);
  std::size_t longest = 1, line = 1;
  for (char const c : text) longest = std::max(longest, line = c == '\n' ? 1 : line + 1);
  for (auto const size : {longest, longest + 20}) {
    options.block_size = size;
    options.threads = 2;
    for (auto const& content : {text, zipped(text)}) {
      auto const other = parse_tensor<double>(content, "x", options);
      CHECK(dims_of(other.tensor) == dims_of(result.tensor));
      CHECK(entries(other.tensor) == entries(result.tensor));
      CHECK(other.notes == result.notes);
      CHECK(other.dialect == result.dialect);
    }
  }
  return result;
}

ReadOptions first_line_is(FirstLine what, bool pattern = false) {
  ReadOptions options;
  options.first_line = what;
  options.pattern = pattern;
  return options;
}

std::string const read_as_sizes =
    " read as dims and number of nonzeros: so many follow, and no index is past the dims; "
    "--first-line nonzero reads ";
std::string const may_be_sizes =
    ", and may be dims and number of nonzeros: --first-line header reads ";

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("a first line of dims and number of nonzeros is a header", "[tns]") {
  std::string const lines = "1 3 2 1.5\n2 1 3 2.5\n# c\n3 5 5 3.0\n2 2 7 1\n";
  Entries<double> const expected = {
      {{0, 2, 1}, 1.5}, {{1, 0, 2}, 2.5}, {{1, 1, 6}, 1}, {{2, 4, 4}, 3}};
  for (std::string const header :
       {"6 5 7 4\n", "# c\n\n 6\t5 7  4 \r\n", "6.0e+00 5 7 4.000e+00\n"}) {
    auto const result = read_alike(header + lines);
    CHECK(result.dialect == "FROSTT with a header");
    CHECK(dims_of(result.tensor) == Dims{6, 5, 7});
    CHECK(entries(result.tensor) == expected);
    REQUIRE(result.notes.size() == 1);
    CHECK_THAT(result.notes[0], Catch::Matchers::ContainsSubstring(read_as_sizes));
  }
  auto const counts = read_alike("4 5 3\n1 2 1\n3 4 2\n2 2 5\n");
  CHECK(counts.notes ==
        Notes{"the first line, \"4 5 3\", was" + read_as_sizes + "it as a nonzero"});
  CHECK(entries(counts.tensor) == Entries<double>{{{0, 1}, 1}, {{1, 1}, 5}, {{2, 3}, 2}});

  auto const asked = read_alike("6 5 7 4\n" + lines, first_line_is(FirstLine::header));
  CHECK(asked.dialect == "FROSTT with a header");
  CHECK(entries(asked.tensor) == expected);
  CHECK(asked.notes.empty());
  auto const refused = read_alike("6 5 7 4\n" + lines, first_line_is(FirstLine::nonzero));
  CHECK(refused.dialect == "FROSTT");
  CHECK(entries(refused.tensor).size() == 5);
  CHECK(refused.notes.empty());

  auto from_zero = first_line_is(FirstLine::automatic);
  from_zero.index_base = IndexBase::zero;
  auto const zero = read_alike("6 5 7 4\n0 2 1 1.5\n1 0 2 2.5\n2 4 4 3\n1 1 6 1\n", from_zero);
  CHECK(entries(zero.tensor) == expected);
  CHECK(dims_of(zero.tensor) == Dims{6, 5, 7});
  from_zero.index_base = IndexBase::per_mode;
  auto const per_mode = read_alike("6 5 7 4\n1 2 2 1.5\n2 0 3 2.5\n3 4 5 3\n2 1 7 1\n", from_zero);
  CHECK(entries(per_mode.tensor) == expected);
  CHECK(dims_of(per_mode.tensor) == Dims{6, 5, 7});

  auto const wide = read_alike("5000000000 4 3\n1 2 1\n3 4 2\n2 2 5\n");
  CHECK(dims_of(wide.tensor) == Dims{5000000000, 4});
  CHECK(wide.tensor.index() == 1);
  CHECK(entries(read_alike("4 5 0\n", first_line_is(FirstLine::header)).tensor).empty());
}

TEST_CASE("a first line that may be a nonzero is one, and a note says what else", "[tns]") {
  auto const note = [](std::string const& text) { return read_alike(text).notes; };
  auto const unclear = [](std::string const& line) {
    return Notes{"the first line, \"" + line + "\", was read as a nonzero" + may_be_sizes +
                 "it so"};
  };
  // One line, or few, may be so by chance.
  CHECK(note("2 2 1\n1 1 5\n") == unclear("2 2 1"));
  CHECK(note("2 2 4\n1 1 7\n2 2 8\n1 2 9\n2 1 3\n")[0] == unclear("2 2 4")[0]);  // one in 16
  CHECK(note("3 3 2\n1 1 5\n2 2 1\n") == unclear("3 3 2"));
  // An index is past the dims, or other lines are fewer or more.
  CHECK(note("4 5 3\n1 2 1\n3 6 2\n2 2 5\n").empty());
  CHECK(note("4 5 4\n1 2 1\n3 4 2\n2 2 5\n").empty());
  CHECK(note("4 5 2\n1 2 1\n3 4 2\n2 2 5\n").empty());
  CHECK(note("4 5 3.5\n1 2 1\n3 4 2\n2 2 5\n").empty());
  CHECK(note("# sporades dims: 4 5\n4 5 3\n1 2 1\n3 4 2\n2 2 5\n").empty());
  CHECK(entries(read_alike("4 5 3\n1 2 1\n3 6 2\n2 2 5\n").tensor).size() == 4);
  // Indices from 0 are below the dims.
  ReadOptions zero;
  zero.index_base = IndexBase::zero;
  CHECK(read_alike("4 5 3\n1 2 1\n4 4 2\n2 2 5\n", zero).dialect == "FROSTT");
  CHECK(read_alike("4 5 3\n1 2 1\n3 4 2\n2 2 5\n", zero).dialect == "FROSTT with a header");
  // The dims that are asked for.
  ReadOptions with_dims;
  with_dims.dims = {4, 6};
  CHECK(read_alike("4 5 3\n1 2 1\n3 4 2\n2 2 5\n", with_dims).dialect == "FROSTT");
  with_dims.dims = {4, 5};
  CHECK(read_alike("4 5 3\n1 2 1\n3 4 2\n2 2 5\n", with_dims).dialect == "FROSTT with a header");

  // A file that is cut short behind such a line.
  std::string cut = "90 80 100\n";
  for (int k = 1; k <= 50; ++k) cut += std::to_string(k) + " " + std::to_string(k) + " 0.5\n";
  CHECK(note(cut) == unclear("90 80 100"));
  CHECK(message_of([&] { read_alike(cut, first_line_is(FirstLine::header)); }) ==
        "x:1: the header says 100 nonzeros, the file holds 50");
  CHECK(message_of([] { read_alike("1 2 0.5\n", first_line_is(FirstLine::header)); }) ==
        "x:1: expected a header: the dims and the number of nonzeros, or the order, the number of "
        "nonzeros and in the next line the dims");
}

TEST_CASE("headers before lines without values are known by their columns", "[tns]") {
  Entries<double> const expected = {{{0, 1}, 1}, {{1, 1}, 1}, {{2, 3}, 1}};
  auto const with = [](FirstLine what) { return first_line_is(what, true); };
  auto const result = read_alike("4 5 3\n1 2\n3 4\n2 2\n", with(FirstLine::automatic));
  CHECK(result.dialect == "FROSTT with a header");
  CHECK(dims_of(result.tensor) == Dims{4, 5});
  CHECK(entries(result.tensor) == expected);
  CHECK(result.notes.empty());
  CHECK(message_of([&] { read_alike("4 5 3\n1 2\n3 4\n", with(FirstLine::automatic)); }) ==
        "x:1: the header says 3 nonzeros, the file holds 2");

  auto const extended = read_alike("2 3\n4 5\n1 2\n3 4\n2 2\n", with(FirstLine::automatic));
  CHECK(extended.dialect == "extended FROSTT");
  CHECK(dims_of(extended.tensor) == Dims{4, 5});
  CHECK(entries(extended.tensor) == expected);
  CHECK(extended.notes ==
        Notes{"the first two lines, from \"2 3\" on, were" + read_as_sizes + "them as nonzeros"});
  auto const lines = read_alike("2 3\n4 5\n1 2\n3 4\n2 2\n", with(FirstLine::nonzero));
  CHECK(entries(lines.tensor).size() == 5);
  CHECK(lines.notes.empty());
  CHECK(read_alike("2 3\n4 5\n1 2\n3 6\n2 2\n", with(FirstLine::automatic)).dialect == "FROSTT");
  CHECK(read_alike("3 2\n4 5 6\n1 2 6\n3 4 5\n", with(FirstLine::automatic)).dialect ==
        "extended FROSTT");
}

TEST_CASE("extended FROSTT has a line of order and number, and one of dims", "[tns]") {
  auto const result =
      read_alike("# extended FROSTT format\n3 3\n4 5 6\n1 1 1 5.0\n4 5 6 2.0\n2 2 2 1\n");
  CHECK(result.dialect == "extended FROSTT");
  CHECK(result.notes.empty());
  CHECK(dims_of(result.tensor) == Dims{4, 5, 6});
  CHECK(entries(result.tensor) == Entries<double>{{{0, 0, 0}, 5}, {{1, 1, 1}, 1}, {{3, 4, 5}, 2}});
  CHECK(dims_of(read_alike("2 1\n4 5\n1 1 5.0\n").tensor) == Dims{4, 5});
  CHECK(dims_of(read_alike("1 1\n4\n1 5.0\n").tensor) == Dims{4});
  CHECK(dims_of(read_alike("3 0\n4 5 6\n").tensor) == Dims{4, 5, 6});
  CHECK(read_alike("2 1\n4 5\n1 1\n").dialect == "FROSTT");  // three nonzeros of a vector
  CHECK(message_of([] { read_alike("3 2\n4 5 6\n1 1 1 5.0\n"); }) ==
        "x:1: the header says 2 nonzeros, the file holds 1");
  CHECK(message_of([] { read_alike("3 1\n4 5 6\n1 1 7 5.0\n"); }) ==
        "x:3: column 3 (mode 2): the index 7 is past the mode's length 6");
}

TEST_CASE("MatrixMarket files of other writers", "[tns]") {
  auto const check = [](std::string const& text, char const* dialect, Dims const& dims,
                        Entries<double> const& expected) {
    CAPTURE(text);
    auto const result = read_alike(text);
    CHECK(result.dialect == dialect);
    CHECK(dims_of(result.tensor) == dims);
    CHECK(entries(result.tensor) == expected);
  };
  auto const* const matrix = "MatrixMarket";
  Entries<double> const two = {{{0, 0}, 20}, {{2, 1}, 1}};
  for (std::string const banner : {"%MatrixMarket", "% MatrixMarket", "%%matrixmarket",
                                   "%% MatrixMarket", "\xef\xbb\xbf%%MatrixMarket"})
    check(banner + " matrix coordinate real general\n3 3 2\n1 1 20\n3 2 1\n", matrix, {3, 3}, two);
  check(
      "%%MatrixMarket matrix coordinate real general\n % c\n\t% c\n\n% c\n3 3 2\n1 1 20 % c\n\t%\n"
      "% 7\n3 2 1\n%",
      matrix, {3, 3}, two);
  check("%%MatrixMarket matrix coordinate unsigned general\n3 3 2\n1 1 20\n3 2 1\n", matrix, {3, 3},
        two);
  check("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 2.0D+01\n3 2 1.0d0\n", matrix,
        {3, 3}, two);
  check("%%MatrixMarket matrix coordinate real general\n3.0e+00 3 2\n1.000e+00 1 2.0q1\n3 2.0 1\n",
        matrix, {3, 3}, two);
  check("% no banner\n3 3 3\n1 1 2.0D+01\n3 2 1.0d0\n2 3 4\n", "FROSTT with a header", {3, 3},
        {{{0, 0}, 20}, {{1, 2}, 4}, {{2, 1}, 1}});
  check("%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 1\n4 3\n", matrix, {4, 4},
        {{{0, 1}, 1}, {{0, 2}, 1}, {{1, 0}, 1}, {{2, 0}, 1}, {{2, 3}, 1}, {{3, 2}, 1}});
  // Arrays: column by column, of symmetric ones the lower triangle.
  check("%%MatrixMarket matrix array real general\n% c\n2 3\n1\n2\n\n3\n0\n%\n5\n6\n", matrix,
        {2, 3}, {{{0, 0}, 1}, {{0, 1}, 3}, {{0, 2}, 5}, {{1, 0}, 2}, {{1, 2}, 6}});
  check("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", matrix, {3, 3},
        {{{0, 0}, 1},
         {{0, 1}, 2},
         {{0, 2}, 3},
         {{1, 0}, 2},
         {{1, 1}, 4},
         {{1, 2}, 5},
         {{2, 0}, 3},
         {{2, 1}, 5},
         {{2, 2}, 6}});
  check("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n", matrix, {3, 3},
        {{{0, 1}, -1}, {{0, 2}, -2}, {{1, 0}, 1}, {{1, 2}, -3}, {{2, 0}, 2}, {{2, 1}, 3}});
  check("%%MatrixMarket matrix array real symmetric\n1 1\n7\n", matrix, {1, 1}, {{{0, 0}, 7}});
  check("%%MatrixMarket matrix array real skew-symmetric\n1 1\n", matrix, {1, 1}, {});
  check("%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 3\n", matrix, {2, 2},
        {{{0, 1}, 3}, {{1, 0}, 3}});
  check("%%MatrixMarket vector coordinate real general\n5 2\n1 7\n4 8\n", matrix, {5},
        {{{0}, 7}, {{3}, 8}});
  // Tensors, as taco writes them
  check("%%MatrixMarket tensor coordinate real general\n%\n4 5 6 2\n1 1 1 5.0\n4 5 6 2.0\n",
        "TensorMarket", {4, 5, 6}, {{{0, 0, 0}, 5}, {{3, 4, 5}, 2}});
  check("%%MatrixMarket tensor array real general\n2 1 2\n1\n0\n3\n4\n", "TensorMarket", {2, 1, 2},
        {{{0, 0, 0}, 1}, {{0, 0, 1}, 3}, {{1, 0, 1}, 4}});
}

TEST_CASE("indices may be written as real numbers that are whole", "[tns]") {
  auto const read = [](std::string const& text) { return entries(read_alike(text).tensor); };
  CHECK(read("1.000000000000000000e+00 2.000000000000000000e+00 1.0e0 5.0e+00\n") ==
        Entries<double>{{{0, 1, 0}, 5}});
  CHECK(read("+1. 1.20e1 0.003E+3 5\n") == Entries<double>{{{0, 11, 2}, 5}});
  CHECK(read("1.8446744073709551615e+19 9007199254740993.0 2\n") ==
        Entries<double>{{{18446744073709551614u, 9007199254740992}, 2}});
}

TEST_CASE("values that their type does not hold are counted", "[tns]") {
  std::string const big = "1 1 9007199254740993\n1 2 -9007199254740993.0\n";
  auto const notes = [](std::string const& text) { return read_alike(text).notes; };
  CHECK(notes(big) == Notes{"2 integers were rounded: past 2^53 = 9007199254740992 the type of "
                            "values holds not all"});
  CHECK(notes("1 1 1e-400\n1 2 5\n") ==
        Notes{"1 value was rounded to 0: the type of values holds none as small"});
  CHECK(notes(big + "2 1 -1e-400\n2 2 0.0000d-999\n3 1 0\n").size() == 2);
  // Held, or written as numbers that are not exact.
  CHECK(notes("1 1 9007199254740992\n1 2 9007199254740994\n1 3 18014398509481984.000\n").empty());
  CHECK(notes("1 1 1e23\n1 2 9.007199254740993e15\n1 3 0.1\n1 4 9007199254740993.5\n").empty());
  CHECK(notes("1 1 00000000000000000000000000012\n1 2 4e-320\n").empty());
  CHECK(notes("tensor\n1\n2\n9007199254740993 1e-400\n").size() == 2);
  CHECK(notes("tensor\n1\n2\n9007199254740992 0e-400\n").empty());

  CHECK(parse_tensor<float>("1 1 16777217\n1 2 16777216\n1 3 1e-50\n", "x").notes ==
        Notes{"1 integer was rounded: past 2^24 = 16777216 the type of values holds not all",
              "1 value was rounded to 0: the type of values holds none as small"});
  TemporaryFolder const folder;
  write_spt(
      folder / "x.spt",
      make_coo<double>(
          {6},
          {{{0}, 16777217}, {{1}, 16777216}, {{2}, 1e-50}, {{3}, .1}, {{4}, 0}, {{5}, -16777219}}));
  CHECK(read_tensor<double>(folder / "x.spt").notes.empty());
  CHECK(read_tensor<float>(folder / "x.spt").notes ==
        Notes{"2 integers were rounded: past 2^24 = 16777216 the type of values holds not all",
              "1 value was rounded to 0: the type of values holds none as small"});
}

TEST_CASE("models may begin with a byte-order mark", "[ktensor]") {
  std::string const text = "ktensor\n1\n2\n1\n3\nmatrix\n2\n2 1\n.5\n-.5D0\n";
  auto const model = parse_ktensor<double>("\xef\xbb\xbf" + text, "x");
  CHECK(model.weights(0) == 3);
  CHECK(model.factors[0](1, 0) == -.5);
  CHECK(message_of([] { parse_ktensor<double>("BZh91AY", "x"); }) ==
        "x: expected a model as plain text, and this is a bzip2 file: bzip2 -dc FILE writes its "
        "text to a pipe");
}

TEST_CASE("inputs of public reports are read right", "[tns][shared]") {
  auto const check = [](char const* name, Dims const& dims, Entries<double> const& expected) {
    auto const path = shared_file(std::string("reports/") + name);
    if (path.empty()) return;
    CAPTURE(path);
    auto const result = read_tensor<double>(path);
    CHECK(dims_of(result.tensor) == dims);
    CHECK(entries(result.tensor) == expected);
  };
  check("dims-nnz-header.tns", {6, 5, 7},
        {{{0, 2, 1}, 1.5}, {{1, 0, 2}, 2.5}, {{1, 1, 6}, 1}, {{2, 4, 4}, 3}});
  check("dims-nnz-header-counts.txt", {4, 5}, {{{0, 1}, 1}, {{1, 1}, 5}, {{2, 3}, 2}});
  check("extended-frostt.tns", {4, 5, 6}, {{{0, 0, 0}, 5}, {{1, 1, 1}, 1}, {{3, 4, 5}, 2}});
  check("float-indices.tns", {1, 2, 1}, {{{0, 1, 0}, 5}});
  check("banner-one-percent.mtx", {4, 4},
        {{{0, 1}, 1}, {{0, 2}, 1}, {{1, 0}, 1}, {{2, 0}, 1}, {{2, 3}, 1}, {{3, 2}, 1}});
  check("fortran-exponent.mtx", {3, 3}, {{{0, 0}, 20}, {{2, 1}, 1}});
  check("indented-comments.mtx", {32, 32}, {{{0, 0}, 101}, {{1, 0}, 102}, {{5, 2}, 307.1}});
  auto const model = shared_file("reports/bom.ktns");
  if (!model.empty()) CHECK(read_ktensor<double>(model).rank() == 2);
}

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <ctime>
#include <random>
#include <sporades/formats/files/detail/tns_file/write_blocks.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

ReadOptions with_base(IndexBase base) {
  ReadOptions options;
  options.index_base = base;
  return options;
}

ReadOptions keeping_duplicates() {
  ReadOptions options;
  options.duplicates = Duplicates::keep;
  return options;
}

ReadOptions of_patterns() {
  ReadOptions options;
  options.pattern = true;
  return options;
}

Entries<double> const small = {{{0, 0, 0}, 1}, {{1, 3, 0}, -2.5}, {{4, 2, 2}, 300}};

/// The lines of `small`, with comments, blanks and number forms of all kinds.
std::string const small_lines =
    "# a comment\n1 1 1 1.0\r\n\n  2\t4 1 -.25e1 \n// another\n\t\r\n+5 03 3 +3.e+2 # behind";

}  // namespace

TEST_CASE("every dialect of the same tensor is read the same", "[tns]") {
  struct Case {
    char const* dialect;
    std::string text;
    ReadOptions options;
  };
  ReadOptions with_dims;
  with_dims.dims = {5, 4, 3};
  auto const it = GENERATE_REF(values<Case>({
      {"FROSTT", small_lines, {}},
      {"FROSTT", small_lines, with_dims},
      {"FROSTT", "\xef\xbb\xbf" + small_lines, {}},
      {"FROSTT", "1 1 1 1\r\r\n2 4 1 -2.5 \r\n# a\r\n\r\n5 3 3 300\r", {}},
      {"FROSTT", small_lines, with_base(IndexBase::one)},
      {"FROSTT", "0 0 0 1\n1 3 0 -2.5\n4 2 2 300\n", with_base(IndexBase::zero)},
      {"FROSTT", "0 1 1 1\n1 4 1 -2.5\n4 3 3 300\n", with_base(IndexBase::per_mode)},
      {"FROSTT", "# sporades dims: 5 4 3\n" + small_lines, {}},
      {"sptensor", "sptensor\n3 \n5 4 3 \n3 \n" + small_lines, {}},
      {"sptensor", "sptensor\n3\n5 4 3\n3\n0 0 0 1\n1 3 0 -2.5\n4 2 2 300", {}},
      {"sptensor",
       "# \n\nsptensor indices-start-at-zero\n3\n5 4 3\n3\n0 0 0 1\n1 3 0 -2.5\n4 2 2 3e2",
       {}},
      {"sptensor", "sptensor indices-start-at-one\r\n3\r\n5 4 3\r\n3\r\n" + small_lines, {}},
      {"ParTI", "3\n5 4 3\n" + small_lines, {}},
      {"tensor",
       "// column by column\ntensor\n3\n5 4 3\n1 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 -2.5 0 0 0\n"
       "0 0 0 0 0  0 0 0 0 0  0 0 0 0 0  0 0 0 0 0\n"
       "0 0 0 0 0  0 0 0 0 0  0 0 0 0 300  0 0 0 0 0",
       {}},
  }));
  INFO(it.text);
  auto options = it.options;
  options.block_size = GENERATE(120, 1 << 20);
  options.threads = GENERATE(1, 3);
  bool const gz = GENERATE(false, true);
  auto const content = gz ? zipped(it.text) : it.text;
  auto const result = parse_tensor<double>(content, "x", options);
  CHECK(result.dialect == it.dialect);
  CHECK(result.duplicates == 0);
  CHECK(dims_of(result.tensor) == Dims{5, 4, 3});
  CHECK(entries(result.tensor) == small);
  CHECK(result.tensor.index() == 0);
  CHECK(std::get<0>(result.tensor).sorted_modes == std::vector<int>{0, 1, 2});
}

TEST_CASE("what the reader had to decide is said", "[tns]") {
  auto const note = [](std::string const& text, IndexBase base) {
    return parse_tensor<double>(text, "x", with_base(base)).notes.at(0);
  };
  std::string const header = "sptensor\n2\n3 3\n1\n";
  CHECK(note(header + "0 1 1\n", IndexBase::automatic) == "indices count from 0: an index is 0");
  CHECK(note(header + "1 3 1\n", IndexBase::automatic) ==
        "indices count from 1: one of mode 1 is its length");
  CHECK(note(header + "1 2 1\n", IndexBase::automatic) ==
        "indices were taken to count from 1: none is 0, none is its mode's length");
  CHECK(note("1 0 1\n", IndexBase::per_mode) ==
        "indices count from 0 in the modes 1 and from 1 in others");
  CHECK(parse_tensor<double>("1 1 1\n", "x").notes.empty());
}

TEST_CASE("the first lines tell ParTI from FROSTT", "[tns]") {
  auto const read = [](std::string const& text, ReadOptions const& options = {}) {
    return parse_tensor<double>(text, "x", options);
  };
  CHECK(read("1\n7\n3 2.5\n").dialect == "ParTI");  // order 1
  CHECK(dims_of(read("1\n7\n3 2.5\n").tensor) == Dims{7});
  CHECK(read("3 2.5\n4 1\n").dialect == "FROSTT");  // order 1
  CHECK(read("2\n3 4\n").dialect == "ParTI");       // no nonzeros
  CHECK(read("2\n3 4\n1 1\n", of_patterns()).dialect == "ParTI");
  auto const pattern = read("1\n7\n3\n", of_patterns());
  CHECK(pattern.dialect == "FROSTT");  // three nonzeros of a vector: with patterns it is ambiguous
  CHECK(entries(pattern.tensor) == Entries<double>{{{0}, 1}, {{2}, 1}, {{6}, 1}});
}

TEST_CASE("MatrixMarket files are matrices", "[tns]") {
  std::string const banner = "%%MatrixMarket matrix coordinate ";
  auto const read = [&](std::string const& text, ReadOptions const& options = {}) {
    auto const result = parse_tensor<double>(banner + text, "x", options);
    CHECK(result.dialect == "MatrixMarket");
    CHECK(entries(parse_tensor<double>(zipped(banner + text), "x", options).tensor) ==
          entries(result.tensor));
    return result;
  };
  auto const general = read("real general\n% a comment\n%\n\n3 4 3\n3 1 .5\n1 4 -2e0\n1 1 7\n");
  CHECK(dims_of(general.tensor) == Dims{3, 4});
  CHECK(entries(general.tensor) == Entries<double>{{{0, 0}, 7}, {{0, 3}, -2}, {{2, 0}, .5}});
  CHECK(general.notes.empty());
  CHECK(entries(read("Integer General\n2 2 1\n2 1 5\n").tensor) == Entries<double>{{{1, 0}, 5}});
  auto const symmetric = read("real symmetric\n3 3 3\n3 1 2\n2 2 4\n3 2 6\n");
  CHECK(entries(symmetric.tensor) ==
        Entries<double>{{{0, 2}, 2}, {{1, 1}, 4}, {{1, 2}, 6}, {{2, 0}, 2}, {{2, 1}, 6}});
  CHECK(symmetric.notes ==
        std::vector<std::string>{"the matrix is symmetric: 2 of 3 entries stand for two"});
  CHECK(entries(read("real symmetric\n3 3 2\n3 1 2\n2 2 4\n", keeping_duplicates()).tensor) ==
        Entries<double>{{{2, 0}, 2}, {{1, 1}, 4}, {{0, 2}, 2}});
  CHECK(entries(read("real skew-symmetric\n3 3 2\n3 1 2\n2 2 0\n").tensor) ==
        Entries<double>{{{0, 2}, -2}, {{1, 1}, 0}, {{2, 0}, 2}});
  CHECK(entries(read("pattern symmetric\n2 2 2\n2 1\n2 2\n").tensor) ==
        Entries<double>{{{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}});
  CHECK(entries(read("real symmetric\n5000000000 5000000000 1\n5000000000 1 2\n").tensor) ==
        Entries<double>{{{0, 4999999999}, 2}, {{4999999999, 0}, 2}});
  CHECK(dims_of(read("pattern general\n2 3 0\n").tensor) == Dims{2, 3});
}

TEST_CASE("pipes are read", "[tns][file]") {
  TemporaryFolder const folder;
  auto const X = make_coo<double>({5, 4, 3}, small);
  write_spt(folder / "x.spt", X);
  std::vector<std::string> const contents = {small_lines, zipped(small_lines),
                                             read_text(folder / "x.spt")};
  auto const& content = contents[GENERATE(0u, 1u, 2u)];
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  close(ends[1]);
  auto const result = read_tensor<double>("/dev/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  CHECK(entries(result.tensor) == small);
}

TEST_CASE("comments between the first lines take time once", "[tns]") {
  struct Case {
    std::string before, after, dialect;
  };
  auto const it = GENERATE(values<Case>({{"1 1 1\n", "2 1 1\n", "FROSTT"},
                                         {"sptensor\n", "2\n2 1\n2\n1 1 1\n2 1 1\n", "sptensor"},
                                         {"2\n", "2 1\n1 1 1\n2 1 1\n", "ParTI"},
                                         {"2\n2 1\n", "1 1 1\n2 1 1\n", "ParTI"}}));
  std::string text = it.before;
  while (text.size() < (std::size_t{4} << 20)) text += "# a comment of some words\n";
  auto const lines = std::count(text.begin(), text.end(), '\n');
  text += it.after;
  ReadOptions options;
  options.threads = 1;
  options.block_size = 256;
  auto const start = std::clock();
  auto const result = parse_tensor<double>(text, "x", options);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 3);
  CHECK(result.dialect == it.dialect);
  CHECK(entries(result.tensor) == Entries<double>{{{0, 0}, 1}, {{1, 0}, 1}});
  auto const after = std::count(it.after.begin(), it.after.end(), '\n');
  CHECK(message_of([&] { parse_tensor<double>(text + "1 y 1\n", "x", options); }) ==
        "x:" + std::to_string(lines + after + 1) +
            ": column 2 (mode 1): the index \"y\" is not a number");
}

TEST_CASE("lines that were looked at and are no header keep their numbers", "[tns]") {
  auto options = of_patterns();
  options.block_size = GENERATE(8, 1 << 20);
  auto const message =
      message_of([&] { parse_tensor<double>("# a\n2\n# b\n\n3\n# c\ny\n", "x", options); });
  CHECK(message == "x:7: column 1 (mode 0): the index \"y\" is not a number");
}

TEST_CASE("files without a column of values have ones, when asked", "[tns]") {
  auto const result = parse_tensor<float>("1 2 3\n4 5 6\n", "x", of_patterns());
  CHECK(entries(result.tensor) == Entries<float>{{{0, 1, 2}, 1}, {{3, 4, 5}, 1}});
}

TEST_CASE("values that are no counts are refused with their place, when asked", "[tns]") {
  auto const message = [](std::string const& text, Values values) {
    ReadOptions options;
    options.values = values;
    options.block_size = 32;
    auto const plain = message_of([&] { parse_tensor<double>(text, "x", options); });
    CHECK(message_of([&] { parse_tensor<double>(zipped(text), "x", options); }) == plain);
    return plain;
  };
  std::string const good = "# counts\n1 1 3\n1 2 0\n2 2 4.0e0\n3 1 -0\n";
  CHECK(message(good, Values::counts) == "no error");
  CHECK(message(good + "3 2 -3\n3 3 1\n", Values::any) == "no error");
  for (auto values : {Values::non_negative, Values::counts})
    CHECK(message(good + "3 2 -3\n3 3 1\n", values) ==
          "x:6: column 3 (the value): \"-3\" is negative, where counts are expected");
  CHECK(message(good + "3 2 2.5 # half\n", Values::non_negative) == "no error");
  CHECK(message(good + "3 2 2.5 # half\n", Values::counts) ==
        "x:6: column 3 (the value): \"2.5\" is not a whole number, where counts are expected");
  CHECK(message("tensor\n1\n3\n1\n2 -4\n", Values::counts) ==
        "x:5: \"-4\" is negative, where counts are expected");
  CHECK(message("tensor\n1\n3\n1\n2 4\n", Values::counts) == "no error");
}

TEST_CASE("indices are 64-bit where a mode is longer than 32 bits", "[tns]") {
  auto const read = [](std::string const& text, ReadOptions const& options = {}) {
    return parse_tensor<double>(text, "x", options).tensor;
  };
  CHECK(read("4294967296 1 1\n").index() == 0);  // the mode has 2^32 entries, from 0 to 2^32 - 1
  CHECK(dims_of(read("4294967296 1 1\n")) == Dims{4294967296, 1});
  CHECK(read("1 1 1\n4294967297 1 1\n").index() == 1);
  CHECK(read("4294967296 1 1\n", with_base(IndexBase::zero)).index() == 1);
  CHECK(read("4294967296 0 1\n", with_base(IndexBase::per_mode)).index() == 0);
  CHECK(read("4294967296 1 1\n0 1 1\n", with_base(IndexBase::per_mode)).index() == 1);
  CHECK(entries(read("4294967296 1 1\n0 1 1\n", with_base(IndexBase::per_mode))) ==
        Entries<double>{{{0, 0}, 1}, {{4294967296, 0}, 1}});
  CHECK(entries(read("0 1 1\n1 1 1\n", with_base(IndexBase::per_mode))) ==
        Entries<double>{{{0, 0}, 1}, {{1, 0}, 1}});
  CHECK(dims_of(read("0 1 1\n1 1 1\n", with_base(IndexBase::per_mode))) == Dims{2, 1});
  CHECK(read("sptensor\n2\n4294967297 1\n1\n1 1 1\n").index() == 1);
  CHECK(entries(read("18446744073709551615 1 1\n")) ==
        Entries<double>{{{18446744073709551614u, 0}, 1}});
}

TEST_CASE("indices have the type that is asked for, or are refused", "[tns]") {
  auto const narrow = parse_tensor<float, std::uint32_t>(small_lines, "x");
  static_assert(std::is_same_v<decltype(narrow.tensor), CooTensor<float>>);
  CHECK(entries(narrow.tensor) ==
        Entries<float>{{{0, 0, 0}, 1}, {{1, 3, 0}, -2.5f}, {{4, 2, 2}, 300}});
  CHECK(narrow.dialect == "FROSTT");
  auto const repeated = parse_tensor<double, std::uint64_t>(small_lines + "\n1 1 1 2\n", "x");
  static_assert(std::is_same_v<decltype(repeated.tensor), CooTensor<double, std::uint64_t>>);
  CHECK(entries(repeated.tensor) ==
        Entries<double>{{{0, 0, 0}, 3}, {{1, 3, 0}, -2.5}, {{4, 2, 2}, 300}});
  CHECK(repeated.duplicates == 1);
  CHECK(repeated.tensor.sorted_modes == std::vector<int>{0, 1, 2});

  std::string const longest = "4294967296 1 1\n", longer = "1 4294967297 1\n";
  CHECK(entries(parse_tensor<double, std::uint32_t>(longest, "x").tensor) ==
        Entries<double>{{{4294967295, 0}, 1}});
  CHECK(entries(parse_tensor<double, std::uint64_t>(longer, "x").tensor) ==
        Entries<double>{{{0, 4294967296}, 1}});
  CHECK(message_of([&] { parse_tensor<double, std::uint32_t>(longer, "x"); }) ==
        "x: mode 1 has length 4294967297, past the 32-bit indices that the tensor shall have");
}

TEST_CASE("duplicate coordinates are summed in their order, and said", "[tns]") {
  std::string const text = "2 1 1e16\n1 1 1\n2 1 1\n2 1 -1e16\n";
  auto const summed = parse_tensor<double>(text, "x");
  CHECK(summed.duplicates == 2);
  CHECK(summed.notes ==
        std::vector<std::string>{"2 nonzeros were added to others of the same coordinates"});
  CHECK(entries(summed.tensor) == Entries<double>{{{0, 0}, 1}, {{1, 0}, 1e16 + 1 - 1e16}});
  auto const kept = parse_tensor<double>(text, "x", keeping_duplicates());
  CHECK(kept.duplicates == 0);
  CHECK(entries(kept.tensor) ==
        Entries<double>{{{1, 0}, 1e16}, {{0, 0}, 1}, {{1, 0}, 1}, {{1, 0}, -1e16}});
  CHECK(std::get<0>(kept.tensor).sorted_modes.empty());
  auto const sorted = parse_tensor<double>("1 1 1\n1 1 2\n1 2 3\n", "x");
  CHECK(sorted.duplicates == 1);
  CHECK(entries(sorted.tensor) == Entries<double>{{{0, 0}, 3}, {{0, 1}, 3}});
}

TEST_CASE("orders 1 to 16 are read and written", "[tns]") {
  int const order = GENERATE(range(1, 17));
  std::string line;
  std::vector<std::uint64_t> coordinate;
  for (int n = 0; n < order; ++n) {
    line += std::to_string(n + 1) + " ";
    coordinate.push_back(n);
  }
  auto const result = parse_tensor<double>(line + "2.5\n", "x");
  CHECK(entries(result.tensor) == Entries<double>{{coordinate, 2.5}});
  TemporaryFolder const folder;
  write_tns(folder / "x.tns", result.tensor);
  CHECK(read_text(folder / "x.tns") == line + "2.5\n");
}

TEST_CASE("a long text gives the same in any blocks, threads and gzip members", "[tns][threads]") {
  std::mt19937_64 random(7);
  std::string text;
  Entries<double> expected;
  for (int k = 0; k < 3000; ++k) {
    std::vector<std::uint64_t> const at = {random() % 50, random() % 1000, random() % 7};
    expected.push_back({at, static_cast<double>(random() % 1000) / 8});
    for (auto index : at) text += std::to_string(index + 1) + (k % 5 ? " " : "\t ");
    text += std::to_string(expected.back().second) + (k % 3 ? "\n" : "\r\n");
    if (k % 100 == 0) text += "\n# comment\n";
  }
  auto options = keeping_duplicates();
  options.block_size = GENERATE(100, 1000, 4096, 1 << 20);
  options.threads = GENERATE(0, 1, 4);
  CHECK(entries(parse_tensor<double>(text, "x", options).tensor) == expected);
  CHECK(entries(parse_tensor<double>(zipped(text), "x", options).tensor) == expected);
  auto const members = zipped(text.substr(0, 1234)) + zipped("") + zipped(text.substr(1234));
  CHECK(entries(parse_tensor<double>(members, "x", options).tensor) == expected);
  CHECK(entries(parse_tensor<double>(members + std::string(512, '\0'), "x", options).tensor) ==
        expected);
  auto const message = [&](std::string const& content) {
    return message_of([&] { parse_tensor<double>(content, "x", options); });
  };
  auto const lines = std::count(text.begin(), text.end(), '\n');
  auto const late = "x:" + std::to_string(lines + 1) + ": column 2 (mode 1)";
  CHECK_THAT(message(text + "1 y 1 1\n1\n"), Catch::Matchers::StartsWith(late));
  CHECK_THAT(message(zipped(text + "1 y 1 1\n1\n")), Catch::Matchers::StartsWith(late));
}

TEMPLATE_TEST_CASE("written text reads back exactly", "[tns]", float, double) {
  TemporaryFolder const folder;
  std::mt19937_64 random(3);
  Entries<TestType> nonzeros;
  for (std::uint64_t k = 0; k < 2000; ++k)
    nonzeros.push_back(
        {{k, random() % 9}, static_cast<TestType>(random()) / static_cast<TestType>(3e7)});
  nonzeros[5].second = std::numeric_limits<TestType>::denorm_min();
  nonzeros[6].second = std::numeric_limits<TestType>::max();
  nonzeros[7].second = -1;
  auto const X = make_coo({2000, 9}, nonzeros);
  auto const name = GENERATE(std::string("x.tns"), std::string("x.tns.gz"));
  write_tns(folder / name, X);
  CHECK((read_text(folder / name).substr(0, 2) == "\x1f\x8b") == (name == "x.tns.gz"));
  auto const back = read_tensor<TestType>(folder / name);
  CHECK(dims_of(back.tensor) == X.dims);
  CHECK(entries(back.tensor) == nonzeros);
  CHECK(folder.names() == std::vector<std::string>{name});
}

TEST_CASE("dims that the indices do not show are written as a comment", "[tns]") {
  TemporaryFolder const folder;
  auto const path = folder / "x.tns";
  write_tns(path, make_coo<double>({2, 3}, {{{0, 2}, 1}}));
  CHECK(read_text(path) == "# sporades dims: 2 3\n1 3 1\n");
  CHECK(dims_of(read_tensor<double>(path).tensor) == Dims{2, 3});
  write_tns(path, make_coo<double, std::uint64_t>({2, 0, 3}, {}));
  auto const empty = read_tensor<double>(path);
  CHECK(dims_of(empty.tensor) == Dims{2, 0, 3});
  CHECK(entries(empty.tensor).empty());
  write_tns(path, make_coo<double>({2}, {{{1}, 0.5}}));
  CHECK(read_text(path) == "2 0.5\n");
}

TEST_CASE("text that waits to be written has a bound at any number of threads", "[tns]") {
  auto const order = GENERATE(1, 3, 16);
  auto const dim = GENERATE(std::uint64_t{10}, std::numeric_limits<std::uint64_t>::max());
  auto const threads = GENERATE(1, 2, 64, 1024);
  Dims const dims(static_cast<std::size_t>(order), dim);
  auto const blocks = detail::blocks_at_once(dims, threads);
  CHECK(blocks >= 1);
  CHECK(blocks <= 4 * static_cast<std::size_t>(threads));
  CHECK(blocks * detail::lines_per_block * detail::longest_line(dims) <= std::size_t{256} << 20);
  CHECK(detail::longest_line(dims) >= static_cast<std::size_t>(order) * (dim == 10 ? 3 : 21) + 25);
}

TEST_CASE("content decides, not the name", "[tns]") {
  TemporaryFolder const folder;
  auto const X = make_coo<double>({1, 2}, {{{0, 1}, 2}});
  write_text(folder / "x.spt", zipped("1 2 2\n"));
  CHECK(entries(read_tensor<double>(folder / "x.spt").tensor) == entries(X));
  write_spt(folder / "x.tns", X);
  CHECK(read_tensor<double>(folder / "x.tns").dialect == "spt");
}

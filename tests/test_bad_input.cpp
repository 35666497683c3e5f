// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct BadText {
  std::string text;
  std::string message;  // all of it, but the file's name before it
};

/// What is said of an index 0, behind it.
std::string const from_one =
    ", where indices count from 1; a file that counts from 0 is read with --index-base zero, or "
    "per-mode where some modes do";

/// What is said of a header and lines without values, behind the line.
std::string const without_values =
    "; after a header of dims and number of nonzeros, --pattern reads lines without values";

std::string parse_message(std::string const& content, ReadOptions const& options = {}) {
  return message_of([&] { parse_tensor<double>(content, "x.tns", options); });
}

/// The most bytes that were in memory since the last call that forgets what was before; 0 where
/// they cannot be told, and where memory that was given back is kept by the address sanitizer.
std::size_t resident_bytes(bool forgets) {
#if defined(__SANITIZE_ADDRESS__)
  static_cast<void>(forgets);
  return 0;
#else
  if (forgets && !(std::ofstream("/proc/self/clear_refs") << 5 << std::flush)) return 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
#endif
}

}  // namespace

TEST_CASE("bad text is refused with its place", "[bad_input][tns]") {
  auto const it = GENERATE(values<BadText>({
      // columns
      {"1 1 1 1\n2 1 1\n", ":2: found 3 columns, expected 3 indices and a value"},
      {"1 1 1\n\n# c\n2 1 1 7\n", ":4: found 4 columns, expected 2 indices and a value"},
      {"1 1\n2\n", ":2: found 1 column, expected 1 index and a value"},
      {"5 4 2\n1 3\n",
       std::string(":2: found 2 columns, expected 2 indices and a value") + without_values},
      {"3 1\n5 4 3\n1 3 2\n",
       std::string(":3: found 3 columns, expected 1 index and a value") + without_values},
      {"5\n", ":1: found one column, expected indices and a value"},
      {"1\n2\n3\n", ":1: found one column, expected indices and a value"},
      {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", ":1: order 17 is not in 1 to 16"},
      {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", ":1: order 18 or more is not in 1 to 16"},
      // indices
      {"1 1 1\n2 0 1\n", std::string(":2: column 2 (mode 1): the index 0") + from_one},
      {"1 1 1\n-2 1 1\n", ":2: column 1 (mode 0): the index \"-2\" is negative"},
      {"1 1 1\r\n\r\n1 1.5 1\r\n", ":3: column 2 (mode 1): the index \"1.5\" is not an integer"},
      {"15e-1 1 1\n", ":1: column 1 (mode 0): the index \"15e-1\" is not an integer"},
      {"1e20 1 1\n", ":1: column 1 (mode 0): the index \"1e20\" is past 64 bits"},
      {"1 -1.0e+00 1\n", ":1: column 2 (mode 1): the index \"-1.0e+00\" is negative"},
      {"1 ++1 1\n", ":1: column 2 (mode 1): the index \"++1\" is not a number"},
      {"1 x 1\n", ":1: column 2 (mode 1): the index \"x\" is not a number"},
      {"1 1,2 1\n", ":1: column 2 (mode 1): the index \"1,2\" is not a number"},
      {"+ 1 1\n", ":1: column 1 (mode 0): the index \"+\" is not a number"},
      {"1 99999999999999999999 1\n",
       ":1: column 2 (mode 1): the index \"99999999999999999999\" is past 64 bits"},
      {"1 18446744073709551616 1\n",
       ":1: column 2 (mode 1): the index \"18446744073709551616\" is past 64 bits"},
      {"# sporades dims: 3 3\n1 1 1\n4 1 1\n",
       ":3: column 1 (mode 0): the index 4 is past the mode's length 3"},
      // values
      {"1 1 nan\n", ":1: column 3 (the value): \"nan\" is not finite"},
      {"1 1 1\n1 2 -inf\n", ":2: column 3 (the value): \"-inf\" is not finite"},
      {"1 1 INFINITY\n", ":1: column 3 (the value): \"INFINITY\" is not finite"},
      {"1 1 1e400\n", ":1: column 3 (the value): \"1e400\" is out of range"},
      {"1 1 1.5x\n", ":1: column 3 (the value): \"1.5x\" is not a number"},
      {"1 1 0x10\n", ":1: column 3 (the value): \"0x10\" is not a number"},
      {"1 1 1.5D\n", ":1: column 3 (the value): \"1.5D\" is not a number"},
      {"1 1 1d1d1\n", ":1: column 3 (the value): \"1d1d1\" is not a number"},
      {"1 1 2011-100\n", ":1: column 3 (the value): \"2011-100\" is not a number"},
      {"1 1 1D400\n", ":1: column 3 (the value): \"1D400\" is out of range"},
      {"1 1 1e\n", ":1: column 3 (the value): \"1e\" is not a number"},
      {"1 1 .\n", ":1: column 3 (the value): \".\" is not a number"},
      {"1 1 --1\n", ":1: column 3 (the value): \"--1\" is not a number"},
      {"1 1 1e308\n1 1 1e308\n",
       ": values of the same coordinates add to more than the type holds"},
      {std::string("1 1 1\n1 1 1\0002\n", 14),
       ":2: column 3 (the value): \"1\\x002\" is not a number"},
      // nothing there
      {"", ": the file is empty"},
      {"\n", ": holds no nonzeros, and nothing says its dims"},
      {"# only a comment", ": holds no nonzeros, and nothing says its dims"},
      // headers
      {"sptensor\n3\n5 4 3\n3\n1 1 1 1\n1 1 2 1\n",
       ":4: the header says 3 nonzeros, the file holds 2"},
      {"sptensor\n3\n5 4 3\n1\n1 1 1 1\n1 1 2 1\n",
       ":4: the header says 1 nonzeros, the file holds 2"},
      {"sptensor\n3\n5 4 3\n1152921504606846976\n1 1 1 1\n",
       ":4: the header says 1152921504606846976 nonzeros, the file holds 1"},
      {"sptensor\n3\n5 4 3\n1\n1 5 1 1\n",
       ":5: column 2 (mode 1): the index 5 is past the mode's length 4"},
      {"sptensor\n3\n5 4 3\n2\n1 4 1 1\n1 1 0 1\n",
       ":6: column 3 (mode 2): the index 0, so indices count from 0, but one of mode 1 is its "
       "length "
       "4"},
      {"sptensor\n3\n5 4 0\n1\n0 0 0 1\n",
       ":5: column 3 (mode 2): the index 0 is past the mode's length 0"},
      {"sptensor indices-start-at-zero\n1\n5\n1\n5 1\n",
       ":5: column 1 (mode 0): the index 5 is past the mode's length 5, counted from 0"},
      {"sptensor indices-start-at-one\n1\n5\n1\n0 1\n",
       std::string(":5: column 1 (mode 0): the index 0") + from_one},
      {"sptensor incorrect_tensor_type\n1\n5\n1\n1 1\n",
       ":1: unknown tensor type \"sptensor incorrect_tensor_type\""},
      {"sptensor\n17\n1\n1\n1 1\n", ":2: order 17 is not in 1 to 16"},
      {"sptensor\n0\n\n1\n1 1\n", ":2: order 0 is not in 1 to 16"},
      {"sptensor\n3 4\n", ":2: the file ends inside its header, which has 4 lines"},
      {"sptensor\n3\n5 4\n1\n1 1 1 1\n", ":3: expected the lengths of 3 modes"},
      {"sptensor\n3\n5 4 -1\n1\n1 1 1 1\n", ":3: expected the lengths of 3 modes"},
      {"sptensor\n3\n5 4 3\n1.5\n1 1 1 1\n",
       ":4: expected one integer, the number of nonzeros, found \"1.5\""},
      {"list\n2\n4 2\n1\n", ":1: unknown tensor type \"list\""},
      {"matrix\n2\n4 2\n1\n", ":1: this is a dense matrix, expected a sparse tensor"},
      {"ktensor\n2\n4 2\n1\n",
       ":1: this is a Kruskal tensor, expected a sparse tensor; models go to --init, info, view, "
       "evaluate and predict"},
      {"2\n3 3\n1 4 1\n", ":3: column 2 (mode 1): the index 4 is past the mode's length 3"},
      {"2\n3 3\n0 1 1\n", std::string(":3: column 1 (mode 0): the index 0") + from_one},
      {"ttensor\n2\n4 2\ntensor\n",
       ":1: this is a Tucker tensor, expected a sparse tensor; models go to --init, info, view, "
       "evaluate and predict"},
      // MatrixMarket
      {"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n",
       ":1: a MatrixMarket file of \"complex\" values, expected real, integer, unsigned or "
       "pattern"},
      {"%MatrixMarket matrix array pattern general\n2 2\n",
       ":1: a MatrixMarket file of \"pattern\" values in an array, expected real, integer or "
       "unsigned"},
      {"%%MatrixMarket graph coordinate real general\n2 2 1\n1 1 1\n",
       ":1: a MatrixMarket \"graph coordinate\", expected \"matrix\", \"tensor\" or \"vector\", "
       "and "
       "\"coordinate\" or \"array\""},
      {"%%MatrixMarket matrix coordinate real lower\n2 2 1\n1 1 1\n",
       ":1: a MatrixMarket file of symmetry \"lower\", expected general, symmetric or "
       "skew-symmetric"},
      {"%%MatrixMarket tensor coordinate real symmetric\n2 2 2 1\n1 1 1 1\n",
       ":2: a symmetric tensor of 2 x 2 x 2"},
      {"%%MatrixMarket tensor coordinate real general\n4\n1 1 1 1\n",
       ":2: expected the dims and entries"},
      {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
       ":6: more than the 3 entries of a tensor of 2 x 2"},
      {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n",
       ": ends after 2 of the 3 entries of a tensor of 3 x 3"},
      {"%%MatrixMarket matrix coordinate real symmetric\n% c\n2 3 1\n1 1 1\n",
       ":3: a symmetric matrix of 2 x 3"},
      {"%%MatrixMarket matrix coordinate real general\n% c\n",
       ":1: the file ends before its line of dims and the number of entries"},
      {"%%MatrixMarket matrix coordinate real general\n2 3\n1 1 1\n",
       ":2: expected the numbers of rows, columns and entries"},
      {"%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n",
       ":2: the header says 2 nonzeros, the file holds 1"},
      {"%%MatrixMarket matrix coordinate real general\n\n2 3 1\n1 4 1\n",
       ":4: column 2 (mode 1): the index 4 is past the mode's length 3"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 3 4\n",
       ": entry 2 is 4 on the diagonal of a skew-symmetric matrix, where all are 0"},
      // other files
      {"1,1,2.5\n2,1,3\n",
       ":1: this looks like CSV (\"1,1,2.5\"), expected columns with blanks between them: tr ',;' "
       "'  ' makes them"},
      {"user; item; count\n1; 2; 3\n",
       ":1: this looks like CSV (\"user;\"), expected columns with blanks between them: tr ',;' "
       "'  ' makes them"},
      {std::string("PK\3\4\x14\0\0\0\b\0x\n", 12),
       ":1: this is a zip archive: unzip -p FILE writes its text to a pipe"},
      {"BZh91AY&SY\n", ":1: this is a bzip2 file: bzip2 -dc FILE writes its text to a pipe"},
      {std::string("\xfd"
                   "7zXZ\0\0\4\n",
                   9),
       ":1: this is an xz file: xz -dc FILE writes its text to a pipe"},
      {"\x28\xb5\x2f\xfd\x04\n",
       ":1: this is a zstd file: zstd -dc FILE writes its text to a pipe"},
      {"x.tns" + std::string(95, '\0') + "0000644" + std::string(150, '\0') + "ustar  \n1 1 1\n",
       ":1: this is a tar archive: tar -xf FILE unpacks it, tar -xOf FILE NAME into a pipe"},
      {std::string("\xff\xfe"
                   "1\0 \0\n\0",
                   8),
       ":1: this is UTF-16 text: iconv -f UTF-16 -t UTF-8 FILE writes it as plain text"},
      {std::string("\x7f\x45LF\x02\x01\x01\0\0\r1\n", 12),
       ":1: this is binary data, and neither gzip nor .spt"},
      {"1 1 1\n1 1 \x1b[2J\xc3\xa9\x9b\n",
       ":2: column 3 (the value): \"\\x1b[2J\\xc3\\xa9\\x9b\" is not a number"},
      {"sptensor \xff\n", ":1: unknown tensor type \"sptensor \\xff\""},
      // line ends
      {"1 1 1 1\r2 2 2 2\r", ":1: a carriage return inside the line: lines end in LF or CRLF"},
      {"1 1 1\r\n1 1\r1\n", ":2: a carriage return inside the line: lines end in LF or CRLF"},
      {"# c\r1 1 1\n", ":1: a carriage return inside the line: lines end in LF or CRLF"},
      {"1 1 1\n# c\r1 1 1\n", ":2: a carriage return inside the line: lines end in LF or CRLF"},
      {"1 1 1\n1 1 1 # c\r2 2 2\n",
       ":2: a carriage return inside the line: lines end in LF or CRLF"},
      // dense
      {"tensor\n2\n2 2\n1 2 3\n", ": ends after 3 of the 4 entries of a tensor of 2 x 2"},
      {"tensor\n2\n2 2\n1 2\n3 4\n5\n", ":6: more than the 4 entries of a tensor of 2 x 2"},
      {"tensor\n2\n2 2\n1 2\n3 y\n", ":5: \"y\" is not a finite number"},
      {"tensor\n2\n4294967296 4294967296\n1\n", ": 4294967296 * 4294967296 overflows 64 bits"},
  }));
  CHECK(parse_message(it.text) == "x.tns" + it.message);
  if (!it.text.empty()) CHECK(parse_message(zipped(it.text)) == "x.tns" + it.message);
}

TEST_CASE("the first of several mistakes is said at any number of threads", "[bad_input][tns]") {
  std::string text;
  for (int k = 0; k < 500; ++k) text += "1 2 3 4\n";
  text += "1 2 3\n" + text + "4294967297 1 1 1\n1 1 1 nan\n";
  ReadOptions options;
  options.threads = GENERATE(1, 2, 4);
  options.block_size = GENERATE(64, 1 << 20);
  auto const message = "x.tns:501: found 3 columns, expected 3 indices and a value";
  CHECK(parse_message(text, options) == message);
  CHECK(parse_message(zipped(text), options) == message);
  auto const wide = "4294967297 1 1 1\n1 y 1 1\n" + text;
  CHECK_THAT(parse_message(wide, options), Catch::Matchers::StartsWith("x.tns:2: column 2"));
  CHECK_THAT(parse_message(zipped(wide), options),
             Catch::Matchers::StartsWith("x.tns:2: column 2"));
}

TEST_CASE("options that the file disagrees with", "[bad_input][tns]") {
  ReadOptions options;
  options.dims = {5, 4};
  CHECK(parse_message("1 5 1\n", options) ==
        "x.tns:1: column 2 (mode 1): the index 5 is past the mode's length 4");
  CHECK(parse_message("1 1 1 1\n", options) ==
        "x.tns: the nonzeros have 3 indices, the dims 5 x 4 have 2");
  CHECK(parse_message("2\n5 5\n1 1 1\n", options) == "x.tns:2: the dims are 5 x 5, expected 5 x 4");
  options.dims = Dims(17, 2);
  CHECK(parse_message("# empty\n", options) == "x.tns: order 17 is not in 1 to 16");
  ReadOptions long_lines;
  long_lines.block_size = 8;
  CHECK(parse_message("1 1 1\n1 1 1.00000\n", long_lines) ==
        "x.tns: a line is longer than 8 bytes");
  CHECK(parse_message(zipped("1 1 1\n1 1 1.00000\n"), long_lines) ==
        "x.tns: a line is longer than 8 bytes");
  CHECK(parse_message("1 1 1\r2 2 1\r", long_lines) ==
        "x.tns: a line is longer than 8 bytes, and has carriage returns inside: lines end in LF or "
        "CRLF");
  ReadOptions counts;
  counts.values = Values::counts;
  CHECK(parse_message("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n",
                      counts) ==
        "x.tns: a skew-symmetric matrix has negative entries, where counts are expected");
  ReadOptions patterns;
  patterns.pattern = true;
  CHECK(parse_message("1 2\n1 2 3\n", patterns) ==
        "x.tns:2: found 3 columns, expected 2 indices and no value");
}

TEST_CASE("values past float are refused where float is asked for", "[bad_input][tns]") {
  CHECK(message_of([] { parse_tensor<float>("1 1 1e39\n", "x"); }) ==
        "x:1: column 3 (the value): \"1e39\" is out of range");
  TemporaryFolder const folder;
  write_spt(folder / "x.spt", make_coo<double>({1}, {{{0}, 1e39}}));
  CHECK_THAT(message_of([&] { read_tensor<float>(folder / "x.spt"); }),
             ContainsSubstring("nonzero 0: the value 9.9999999999999994e+38 is not finite"));
}

TEST_CASE("damaged gzip data is refused", "[bad_input][tns]") {
  std::string text;
  for (int k = 1; k < 2000; ++k) text += std::to_string(k) + " 1 " + std::to_string(k * k) + "\n";
  auto const good = zipped(text);
  CHECK(parse_message(good) == "no error");
  for (std::size_t size = 2; size < good.size(); size += size < 20 ? 1 : 97)
    CHECK(parse_message(good.substr(0, size)) == "x.tns: the gzip data is cut short");
  CHECK(parse_message(good.substr(0, good.size() - 1)) == "x.tns: the gzip data is cut short");
  CHECK(parse_message(good + good.substr(0, 9)) == "x.tns: the gzip data is cut short");
  CHECK(parse_message(good + "garbage") == "x.tns: 7 bytes that are not gzip follow the gzip data");
  auto wrong_sum = good;
  wrong_sum[good.size() - 6] ^= 1;
  CHECK(parse_message(wrong_sum) == "x.tns: the gzip data is damaged: incorrect data check");
  CHECK(parse_message(zipped("")) == "x.tns: holds no nonzeros, and nothing says its dims");
}

TEST_CASE("gzipped text holds no more nonzeros than its header says", "[bad_input][tns]") {
  std::string lines;
  for (int k = 0; k < 100000; ++k) lines += "1 1 1\n";
  auto content = zipped("sptensor\n2\n1 1\n1\n");
  for (int k = 0; k < 80; ++k) content += zipped(lines);
  ReadOptions options;
  options.threads = 2;
  auto const before = resident_bytes(true);
  CHECK(parse_message(content, options) ==
        "x.tns:4: the header says 1 nonzeros, the file holds 8000000");
  auto const peak = resident_bytes(false);
  if (before == 0) WARN("skipped: the peak of memory cannot be told");
  CHECK((before == 0 || peak - before < std::size_t{40} << 20));  // all of them are 128 MB
}

TEST_CASE("files that cannot be read", "[bad_input]") {
  TemporaryFolder const folder;
  auto const message = [&](std::string const& path) {
    return message_of([&] { read_tensor<double>(path); });
  };
  CHECK(message(folder / "absent.tns") ==
        "cannot read " + folder / "absent.tns" + ": No such file or directory");
  CHECK(message(folder / "") == "cannot read " + folder / "" + ": it is a folder");
  CHECK(message("/dev/null") == "cannot read /dev/null: it is a device");
  write_text(folder / "empty.tns", "");
  CHECK(message(folder / "empty.tns") == folder / "empty.tns" + ": the file is empty");
  CHECK(message(folder / "empty.tns/x.tns") ==
        "cannot read " + folder / "empty.tns/x.tns" + ": Not a directory");
  if (geteuid() == 0) {
    WARN("skipped: root reads files that nobody may read");
  } else {
    std::filesystem::permissions(folder / "empty.tns", std::filesystem::perms::none);
    CHECK(message(folder / "empty.tns") ==
          "cannot read " + folder / "empty.tns" + ": Permission denied");
  }
}

TEST_CASE("other programs' bad tensor files", "[bad_input][shared]") {
  auto const it = GENERATE(table<std::string, std::string>({
      {"readers/pyttb/invalid_dims.tns", ":1: this is a dense matrix, expected a sparse tensor"},
      {"readers/pyttb/invalid_type.tns", ":1: unknown tensor type \"list\""},
      {"readers/pyttb/matrix.tns", ":1: this is a dense matrix, expected a sparse tensor"},
      {"readers/genten/B_matrix.txt", ":3: this is a dense matrix, expected a sparse tensor"},
      {"readers/genten/E_ktensor.txt",
       ":2: this is a Kruskal tensor, expected a sparse tensor; models go to --init, info, view, "
       "evaluate and predict"},
      {"readers/sparten/tensor_incorrect_tensor_type.tns",
       ":1: unknown tensor type \"sptensor incorrect_tensor_type\""},
      {"splatt/small4_zeroidx.tns", std::string(":2: column 4 (mode 3): the index 0") + from_one},
  }));
  auto const path = shared_file(std::get<0>(it));
  if (path.empty()) return;
  CHECK(message_of([&] { read_tensor<double>(path); }) == path + std::get<1>(it));
}

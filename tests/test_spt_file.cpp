// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/spt_file/checksum.hpp>
#include <sporades/formats/files/detail/spt_file/header.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class Tensor>
std::string spt_bytes(Tensor const& X) {
  TemporaryFolder const folder;
  write_spt(folder / "x.spt", X);
  return read_text(folder / "x.spt");
}

template <class Scalar = double>
std::string parse_message(std::string const& content) {
  return message_of([&] { parse_tensor<Scalar>(content, "x.spt"); });
}

CooTensor<double> small() {
  auto X = make_coo<double>({3, 4}, {{{0, 1}, 1.5}, {{0, 3}, -2}, {{2, 0}, 4}});
  X.sorted_modes = {0, 1};
  return X;
}

/// The file with its header changed, and a checksum that fits.
template <class Change>
std::string with_header(std::string content, Change const& change) {
  detail::SptHeader header;
  std::memcpy(&header, content.data(), sizeof header);
  change(header);
  header.header_checksum = detail::header_checksum(header);
  std::memcpy(content.data(), &header, sizeof header);
  return content;
}

}  // namespace

TEST_CASE("checksums are XXH64", "[spt]") {
  CHECK(detail::xxh64("", 0) == 0xEF46DB3751D8E999);
  CHECK(detail::xxh64("a", 1) == 0xD24EC4F1A98C6E5B);
  CHECK(detail::xxh64("abc", 3) == 0x44BC2CF5AD770999);
  std::string const text = "Nobody inspects the spammish repetition";
  CHECK(detail::xxh64(text.data(), text.size()) == 0xFBCEA83C8A378BF1);
}

TEMPLATE_TEST_CASE("tensors read back exactly", "[spt]", float, double) {
  Entries<TestType> nonzeros;
  for (std::uint64_t k = 0; k < 400000; ++k)
    nonzeros.push_back({{k / 7, 0, k % 1000}, static_cast<TestType>(k) / 3});
  TemporaryFolder const folder;
  write_spt(folder / "x", make_coo<TestType>({60000, 1, 1000}, nonzeros));
  auto const back = read_tensor<TestType>(folder / "x");
  CHECK(back.dialect == "spt");
  CHECK(dims_of(back.tensor) == Dims{60000, 1, 1000});
  std::sort(nonzeros.begin(), nonzeros.end());
  CHECK(entries(back.tensor) == nonzeros);
  Entries<TestType> const few = {{{std::uint64_t{1} << 40, 2}, 1}};
  write_spt(folder / "x", make_coo<TestType, std::uint64_t>({std::uint64_t{1} << 41, 3}, few));
  auto const wide = read_tensor<TestType>(folder / "x").tensor;
  CHECK(wide.index() == 1);
  CHECK(entries(wide) == few);
  write_spt(folder / "x", make_coo<TestType, std::uint64_t>({7, 0}, {}));
  CHECK(dims_of(read_tensor<TestType>(folder / "x").tensor) == Dims{7, 0});
}

TEST_CASE("parts of larger Views are written and compared as they are", "[spt][tns]") {
  auto const all = make_coo<double>(
      {3, 4}, {{{2, 3}, 9}, {{0, 1}, 1.5}, {{0, 3}, -2}, {{2, 0}, 4}, {{1, 1}, 8}, {{0, 0}, 7}});
  auto const places = std::make_pair(1, 4);
  CooTensor<double> const part{all.dims,
                               Kokkos::subview(all.coordinates, Kokkos::ALL, places),
                               Kokkos::subview(all.values, places),
                               {}};
  REQUIRE(part.coordinates.stride(0) == 6);
  CHECK(entries(parse_tensor<double>(spt_bytes(part), "x").tensor) == entries(small()));
  TemporaryFolder const folder;
  write_tns(folder / "x.tns", part);
  CHECK(read_text(folder / "x.tns") == "1 2 1.5\n1 4 -2\n3 1 4\n");
  CHECK(detail::nonzero_order(part, {0, 1}, 1) == detail::NonzeroOrder::strictly_ascending);
  CHECK(detail::nonzero_order(part, {1, 0}, 1) == detail::NonzeroOrder::none);
}

TEST_CASE("the order of the nonzeros is kept where it is known", "[spt]") {
  auto X = make_coo<double>({3, 4}, {{{2, 0}, 4}, {{0, 1}, 1.5}, {{0, 3}, -2}});
  X.sorted_modes = {1, 0};
  auto const back = parse_tensor<double>(spt_bytes(X), "x");
  CHECK(entries(back.tensor) == entries(X));
  CHECK(std::get<0>(back.tensor).sorted_modes == std::vector<int>{1, 0});
  X.sorted_modes = {0, 1};
  CHECK(parse_message(spt_bytes(X)) ==
        "x.spt: the nonzeros are not in the order that the header says");
}

TEST_CASE("duplicates in a binary file are summed, or kept", "[spt]") {
  auto const bytes = spt_bytes(make_coo<double>({2}, {{{1}, 1}, {{0}, 2}, {{1}, 3}}));
  auto const summed = parse_tensor<double>(bytes, "x");
  CHECK(summed.duplicates == 1);
  CHECK(entries(summed.tensor) == Entries<double>{{{0}, 2}, {{1}, 4}});
  ReadOptions keep;
  keep.duplicates = Duplicates::keep;
  CHECK(entries(parse_tensor<double>(bytes, "x", keep).tensor).size() == 3);
}

TEST_CASE("widths convert", "[spt]") {
  auto const bytes = spt_bytes(make_coo<float, std::uint64_t>({2}, {{{1}, 0.1f}}));
  auto const back = parse_tensor<double>(bytes, "x").tensor;
  CHECK(back.index() == 0);
  CHECK(entries(back) == Entries<double>{{{1}, 0.1f}});
  CHECK(entries(parse_tensor<double, std::uint32_t>(bytes, "x").tensor) ==
        Entries<double>{{{1}, 0.1f}});
  CHECK(entries(parse_tensor<double, std::uint64_t>(bytes, "x").tensor) ==
        Entries<double>{{{1}, 0.1f}});
}

TEST_CASE("any changed byte is found", "[spt]") {
  auto const good = spt_bytes(small());
  CHECK(parse_message(good) == "no error");
  for (std::size_t p = 0; p < good.size(); ++p) {
    for (int const flip : {1, 0x80, 0xff}) {
      auto bad = good;
      bad[p] = static_cast<char>(bad[p] ^ flip);
      CAPTURE(p, flip);
      REQUIRE(parse_message(bad) != "no error");
    }
  }
}

TEST_CASE("any other length is found", "[spt]") {
  auto const good = spt_bytes(small());
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    REQUIRE(parse_message(good.substr(0, size)) != "no error");
  }
  CHECK(parse_message(good + '\0') == "x.spt: has 601 bytes, the header says 600");
}

TEST_CASE("what is wrong in a binary file is said", "[spt][bad_input]") {
  auto const good = spt_bytes(small());
  auto const header_message = [&](auto const& change) {
    return parse_message(with_header(good, change));
  };
  using Header = detail::SptHeader;
  CHECK(header_message([](Header& h) { h.version = 2; }) == "x.spt: .spt version 2, expected 1");
  CHECK(header_message([](Header& h) { h.order = 17; }) == "x.spt: order 17 is not in 1 to 16");
  CHECK(header_message([](Header& h) { h.order = 0; }) == "x.spt: order 0 is not in 1 to 16");
  CHECK(header_message([](Header& h) { h.index_bytes = 2; }) ==
        "x.spt: indices of 2 bytes, expected 4 or 8");
  CHECK(header_message([](Header& h) { h.value_bytes = 16; }) ==
        "x.spt: values of 16 bytes, expected 4 or 8");
  CHECK_THAT(header_message([](Header& h) { h.nnz = std::uint64_t{1} << 60; }),
             ContainsSubstring("more than a file holds"));
  CHECK_THAT(header_message([](Header& h) { h.nnz = 4; }), ContainsSubstring("its sizes lead to"));
  CHECK(header_message([](Header& h) { h.sorted_modes[1] = 0; }) ==
        "x.spt: sorted by mode 0, which is no mode or comes twice");
  CHECK(header_message([](Header& h) { h.sorted_count = 3; }) == "x.spt: sorted by 3 modes of 2");
  CHECK(header_message([](Header& h) { h.dims[1] = 3; }) ==
        "x.spt: nonzero 1, mode 1: the index 3 (from 0) is past the mode's length 3");
  auto bad = good;
  bad[100] = 1;
  CHECK(parse_message(bad) == "x.spt: the header is damaged (its checksum differs)");
  bad = good;
  bad[448 + 64] = 9;
  CHECK(parse_message(bad) ==
        "x.spt: the indices of mode 1 are damaged (bytes 512 to 524, their checksum differs)");
  bad = good;
  bad[410] = 9;
  CHECK(parse_message(bad) == "x.spt: bytes 400 to 448 are damaged: they are not zero");
  CHECK(parse_message(good.substr(0, 300)) ==
        "x.spt: ends after 300 bytes, inside the header of 400");
}

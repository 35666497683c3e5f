// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <random>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/files/ttensor_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::string parse_message(std::string const& content) {
  return message_of([&] { parse_ttensor<double>(content, "x.ttns"); });
}

/// All numbers, the core first, then each factor by rows.
template <class Scalar>
std::vector<Scalar> numbers(TuckerTensor<Scalar> const& model) {
  std::vector<Scalar> result(model.core.data(), model.core.data() + model.core.extent(0));
  for (auto const& A : model.factors)
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (std::size_t r = 0; r < A.extent(1); ++r) result.push_back(A(i, r));
  return result;
}

std::string const valid =
    "ttensor\n2\n3 2\ntensor\n2\n2 1\n1.5\n-2\nmatrix\n2\n3 2\n1 -2\n3 4\n5 6\nmatrix\n2\n2 1\n7e-1"
    "\n.5\n";

/// valid with the first `from` replaced.
std::string changed(std::string const& from, std::string const& to) {
  return replaced(valid, from, to);
}

}  // namespace

TEST_CASE("Tucker text is read", "[ttensor_file]") {
  std::string const loose =
      "// a comment\r\nttensor \r\n2\r\n3 2 \r\n\r\ntensor\r\n2\r\n2 1\r\n+1.5 -2.0 # behind\r\n"
      "facmatrix\r\n2\r\n3 2\r\n1.0 -2\r\n3\t4\r\n5 6\r\nfacmatrix\r\n2\r\n2 1\r\n.7\r\n5e-1";
  auto const text = GENERATE_COPY(as<std::string>{}, valid, loose);
  auto const model = parse_ttensor<double>(text, "x");
  CHECK(model.dims() == Dims{3, 2});
  CHECK(model.ranks() == std::vector<int>{2, 1});
  CHECK(numbers(model) == std::vector<double>{1.5, -2, 1, -2, 3, 4, 5, 6, 0.7, 0.5});
}

TEMPLATE_TEST_CASE("Tucker tensors read back exactly", "[ttensor_file]", float, double) {
  std::mt19937_64 random(5);
  Kokkos::DefaultHostExecutionSpace const exec{};
  TuckerTensor<TestType> model;
  auto const next = [&] { return static_cast<TestType>(static_cast<double>(random()) / 3e25); };
  std::vector<int> const ranks{3, 1, 5};
  std::size_t const rows[] = {4, 1, 300};
  model.core = Vector<TestType, Kokkos::HostSpace>("core", sporades::detail::core_size(ranks));
  for (std::size_t g = 0; g < 15; ++g) model.core(g) = next();
  for (int n = 0; n < 3; ++n) {
    model.factors.push_back(make_matrix<TestType>(exec, "factor", rows[n], ranks[n]));
    exec.fence();
    for (std::size_t i = 0; i < rows[n]; ++i)
      for (int r = 0; r < ranks[n]; ++r) model.factors.back()(i, r) = -next();
  }
  model.factors[0](0, 0) = std::numeric_limits<TestType>::denorm_min();
  model.core(3) = std::numeric_limits<TestType>::max();
  TemporaryFolder const folder;
  write_ttensor(folder / "x.ttns", model);
  auto const back = read_ttensor<TestType>(folder / "x.ttns");
  CHECK(back.dims() == Dims{4, 1, 300});
  CHECK(back.ranks() == ranks);
  CHECK(numbers(back) == numbers(model));
  CHECK(folder.names() == std::vector<std::string>{"x.ttns"});
}

TEST_CASE("bad Tucker text is refused with its place", "[ttensor_file][bad_input]") {
  auto const it = GENERATE(table<std::string, std::string>({
      {"", ": the file is empty"},
      {changed("ttensor", "ktensor"), ":1: expected \"ttensor\", found \"ktensor\""},
      {changed("\n2\n", "\n17\n"), ":2: order 17 is not in 1 to 16"},
      {changed("3 2\ntensor", "3 2 1\ntensor"),
       ":3: expected the end of the line after the dims, found \"1\""},
      {changed("tensor\n2\n2 1", "sptensor\n2\n2 1"),
       ":4: expected \"tensor\", the core, found \"sptensor\""},
      {changed("tensor\n2\n2 1", "tensor\n3\n2 1"), ":5: the core has order 3, expected 2"},
      {changed("\n2 1\n1.5", "\n0 1\n1.5"), ":6: rank 0 is not in 1 to 2147483647"},
      {changed("\n2 1\n1.5", "\n2 2147483648\n1.5"),
       ":6: rank 2147483648 is not in 1 to 2147483647"},
      {changed("1.5\n", ""),
       ":8: expected an entry of the core, a finite number, found \"matrix\""},
      {changed("-2\nmatrix", "-2 3\nmatrix"),
       ":8: expected the end of the line after the core, found \"3\""},
      {changed("matrix\n2\n3 2", "matrix\n2\n3 1"),
       ":11: the factor of mode 0 is 3 x 1, expected 3 x 2"},
      {changed("3 4", "3 inf"),
       ":13: expected an entry of a factor, a finite number, found \"inf\""},
      {valid + "1\n", ":20: expected the end of the file, found \"1\""},
      {"ttensor\n1\n1000000\ntensor\n1\n1000\n1\n",
       ":7: a model of 1000000 and a core of 1000 has 1000001000 numbers, too many for the 2 bytes "
       "that are left"},
  }));
  CHECK(parse_message(std::get<0>(it)) == "x.ttns" + std::get<1>(it));
}

TEST_CASE("Tucker tensors that cannot be written", "[ttensor_file][bad_input]") {
  TemporaryFolder const folder;
  auto const model = parse_ttensor<double>(valid, "x");
  auto bad = model;
  bad.core = Vector<double, Kokkos::HostSpace>("core", 3);
  CHECK(message_of([&] { write_ttensor(folder / "x", bad); }) ==
        "write_ttensor: the core has 3 entries, the factors' columns make 2");
  model.core(1) = std::numeric_limits<double>::infinity();
  CHECK(message_of([&] { write_ttensor(folder / "x", model); }) ==
        "write_ttensor: core entry 1 is inf");
  CHECK(folder.names().empty());
}

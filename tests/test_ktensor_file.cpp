// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <random>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::string parse_message(std::string const& content) {
  return message_of([&] { parse_ktensor<double>(content, "x.ktns"); });
}

/// All numbers, the weights first, then each factor by rows.
template <class Scalar>
std::vector<Scalar> numbers(KruskalTensor<Scalar> const& model) {
  std::vector<Scalar> result;
  for (int r = 0; r < model.rank(); ++r) result.push_back(model.weights(r));
  for (auto const& A : model.factors)
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (int r = 0; r < model.rank(); ++r) result.push_back(A(i, r));
  return result;
}

std::string const small =
    "ktensor\n2\n2 1\n2\n1.5 2\nmatrix\n2\n2 2\n1 -2\n3 4\nmatrix\n2\n1 2\n7e-1 .5\n";

/// small with the first `from` replaced.
std::string changed(std::string const& from, std::string const& to) {
  return replaced(small, from, to);
}

}  // namespace

TEST_CASE("model text is read", "[ktensor]") {
  std::string const genten =
      "// GenTen's\r\nktensor \r\n2\r\n2 1 \r\n2\r\n+1.5  2.0\r\n\r\nfacmatrix\r\n2\r\n"
      "2 2\r\n1.0 -2\r\n# more\r\n3\t4 # behind\r\nfacmatrix\r\n2\r\n1 2\r\n.7 5e-1";
  auto const text = GENERATE_COPY(as<std::string>{}, small, genten);
  auto const model = parse_ktensor<double>(text, "x");
  CHECK(model.dims() == Dims{2, 1});
  CHECK(model.rank() == 2);
  CHECK(numbers(model) == std::vector<double>{1.5, 2, 1, -2, 3, 4, 0.7, 0.5});
}

TEMPLATE_TEST_CASE("models read back exactly", "[ktensor]", float, double) {
  std::mt19937_64 random(5);
  Kokkos::DefaultHostExecutionSpace const exec{};
  int const rank = GENERATE(1, 5);
  KruskalTensor<TestType> model{Vector<TestType, Kokkos::HostSpace>("weights", rank), {}};
  auto const next = [&] { return static_cast<TestType>(static_cast<double>(random()) / 3e25); };
  for (int r = 0; r < rank; ++r) model.weights(r) = next();
  for (std::size_t rows : {4, 1, 300}) {
    model.factors.push_back(make_matrix<TestType>(exec, "factor", rows, rank));
    exec.fence();
    for (std::size_t i = 0; i < rows; ++i)
      for (int r = 0; r < rank; ++r) model.factors.back()(i, r) = -next();
  }
  model.factors[0](0, 0) = std::numeric_limits<TestType>::denorm_min();
  model.factors[0](1, 0) = std::numeric_limits<TestType>::max();
  model.factors[0](2, 0) = 0;
  TemporaryFolder const folder;
  write_ktensor(folder / "x.ktns", model);
  auto const back = read_ktensor<TestType>(folder / "x.ktns");
  CHECK(back.dims() == Dims{4, 1, 300});
  CHECK(numbers(back) == numbers(model));
  CHECK(folder.names() == std::vector<std::string>{"x.ktns"});
}

TEST_CASE("facts of a model go with it", "[ktensor]") {
  TemporaryFolder const folder;
  auto const model = parse_ktensor<double>(small, "x");
  ModelFacts const facts = {
      {"method", "cp-als"}, {"fit", "0.5"}, {"mode 0", "user: the \"first\""}};
  write_ktensor(folder / "x.ktns", model, {}, facts);
  auto const text_of = [&](char const* name) {
    detail::InputFile const file(folder / name);
    return file.text(0, file.size());
  };
  auto const text = text_of("x.ktns");
  CHECK(parse_model_facts(text) == facts);
  CHECK(numbers(read_ktensor<double>(folder / "x.ktns")) == numbers(model));
  auto const at = text.find("// sporades method: cp-als\n");
  write_ktensor(folder / "y.ktns", model);
  CHECK(text.substr(0, at) == text_of("y.ktns"));

  write_ktensor(folder / "z.ktns", model, {}, {{"stopped", "by\nhand\r"}});
  CHECK(parse_model_facts(text_of("z.ktns")) == ModelFacts{{"stopped", "by hand "}});
  CHECK(parse_model_facts("// sporades a: 1\r\nx // sporades b: 2\n// sporades c\n//sporades d: 3\n"
                          "// sporades e: : 4") == ModelFacts{{"a", "1"}, {"e", ": 4"}});
  CHECK(parse_model_facts("").empty());
}

TEST_CASE("bad model text is refused with its place", "[ktensor][bad_input]") {
  auto const it = GENERATE(table<std::string, std::string>({
      {"", ": the file is empty"},
      {"\n\n", ":3: expected \"ktensor\", found the end of the file"},
      {changed("ktensor", "kruskaltensor"), ":1: expected \"ktensor\", found \"kruskaltensor\""},
      {changed("ktensor", "ktensor x"),
       ":1: expected the end of the line after \"ktensor\", found \"x\""},
      {changed("\n2\n", "\n0\n"), ":2: order 0 is not in 1 to 16"},
      {changed("\n2\n", "\n17\n"), ":2: order 17 is not in 1 to 16"},
      {changed("2 1\n", "2 1 3\n"), ":3: expected the end of the line after the dims, found \"3\""},
      {changed("2 1\n", "2 -1\n"), ":3: expected the length of a mode, found \"-1\""},
      {changed("\n2\n1.5", "\n0\n1.5"), ":4: rank 0 is not in 1 to 2147483647"},
      {changed("1.5 2\n", "1.5\n"), ":6: expected a weight, a finite number, found \"matrix\""},
      {changed("1.5 2\n", "1.5 2 3\n"),
       ":5: expected the end of the line after the weights, found \"3\""},
      {changed("matrix", "error"),
       ":6: expected \"matrix\", the factor of mode 0, found \"error\""},
      {changed("matrix\n2", "matrix\n3"), ":7: the factor of mode 0 has order 3, expected 2"},
      {changed("2 2\n1", "2 3\n1"), ":8: the factor of mode 0 is 2 x 3, expected 2 x 2"},
      {changed("3 4", "3"),
       ":11: expected an entry of a factor, a finite number, found \"matrix\""},
      {changed("3 4", "3 4 5"), ":10: expected the end of the line after a row, found \"5\""},
      {changed("3 4", "3 nan"),
       ":10: expected an entry of a factor, a finite number, found \"nan\""},
      {changed(" .5\n", "\n"),
       ":15: expected an entry of a factor, a finite number, found the end of the file"},
      {small + "1\n", ":15: expected the end of the file, found \"1\""},
      {"ktensor\n1\n1000000\n1000000\n1\n",
       ":5: a model of 1000000 and rank 1000000 has 1000001000000 numbers, too many for the 2 "
       "bytes "
       "that are left"},
  }));
  CHECK(parse_message(std::get<0>(it)) == "x.ktns" + std::get<1>(it));
}

TEST_CASE("models that cannot be written", "[ktensor][bad_input]") {
  TemporaryFolder const folder;
  auto const model = parse_ktensor<double>(small, "x");
  model.factors[0](1, 1) = std::numeric_limits<double>::infinity();
  CHECK(message_of([&] { write_ktensor(folder / "x", model); }) ==
        "write_ktensor: mode 0, entry (1, 1) is inf");
  CHECK(folder.names().empty());
}

TEST_CASE("other programs' model files", "[ktensor][shared]") {
  auto const it = GENERATE(table<std::string, Dims, int>({
      {"readers/ktensor_small.ktns", {3, 4, 5}, 2},
      {"readers/genten/E_ktensor.txt", {2, 3, 3}, 2},
      {"readers/pyttb/ktensor.tns", {4, 5, 3}, 2},
      {"readers/sparten/ktensor.tns", {5, 4, 3}, 2},
      {"matmul/strassen_rank7.ktns", {4, 4, 4}, 7},
  }));
  auto const path = shared_file(std::get<0>(it));
  if (path.empty()) return;
  INFO(path);
  auto const model = read_ktensor<double>(path);
  CHECK(model.dims() == std::get<1>(it));
  CHECK(model.rank() == std::get<2>(it));
}

TEST_CASE("other programs' bad model files", "[ktensor][shared]") {
  auto const it = GENERATE(table<std::string, std::string>({
      {"readers/sparten/ktensor_factor_matrix_error.tns",
       ":6: expected \"matrix\", the factor of mode 0, found \"error\""},
      {"readers/sparten/ktensor_incorrect_tensor_type.tns",
       ":1: expected \"ktensor\", found \"kruskaltensor\""},
      {"readers/sptensor_small.tns", ":1: expected \"ktensor\", found \"sptensor\""},
  }));
  auto const path = shared_file(std::get<0>(it));
  if (path.empty()) return;
  CHECK(message_of([&] { read_ktensor<double>(path); }) == path + std::get<1>(it));
}

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sporades/algorithms/generate.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>

#include "parts.hpp"

using namespace sporades;

namespace {

/// A file of this name that the first process writes and that all read; it is gone at the end.
class SharedFile {
 public:
  template <class Write>
  SharedFile(Communicator const& processes, std::string const& name, Write const& write)
      : processes_(processes) {
    auto number = static_cast<long>(getpid());
    detail::broadcast(processes, "name", &number, sizeof number);
    path_ = std::filesystem::temp_directory_path() /
            ("sporades-" + std::to_string(number) + "-" + name);
    if (processes.rank() == 0) write(path_.string());
    detail::wait_for_all(processes, "written");
  }
  ~SharedFile() {
    detail::wait_for_all(processes_, "read");
    std::filesystem::remove(path_);
  }
  std::string path() const { return path_.string(); }

 private:
  Communicator processes_;
  std::filesystem::path path_;
};

/// What all processes read is what one reads; returns it.
ReadResult<double> check_same(Communicator const& processes, std::string const& path,
                              ReadOptions const& options = {}) {
  CAPTURE(path, processes.size());
  auto const [duplicates, dialect, notes, one] = test::made_once(processes, [&] {
    auto const read = read_tensor<double, std::uint32_t>(path, options);
    // The order is that of the file, or where duplicates are summed that of the modes.
    std::vector<int> modes(read.tensor.dims.size());
    std::iota(modes.begin(), modes.end(), 0);
    Kokkos::DefaultHostExecutionSpace const host{};
    return std::tuple(read.duplicates, read.dialect, read.notes,
                      options.duplicates == Duplicates::keep
                          ? read.tensor
                          : sorted(host, copy_to(host, read.tensor), modes));
  });
  auto const any = read_tensor<double>(processes, path, options);
  auto const& part = std::get<0>(any.tensor);
  CHECK(part.dims == one.dims);
  CHECK(any.duplicates == duplicates);
  CHECK(any.dialect == dialect);
  CHECK(any.notes == notes);
  auto const first = detail::exclusive_scan_of_all(processes, part.nnz());
  REQUIRE(first.back() == one.nnz());
  auto const begin = first[static_cast<std::size_t>(processes.rank())];
  int wrong = 0;
  for (Position p = 0; p < part.nnz(); ++p) {
    for (int n = 0; n < part.order(); ++n)
      wrong += part.coordinates(n, p) != one.coordinates(n, begin + p);
    wrong += part.values(p) != one.values(begin + p);
  }
  CHECK(wrong == 0);
  return any;
}

ReadOptions small_blocks(Duplicates duplicates) {
  ReadOptions options;
  options.block_size = 256;
  options.duplicates = duplicates;
  return options;
}

TEST_CASE("Several processes read what one reads", "[mpi]") {
  Communicator const processes(MPI_COMM_WORLD);
  for (auto const* name : {"police-deaths-3d.tns.gz", "shakespeare-trigram-3d.tns.gz",
                           "marvel-characters-7d.tns.gz", "packages-small.tns.gz"})
    check_same(processes, test::data_file(name));
}

TEST_CASE("Several processes read every kind of file", "[mpi]") {
  Communicator const processes(MPI_COMM_WORLD);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = generate<double, std::uint32_t>(host, {90, 40, 50, 7}, 5000, 0.8);
  auto const duplicates = GENERATE(Duplicates::sum, Duplicates::keep);
  for (auto const* name : {"x.tns", "x.tns.gz", "x.spt"}) {
    SharedFile const file(processes, name, [&](std::string const& path) {
      if (std::string(name) == "x.spt")
        write_spt(path, X);
      else
        write_tns(path, X);
    });
    check_same(processes, file.path(), small_blocks(duplicates));
  }
  auto const text = [&](char const* name, std::string const& content) {
    return SharedFile(processes, name,
                      [&](std::string const& path) { std::ofstream(path) << content; });
  };
  std::string lines = "# several\n\n";
  for (int k = 0; k < 2000; ++k)
    lines += std::to_string(k % 17 + 1) + " " + std::to_string(k % 90 + 1) + " 1.5\n";
  check_same(processes, text("twice.tns", lines + "3 4 2").path(), small_blocks(duplicates));
  check_same(processes, text("short.tns", "3 4 2").path(), small_blocks(duplicates));
  check_same(processes, text("dense.tns", "tensor\n2\n2 3\n1 2 0 0 5 6\n").path(),
             small_blocks(duplicates));
  check_same(processes,
             text("symmetric.mtx",
                  "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n"
                  "1 1 2\n3 1 4\n2 2 8\n")
                 .path(),
             small_blocks(duplicates));
  std::string nonzeros;
  for (int k = 0; k < 50; ++k)
    nonzeros += std::to_string(k % 17 + 1) + " " + std::to_string(k + 1) + " 1e-400\n";
  auto const read_after = [&](char const* name, std::string const& header) {
    check_same(processes, text(name, header + nonzeros).path(), small_blocks(duplicates));
  };
  read_after("header.tns", "17 60 50\n");
  read_after("cut.tns", "20 50 51\n");
  read_after("extended.tns", "2 50\n17 60\n");
  check_same(processes, text("few.tns", "20 30 2\n1 2 3\n4 5 6\n").path(),
             small_blocks(duplicates));
  ReadOptions pattern = small_blocks(duplicates);
  pattern.pattern = true;
  check_same(processes, text("pattern.tns", "2 3\n4 5\n1 2\n3 4\n2 2\n").path(), pattern);
  check_same(processes,
             text("array.mtx", "%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n").path(),
             small_blocks(duplicates));
  std::string zero = "sptensor\n2\n30 20\n1001\n";
  for (int k = 0; k < 1000; ++k) zero += std::to_string(k % 28 + 1) + " 3 1\n";
  auto const based =
      check_same(processes, text("zero.tns", zero + "5 0 3\n").path(), small_blocks(duplicates));
  CHECK(based.notes.front() == "indices count from 0: an index is 0");
}

TEST_CASE("Several processes name the place of what is wrong", "[mpi]") {
  Communicator const world(MPI_COMM_WORLD);
  std::string lines = "# several\n";
  for (int k = 0; k < 2000; ++k) lines += std::to_string(k % 17 + 1) + " 2 1.5\n";
  auto const fails = [&](char const* name, std::string const& content,
                         std::string const& sentence) {
    SharedFile const file(world, name,
                          [&](std::string const& path) { std::ofstream(path) << content; });
    Communicator const processes(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(read_tensor<double>(processes, file.path(), small_blocks(Duplicates::sum)),
                      Catch::Matchers::ContainsSubstring(sentence));
  };
  fails("word.tns", lines + "1 2 x\n", "word.tns:2002: ");
  fails("first.tns", "1 y 3\n" + lines, "first.tns:1: ");
  fails("fewer.tns", "sptensor\n2\n20 2\n2001\n" + lines,
        "fewer.tns:4: the header says 2001 nonzeros, the file holds 2000");
  fails("zero.tns", "sptensor\n2\n17 20\n2001\n" + lines + "5 0 3\n", "zero.tns:2006: column 2");
  fails("empty.tns", "", "the file is empty");
  {
    Communicator const processes(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(read_tensor<double>(processes, "/no/such/file.tns"),
                      Catch::Matchers::ContainsSubstring("/no/such/file.tns"));
  }
  SharedFile const damaged(world, "damaged.spt", [&](std::string const& path) {
    auto const X = generate<double, std::uint32_t>(Kokkos::DefaultHostExecutionSpace(),
                                                   {90, 40, 50}, 5000, 0.8);
    write_spt(path, X);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-3, std::ios::end);
    file.put('x');
  });
  Communicator const processes(MPI_COMM_WORLD);
  CHECK_THROWS_WITH(read_tensor<double>(processes, damaged.path()),
                    Catch::Matchers::ContainsSubstring("the values are damaged"));
}

}  // namespace

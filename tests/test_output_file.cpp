// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <signal.h>
#include <sys/resource.h>

#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <support/files.hpp>

using namespace sporades;
using namespace sporades::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// While it lives no file of this process grows past so many bytes, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, SIG_IGN);
    rlimit const limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_ = {};
};

}  // namespace

TEST_CASE("files that cannot be written", "[bad_input]") {
  TemporaryFolder const folder;
  auto const X = make_coo<double>({1}, {{{0}, 1}});
  auto const message = [&](std::string const& path) {
    return message_of([&] { write_tns(path, X); });
  };
  CHECK(message(folder / "no/x.tns") ==
        "cannot write " + folder / "no/x.tns" + ": No such file or directory");
  CHECK(message(folder / "") == "cannot write " + folder / "" + ": it is a folder");
  auto const bad = make_coo<double>({1}, {{{0}, std::numeric_limits<double>::quiet_NaN()}});
  CHECK(message_of([&] { write_tns(folder / "x.tns", bad); }) ==
        "write_tns: the value of nonzero 0 is nan");
  CHECK(message_of([&] { write_spt(folder / "x.spt", bad); }) ==
        "write_spt: the value of nonzero 0 is nan");
  auto past = make_coo<double>({3, 2}, {{{0, 1}, 1}, {{1, 2}, 1}});
  auto const past_message = ": nonzero 1, mode 1: the index 2 (from 0) is past the mode's length 2";
  CHECK(message_of([&] { write_tns(folder / "x.tns", past); }) ==
        std::string("write_tns") + past_message);
  CHECK(message_of([&] { write_spt(folder / "x.spt", past); }) ==
        std::string("write_spt") + past_message);
  CHECK(folder.names().empty());
  CHECK(message("/dev/null") == "no error");
  std::filesystem::create_symlink("circle", folder / "circle");
  CHECK(message(folder / "circle") ==
        "cannot follow " + folder / "circle" + ": it leads to more than 40 symbolic links");
}

TEST_CASE("a full disk leaves the old file and no part of the new one", "[bad_input]") {
  TemporaryFolder const folder;
  Entries<double> nonzeros;
  for (std::uint64_t k = 0; k < 20000; ++k) nonzeros.push_back({{k}, 0.1 * static_cast<double>(k)});
  auto const X = make_coo({20000}, nonzeros);
  KruskalTensor<double> model{Vector<double, Kokkos::HostSpace>("weights", 1),
                              {Matrix<double, Kokkos::HostSpace>("factor", 20000, 1)}};
  auto const name = GENERATE(std::string("x.tns"), std::string("x.tns.gz"), std::string("x.spt"),
                             std::string("x.ktns"));
  auto const path = folder / name;
  auto const write = [&] {
    if (name == "x.spt")
      write_spt(path, X);
    else if (name == "x.ktns")
      write_ktensor(path, model);
    else
      write_tns(path, X);
  };
  bool const is_old_file = GENERATE(false, true);
  if (is_old_file) write_text(path, "old");
  {
    FullDisk const full(10000);
    CHECK_THROWS_AS(write(), RunError);
    auto const message = message_of(write);
    CHECK_THAT(message, ContainsSubstring("cannot write " + path + " after 10000 bytes: "));
    CHECK_THAT(message, ContainsSubstring("; nothing was left behind"));
  }
  CHECK(folder.names() ==
        (is_old_file ? std::vector<std::string>{name} : std::vector<std::string>{}));
  if (is_old_file) CHECK(read_text(path) == "old");
  CHECK(message_of(write) == "no error");
  CHECK(folder.names() == std::vector<std::string>{name});
}

TEST_CASE("output replaces a file and keeps its permissions and links", "[file]") {
  TemporaryFolder const folder;
  write_text(folder / "real", "old");
  std::filesystem::permissions(folder / "real", std::filesystem::perms::owner_all);
  std::filesystem::create_symlink("real", folder / "link");
  {
    sporades::detail::OutputFile file(folder / "link");
    file.write("new");
    CHECK(read_text(folder / "real") == "old");
    file.commit();
  }
  CHECK(read_text(folder / "real") == "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(std::filesystem::status(folder / "real").permissions() ==
        std::filesystem::perms::owner_all);
  CHECK(folder.names() == std::vector<std::string>{"link", "real"});
}

TEST_CASE("output through links makes the file that they lead to", "[file]") {
  TemporaryFolder const folder;
  std::filesystem::create_directory(folder / "inside");
  std::filesystem::create_symlink("inside/second", folder / "first");
  std::filesystem::create_symlink("../new", folder / "inside/second");
  sporades::detail::OutputFile file(folder / "first");
  file.write("text");
  file.commit();
  CHECK(folder.names() == std::vector<std::string>{"first", "inside", "new"});
  CHECK(std::filesystem::is_symlink(folder / "first"));
  CHECK(std::filesystem::is_symlink(folder / "inside/second"));
  CHECK(read_text(folder / "new") == "text");
}

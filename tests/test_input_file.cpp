// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <sporades/formats/files/detail/guarded_mapping.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/detail/spt_file/header.hpp>
#include <sporades/formats/files/detail/spt_file/parse.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/detail/tns_file/read_text.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <support/files.hpp>
#include <thread>

// Files that change while they are read, and pipes.

using namespace sporades;
using namespace sporades::test;
using Catch::Matchers::ContainsSubstring;
using sporades::detail::InputFile;

namespace {

std::string const has_changed = ": the file changed while it was read: ";

/// A file that is changed at the view or read of this number, from 0, of those of its bytes.
class ChangingFile : public InputFile {
 public:
  ChangingFile(std::string const& path, int number, std::function<void()> change)
      : InputFile(path), number_(number), change_(std::move(change)) {}

  void read(std::uint64_t place, void* to, std::size_t size) const override {
    count();
    InputFile::read(place, to, size);
  }
  std::string_view view(std::uint64_t place, std::size_t size) const override {
    auto const bytes = InputFile::view(place, size);
    count();
    return bytes;
  }
  int accesses() const { return accesses_; }

 private:
  void count() const {
    if (accesses_++ == number_) change_();
  }

  int number_;
  std::function<void()> change_;
  mutable int accesses_ = 0;
};

/// Overwrites the file from its begin on; it stays as long as it is.
void overwrite(std::string const& path, std::string const& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file << bytes;
}

std::string lines(int count) {
  std::string text;
  for (int k = 0; k < count; ++k)
    text += std::to_string(k + 1) + " 1000 1000 " + std::to_string(1.5 * k) + "\n";
  return text;
}

/// The text again and again, of so many bytes.
std::string repeated(std::string const& text, std::size_t size) {
  std::string result;
  while (result.size() < size) result += text;
  result.resize(size);
  return result;
}

/// What reading says if the file changes at each of its accesses in turn.
template <class Read>
std::vector<std::string> messages(std::string const& content, std::string const& path,
                                  std::function<void()> const& change, Read const& read) {
  std::vector<std::string> result;
  for (int number = 0;; ++number) {
    write_text(path, content);
    // Some systems tell times apart only by some milliseconds.
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    ChangingFile const file(path, number, change);
    result.push_back(message_of([&] { detail::read_unchanged(file, [&] { read(file); }); }));
    if (file.accesses() <= number) return result;
  }
}

template <class Read>
void check_changes(std::string const& content, Read const& read) {
  TemporaryFolder const folder;
  auto const path = folder / "x";
  auto const size = content.size();
  std::vector<std::function<void()>> const changes = {
      [&] { std::filesystem::resize_file(path, size / 3); },
      [&] { std::filesystem::resize_file(path, 0); },
      [&] { overwrite(path, repeated("1 1 1 1\n", size)); },
      [&] { overwrite(path, repeated("7", size)); },
      [&] { overwrite(path, repeated(" ", size)); },
      [&] { overwrite(path, repeated("\n", size)); },
      [&] { overwrite(path, std::string(size, '\0')); },
      [&] { overwrite(path, repeated("\xff", size)); },
      [&] { std::ofstream(path, std::ios::app) << "1 1 1 1\n"; }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    CAPTURE(k);
    auto const said = messages(content, path, changes[k], read);
    REQUIRE(said.size() > 3);
    CHECK(said.back() == "no error");  // the file did not change then
    for (std::size_t number = 0; number + 1 < said.size(); ++number) {
      CAPTURE(number);
      CHECK_THAT(said[number], ContainsSubstring(path + has_changed));
    }
  }
}

ReadOptions small_blocks() {
  ReadOptions options;
  options.block_size = 4096;
  options.threads = 1;
  return options;
}

void read_text_of(InputFile const& file) {
  detail::read_text<double>({}, file, small_blocks());
}

}  // namespace

TEST_CASE("a text that changes while it is read is refused", "[input_file]") {
  check_changes(lines(2000), read_text_of);
}

TEST_CASE("a block is parsed to no more room than was counted for it", "[input_file]") {
  detail::LineShape shape;
  shape.order = 1;
  shape.limits[0] = 1000;
  std::string const text = "1 1\n2 2\n3 3\n4 4\n";
  for (std::uint64_t const counted : {0, 1, 3, 4, 5}) {
    std::vector<std::uint32_t> indices(6, 77);
    std::vector<double> values(6, 77);
    detail::BlockOutput<double, std::uint32_t> const output{indices.data(), 6, values.data(),
                                                            counted};
    if (counted == 4)
      CHECK_NOTHROW(detail::parse_block(text, shape, output));
    else
      CHECK_THROWS_AS(detail::parse_block(text, shape, output), detail::OtherText);
    for (auto p = std::min<std::uint64_t>(counted, 4); p < 6; ++p) {
      CHECK(indices[p] == 77);
      CHECK(values[p] == 77);
    }
  }
  // Others have overwritten the line end that ended the text.
  std::string const cut = "1 1\n# 2\n";
  std::string_view const block = std::string_view(cut).substr(0, cut.size() - 1);
  auto const count = detail::count_block(block);
  CHECK(count.lines == 2);
  CHECK(count.nonzeros == 1);
  double value = 0;
  std::uint32_t index = 0;
  CHECK_NOTHROW(detail::parse_block(
      block, shape, detail::BlockOutput<double, std::uint32_t>{&index, 1, &value, 1}));
}

TEST_CASE("a gzipped text that changes while it is read is refused", "[input_file]") {
  std::string text;  // that is not much shorter when it is zipped
  std::uint64_t state = 1;
  for (int k = 0; k < 60000; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text += std::to_string(state >> 40) + " 1 1 " + std::to_string(state >> 33) + "\n";
  }
  check_changes(zipped(text), read_text_of);
}

TEST_CASE("an .spt file that changes while it is read is refused", "[input_file][spt]") {
  TemporaryFolder const folder;
  Entries<double> nonzeros;
  for (std::uint64_t k = 0; k < 300; ++k) nonzeros.push_back({{k, k % 7}, 1.0 + k});
  write_spt(folder / "x.spt", make_coo<double>({300, 7}, nonzeros));
  check_changes(read_text(folder / "x.spt"),
                [](InputFile const& file) { detail::parse_spt<double>({}, file, small_blocks()); });
}

TEST_CASE("models that change while they are read are refused", "[input_file]") {
  TemporaryFolder const folder;
  auto const path = folder / "m.ktns";
  std::string model = "ktensor\n1\n30000\n1\n1\nmatrix\n2\n30000 1\n";
  for (int k = 0; k < 30000; ++k) model += "0.125\n";
  write_text(path, model);
  CHECK(message_of([&] { read_ktensor<double>(path); }) == "no error");
  CHECK(message_of([&] { parse_ktensor<float>(model, "m"); }) == "no error");
  // A piece is read at a time, so that the change is between two.
  InputFile const file(path);
  CHECK_THAT(message_of([&] {
               detail::read_unchanged(file, [&] {
                 CHECK(file.text(0, 7) == "ktensor");
                 std::filesystem::resize_file(path, 1000);
                 file.text(900, 200);
               });
             }),
             ContainsSubstring(path + has_changed + "it had " + std::to_string(model.size()) +
                               " bytes, now it has 1000"));
}

TEST_CASE("a file that another replaces or removes is read as it was", "[input_file]") {
  TemporaryFolder const folder;
  auto const path = folder / "x";
  auto const text = lines(100);
  write_text(path, text);
  InputFile const file(path);
  write_text(folder / "y", lines(3));
  std::filesystem::rename(folder / "y", path);
  CHECK(std::string(file.view(0, text.size())) == text);
  std::filesystem::remove(path);
  CHECK(file.text(0, text.size() + 5) == text);
  CHECK_NOTHROW(file.check_unchanged());
}

TEST_CASE("a file that is cut off by another thread ends no process", "[input_file][threads]") {
  TemporaryFolder const folder;
  auto const path = folder / "x.tns";
  auto const text = lines(100000);
  std::atomic<bool> goes_on{true};
  write_text(path, text);
  std::thread other([&] {
    while (goes_on) {
      std::filesystem::resize_file(path, 5000);
      write_text(path, text);
    }
  });
  for (int repeat = 0; repeat < 30; ++repeat)
    message_of([&] { read_tensor<double>(path, ReadOptions{}); });
  goes_on = false;
  other.join();
  CHECK(message_of([&] { read_tensor<double>(path); }) == "no error");
}

TEST_CASE("a file that cannot be read says so", "[input_file]") {
  CHECK_THAT(message_of([] { InputFile("/proc/self/mem"); }),
             ContainsSubstring("cannot read /proc/self/mem: Input/output error"));
  CHECK(InputFile("/proc/self/statm").size() > 5);  // a file without a size
}

namespace {

int bus_errors = 0;

void count_bus_error(int, siginfo_t*, void*) {
  ++bus_errors;
}

}  // namespace

TEST_CASE("SIGBUS from elsewhere goes to who had it before", "[input_file]") {
  struct sigaction mine = {}, before = {}, now = {};
  mine.sa_sigaction = count_bus_error;
  mine.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGBUS, &mine, &before) == 0);
  TemporaryFolder const folder;
  write_text(folder / "x", std::string(100000, 'x'));
  bus_errors = 0;
  {
    InputFile const file(folder / "x");
    auto const bytes = file.view(0, file.size());
    CHECK(bytes.back() == 'x');
    CHECK(bytes.data()[(bytes.size() + 4095) / 4096 * 4096] == '\n');
    raise(SIGBUS);
    CHECK(bus_errors == 1);
    std::filesystem::resize_file(folder / "x", 10);
    CHECK(bytes.back() == '\0');
    CHECK(bytes.front() == 'x');
    CHECK(bus_errors == 1);
    CHECK_THAT(message_of([&] { file.check_unchanged(); }),
               ContainsSubstring("it had 100000 bytes, now it has 10"));
  }
  sigaction(SIGBUS, &before, &now);
  CHECK(now.sa_sigaction == count_bus_error);
}

TEST_CASE("a pipe that may take little memory is kept in a file", "[input_file]") {
  auto const text = lines(200000);
  std::uint64_t const memory = GENERATE(0, 1 << 20);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::thread writer([&] {
    for (std::size_t done = 0; done < text.size();) {
      auto const count = write(ends[1], text.data() + done, text.size() - done);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    close(ends[1]);
  });
  InputFile const file("/dev/fd/" + std::to_string(ends[0]), memory);
  writer.join();
  close(ends[0]);
  CHECK(file.size() == text.size());
  CHECK(file.text(0, text.size()) == text);
  CHECK(std::string(file.view(1 << 20, 100)) == text.substr(1 << 20, 100));
  CHECK_NOTHROW(file.check_unchanged());
}

TEST_CASE("an .spt file that does not fit memory is refused before it is read",
          "[input_file][spt]") {
  TemporaryFolder const folder;
  auto const path = folder / "x.spt";
  detail::SptHeader header = {};
  std::copy(detail::spt_magic.begin(), detail::spt_magic.end(), header.magic);
  header.version = 1;
  header.order = 3;
  header.index_bytes = 4;
  header.value_bytes = 8;
  header.nnz = std::uint64_t{1} << 39;
  for (int n = 0; n < 3; ++n) header.dims[n] = 1000000;
  header.file_bytes = detail::spt_layout(header, path).file_bytes;
  header.header_checksum = detail::header_checksum(header);
  write_text(path, std::string(reinterpret_cast<char const*>(&header), sizeof header));
  if (truncate(path.c_str(), static_cast<off_t>(header.file_bytes)) != 0) return;  // sparse
  CHECK_THAT(message_of([&] { read_tensor<double>(path); }),
             ContainsSubstring("549755813888 nonzeros of 20 bytes each do not fit the memory of"));
}

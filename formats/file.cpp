// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <sporades/core/error.hpp>
#include <sporades/core/memory.hpp>
#include <sporades/formats/file.hpp>
#include <utility>

namespace sporades {

namespace {

std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Closes itself.
struct Descriptor {
  int number;
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
};

/// Memory that is mapped, as a file is.
class PrivateMemory {
 public:
  PrivateMemory() = default;
  ~PrivateMemory() {
    if (bytes_) munmap(bytes_, size_);
  }
  PrivateMemory(PrivateMemory const&) = delete;
  PrivateMemory& operator=(PrivateMemory const&) = delete;

  char* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }

  /// To a larger size; the bytes stay.
  void grow(std::size_t size) {
    int const protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void* const larger = mmap(nullptr, size, protection, flags, -1, 0);
    if (larger == MAP_FAILED) throw std::bad_alloc();
    if (bytes_) {
      std::memcpy(larger, bytes_, size_);
      munmap(bytes_, size_);
    }
    bytes_ = static_cast<char*>(larger);
    size_ = size;
  }

  /// Gives the first bytes, and with them the duty to unmap them, away.
  char* release(std::size_t size) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto const kept = (size + page - 1) / page * page;
    if (kept < size_) munmap(bytes_ + kept, size_ - kept);
    return std::exchange(bytes_, nullptr);
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// The standard input by its number: one that is a socket, or another user's, has no name to open.
int open_to_read(std::string const& path) {
  if (path == "-" || path == "/dev/stdin") return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

std::string link_target(std::string const& path) {
  constexpr int most_links = 40;  // as Linux has it
  std::string file = path;
  for (int links = 0; links <= most_links; ++links) {
    char target[PATH_MAX];
    ssize_t const size = readlink(file.c_str(), target, sizeof target);
    if (size <= 0) return file;
    std::string const name(target, static_cast<std::size_t>(size));
    file = name.front() == '/' ? name : folder_of(file) + '/' + name;
  }
  fail("cannot follow ", path, ": it leads to more than ", most_links, " symbolic links");
}

std::string input_name(std::string const& path) {
  return path == "-" ? "standard input" : path;
}

MappedFile::MappedFile(std::string const& path) {
  auto const name = input_name(path);
  auto const refuse = [&](char const* why) { fail("cannot read ", name, ": ", why); };
  Descriptor const file(open_to_read(path));
  if (file.number < 0) refuse(std::strerror(errno));
  struct stat status = {};
  if (fstat(file.number, &status) != 0) refuse(std::strerror(errno));
  auto const type = status.st_mode & S_IFMT;
  if (type == S_IFDIR) refuse("it is a folder");
  // Of a standard input that was begun already, what is left is read.
  if (type == S_IFREG && lseek(file.number, 0, SEEK_CUR) == 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (mapped == MAP_FAILED) refuse(std::strerror(errno));
    data_ = static_cast<char const*>(mapped);
  } else if (type == S_IFREG || type == S_IFIFO || type == S_IFSOCK || isatty(file.number)) {
    read_to_end(file.number, name);
  } else {
    refuse("it is a device");
  }
}

void MappedFile::read_to_end(int descriptor, std::string const& name) {
  auto const memory = host_memory_bytes();
  PrivateMemory held;
  for (std::size_t size = 0;;) {
    if (size == held.size()) {
      if (static_cast<double>(size) > memory / 2)
        throw RunError(detail::concatenate("cannot read ", name, ": it has more than ",
                                           bytes_text(static_cast<double>(size)),
                                           ", the memory is ", bytes_text(memory)));
      held.grow(std::max(2 * size, std::size_t{1} << 20));
    }
    ssize_t const count = read(descriptor, held.bytes() + size, held.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read ", name, ": ", std::strerror(errno));
    size += static_cast<std::size_t>(count);
    if (count == 0 && size > 0) {
      data_ = held.release(size);
      size_ = size;
    }
    if (count == 0) return;
  }
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

OutputFile::OutputFile(std::string const& path) : path_(path), target_(path) {
  auto const refuse = [&](char const* why) { fail("cannot write ", path_, ": ", why); };
  struct stat status = {};
  bool const exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(std::strerror(errno));
    return;
  }
  target_ = link_target(path_);
  if (exists && access(target_.c_str(), W_OK) != 0) refuse(std::strerror(errno));
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    auto const suffix = std::to_string(getpid()) + "-" + std::to_string(attempt);
    temporary_ = target_ + ".partial-" + suffix;
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == 1000)) {
      int const error = errno;
      temporary_.clear();
      refuse(std::strerror(error));
    }
  }
  if (exists && fchmod(descriptor_, status.st_mode & 07777) != 0) {
    // The new file then has the permissions that any new file gets.
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::fail_with(char const* doing, int error) const {
  throw RunError(detail::concatenate("cannot ", doing, " ", path_, " after ", written_,
                                     " bytes: ", std::strerror(error),
                                     is_direct() ? "" : "; nothing was left behind"));
}

void OutputFile::write(void const* bytes, std::size_t size) {
  auto const* rest = static_cast<char const*>(bytes);
  while (size > 0) {
    // Linux stores at most 2 GiB a call, and less where the disk fills up on the way.
    ssize_t const stored = ::write(descriptor_, rest, size);
    if (stored < 0 && errno == EINTR) continue;
    if (stored <= 0) fail_with("write", stored < 0 ? errno : ENOSPC);
    rest += stored;
    size -= static_cast<std::size_t>(stored);
    written_ += static_cast<std::uint64_t>(stored);
  }
}

void OutputFile::commit() {
  // Pipes and some devices cannot be synchronised; they say so with EINVAL or EROFS.
  if (fsync(descriptor_) != 0 && !is_direct()) fail_with("store", errno);
  int const closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail_with("store", errno);
  if (is_direct()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_with("name", errno);
  temporary_.clear();
  int const folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);  // so that the name survives a crash as well; not every file system can
    close(folder);
  }
}

}  // namespace sporades

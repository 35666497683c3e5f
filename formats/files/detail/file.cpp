// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/error.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <utility>

namespace sporades::detail {

namespace {

std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A file descriptor that closes itself.
struct Descriptor {
  int number;
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
};

/// Memory that is mapped, so that it is unmapped as a mapped file is.
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

  /// Takes a larger size; the bytes are kept.
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

  /// Returns the first `size` bytes, which the caller has to unmap.
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

/// Duplicates an inherited descriptor, or opens the file.
int open_descriptor(std::string const& path, int flags) {
  int const inherited = path == "-" ? STDIN_FILENO : inherited_descriptor(path);
  if (inherited < 0) return open(path.c_str(), flags | O_CLOEXEC);
  return fcntl(inherited, F_DUPFD_CLOEXEC, 0);
}

}  // namespace

int inherited_descriptor(std::string const& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (std::string const folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.compare(0, folder.size(), folder) != 0) continue;
    std::string const number = path.substr(folder.size());
    bool const is_number = !number.empty() && number.size() < 7 &&
                           number.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) return std::atoi(number.c_str());
  }
  return -1;
}

std::string link_target(std::string const& path) {
  constexpr int most_links = 40;  // Linux's own limit
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
  Descriptor const file(open_descriptor(path, O_RDONLY));
  if (file.number < 0) refuse(std::strerror(errno));
  struct stat status = {};
  if (fstat(file.number, &status) != 0) refuse(std::strerror(errno));
  auto const type = status.st_mode & S_IFMT;
  if (type == S_IFDIR) refuse("it is a folder");
  // A standard input of which a part has been read already is not mapped: the rest is read.
  if (type == S_IFREG && lseek(file.number, 0, SEEK_CUR) == 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (mapped == MAP_FAILED && errno == ENOMEM) throw std::bad_alloc();
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
        throw RunError(concatenate("cannot read ", name, ": it has more than ",
                                   bytes_text(static_cast<double>(size)), ", the memory is ",
                                   bytes_text(memory)));
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
  if (inherited_descriptor(path_) >= 0 || (exists && !S_ISREG(status.st_mode))) {
    descriptor_ = open_descriptor(path_, O_WRONLY);
    if (descriptor_ < 0) refuse(std::strerror(errno));
    return;
  }
  is_direct_ = false;
  target_ = link_target(path_);
  if (exists && access(target_.c_str(), W_OK) != 0) refuse(std::strerror(errno));
  open_temporary();
  if (descriptor_ < 0) refuse(std::strerror(errno));
  if (!exists) return;
  // If this fails, the new file keeps the owner and the permissions that any new file gets.
  if (fchown(descriptor_, status.st_uid, status.st_gid) != 0 && errno != EPERM) return;
  if (fchmod(descriptor_, status.st_mode & 07777) != 0) return;
}

/// Sets descriptor_, or errno if no file can be opened.
void OutputFile::open_temporary() {
  auto const folder = folder_of(target_);
  auto const stem = folder + "/.sporades-" + std::to_string(getpid()) + "-";
#if defined(O_TMPFILE)
  descriptor_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  auto const number = std::to_string(descriptor_);
  if (descriptor_ >= 0 && access(("/proc/self/fd/" + number).c_str(), F_OK) == 0) {
    temporary_ = stem + number;
    return;
  }
  if (descriptor_ >= 0) close(descriptor_);
#endif
  for (int attempt = 0; attempt <= 1000; ++attempt) {
    temporary_ = stem + std::to_string(attempt);
    descriptor_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    has_name_ = descriptor_ >= 0;
    if (has_name_ || errno != EEXIST) return;
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (has_name_) unlink(temporary_.c_str());
}

void OutputFile::fail_with(char const* doing, int error) const {
  throw RunError(concatenate("cannot ", doing, " ", path_, " after ", written_, " bytes: ",
                             std::strerror(error), is_direct_ ? "" : "; nothing was left behind"));
}

void OutputFile::write(void const* bytes, std::size_t size) {
  auto const* rest = static_cast<char const*>(bytes);
  while (size > 0) {
    // Linux stores at most 2 GiB a call, and less if the disk becomes full meanwhile.
    ssize_t const stored = ::write(descriptor_, rest, size);
    if (stored < 0 && errno == EINTR) continue;
    if (stored <= 0) fail_with("write", stored < 0 ? errno : ENOSPC);
    rest += stored;
    size -= static_cast<std::size_t>(stored);
    written_ += static_cast<std::uint64_t>(stored);
  }
}

/// Gives the file its temporary name, if it has no name.
void OutputFile::give_name() {
  if (has_name_) return;
  auto const nameless = "/proc/self/fd/" + std::to_string(descriptor_);
  auto const stem = temporary_ + "-";
  for (int attempt = 0; attempt <= 1000; ++attempt) {
    temporary_ = stem + std::to_string(attempt);
    has_name_ =
        linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (has_name_) return;
    if (errno != EEXIST) break;
  }
  fail_with("name", errno);
}

/// Overwrites target_ with the content of descriptor_. Returns false, and sets errno, if that
/// fails.
bool OutputFile::overwrite() const {
  Descriptor const to(open(target_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (to.number < 0 || lseek(descriptor_, 0, SEEK_SET) != 0) return false;
  std::string buffer(std::size_t{1} << 20, '\0');
  while (true) {
    ssize_t const size = read(descriptor_, buffer.data(), buffer.size());
    if (size <= 0) return size == 0 && fsync(to.number) == 0;
    for (ssize_t done = 0; done < size;) {
      ssize_t const stored =
          ::write(to.number, buffer.data() + done, static_cast<std::size_t>(size - done));
      if (stored <= 0) return false;
      done += stored;
    }
  }
}

void OutputFile::commit() {
  // Pipes and some devices cannot be synchronised; they say so with EINVAL or EROFS.
  if (fsync(descriptor_) != 0 && !is_direct_) fail_with("store", errno);
  if (!is_direct_) {
    give_name();
    bool const is_named = rename(temporary_.c_str(), target_.c_str()) == 0;
    int const error = errno;
    bool const can_overwrite = error == EBUSY || error == EPERM || error == EACCES;
    if (!is_named && !(can_overwrite && overwrite())) {
      has_name_ = false;
      throw RunError(concatenate("cannot give the name ", path_, ": ", std::strerror(error),
                                 "; what was written is in ", temporary_));
    }
    if (!is_named) unlink(temporary_.c_str());
    has_name_ = false;
  }
  int const closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail_with("store", errno);
  if (is_direct_) return;
  int const folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);  // so that the name survives a crash, too; not every file system can do this
    close(folder);
  }
}

}  // namespace sporades::detail

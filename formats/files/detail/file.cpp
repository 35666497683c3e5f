// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
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

Descriptor open_descriptor(std::string const& path, int flags) {
  int const inherited = path == "-" ? STDIN_FILENO : inherited_descriptor(path);
  if (inherited < 0) return Descriptor(open(path.c_str(), flags | O_CLOEXEC));
  return Descriptor(fcntl(inherited, F_DUPFD_CLOEXEC, 0));
}

OutputFile::OutputFile(std::string const& path) : path_(path), target_(path) {
  auto const refuse = [&](char const* why) { fail("cannot write ", path_, ": ", why); };
  struct stat status = {};
  bool const exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (inherited_descriptor(path_) >= 0 || (exists && !S_ISREG(status.st_mode))) {
    auto opened = open_descriptor(path_, O_WRONLY);
    descriptor_ = std::exchange(opened.number, -1);
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

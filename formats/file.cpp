// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sporades/core/error.hpp>
#include <sporades/formats/file.hpp>

namespace sporades {

namespace {

std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string follow_links(std::string const& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

}  // namespace

MappedFile::MappedFile(std::string const& path) {
  auto const refuse = [&](char const* why) { fail("cannot read ", path, ": ", why); };
  int const descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(std::strerror(errno));
  struct stat status = {};
  int error = fstat(descriptor, &status) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED)
      error = errno;
    else
      data_ = static_cast<char const*>(mapped);
  }
  close(descriptor);
  if (error != 0) refuse(std::strerror(error));
  if (S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

OutputFile::OutputFile(std::string const& path) : path_(path), target_(follow_links(path)) {
  auto const refuse = [&](char const* why) { fail("cannot write ", path_, ": ", why); };
  struct stat status = {};
  bool const exists = stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(std::strerror(errno));
    return;
  }
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

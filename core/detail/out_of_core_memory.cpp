// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/detail/scratch_file.hpp>
#include <sporades/core/error.hpp>
#include <string>

namespace sporades::detail {
namespace {

/// Whether the file system of a folder keeps its files in memory.
bool is_in_memory([[maybe_unused]] std::string const& folder) {
#if defined(__linux__)
  constexpr unsigned long tmpfs = 0x01021994, ramfs = 0x858458f6;  // statfs(2)
  struct statfs system = {};
  if (statfs(folder.c_str(), &system) != 0) return false;
  auto const type = static_cast<unsigned long>(system.f_type) & 0xffffffff;
  return type == tmpfs || type == ramfs;
#else
  return false;
#endif
}

}  // namespace

Descriptor make_scratch_file(std::string const& folder) {
  if (is_in_memory(folder))
    throw RunError("a tensor that does not fit memory needs files on a disk, and " + folder +
                   " lies in memory (TMPDIR names another folder)");
#if defined(O_TMPFILE)
  Descriptor nameless(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (nameless.number >= 0) return nameless;
#endif
  std::string name = folder + "/sporades-XXXXXX";
  Descriptor file(mkstemp(name.data()));
  if (file.number < 0)
    throw RunError("cannot make a file for a tensor that does not fit memory in " + folder +
                   " (TMPDIR names another folder): " + std::strerror(errno));
  unlink(name.c_str());
  return file;
}

std::string scratch_folder() {
  char const* const named = std::getenv("TMPDIR");
  if (named && *named) return named;
  bool const has_other = access("/var/tmp", W_OK) == 0 && !is_in_memory("/var/tmp");
  return has_other && is_in_memory("/tmp") ? "/var/tmp" : "/tmp";
}

OutOfCoreMemory map_scratch_file(std::uint64_t bytes) {
  std::string const folder = scratch_folder();
  auto const file = make_scratch_file(folder);
  // All room is taken now: a write to a page for which the disk has none would end the program.
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file.number, 0, static_cast<off_t>(bytes));
  if (error != 0)
    throw RunError("a tensor that does not fit memory needs " +
                   bytes_text(static_cast<double>(bytes)) + " in " + folder +
                   " (TMPDIR names another folder): " + std::strerror(error));
  void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  return {begin, [bytes](void* memory) { munmap(memory, bytes); }};
}

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sporades/core/detail/far_memory.hpp>
#include <sporades/core/error.hpp>
#include <string>

namespace sporades::detail {
namespace {

/// A file that goes when it is closed, whatever ends the program; where the file system cannot make
/// files without a name, it has one for a moment.
class ScratchFile {
 public:
  explicit ScratchFile(std::string const& folder) {
#if defined(O_TMPFILE)
    number = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (number >= 0) return;
#endif
    std::string name = folder + "/sporades-XXXXXX";
    number = mkstemp(name.data());
    if (number < 0)
      throw RunError("cannot make a file for a tensor that does not fit memory in " + folder +
                     " (TMPDIR names another folder): " + std::strerror(errno));
    unlink(name.c_str());
  }
  ~ScratchFile() {
    close(number);
  }
  ScratchFile(ScratchFile const&) = delete;
  ScratchFile& operator=(ScratchFile const&) = delete;

  int number = -1;
};

}  // namespace

std::string scratch_folder() {
  char const* const named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

FarMemory map_scratch_file(std::uint64_t bytes) {
  std::string const folder = scratch_folder();
  ScratchFile const file(folder);
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

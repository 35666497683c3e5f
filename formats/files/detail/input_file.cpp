// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/detail/scratch_file.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <utility>

namespace sporades::detail {

namespace {

constexpr std::size_t least_room = std::size_t{1} << 20;  // for the bytes of a pipe

/// Memory that grows, and whose unused end can be given back.
class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() {
    if (bytes_) munmap(bytes_, size_);
  }
  GrowingMemory(GrowingMemory const&) = delete;
  GrowingMemory& operator=(GrowingMemory const&) = delete;

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

  /// The first `size` bytes, which are positive. The rest is given back.
  std::shared_ptr<void> release(std::size_t size) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto const kept = (size + page - 1) / page * page;
    if (kept < size_) munmap(bytes_ + kept, size_ - kept);
    return {std::exchange(bytes_, nullptr), [kept](void* bytes) { munmap(bytes, kept); }};
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes that a file or a pipe gives at once; 0 at the end. Throws RunError if it cannot be read.
std::size_t read_some(int descriptor, char* to, std::size_t size, std::string const& name) {
  while (true) {
    ssize_t const count = read(descriptor, to, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR)
      throw RunError(concatenate("cannot read ", name, ": ", std::strerror(errno)));
  }
}

bool is_same_time(timespec const& a, timespec const& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

std::string input_name(std::string const& path) {
  return path == "-" ? "standard input" : path;
}

InputFile::InputFile(std::string_view bytes, std::string name)
    : name_(std::move(name)), size_(bytes.size()), in_memory_(bytes.data()) {}

InputFile::InputFile(std::string const& path, std::uint64_t memory) : name_(input_name(path)) {
  auto const refuse = [&](char const* why) { fail("cannot read ", name_, ": ", why); };
  Descriptor file(open_descriptor(path, O_RDONLY));
  if (file.number < 0) refuse(std::strerror(errno));
  if (fstat(file.number, &opened_) != 0) refuse(std::strerror(errno));
  auto const type = opened_.st_mode & S_IFMT;
  if (type == S_IFDIR) refuse("it is a folder");
  // Of a standard input a part may have been read already; files of /proc have no size.
  bool const has_size =
      type == S_IFREG && opened_.st_size > 0 && lseek(file.number, 0, SEEK_CUR) == 0;
  if (has_size) {
    size_ = static_cast<std::uint64_t>(opened_.st_size);
    file_ = std::move(file);
  } else if (type == S_IFREG || type == S_IFIFO || type == S_IFSOCK || isatty(file.number)) {
    read_to_end(file.number, memory);
  } else {
    refuse("it is a device");
  }
}

void InputFile::read_to_end(int descriptor, std::uint64_t memory) {
  opened_ = {};
  auto const most = host_memory_bytes() / 2;
  GrowingMemory held;
  for (std::size_t size = 0;;) {
    if (size == held.size()) {
      if (memory > 0 && size > 0) return move_to_scratch_file(descriptor, {held.bytes(), size});
      if (static_cast<double>(size) > most)
        throw RunError(concatenate("cannot read ", name_, ": it has more than ",
                                   bytes_text(static_cast<double>(size)), ", the memory is ",
                                   bytes_text(2 * most)));
      held.grow(std::max(2 * size, least_room));
    }
    auto const count = read_some(descriptor, held.bytes() + size, held.size() - size, name_);
    size += count;
    if (count > 0) continue;
    size_ = size;
    if (size > 0) held_ = held.release(size);
    in_memory_ = static_cast<char const*>(held_.get());
    return;
  }
}

/// begin: what was read already.
void InputFile::move_to_scratch_file(int descriptor, std::string_view begin) {
  auto const folder = scratch_folder();
  file_ = make_scratch_file(folder);
  std::string buffer(begin);
  for (auto count = buffer.size(); count > 0;
       count = read_some(descriptor, buffer.data(), buffer.size(), name_)) {
    for (std::size_t done = 0; done < count;) {
      ssize_t const stored = write(file_.number, buffer.data() + done, count - done);
      if (stored < 0 && errno == EINTR) continue;
      if (stored <= 0)
        throw RunError(concatenate("cannot keep ", name_, " in ", folder,
                                   " (TMPDIR names another folder) after ", size_ + done,
                                   " bytes: ", std::strerror(stored < 0 ? errno : ENOSPC)));
      done += static_cast<std::size_t>(stored);
    }
    size_ += count;
  }
}

void InputFile::read(std::uint64_t place, void* to, std::size_t size) const {
  expects(place <= size_ && size <= size_ - place, name_, ": bytes ", place, " to ", place + size,
          " of ", size_);
  if (file_.number < 0) {
    if (size > 0) std::memcpy(to, in_memory_ + place, size);
    return;
  }
  for (auto* rest = static_cast<char*>(to); size > 0;) {
    ssize_t const count = pread(file_.number, rest, size, static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw RunError(concatenate("cannot read ", name_, ": ", std::strerror(errno)));
    if (count == 0) fail_changed();
    rest += count;
    place += static_cast<std::uint64_t>(count);
    size -= static_cast<std::size_t>(count);
  }
}

std::string InputFile::text(std::uint64_t place, std::size_t size) const {
  auto const left = place < size_ ? size_ - place : 0;
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, left)), '\0');
  if (!text.empty()) read(place, text.data(), text.size());
  return text;
}

std::string_view InputFile::view(std::uint64_t place, std::size_t size) const {
  if (file_.number >= 0)
    std::call_once(is_viewed_, [&] {
      mapping_ = std::make_unique<GuardedMapping>(file_.number, static_cast<std::size_t>(size_));
    });
  return {(mapping_ ? mapping_->data() : in_memory_) + place, size};
}

void InputFile::check_unchanged() const {
  check_status();
  if (mapping_ && !mapping_->is_whole())
    throw RunError(concatenate("cannot read ", name_, ": the disk does not give all of it"));
}

void InputFile::check_status() const {
  if (opened_.st_size == 0) return;
  struct stat now = {};
  if (fstat(file_.number, &now) != 0)
    throw RunError(concatenate("cannot read ", name_, ": ", std::strerror(errno)));
  if (now.st_size != opened_.st_size)
    throw RunError(concatenate(name_, ": the file changed while it was read: it had ",
                               opened_.st_size, " bytes, now it has ", now.st_size));
  if (!is_same_time(now.st_mtim, opened_.st_mtim))
    throw RunError(name_ + ": the file changed while it was read: it was written to");
}

void InputFile::fail_changed() const {
  check_unchanged();
  throw RunError(name_ + ": the file changed while it was read: its bytes are others now");
}

}  // namespace sporades::detail

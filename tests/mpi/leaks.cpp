// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The functions of MPI by which the library and its tests make objects and give them back, in
/// place of MPI's own, which have a second name for that: MPI standard 3.1, chapter 14. Each
/// counts, and calls MPI's. The library makes no types: whoever calls another function that makes
/// something adds it here.

#include "leaks.hpp"

#include <map>
#include <sporades/core/error.hpp>
#include <sporades/mpi.hpp>
#include <support/catch.hpp>
#include <type_traits>

namespace {

using sporades::detail::concatenate;

/// Who made the open objects. MPI may give a handle to several requests that are complete at once.
template <class Handle>
using Makers = std::multimap<Handle, std::string>;

template <class Handle>
Makers<Handle>& makers() {
  static Makers<Handle> all;
  return all;
}

std::string current_test() {
  auto const* const capture = Catch::getCurrentContext().getResultCapture();
  return capture == nullptr ? "the end" : capture->getCurrentTestName();
}

/// Notes that `function` made *handle, unless it failed or made none, and passes its code on.
template <class Handle>
int made(char const* function, int code, Handle const* handle, Handle none) {
  if (code == MPI_SUCCESS && *handle != none)
    makers<Handle>().emplace(*handle, concatenate(function, " in \"", current_test(), "\""));
  return code;
}

int made(char const* function, int code, MPI_Request const* request) {
  return made(function, code, request, MPI_REQUEST_NULL);
}

int made(char const* function, int code, MPI_Comm const* comm) {
  return made(function, code, comm, MPI_COMM_NULL);
}

/// Calls end(), which may give back some of `count` objects: those are none afterwards.
template <class Handle, class End>
int ends(int count, Handle* handles, Handle none, End const& end) {
  std::vector<Handle> const before(handles, handles + count);
  int const code = end();
  for (int k = 0; k < count; ++k) {
    auto const handle = before[static_cast<std::size_t>(k)];
    if (handle == none || handles[k] != none) continue;
    auto const at = makers<Handle>().find(handle);
    if (at != makers<Handle>().end()) makers<Handle>().erase(at);
  }
  return code;
}

template <class End>
int ends_requests(int count, MPI_Request* requests, End const& end) {
  return ends(count, requests, MPI_REQUEST_NULL, end);
}

template <class Handle>
void count_open(std::map<std::string, int>& counts) {
  for (auto const& [handle, maker] : makers<Handle>()) ++counts[maker];
}

}  // namespace

std::vector<std::string> sporades::test::open_mpi_objects() {
  std::map<std::string, int> counts;
  count_open<MPI_Request>(counts);
  // Handles of several kinds may be numbers, which are counted once.
  if (!std::is_same_v<MPI_Comm, MPI_Request>) count_open<MPI_Comm>(counts);
  std::vector<std::string> all;
  for (auto const& [maker, count] : counts) all.push_back(concatenate(count, " of ", maker));
  return all;
}

// Requests.

int MPI_Isend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return made("MPI_Isend", PMPI_Isend(data, count, type, to, tag, comm, request), request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return made("MPI_Irecv", PMPI_Irecv(data, count, type, from, tag, comm, request), request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return ends_requests(1, request, [&] { return PMPI_Wait(request, status); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return ends_requests(count, requests, [&] { return PMPI_Waitall(count, requests, statuses); });
}

int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  return ends_requests(count, requests,
                       [&] { return PMPI_Testall(count, requests, done, statuses); });
}

// Communicators.

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  return made("MPI_Comm_dup", PMPI_Comm_dup(comm, copy), copy);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  return made("MPI_Comm_split", PMPI_Comm_split(comm, color, key, part), part);
}

int MPI_Comm_free(MPI_Comm* comm) {
  return ends(1, comm, MPI_COMM_NULL, [&] { return PMPI_Comm_free(comm); });
}

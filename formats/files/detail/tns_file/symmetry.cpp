// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>
#include <sporades/formats/files/detail/tns_file/symmetry.hpp>

namespace sporades::detail {

template <class Scalar, class Index>
CooTensor<Scalar, Index> with_symmetric_entries(CooTensor<Scalar, Index> const& X,
                                                Symmetry symmetry, std::string const& name) {
  bool const is_skew = symmetry == Symmetry::skew_symmetric;
  auto const *const rows = X.indices(0), *const columns = X.indices(1);
  Position total = X.nnz();
  for (Position p = 0; p < X.nnz(); ++p) {
    if (rows[p] != columns[p])
      ++total;
    else if (is_skew && X.values(p) != 0)
      fail(name, ": entry ", p + 1, " is ", X.values(p),
           " on the diagonal of a skew-symmetric matrix, where all are 0");
  }
  check_memory(name, X.nnz() + total, 1, X.order(), sizeof(Index), sizeof(Scalar));
  auto const Y = allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace(), X.dims, total);
  for (int n = 0; n < 2; ++n) std::copy_n(X.indices(n), X.nnz(), Y.indices(n));
  std::copy_n(X.values.data(), X.nnz(), Y.values.data());
  Position q = X.nnz();
  for (Position p = 0; p < X.nnz(); ++p) {
    if (rows[p] == columns[p]) continue;
    Y.coordinates(0, q) = columns[p];
    Y.coordinates(1, q) = rows[p];
    Y.values(q++) = is_skew ? -X.values(p) : X.values(p);
  }
  return Y;
}

template CooTensor<float, std::uint32_t> with_symmetric_entries(
    CooTensor<float, std::uint32_t> const&, Symmetry, std::string const&);
template CooTensor<float, std::uint64_t> with_symmetric_entries(
    CooTensor<float, std::uint64_t> const&, Symmetry, std::string const&);
template CooTensor<double, std::uint32_t> with_symmetric_entries(
    CooTensor<double, std::uint32_t> const&, Symmetry, std::string const&);
template CooTensor<double, std::uint64_t> with_symmetric_entries(
    CooTensor<double, std::uint64_t> const&, Symmetry, std::string const&);

}  // namespace sporades::detail

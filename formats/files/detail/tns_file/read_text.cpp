// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <sporades/formats/files/detail/tns_file/read_dense.hpp>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>
#include <sporades/formats/files/detail/tns_file/read_text.hpp>

namespace sporades::detail {

namespace {

/// Thrown if an index or a mode does not fit the index type.
struct IndexTooNarrow {};

template <class Index>
bool fits(Dims const& dims) {
  for (auto dim : dims)
    if (dim != 0 && dim - 1 > std::numeric_limits<Index>::max()) return false;
  return true;
}

/// Adds 1 to the coordinates of the modes that turned out to count from 0. Index(-1), which was
/// stored for the index 0, becomes 0.
template <class Scalar, class Index>
void shift_modes(CooTensor<Scalar, Index> const& X, std::vector<bool> const& from_zero,
                 int threads) {
  for (std::size_t n = 0; n < from_zero.size(); ++n) {
    if (!from_zero[n]) continue;
    auto* const indices = X.indices(static_cast<int>(n));
    for_each_range(threads, X.nnz(), std::uint64_t{1} << 18,
                   [&](std::uint64_t begin, std::uint64_t end) {
                     for (auto p = begin; p < end; ++p) ++indices[p];
                   });
  }
}

/// Throws IndexTooNarrow if an index or a mode does not fit Index.
template <class Scalar, class Index>
ReadResult<Scalar> read_as(Communicator const& processes, std::string_view content,
                           std::string const& name, ReadOptions const& options) {
  auto source = make_text_source(content, name, options.block_size);
  TextBlock first;
  auto const header = read_header(*source, first, options.pattern, name);
  TextTask const task{name, header, options, processes};
  auto const dims = stated_dims(task);
  if (!fits<Index>(dims)) throw IndexTooNarrow{};
  ReadResult<Scalar> result;
  result.dialect = to_string(header.dialect);
  if (header.dialect == Dialect::tensor) {
    result.tensor = processes.rank() == 0
                        ? read_dense<Scalar, Index>(*source, std::move(first), task)
                        : allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace(), dims, 0);
    return result;
  }
  if (header.symmetry == Symmetry::general) {
    if (processes.size() > 1) source->keep_part(processes.rank(), processes.size(), first);
  } else if (processes.rank() > 0) {
    first = {};
    source = make_text_source({}, name, options.block_size);
  }
  auto const shape = line_shape(task, dims);
  auto parsed = source->is_mapped()
                    ? read_mapped<Scalar, Index>(*source, std::move(first), task, shape)
                    : read_streamed<Scalar, Index>(*source, std::move(first), task, shape);
  parsed.range.join(processes, parsed.lines);
  auto const from_zero = parsed.range.modes_from_zero(task, shape);
  auto const smallest = parsed.range.smallest_dims(task, from_zero);
  if (!fits<Index>(smallest)) throw IndexTooNarrow{};
  shift_modes(parsed.tensor, from_zero, options.threads);
  parsed.tensor.dims = dims.empty() ? smallest : dims;
  result.notes = parsed.range.notes(task, shape, from_zero);
  if (header.symmetry != Symmetry::general) {
    expects(options.values == Values::any || header.symmetry == Symmetry::symmetric, name,
            ": a skew-symmetric matrix has negative entries, where counts are expected");
    auto const stated = parsed.tensor.nnz();
    parsed.tensor = with_symmetric_entries(parsed.tensor, header.symmetry, name);
    parsed.far = {};
    result.notes.push_back(concatenate(
        "the matrix is ", header.symmetry == Symmetry::symmetric ? "symmetric" : "skew-symmetric",
        ": ", parsed.tensor.nnz() - stated, " of ", stated, " entries stand for two"));
  }
  result.tensor = std::move(parsed.tensor);
  result.far = parsed.far;
  return result;
}

}  // namespace

template <class Scalar>
ReadResult<Scalar> read_text(Communicator const& processes, std::string_view content,
                             std::string const& name, ReadOptions const& options) {
  expects(!content.empty(), name, ": the file is empty");
  try {
    return read_as<Scalar, std::uint32_t>(processes, content, name, options);
  } catch (IndexTooNarrow const&) {
    return read_as<Scalar, std::uint64_t>(processes, content, name, options);
  }
}

template ReadResult<float> read_text(Communicator const&, std::string_view, std::string const&,
                                     ReadOptions const&);
template ReadResult<double> read_text(Communicator const&, std::string_view, std::string const&,
                                      ReadOptions const&);

}  // namespace sporades::detail

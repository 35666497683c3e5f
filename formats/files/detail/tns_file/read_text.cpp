// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/files/detail/tns_file/read_dense.hpp>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>
#include <sporades/formats/files/detail/tns_file/read_text.hpp>
#include <sporades/formats/files/detail/tns_file/sizes_header.hpp>

namespace sporades::detail {

namespace {

/// Thrown if an index or a mode does not fit the index type.
struct IndexTooNarrow {};

/// Thrown if the first line was read as a nonzero, and all lines show that it is a header.
struct FirstLineIsHeader {
  std::string note;
};

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

/// Adds the entries that the symmetry of a matrix leaves out, and a note.
template <class Scalar, class Index>
void add_symmetric_entries(CooTensor<Scalar, Index>& X, TextTask const& task,
                           std::vector<std::string>& notes) {
  auto const symmetry = task.header.symmetry;
  if (symmetry == Symmetry::general) return;
  expects(task.options.values == Values::any || symmetry == Symmetry::symmetric, task.name,
          ": a skew-symmetric matrix has negative entries, where counts are expected");
  auto const entries = [&] {  // of the first process, which has read them
    return all_gather(task.processes, "counts of entries", X.nnz()).front();
  };
  auto const stated = entries();
  X = with_symmetric_entries(X, symmetry, task.name);
  auto const all = entries();
  notes.push_back(concatenate("the matrix is ",
                              symmetry == Symmetry::symmetric ? "symmetric" : "skew-symmetric",
                              ": ", all - stated, " of ", stated, " entries stand for two"));
}

void append(std::vector<std::string>& notes, std::vector<std::string> const& others) {
  notes.insert(notes.end(), others.begin(), others.end());
}

template <class Scalar>
constexpr int integer_bits = std::numeric_limits<Scalar>::digits;

/// Reads a dense tensor by the first process.
template <class Scalar, class Index>
ReadResult<Scalar> read_all_entries(TextSource& source, TextBlock first, TextTask const& task) {
  ReadResult<Scalar> result;
  DenseEntries<Scalar, Index> entries;
  if (task.processes.rank() == 0)
    entries = read_dense<Scalar, Index>(source, std::move(first), task);
  else
    entries.tensor =
        allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace(), *task.header.dims, 0);
  auto const losses = all_gather(task.processes, "losses", entries.losses).front();
  append(result.notes, loss_notes(losses, integer_bits<Scalar>));
  add_symmetric_entries(entries.tensor, task, result.notes);
  result.tensor = std::move(entries.tensor);
  return result;
}

/// Reads lines of nonzeros. Throws FirstLineIsHeader.
template <class Scalar, class Index>
ReadResult<Scalar> read_all_lines(std::unique_ptr<TextSource> source, TextBlock first,
                                  TextTask const& task, Dims const& dims) {
  auto const& [name, header, options, processes] = task;
  InputFile const nothing({}, name);
  if (header.symmetry == Symmetry::general) {
    if (processes.size() > 1) source->keep_part(processes.rank(), processes.size(), first);
  } else if (processes.rank() > 0) {
    first = {};
    source = make_text_source(nothing, options.block_size);
  }
  auto const shape = line_shape(task, dims);
  auto parsed = source->file()
                    ? read_twice<Scalar, Index>(*source, std::move(first), task, shape)
                    : read_streamed<Scalar, Index>(*source, std::move(first), task, shape);
  parsed.range.join(processes, parsed.lines);
  auto const from_zero = parsed.range.modes_from_zero(task, shape);
  auto const smallest = parsed.range.smallest_dims(task, from_zero);
  if (!fits<Index>(smallest)) throw IndexTooNarrow{};
  shift_modes(parsed.tensor, from_zero, options.threads);
  parsed.tensor.dims = dims.empty() ? smallest : dims;
  ReadResult<Scalar> result;
  if (header.sizes) {
    auto const verdict = judge_sizes(task, parsed.tensor, smallest);
    if (verdict == FirstLinesAre::sizes)
      throw FirstLineIsHeader{sizes_note(*header.sizes, verdict)};
    if (verdict == FirstLinesAre::unclear)
      result.notes.push_back(sizes_note(*header.sizes, verdict));
  }
  append(result.notes, parsed.range.notes(task, shape, from_zero));
  append(result.notes, loss_notes(parsed.range.losses(), integer_bits<Scalar>));
  if (header.symmetry != Symmetry::general) parsed.out_of_core = {};
  add_symmetric_entries(parsed.tensor, task, result.notes);
  result.tensor = std::move(parsed.tensor);
  result.out_of_core = parsed.out_of_core;
  return result;
}

/// Throws IndexTooNarrow if an index or a mode does not fit Index, and FirstLineIsHeader.
template <class Scalar, class Index>
ReadResult<Scalar> read_as(Communicator const& processes, InputFile const& file,
                           ReadOptions const& options) {
  auto const& name = file.name();
  auto source = make_text_source(file, options.block_size);
  TextBlock first;
  auto const header = read_header(*source, first, options, name);
  TextTask const task{name, header, options, processes};
  auto const dims = stated_dims(task);
  if (!fits<Index>(dims)) throw IndexTooNarrow{};
  auto result = header.is_dense ? read_all_entries<Scalar, Index>(*source, std::move(first), task)
                                : read_all_lines<Scalar, Index>(std::move(source), std::move(first),
                                                                task, dims);
  result.dialect = to_string(header.dialect);
  return result;
}

template <class Scalar>
ReadResult<Scalar> read_any_width(Communicator const& processes, InputFile const& file,
                                  ReadOptions const& options) {
  try {
    return read_as<Scalar, std::uint32_t>(processes, file, options);
  } catch (IndexTooNarrow const&) {
    return read_as<Scalar, std::uint64_t>(processes, file, options);
  }
}

}  // namespace

template <class Scalar>
ReadResult<Scalar> read_text(Communicator const& processes, InputFile const& file,
                             ReadOptions const& options) {
  expects(file.size() > 0, file.name(), ": the file is empty");
  try {
    return read_any_width<Scalar>(processes, file, options);
  } catch (FirstLineIsHeader const& first) {
    auto with_header = options;
    with_header.first_line = FirstLine::header;
    auto result = read_any_width<Scalar>(processes, file, with_header);
    result.notes.insert(result.notes.begin(), first.note);
    return result;
  }
}

template ReadResult<float> read_text(Communicator const&, InputFile const&, ReadOptions const&);
template ReadResult<double> read_text(Communicator const&, InputFile const&, ReadOptions const&);

}  // namespace sporades::detail

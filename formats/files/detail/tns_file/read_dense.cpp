// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/formats/files/detail/tns_file/number.hpp>
#include <sporades/formats/files/detail/tns_file/read_dense.hpp>
#include <sporades/formats/files/detail/tns_file/read_lines.hpp>

namespace sporades::detail {

namespace {

/// The places of entries in a dense tensor, in the order of the file: all, or those of a matrix on
/// and below its diagonal, column by column; of a skew-symmetric one without the diagonal.
class Places {
 public:
  Places(Dims const& dims, Symmetry symmetry, std::string const& name)
      : is_triangle_(symmetry != Symmetry::general),
        skipped_(symmetry == Symmetry::skew_symmetric) {
    for (auto dim : dims) size_ = checked_product(size_, dim, name.c_str());
    if (!is_triangle_) return;
    rows_ = dims[0];
    place_ = skipped_;
    size_ = rows_ == 0 ? 0 : (size_ - rows_) / 2 + (skipped_ == 0 ? rows_ : 0);
  }

  std::uint64_t size() const { return size_; }

  std::uint64_t next() {
    auto const place = place_++;
    if (is_triangle_ && place_ % rows_ == 0) place_ += ++column_ + skipped_;
    return place;
  }

 private:
  bool is_triangle_;
  std::uint64_t skipped_;  // entries of a column between the diagonal and the first one
  std::uint64_t size_ = 1, rows_ = 0, place_ = 0, column_ = 0;
};

template <class Scalar>
struct Entries {
  std::vector<std::uint64_t> places;
  std::vector<Scalar> values;
  std::uint64_t count = 0;
  Losses losses;
};

/// Appends the entries of a line that are not zero.
template <class Scalar>
void read_entries(char const* p, Values allowed, Places& places, Entries<Scalar>& entries) {
  for (; *p != '\n';) {
    while (is_blank(*p)) ++p;
    if (!is_data_line(p)) return;
    auto const* const token = p;
    Scalar value = 0;
    if (!parse_real_fast(p, value)) {
      for (p = token; !ends_token(*p);) ++p;
      std::string_view const text(token, static_cast<std::size_t>(p - token));
      if (parse_real(text, value) != Number::good)
        throw LineProblem{0, quoted(text) + " is not a finite number"};
      entries.losses.add(loss_of(text, value));
    }
    if (char const* const what = why_refused(allowed, static_cast<double>(value)))
      throw LineProblem{0, quoted({token, static_cast<std::size_t>(p - token)}) + ' ' + what};
    auto const place = ++entries.count <= places.size() ? places.next() : 0;
    if (value == 0) continue;
    entries.places.push_back(place);
    entries.values.push_back(value);
  }
}

}  // namespace

template <class Scalar, class Index>
DenseEntries<Scalar, Index> read_dense(TextSource& source, TextBlock block, TextTask const& task) {
  auto const& dims = *task.header.dims;
  Places places(dims, task.header.symmetry, task.name);
  auto const size = places.size();
  Entries<Scalar> entries;
  auto line = task.header.lines + 1;
  for (bool more = true; more; more = source.next(block)) {
    auto const text = block.text();
    for (std::size_t p = 0; p < text.size(); p = text.find('\n', p) + 1, ++line) {
      try {
        read_entries(text.data() + p, task.options.values, places, entries);
      } catch (LineProblem const& problem) {
        fail(task.name, ":", line, ": ", problem.what);
      }
      expects(entries.count <= size, task.name, ":", line, ": more than the ", size,
              " entries of a tensor of ", sporades::to_string(dims));
    }
    check_memory(task.name, entries.values.size(), 2, static_cast<int>(dims.size()), sizeof(Index),
                 sizeof(Scalar));
  }
  expects(entries.count == size, task.name, ": ends after ", entries.count, " of the ", size,
          " entries of a tensor of ", sporades::to_string(dims));
  auto X =
      allocate_coo<Scalar, Index>(Kokkos::DefaultHostExecutionSpace(), dims, entries.places.size());
  for (std::size_t p = 0; p < entries.places.size(); ++p) {
    auto place = entries.places[p];
    for (std::size_t n = 0; n < dims.size(); ++n) {
      X.coordinates(n, p) = static_cast<Index>(place % dims[n]);
      place /= dims[n];
    }
  }
  std::copy(entries.values.begin(), entries.values.end(), X.values.data());
  return {X, entries.losses};
}

template DenseEntries<float, std::uint32_t> read_dense(TextSource&, TextBlock, TextTask const&);
template DenseEntries<float, std::uint64_t> read_dense(TextSource&, TextBlock, TextTask const&);
template DenseEntries<double, std::uint32_t> read_dense(TextSource&, TextBlock, TextTask const&);
template DenseEntries<double, std::uint64_t> read_dense(TextSource&, TextBlock, TextTask const&);

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/factor_rows.hpp>
#include <sporades/kernels/detail/nonzeros/row_cursors.hpp>

namespace sporades::detail {

/// Some bits of a word.
struct WordField {
  int shift;
  std::uint64_t mask;

  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t of(std::uint64_t word) const {
    return word >> shift & mask;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits() const { return mask << shift; }
};

/// Of nonzeros whose words hold their rows.
template <class Index>
struct WordRows {
  WordField field;
  Index row;

  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const& entry) {
    row = static_cast<Index>(field.of(entry.word));
  }
};

/// The nonzeros of a FlycooTensor whose indices take 64 bits at most, which are a nonzero's word.
/// Rows are those of the mode in whose order they are; see factor_rows.hpp.
template <class ScalarType, class Index, class MemorySpace, int Others>
struct FlycooNonzeros : FactorRows<FlycooNonzeros<ScalarType, Index, MemorySpace, Others>,
                                   ScalarType, MemorySpace, Others> {
  using Scalar = ScalarType;
  using Row = Index;
  using Word = std::uint64_t;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  static constexpr bool has_words = true;
  static constexpr bool loads_batches = false;
  static constexpr int value_units = sizeof(Scalar) / 2;
  struct Entry {
    Word word;
    Scalar value;
  };

  std::uint16_t const* records;
  Position count;
  int units;
  WordField row_field;
  Kokkos::Array<WordField, capacity> fields;  // of the other modes

  FlycooNonzeros(FlycooTensor<Scalar, Index, MemorySpace> const& X)
      : records(X.records.data()), count(X.nnz()), units(X.layout.units), row_field(field(X, 0)) {
    this->others = X.order() - 1;
    for (int k = 0; k < this->others; ++k) fields[k] = field(X, k + 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return count; }
  KOKKOS_FORCEINLINE_FUNCTION Word word(Position p) const {
    return load_units(records + p * units + value_units);
  }
  KOKKOS_FORCEINLINE_FUNCTION Index row(Position p) const {
    return static_cast<Index>(row_field.of(word(p)));
  }
  KOKKOS_FORCEINLINE_FUNCTION Index row(Entry const& entry) const {
    return static_cast<Index>(row_field.of(entry.word));
  }
  KOKKOS_FORCEINLINE_FUNCTION WordRows<Index> rows(Position p) const { return {row_field, row(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row(p) != row(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    std::uint16_t const* const record = records + p * units;
    return {load_units(record + value_units), record_value<Scalar>(record)};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Word word, int m) const {
    return static_cast<std::size_t>(fields[m].of(word));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Entry const& entry, int m) const {
    return index(entry.word, m);
  }
  /// The bits of a word that hold the row and modes 0 to split - 1.
  KOKKOS_FORCEINLINE_FUNCTION Word path_mask(int split) const {
    Word mask = row_field.bits();
    for (int k = 0; k < split; ++k) mask |= fields[k].bits();
    return mask;
  }
  KOKKOS_FORCEINLINE_FUNCTION Word leave_mask(int split) const { return path_mask(split); }
  KOKKOS_FORCEINLINE_FUNCTION bool starts_row(Word word, Word path) const {
    return (word ^ path) & row_field.bits();
  }

 private:
  static WordField field(FlycooTensor<Scalar, Index, MemorySpace> const& X, int place) {
    int const m = flycoo_mode(X, place);
    return {X.layout.first_bit[m] - static_cast<int>(8 * sizeof(Scalar)),
            low_bits(X.layout.bits[m])};
  }
};

/// The same for indices of any length, which are read from the record.
template <class ScalarType, class Index, class MemorySpace, int Others>
struct LongFlycooNonzeros : FactorRows<LongFlycooNonzeros<ScalarType, Index, MemorySpace, Others>,
                                       ScalarType, MemorySpace, Others> {
  using Scalar = ScalarType;
  using Row = Index;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  struct Entry {
    std::uint16_t const* record;
    Scalar value;
    Index row;
  };

  std::uint16_t const* records;
  Position count;
  int units;
  RecordField row_field;
  Kokkos::Array<RecordField, capacity> fields;  // of the other modes

  LongFlycooNonzeros(FlycooTensor<Scalar, Index, MemorySpace> const& X)
      : records(X.records.data()), count(X.nnz()), units(X.layout.units), row_field(field(X, 0)) {
    this->others = X.order() - 1;
    for (int k = 0; k < this->others; ++k) fields[k] = field(X, k + 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return count; }
  KOKKOS_FORCEINLINE_FUNCTION Index row(Position p) const {
    return row_field.of<Index>(records + p * units);
  }
  KOKKOS_FORCEINLINE_FUNCTION Index row(Entry const& entry) const { return entry.row; }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row(p) != row(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    std::uint16_t const* const record = records + p * units;
    return {record, record_value<Scalar>(record), row_field.of<Index>(record)};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Entry const& entry, int m) const {
    return fields[m].template of<Index>(entry.record);
  }

 private:
  static RecordField field(FlycooTensor<Scalar, Index, MemorySpace> const& X, int place) {
    int const m = flycoo_mode(X, place);
    return RecordField(X.layout.first_bit[m], X.layout.bits[m]);
  }
};

/// The factors that kernels read beside X.
template <class Nonzeros, class Tensor, class FactorList>
Nonzeros with_factors(Tensor const& X, FactorList const& A, int split) {
  Nonzeros nonzeros(X);
  nonzeros.split = split;
  for (int k = 0; k < nonzeros.others; ++k) nonzeros.factors[k] = A[flycoo_mode(X, k + 1)];
  return nonzeros;
}

/// Whether the indices of X fit a word.
template <class Tensor>
bool fits_word(Tensor const& X) {
  int bits = 0;
  for (int b : X.layout.bits) bits += b;
  return bits <= 64;
}

/// Calls run(nonzeros, split constant) with types that fit X and the split, as
/// with_packed_nonzeros does. Nonzeros with long indices have no words, and split 0.
template <class Scalar, class Index, class MemorySpace, class Run>
void with_flycoo_nonzeros(FlycooTensor<Scalar, Index, MemorySpace> const& X,
                          Factors<Scalar, MemorySpace> const& A, int split, Run const& run) {
  with_unrolled_modes<Index>(X.order() - 1, [&](auto others) {
    if (!fits_word(X))
      return run(with_factors<LongFlycooNonzeros<Scalar, Index, MemorySpace, others()>>(X, A, 0),
                 std::integral_constant<int, 0>{});
    auto const nonzeros =
        with_factors<FlycooNonzeros<Scalar, Index, MemorySpace, others()>>(X, A, split);
    auto const with_split = [&](auto depth) { run(nonzeros, depth); };
    if constexpr (others() == any_number) {
      if (!with_constant<0>(split, with_split))
        with_split(std::integral_constant<int, any_number>{});
    } else {
      with_constant_below<others()>(split, with_split);
    }
  });
}

}  // namespace sporades::detail

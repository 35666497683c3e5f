// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/factor_rows.hpp>
#include <sporades/kernels/detail/nonzeros/row_cursors.hpp>

namespace sporades::detail {

/// The indices of a nonzero, where they take more than 64 bits and at most 128.
struct DoubleWord {
  std::uint64_t low, high;

  friend KOKKOS_FORCEINLINE_FUNCTION DoubleWord operator&(DoubleWord a, DoubleWord b) {
    return {a.low & b.low, a.high & b.high};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION DoubleWord operator|(DoubleWord a, DoubleWord b) {
    return {a.low | b.low, a.high | b.high};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION bool operator!=(DoubleWord a, DoubleWord b) {
    return ((a.low ^ b.low) | (a.high ^ b.high)) != 0;
  }
};

/// Some neighbouring bits of a word.
template <class Word>
struct WordField;

template <>
struct WordField<std::uint64_t> {
  int shift;
  std::uint64_t mask;

  WordField() = default;
  WordField(int first_bit, int bits) : shift(bits > 0 ? first_bit : 0), mask(low_bits(bits)) {}
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t of(std::uint64_t word) const {
    return word >> shift & mask;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits() const { return mask << shift; }
};

template <>
struct WordField<DoubleWord> {
  int shift;
  std::uint64_t mask;

  WordField() = default;
  WordField(int first_bit, int bits) : shift(bits > 0 ? first_bit : 0), mask(low_bits(bits)) {}
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t of(DoubleWord const& word) const {
    if (shift >= 64) return word.high >> (shift - 64) & mask;
    return (word.low >> shift | word.high << 1 << (63 - shift)) & mask;
  }
  KOKKOS_FORCEINLINE_FUNCTION DoubleWord bits() const {
    if (shift >= 64) return {0, mask << (shift - 64)};
    return {mask << shift, mask >> 1 >> (63 - shift)};
  }
};

/// The row at hand of nonzeros whose words hold their rows.
template <class Index, class Word>
struct WordRows {
  WordField<Word> field;
  Index row;

  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const& entry) {
    row = static_cast<Index>(field.of(entry.word));
  }
};

/// The records of a FlycooTensor.
template <class Scalar, class MemorySpace>
struct FlycooRecords {
  using Unit = FlycooUnit<MemorySpace>;
  static constexpr int value_units = sizeof(Scalar) / sizeof(Unit);

  Unit const* records;
  Position count;
  int units;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return count; }
};

/// The nonzeros of a FlycooTensor whose indices are the bits of a Word. Rows are those of the mode
/// in whose order they are; see factor_rows.hpp.
template <class ScalarType, class Index, class MemorySpace, class WordType, int Others>
struct FlycooNonzeros : FactorRows<FlycooNonzeros<ScalarType, Index, MemorySpace, WordType, Others>,
                                   ScalarType, MemorySpace, Others>,
                        FlycooRecords<ScalarType, MemorySpace> {
  using Scalar = ScalarType;
  using Row = Index;
  using Word = WordType;
  using Records = FlycooRecords<Scalar, MemorySpace>;
  using typename Records::Unit;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  static constexpr bool has_words = true;
  // On GPUs the length of records is known where one word holds the indices.
  static constexpr bool is_short = sizeof(Unit) == 4 && sizeof(Word) == 8;
  static constexpr int short_units = Records::value_units + 2;
  static constexpr bool loads_batches = is_short && sizeof(Scalar) == 4;
  struct Entry {
    Word word;
    Scalar value;
  };

  WordField<Word> row_field;
  Kokkos::Array<WordField<Word>, capacity> fields;  // of the other modes
  Word path;  // the bits that hold the row and the first `split` modes

  /// Runs of nonzeros agree in the first split modes.
  FlycooNonzeros(FlycooTensor<Scalar, Index, MemorySpace> const& X, int split)
      : Records{X.records.data(), X.nnz(), X.layout.units},
        row_field(field(X, 0)),
        path(row_field.bits()) {
    this->others = X.order() - 1;
    this->split = split;
    for (int k = 0; k < this->others; ++k) {
      fields[k] = field(X, k + 1);
      if (k < split) path = path | fields[k].bits();
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION Unit const* record(Position p) const {
    return this->records + p * (is_short ? short_units : this->units);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word word(Position p) const { return word_of(record(p)); }
  KOKKOS_FORCEINLINE_FUNCTION Index row(Position p) const { return row_of(word(p)); }
  KOKKOS_FORCEINLINE_FUNCTION WordRows<Index, Word> rows(Position p) const {
    return {row_field, row(p)};
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row(p) != row(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    if constexpr (is_short && short_units == 4) {  // 16 bytes
      auto const units = load_tile<Unit, 4, true>(record(p));
      Unit const copy[4] = {units[0], units[1], units[2], units[3]};
      return entry_of(copy);
    } else {
      return entry_of(record(p));
    }
  }
  /// Nonzeros p to p + 3, where p is a multiple of four.
  template <int many>
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Position p, Entry (&entries)[many]) const {
    static_assert(many == 4, "Four records are whole units of 16 bytes.");
    auto const units = load_tile<Unit, 4 * short_units, true>(record(p));
    for (int k = 0; k < 4; ++k) {
      Unit copy[short_units];
      for (int j = 0; j < short_units; ++j) copy[j] = units[k * short_units + j];
      entries[k] = entry_of(copy);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Word const& word, int m) const {
    return static_cast<Index>(fields[m].of(word));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Entry const& entry, int m) const {
    return index(entry.word, m);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word const& path_mask(int) const { return path; }
  KOKKOS_FORCEINLINE_FUNCTION Word const& leave_mask(int) const { return path; }
  KOKKOS_FORCEINLINE_FUNCTION bool starts_row(Word const& word, Word const& path) const {
    return row_of(word) != row_of(path);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word entered(Word const& word) const { return word; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Index row_of(Word const& word) const {
    return static_cast<Index>(row_field.of(word));
  }
  KOKKOS_FORCEINLINE_FUNCTION Word word_of(Unit const* record) const {
    Unit const* const indices = record + Records::value_units;
    if constexpr (sizeof(Word) == 8) {
      return load_units(indices);
    } else if constexpr (sizeof(Unit) == 4) {
      bool const is_long = this->units > Records::value_units + 3;
      return {load_units(indices), indices[2] | std::uint64_t{is_long ? indices[3] : 0} << 32};
    } else {
      return {load_units(indices), load_units(indices + 4)};
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry entry_of(Unit const* record) const {
    return {word_of(record), record_value<Scalar>(record)};
  }
  static WordField<Word> field(FlycooTensor<Scalar, Index, MemorySpace> const& X, int place) {
    int const m = flycoo_mode(X, place);
    return {X.layout.first_bit[m] - static_cast<int>(8 * sizeof(Scalar)), X.layout.bits[m]};
  }
};

/// The nonzeros of a FlycooTensor with indices of any length, which are read from the record.
template <class ScalarType, class Index, class MemorySpace, int Others>
struct LongFlycooNonzeros : FactorRows<LongFlycooNonzeros<ScalarType, Index, MemorySpace, Others>,
                                       ScalarType, MemorySpace, Others>,
                            FlycooRecords<ScalarType, MemorySpace> {
  using Scalar = ScalarType;
  using Row = Index;
  using Records = FlycooRecords<Scalar, MemorySpace>;
  using typename Records::Unit;
  using Field = RecordField<Unit>;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  struct Entry {
    Unit const* record;
    Scalar value;
    Index row;
  };

  Field row_field;
  Kokkos::Array<Field, capacity> fields;  // of the other modes

  LongFlycooNonzeros(FlycooTensor<Scalar, Index, MemorySpace> const& X, int)
      : Records{X.records.data(), X.nnz(), X.layout.units}, row_field(field(X, 0)) {
    this->others = X.order() - 1;
    for (int k = 0; k < this->others; ++k) fields[k] = field(X, k + 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION Index row(Position p) const {
    return row_field.template of<Index>(this->records + p * this->units);
  }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row(p) != row(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    Unit const* const record = this->records + p * this->units;
    return {record, record_value<Scalar>(record), row_field.template of<Index>(record)};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Entry const& entry, int m) const {
    return fields[m].template of<Index>(entry.record);
  }

 private:
  static Field field(FlycooTensor<Scalar, Index, MemorySpace> const& X, int place) {
    int const m = flycoo_mode(X, place);
    return {X.layout.first_bit[m], X.layout.bits[m]};
  }
};

/// The factors that kernels read beside X.
template <class Nonzeros, class Tensor, class FactorList>
Nonzeros with_factors(Tensor const& X, FactorList const& A, int split) {
  Nonzeros nonzeros(X, split);
  for (int k = 0; k < nonzeros.others; ++k) nonzeros.factors[k] = A[flycoo_mode(X, k + 1)];
  return nonzeros;
}

/// Whether the indices of X fit words, so that runs of nonzeros can be told.
template <class Tensor>
bool fits_words(Tensor const& X) {
  return X.layout.index_bits() <= 128;
}

/// Calls run(nonzeros, split constant) with types that fit X and the split, as
/// with_packed_nonzeros does. For double words kernels are compiled for split 0 and any other
/// number; nonzeros with longer indices have no words, and split 0.
template <class Scalar, class Index, class MemorySpace, class Run>
void with_flycoo_nonzeros(FlycooTensor<Scalar, Index, MemorySpace> const& X,
                          Factors<Scalar, MemorySpace> const& A, int split, Run const& run) {
  auto const any_split = [&](auto const& nonzeros) {
    auto const with_split = [&](auto depth) { run(nonzeros, depth); };
    if (!with_constant<0>(split, with_split)) with_split(std::integral_constant<int, any_number>{});
  };
  with_unrolled_modes<Index>(X.order() - 1, [&](auto others) {
    using Word = std::uint64_t;
    int const bits = X.layout.index_bits();
    if (bits > 128)
      return run(with_factors<LongFlycooNonzeros<Scalar, Index, MemorySpace, any_number>>(X, A, 0),
                 std::integral_constant<int, 0>{});
    if constexpr (others() != 1)
      if (bits > 64)
        return any_split(
            with_factors<FlycooNonzeros<Scalar, Index, MemorySpace, DoubleWord, others()>>(X, A,
                                                                                           split));
    auto const nonzeros =
        with_factors<FlycooNonzeros<Scalar, Index, MemorySpace, Word, others()>>(X, A, split);
    if constexpr (others() == any_number)
      any_split(nonzeros);
    else
      with_constant_below<others()>(split, [&](auto depth) { run(nonzeros, depth); });
  });
}

}  // namespace sporades::detail

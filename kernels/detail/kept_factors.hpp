// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace sporades::detail {

/// Factors that are the same from one product to the next, so that what was made of them (rounded
/// rows, rows of other processes) need not be made again.
class KeptFactors {
 public:
  /// While it lives, factors are those of later products, too, except that of mode n. factors: null
  /// where there are none to keep.
  class Keeping {
   public:
    Keeping(KeptFactors* factors, std::size_t n) : factors_(factors), n_(n) {
      if (factors_ != nullptr) factors_->keeps_ = true;
    }
    Keeping(Keeping const&) = delete;
    Keeping& operator=(Keeping const&) = delete;
    ~Keeping() {
      if (factors_ == nullptr) return;
      factors_->keeps_ = false;
      if (n_ < factors_->kept_.size()) factors_->kept_[n_] = {};
    }

   private:
    KeptFactors* factors_;
    std::size_t n_;
  };

  Keeping keep_others(std::size_t n) { return {this, n}; }
  /// Mode m's factor is that of the next products, too.
  void keep(std::size_t m, void const* data, std::size_t columns) {
    if (kept_.size() <= m) kept_.resize(m + 1);
    kept_[m] = {data, columns};
  }
  /// None is that of later products.
  void forget() { kept_.clear(); }

  /// Whether mode m's factor, with its entries there and so many columns, is that of an earlier
  /// product; it is that of this one from now on.
  bool has(std::size_t m, void const* data, std::size_t columns) {
    if (kept_.size() <= m) kept_.resize(m + 1);
    bool const same = keeps_ && kept_[m].data == data && kept_[m].columns == columns;
    kept_[m] = keeps_ ? Kept{data, columns} : Kept{};
    return same;
  }

 private:
  struct Kept {
    void const* data = nullptr;
    std::size_t columns = 0;
  };

  std::vector<Kept> kept_;  // per mode
  bool keeps_ = false;
};

}  // namespace sporades::detail

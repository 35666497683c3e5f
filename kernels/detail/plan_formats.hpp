// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <sporades/core/detail/check_types.hpp>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sporades::detail {

/// For each mode of a plan a copy of the nonzeros in one of these formats. Modes may share a copy;
/// copies of the plan share all.
template <class Scalar, class Index, class MemorySpace,
          template <class, class, class> class... Formats>
class PlanFormats {
 public:
  using Format = std::variant<Formats<Scalar, Index, MemorySpace>...>;
  using Shared = std::shared_ptr<Format>;

  /// Whether Tensor is one of the formats.
  template <class Tensor>
  static constexpr bool holds = (is_instance<Tensor, Formats> || ...);

  PlanFormats() = default;
  /// For so many modes, none of which has a copy yet.
  explicit PlanFormats(std::size_t modes) : of_mode_(modes) {}

  /// X as a copy for set and set_all.
  template <class Tensor>
  static Shared share(Tensor&& X) {
    return std::make_shared<Format>(std::forward<Tensor>(X));
  }
  void set(int n, Shared const& format) { of_mode_[static_cast<std::size_t>(n)] = format; }
  void set_all(Shared const& format) { std::fill(of_mode_.begin(), of_mode_.end(), format); }

  /// Mode n's nonzeros if they are in that format, else null: as<PackedTensor>(n). They may be
  /// changed, as by a shared_ptr.
  template <template <class, class, class> class Wanted>
  Wanted<Scalar, Index, MemorySpace>* as(int n) const {
    auto const mode = static_cast<std::size_t>(n);
    if (mode >= of_mode_.size()) return nullptr;
    return std::get_if<Wanted<Scalar, Index, MemorySpace>>(of_mode_[mode].get());
  }
  /// The first mode's that are in that format; null where none are.
  template <template <class, class, class> class Wanted>
  Wanted<Scalar, Index, MemorySpace>* first() const {
    for (int n = 0; n < modes(); ++n)
      if (auto* const X = as<Wanted>(n)) return X;
    return nullptr;
  }
  template <template <class, class, class> class Wanted>
  bool any() const {
    return first<Wanted>() != nullptr;
  }
  /// Whether mode n has nonzeros.
  bool has(int n) const { return n < modes() && of_mode_[static_cast<std::size_t>(n)] != nullptr; }
  /// use(X) of mode n's nonzeros, which it must have.
  template <class Use>
  decltype(auto) visit(int n, Use&& use) const {
    return std::visit(std::forward<Use>(use), *of_mode_[static_cast<std::size_t>(n)]);
  }
  /// use(X) of each copy, once.
  template <class Use>
  void for_each(Use const& use) const {
    for (auto format = of_mode_.begin(); format != of_mode_.end(); ++format)
      if (*format && std::find(of_mode_.begin(), format, *format) == format)
        std::visit(use, **format);
  }
  /// The number of modes.
  int modes() const { return static_cast<int>(of_mode_.size()); }
  /// The place of mode n's format among Formats.
  std::size_t place(int n) const { return of_mode_[static_cast<std::size_t>(n)]->index(); }

 private:
  std::vector<Shared> of_mode_;
};

}  // namespace sporades::detail

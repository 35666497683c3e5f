// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/formats/alto_tensor.hpp>

namespace sporades {

AltoLayout::AltoLayout(Dims const& dims) {
  std::vector<int> modes(dims.size());
  int longest = 0;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    modes[n] = static_cast<int>(n);
    longest = std::max(longest, detail::index_bits(dims[n]));
    bits += detail::index_bits(dims[n]);
  }
  expects(bits <= most_bits, "AltoLayout: the indices of ", to_string(dims), " take ", bits,
          " bits, two words have 128");
  std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) {
    return detail::index_bits(dims[a]) < detail::index_bits(dims[b]);
  });
  std::vector<std::uint64_t> words[2];
  words[0].resize(dims.size());
  words[1].resize(dims.size());
  int place = 0;
  for (int b = 0; b < longest; ++b)
    for (int n : modes)
      if (b < detail::index_bits(dims[n])) {
        words[place / 64][n] |= std::uint64_t{1} << (place % 64);
        ++place;
      }
  for (std::size_t n = 0; n < dims.size(); ++n) {
    low.emplace_back(words[0][n]);
    high.emplace_back(words[1][n]);
    low_count.push_back(low[n].count());
  }
}

}  // namespace sporades

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <variant>

namespace sporades {

/// A tensor on the host whose index type came with its dims: 32-bit unless a mode is longer.
template <class Scalar>
using AnyCoo = std::variant<CooTensor<Scalar, std::uint32_t>, CooTensor<Scalar, std::uint64_t>>;

}  // namespace sporades

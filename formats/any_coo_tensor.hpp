// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <variant>

namespace sporades {

/// A tensor on the host, as it was read from a file: with 32-bit indices, or with 64-bit indices if
/// a mode has more than 2^32 rows. std::visit calls a function with the one that it is.
template <class Scalar>
using AnyCooTensor =
    std::variant<CooTensor<Scalar, std::uint32_t>, CooTensor<Scalar, std::uint64_t>>;

}  // namespace sporades

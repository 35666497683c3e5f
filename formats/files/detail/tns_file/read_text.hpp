// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/tns_file.hpp>

namespace sporades::detail {

/// read_tensor for text and gzipped text, except that it does not sum duplicates.
template <class Scalar>
ReadResult<Scalar> read_text(std::string_view content, std::string const& name,
                             ReadOptions const& options);

}  // namespace sporades::detail

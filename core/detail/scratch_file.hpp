// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/descriptor.hpp>
#include <string>

namespace sporades::detail {

/// A new file without a name in `folder`, for reading and writing. It goes when it is closed,
/// whatever ends the program; where the file system cannot make files without a name, it has one
/// for a moment. Throws RunError if the folder takes no files, or keeps them in memory, as tmpfs
/// does. (scratch_folder is /var/tmp where TMPDIR names none and /tmp is such a folder.)
Descriptor make_scratch_file(std::string const& folder);

}  // namespace sporades::detail

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/complete/complete_method.hpp>
#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <sporades/algorithms/detail/cp_apr/cp_apr_method.hpp>
#include <sporades/algorithms/detail/gcp/gcp_method.hpp>
#include <sporades/algorithms/detail/memory/complete_memory.hpp>
#include <sporades/algorithms/detail/memory/cp_als_memory.hpp>
#include <sporades/algorithms/detail/memory/cp_apr_memory.hpp>
#include <sporades/algorithms/detail/memory/gcp_memory.hpp>
#include <sporades/algorithms/detail/memory/tucker_memory.hpp>
#include <sporades/algorithms/detail/tucker/tucker_method.hpp>

/// How CP-ALS, CP-APR, GCP, Tucker and complete work, for sources that call them with types of
/// values, execution spaces or losses for which the library is not compiled: they include this
/// header before the first call, and compile what they need. The compiler says where it is missing.
/// See core/README.md, "Types".

namespace sporades::detail {

template <class ExecutionSpace, class Scalar>
struct Definitions {};

}  // namespace sporades::detail

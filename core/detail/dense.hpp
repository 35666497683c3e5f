// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Dense arithmetic on tall matrices (factors) and long vectors (values), for every execution
/// space. Everything is summed over blocks that the shape alone gives, in a fixed order, level by
/// level, or by a library that does so: the same bits on every run and on any number of threads.
#include <sporades/core/detail/dense/columns.hpp>   // scale_columns, column_dots, column_sums
#include <sporades/core/detail/dense/gram.hpp>      // gram, transposed_product
#include <sporades/core/detail/dense/inverse.hpp>   // invert_system
#include <sporades/core/detail/dense/multiply.hpp>  // multiply
#include <sporades/core/detail/dense/solve.hpp>     // multiply_by_inverse
#include <sporades/core/detail/dense/sums.hpp>      // dot, norm_squared, max_abs, has_negative
#include <sporades/core/detail/dense/unit.hpp>      // binary_exponent, divide_by_power_of_two

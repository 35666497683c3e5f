// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <string>

namespace sporades::command {

/// Why it is not certain that no entry of a model is negative; empty where it is. It is certain
/// where every column has one sign, and those of each component, or entry of the core, make a
/// product that is not negative.
std::string why_negative(KruskalTensor<double> const& model);
std::string why_negative(TuckerTensor<double> const& model);

/// The sum of all entries of a model.
double sum_of_entries(KruskalTensor<double> const& model);
double sum_of_entries(TuckerTensor<double> const& model);

}  // namespace sporades::command

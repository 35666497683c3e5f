// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/ttensor_file.hpp>
#include <variant>

namespace sporades::command {

using AnyModel = std::variant<KruskalTensor<double>, TuckerTensor<double>>;

/// A model, and what its file says of the run that made it.
struct ModelFile {
  AnyModel model;
  ModelFacts facts;
};

/// Whether a file begins as one of a model does. False for what cannot be read twice.
bool is_model_file(std::string const& path);

/// Reads a model of either kind. Throws Error naming file and line of what is wrong.
ModelFile read_model(std::string const& path);

/// "CP model, 36 x 199 x 60, rank 4" or "Tucker model, 36 x 199 x 60, core 4 x 4 x 2".
std::string describe(KruskalTensor<double> const& model);
std::string describe(TuckerTensor<double> const& model);

/// "method cp-als, fit 0.7121, iterations 34", without the modes; empty where there are no facts.
std::string run_text(ModelFacts const& facts);

/// The names of the modes that the facts tell, or none.
std::vector<std::string> mode_names(ModelFacts const& facts, std::size_t order);

/// How long the columns of a model are, as natural logarithms, which no product of them overflows:
/// their 1-norms where no entry of the model is negative, else their 2-norms.
struct ColumnLengths {
  bool is_sum = false;
  std::vector<std::vector<double>> columns;  // [n][r]
  std::vector<double> components;            // of weights and columns of all modes
};

ColumnLengths column_lengths(KruskalTensor<double> const& model);

/// A model as people read it.
struct ShownModel {
  KruskalTensor<double> model;
  std::vector<double> shares;  // of each component
  bool is_sum = false;         // shares are of the sum of all entries, else of squares
  std::string note;            // what was changed, or empty
};

/// The model; where all weights are 1 normalized, by the norms of column_lengths. The share of a
/// component is that of the sum of all the model's entries where none is negative, else that of its
/// squared norm among those of all components.
ShownModel shown(KruskalTensor<double> const& model);

}  // namespace sporades::command

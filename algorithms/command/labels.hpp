// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/report.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <string>
#include <vector>

namespace sporades::command {

/// What people call the indices and the modes of a tensor.
struct Labels {
  std::vector<std::vector<std::string>> names;  // names[n][i]; none in modes without
  std::vector<std::string> modes;               // names of the modes, or none

  bool empty() const { return names.empty(); }
};

/// "mode 2: month", or "mode 2" where the modes have no names.
std::string mode_text(std::vector<std::string> const& modes, std::size_t n);

/// The file of a folder of labels that has the names of the modes.
inline constexpr char const* modes_file = "modes.txt";

/// The files of a folder that may hold labels: mode-*.txt where there are any, else all; and
/// modes.txt. None where there is no such folder.
std::vector<std::string> label_candidates(std::string const& folder);

/// Reads a folder of text files, one name a line: mode-0.txt to mode-(N-1).txt, some of which may
/// be absent, or where there is none of these the folder's N files in the order of their names; and
/// modes.txt, the names of the modes, if there is one. LF or CRLF. Throws Error if there are no
/// such files, or one has not as many lines as its mode has indices, or the tensor modes.
Labels read_labels(std::string const& folder, Dims const& dims);

/// read_labels for a tensor of this order, whose dims are not known.
Labels read_labels(std::string const& folder, int order);

/// All names as a terminal may show them.
Labels printable(Labels labels);

/// The `top` entries of largest magnitude of column r of the factor of mode n, with their names, as
/// top_entries has them. names: of the mode, or none.
template <class Model>
std::vector<TopEntry> top_of_column(Model const& model, int r, int n,
                                    std::vector<std::string> const& names, int top);

/// For each component its weight and, mode by mode, the `top` entries of largest magnitude with
/// their names; none below a thousandth of the largest. Equal magnitudes come in the order of their
/// indices. Indices are the names in modes without labels. rows: of each mode, where processes
/// share them; else empty. Collective.
template <class Scalar>
TopEntries top_entries(KruskalTensor<Scalar> const& model, Labels const& labels, int top,
                       std::vector<RowMap> const& rows);

/// For each mode's columns the `top` entries of largest magnitude with their names, as top_entries
/// of a KruskalTensor has them, and the `top` entries of the core of largest magnitude. Collective.
template <class Scalar>
TopEntries top_entries(TuckerTensor<Scalar> const& model, Labels const& labels, int top,
                       std::vector<RowMap> const& rows);

/// The entries side by side, component by component or after the core mode by mode.
std::string to_text(TopEntries const& top);

}  // namespace sporades::command

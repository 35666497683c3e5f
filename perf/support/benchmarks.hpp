// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <support/settings.hpp>

namespace sporades::perf {

/// STREAM proxies on the default execution space, and the same loops in plain OpenMP (or CUDA).
void add_stream(Settings const& settings);

/// Rows gathered at random from matrices of 32 KB to 256 MB: what each level of the caches gives to
/// kernels that read a factor row a nonzero.
void add_gather(Settings const& settings);

/// MTTKRP of every mode alone and of all modes, by strategy and precision.
void add_mttkrp(Settings const& settings);

/// MTTKRP and Phi of every mode alone and of all modes in plain OpenMP, CUDA or HIP, each compared
/// with the library's before it is timed.
void add_native(Settings const& settings);

/// Phi of every mode alone and of all modes, by strategy and precision, and the stored Pi.
void add_phi(Settings const& settings);

/// Gradients of three losses of generalised CP: MTTKRP of all modes, of derivatives.
void add_loss_gradient(Settings const& settings);

/// SpTTM of every mode alone and of all modes, by strategy and precision, and by the library of the
/// GPU's vendor, which is compared with ours before it is timed; the same with the unfolding of the
/// tensor, which is timed apart; in how many cases SpMM is the fastest; SspTTM, and SpTTM on the
/// same tensor.
void add_spttm(Settings const& settings);

/// SpTV of every mode, by strategy and precision; the plans are made apart.
void add_sptv(Settings const& settings);

/// MTTKRP and SpTV of tensors that stay in out-of-core memory.
void add_streaming(Settings const& settings);

/// The features by which strategies are chosen, and the time that they take.
void add_selector(Settings const& settings);

/// Building the plans of MTTKRP.
void add_plan(Settings const& settings);

/// Building each format: as many copies as serve all modes, or those of each mode.
void add_build(Settings const& settings);

/// Reading the files of Settings::files.
void add_files(Settings const& settings);

/// One iteration of CP-ALS, and its parts.
void add_cp_als(Settings const& settings);

/// TTM chains of every mode by strategy, one iteration of HOOI and its parts, and whole runs, at
/// ranks that are the same in every mode, or its length where that is less.
void add_tucker(Settings const& settings);

/// One outer iteration of CP-APR, and its parts; of method mu with stored Pi, too.
void add_cp_apr(Settings const& settings);

/// One iteration of CP-ALS and CP-APR, alone and beside Settings::neighbours busy processes.
void add_neighbour(Settings const& settings);

}  // namespace sporades::perf

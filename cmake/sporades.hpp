// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// All that applications use: tensors and their files, kernels, decompositions. What is in
/// namespace sporades::detail and in folders named detail may change in any version.

#include <sporades/algorithms/complete.hpp>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/core_consistency.hpp>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/algorithms/score.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/core/communicator.hpp>
#include <sporades/core/spin_limit.hpp>
#include <sporades/formats/aggregate_coo.hpp>
#include <sporades/formats/any_coo_tensor.hpp>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/model_facts.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/formats/files/ttensor_file.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <sporades/formats/shape_coo.hpp>
#include <sporades/formats/split_coo.hpp>
#include <sporades/formats/strongest.hpp>
#include <sporades/kernels/innerprod.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/loss_enumeration.hpp>
#include <sporades/kernels/loss_gradient.hpp>
#include <sporades/kernels/loss_samples.hpp>
#include <sporades/kernels/memory_need.hpp>
#include <sporades/kernels/model_values.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/sptv_pipeline.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/stream.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <sporades/kernels/update_values.hpp>
#include <sporades/version.hpp>

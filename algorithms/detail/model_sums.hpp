// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/kernels/detail/inner_product.hpp>
#include <sporades/kernels/detail/processes/all_modes_nonzeros.hpp>

namespace sporades::detail {

/// Sums over the nonzeros of products' tensor, of these and the values of a model: in double.
template <class Scalar, class Index, class MemorySpace>
class ModelSums {
  using Nonzeros = DistributedNonzeros<Scalar, Index, MemorySpace>;

 public:
  /// See inner_product. weights: R, where exec computes. While it runs the coordinates of the
  /// nonzeros are beside the plan. Collective. Fences exec.
  template <class ExecutionSpace, class Products>
  double operator()(ExecutionSpace const& exec, Products& products,
                    Factors<Scalar, MemorySpace> const& A, double const* weights, int R,
                    Workspace<MemorySpace>& workspace, ModelSum what) {
    auto const columns = static_cast<std::size_t>(R);
    Windows<MemorySpace>* const none = nullptr;
    if (products.whole.work.distributed) {
      if (!nonzeros_) nonzeros_ = std::make_unique<Nonzeros>(exec, products);
      return inner_product(exec, nonzeros_->tensor(exec), nonzeros_->gather(exec, A), weights,
                           columns, workspace, products.whole.work.distributed->parts,
                           nonzeros_->places(), none, what);
    }
    auto const X = nonzeros_of(exec, products);
    bool const is_linear = products.whole.formats.template any<AltoTensor>();
    return inner_product(exec, X.tensor, A, weights, columns, workspace,
                         is_linear ? most_parts(X.tensor.nnz()) : 0, {},
                         X.memory ? &products.whole.work.carry.windows : none, what);
  }

 private:
  std::unique_ptr<Nonzeros> nonzeros_;  // of several processes, once there was a sum
};

}  // namespace sporades::detail

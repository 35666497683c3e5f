// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/streaming.hpp>

/// SpTV of a tensor that is not in the memory where it is computed: collections of fibers are
/// copied there one after another, multiplied, and their sums copied back. On a GPU some instances
/// of the execution space take a collection each, so that one copies while others compute. On a
/// host, whose tensor is in a file, a thread beside reads the next collection.
/// Yang, Li & Li, TKDD 2019, Section 6.2.

namespace sporades {

/// What a pipeline of SpTV is made for. streaming.window is about the bytes of a collection.
struct SptvPipelineOptions {
  SptvOptions product;
  Streaming streaming;
};

namespace detail {

/// Neighbouring fibers: a plan of their own in out-of-core memory.
template <class Scalar, class Index, class MemorySpace>
struct SptvCollection {
  SptvPlan<Scalar, Index, MemorySpace> plan;
  Position first_fiber = 0, block_sums = 0;
  char* begin = nullptr;         // of the plan's arrays
  std::uint64_t bytes = 0;       // that a product reads
  std::uint64_t room_bytes = 0;  // `bytes` and room for what a product writes
};

}  // namespace detail

/// X in out-of-core memory, cut into collections, for products on mode n.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct SptvPipeline {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Output = CooTensor<Scalar, Index, detail::PageLockedSpace>;

  Dims dims;     // of X
  int mode = 0;  // n
  std::vector<detail::SptvCollection<Scalar, Index, MemorySpace>> collections;
  typename Output::Coordinates coordinates;  // of Y: (N - 1) x fibers
  std::vector<int> sorted_modes;             // of Y
  Position nonzeros = 0, fibers = 0;
  std::vector<detail::OutOfCoreMemory> memory;  // of the collections
  detail::Windows<MemorySpace> windows;
  std::vector<detail::CarryBuffers<Scalar, Position, MemorySpace>> carries;  // hocoo: a stream

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return nonzeros; }
  /// Bytes in out-of-core memory. A product copies all of them.
  std::uint64_t storage_bytes() const {
    std::uint64_t sum = 0;
    for (auto const& collection : collections) sum += collection.bytes;
    return sum;
  }
};

/// Seconds of a product's collections, each step of which waits for the one before, and what the
/// paper's equations make of them.
struct SptvPipelineTimes {
  /// Seconds that copying it in, its products, and copying its sums out take.
  struct Collection {
    double in, compute, out;
  };
  std::vector<Collection> collections;

  /// T_s, all steps one after another.
  double synchronous() const;
  /// T_p, where a collection is copied in while the one before is computed, and the sums of the one
  /// before that are copied out.
  double pipelined() const;
};

/// A pipeline for products of X, a CooTensor in any order, on the host or where exec computes, on
/// mode n; duplicates are allowed. Collections end where fibers do (with HocfsSlices::ell where
/// slices do), and there are about 4096 at most. So a sum is that of one collection, and has the
/// bits of a product without a pipeline, on any number of streams; with strategy `hocoo` bits
/// depend on the collections, too. X is sorted in its own memory space. Fences exec. Throws Error
/// as make_sptv_plan, RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<SptvPipeline, Tensor, ExecutionSpace> make_sptv_pipeline(
    ExecutionSpace const& exec, Tensor const& X, int n, SptvPipelineOptions const& options = {});

/// A tensor for the pipeline's product, in memory that the host and a GPU can access: it shares the
/// pipeline's coordinates. Its values are not set.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
typename SptvPipeline<Scalar, Index, MemorySpace>::Output make_sptv_output(
    ExecutionSpace const& exec, SptvPipeline<Scalar, Index, MemorySpace> const& pipeline);

/// Y = X x_n v. v: I_n, a rank-1 View without gaps where exec computes. Y is made by
/// make_sptv_output. 2 nnz flops; all formats and sums are copied, which is what takes the time as
/// a rule. The first call allocates room for the collections in flight. Fences exec. Throws Error
/// if the lengths disagree.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
void sptv(ExecutionSpace const& exec, SptvPipeline<Scalar, Index, MemorySpace>& pipeline,
          Input const& v, Output const& Y);

/// sptv with one step after another: the product, and the time of each step. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
SptvPipelineTimes time_collections(ExecutionSpace const& exec,
                                   SptvPipeline<Scalar, Index, MemorySpace>& pipeline,
                                   Input const& v, Output const& Y);

}  // namespace sporades

#include <sporades/kernels/detail/sptv/pipeline.hpp>

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pipelines of SpTV against products without one.

#include <sporades/kernels/sptv_pipeline.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/vector_products.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::vector<Problem> tensors() {
  return {{{400}, 3000},
          {{7}, 0},
          {{3000, 2}, 6000},
          {{60, 300, 200}, 8000},
          {{500, 400, 300}, 6000, 6},  // one fiber has most nonzeros
          {{9, 8, 1, 6}, 700},
          {{3, 4, 2, 3, 2, 4}, 600},
          {{4, 3}, 0}};
}

std::vector<Streaming> ways() {
  return {{0, 3, 0}, {0, 1, 1}, {0, 2, 1 << 12}, {0, 5, 1 << 14}, {1 << 14, 4, 0}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Pipelines give the bits of products without one", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const problem = GENERATE(from_range(tensors()));
  auto const X =
      random_coo<Scalar, std::uint32_t>(host, problem.dims, problem.nnz, 5, problem.skew);
  for (int n = 0; n < X.order(); ++n) {
    auto const v = random_vector<Scalar>(exec, X.dims[n], 3);
    VectorProduct const product(X, {n}, std::vector{v});
    for (auto const& [name, options] : sptv_ways()) {
      if (sporades::detail::with_same_format(options.strategy) != options.strategy) {
        CHECK_THROWS_WITH(make_sptv_pipeline(exec, X, n, {options, ways()[0]}),
                          Catch::Matchers::ContainsSubstring("has no pipeline"));
        continue;
      }
      auto plan = make_sptv_plan(exec, copy_to(exec, X), n, options);
      auto const Y = make_sptv_output(exec, plan);
      sptv(exec, plan, v, Y);
      for (auto const& way : ways()) {
        if (way.window == 1 && problem.nnz > 500) continue;  // a collection a fiber
        INFO(to_string(X.dims) << ", nnz " << X.nnz() << ", mode " << n << ", " << name
                               << ", streams " << way.streams << ", window " << way.window);
        auto pipeline = make_sptv_pipeline(exec, X, n, {options, way});
        auto const Z = make_sptv_output(exec, pipeline);
        CHECK(pipeline.nnz() == X.nnz());
        if (way.window == 1 && options.slices != HocfsSlices::ell)  // whose slices stay whole
          CHECK(pipeline.collections.size() == pipeline.fibers);
        for (bool timed : {false, true, false}) {
          Kokkos::deep_copy(Z.values, std::numeric_limits<Scalar>::quiet_NaN());
          if (timed) {
            auto const times = time_collections(exec, pipeline, v, Z);
            CHECK(times.collections.size() == pipeline.collections.size());
          } else {
            sptv(exec, pipeline, v, Z);
          }
          if (options.strategy == SptvStrategy::hocoo)
            product.check(Z, plan.sorted_modes, false);
          else
            CHECK(hash_bits(Z.values) == hash_bits(Y.values));
        }
        CHECK(hash_bits(Z.coordinates) == hash_bits(Y.coordinates));
        CHECK(Z.sorted_modes == Y.sorted_modes);
        CHECK(Z.dims == Y.dims);
      }
    }
  }
}

TEST_CASE("Times of a pipeline are the paper's", "[kernels][streaming]") {
  SptvPipelineTimes const times{{{1, 2, 4}, {3, 5, 1}, {2, 1, 6}}};
  CHECK(times.synchronous() == 25);
  // 1, then max(2, 3), max(2, 5, 4), max(1, 1), 6
  CHECK(times.pipelined() == 1 + 3 + 5 + 1 + 6);
  CHECK(SptvPipelineTimes{}.pipelined() == 0);
}

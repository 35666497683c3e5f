// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bytes/formats.hpp>
#include <sporades/kernels/phi.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// Checks what mttkrp or phi touches: what Cost counts, and
/// - where chunks of packed nonzeros begin;
/// - of a tree the same on each level, less positions where chunks meet, and one a level;
/// - of `flycoo` up to 20 bytes past the last record and remap id;
/// - on a linear order up to the padding of rows.
template <class Work>
void check_products(MttkrpStrategy strategy, Of<CooTensor> const& X, double model,
                    double with_padding, Work const& work) {
  double const counted = static_cast<double>(touched_bytes(work)), marks = chunk_bytes(X.nnz());
  INFO(touched_text());
  double least = model, most = model;
  switch (strategy) {
    case MttkrpStrategy::sorted:
    case MttkrpStrategy::fibers:
      least = most = model + marks;
      break;
    case MttkrpStrategy::csf:
      most = model + (X.order() - 1) * marks;
      least = model - (X.order() - 1) * 8;
      break;
    case MttkrpStrategy::flycoo:
    case MttkrpStrategy::flycoo_blocks:
      most = model + 20;
      break;
    case MttkrpStrategy::alto:
    case MttkrpStrategy::alto_atomic:
      most = with_padding;
      break;
    default:
      break;
  }
  CHECK(counted >= least);
  CHECK(counted <= most);
}

}  // namespace

TEST_CASE("mttkrp touches the bytes that its cost says", "[bytes][mttkrp]") {
  Exec const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(1, 16, 17);
  auto const X = random_coo<double, Index>(exec, problem.dims, problem.nnz, 1, problem.skew);
  auto const A = random_factor_list<Exec, double>(exec, X.dims, R, true);
  auto const check = [&](MttkrpOptions const& options) {
    auto plan = make_mttkrp_plan(exec, X, options);
    for (int n = 0; n < X.order(); ++n) {
      auto const V = random_matrix<double>(exec, X.dims[n], R, 7);
      watch_nothing();
      watch_tensor(plan);
      for (auto const& factor : A) watch("a factor", factor);
      watch("the product", V);
      auto const strategy = plan.choices[n].strategy;
      CAPTURE(X.dims, R, n, to_string(strategy), to_string(options.gather));
      int const padded = static_cast<int>(padded_columns(R));
      check_products(strategy, X, mttkrp_cost(exec, plan, R, n).bytes,
                     mttkrp_cost(exec, plan, padded, n).bytes,
                     [&] { mttkrp(exec, plan, A, n, V); });
    }
  };
  for (auto strategy :
       {MttkrpStrategy::automatic, MttkrpStrategy::atomic, MttkrpStrategy::permuted,
        MttkrpStrategy::sorted, MttkrpStrategy::fibers, MttkrpStrategy::csf,
        MttkrpStrategy::alto_atomic, MttkrpStrategy::flycoo, MttkrpStrategy::flycoo_blocks})
    check({strategy, R});
  MttkrpOptions atomic{MttkrpStrategy::sorted, R}, rounded{MttkrpStrategy::fibers, R};
  atomic.rows.atomic_flush = true;
  check(atomic);
  rounded.gather = GatherPrecision::single;
  check(rounded);
}

TEST_CASE("phi and update_pi touch the bytes that their costs say", "[bytes][phi]") {
  Exec const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(1, 16, 17);
  auto const X = random_coo<double, Index>(exec, problem.dims, problem.nnz, 1, problem.skew);
  auto const A = random_factor_list<Exec, double>(exec, X.dims, R, true);
  auto const check = [&](PhiStrategy given, Pi pi) {
    auto plan = make_phi_plan(exec, X, {given, R, pi});
    bool const is_stored = pi == Pi::stored;
    for (int n = 0; n < X.order(); ++n) {
      auto const B = random_matrix<double>(exec, X.dims[n], R, 8);
      auto const V = random_matrix<double>(exec, X.dims[n], R, 7);
      auto const watch_all = [&] {
        watch_nothing();
        watch_tensor(plan.products);
        for (auto const& copy : plan.coo) watch_tensor(copy);
        for (auto const& factor : A) watch("a factor", factor);
        watch("B", B);
        watch("pi", plan.pi);
        watch("the product", V);
      };
      auto const strategy =
          plan.coo.empty() ? plan.products.choices[n].strategy : MttkrpStrategy::atomic;
      CAPTURE(X.dims, R, n, to_string(given), to_string(strategy), is_stored);
      int const padded = static_cast<int>(padded_columns(R));
      watch_all();
      check_products(MttkrpStrategy::atomic, X, update_pi_cost(exec, plan, R, n).bytes, 0,
                     [&] { update_pi(exec, plan, A, n); });
      watch_all();
      check_products(strategy, X, phi_cost(exec, plan, R, n).bytes,
                     phi_cost(exec, plan, padded, n).bytes, [&] { phi(exec, plan, A, B, n, V); });
    }
  };
  for (auto strategy :
       {PhiStrategy::automatic, PhiStrategy::pull, PhiStrategy::alto_atomic, PhiStrategy::atomic})
    check(strategy, Pi::on_the_fly);
  for (auto strategy : {PhiStrategy::pull, PhiStrategy::atomic}) check(strategy, Pi::stored);
}

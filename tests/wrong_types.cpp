// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/complete.hpp>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/core_consistency.hpp>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <sporades/algorithms/score.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/formats/aggregate_coo.hpp>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/spt_file.hpp>
#include <sporades/formats/files/ttensor_file.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <sporades/formats/shape_coo.hpp>
#include <sporades/formats/strongest.hpp>
#include <sporades/kernels/innerprod.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/loss_samples.hpp>
#include <sporades/kernels/model_values.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/sptv.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <sporades/kernels/stream.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <sporades/kernels/update_values.hpp>

/// Calls with arguments of wrong types, which must not compile. wrong_types.cmake tests that the
/// compiler gives one error for each, the sentence of the comment before it. (A sentence comes once
/// for each type.)

using namespace sporades;
using Exec = Kokkos::DefaultHostExecutionSpace;
using Space = Exec::memory_space;
template <class Scalar, class Layout>
using List = std::vector<Kokkos::View<Scalar**, Layout, Space>>;

/// A memory space that no execution space can access.
struct OutOfCoreSpace {
  using memory_space = OutOfCoreSpace;
  using execution_space = Exec;
  using device_type = Kokkos::Device<Exec, OutOfCoreSpace>;
  using size_type = std::size_t;
};

template <class T>
T& given();

void wrong_types() {
  Exec const exec{};
  auto& X = given<CooTensor<double>>();
  auto& A = given<Factors<double, Space>>();
  auto& V = given<Matrix<double, Space>>();
  auto& plan = given<MttkrpPlan<double, std::uint32_t, Space>>();
  auto& model = given<KruskalTensor<double>>();
  auto const& finished = plan;
  // says: the first argument must be an instance of a Kokkos execution space
  mttkrp(1, X, A, 0, V);
  // says: mttkrp takes an MttkrpPlan that is not const, or a CooTensor, PackedTensor,
  // PermutedTensor
  mttkrp(exec, model, A, 0, V);
  // says: mttkrp takes an MttkrpPlan that is not const, or a CooTensor, PackedTensor,
  // PermutedTensor
  mttkrp(exec, finished, A, 0, V);
  // says: a matrix must be row-major (Kokkos::LayoutRight): make_factor(exec, matrix) copies
  mttkrp(exec, plan, given<List<double, Kokkos::LayoutLeft>>(), 0, V);
  // says: a matrix must not be const, factors that are only read included: make_factor(exec,
  // matrix)
  mttkrp(exec, X, given<List<double const, Kokkos::LayoutRight>>(), 0, V);
  // says: a matrix must have the tensor's scalar type
  mttkrp(exec, plan, A, 0, given<Matrix<float, Space>>());
  // says: a matrix must be a Kokkos::View of rank 2
  phi(exec, X, A, V, 0, given<Vector<double, Space>>());
  // says: a matrix must be a rank-2 Kokkos::View
  phi(exec, X, A, 1e-10, 0, V);
  // says: a matrix must be in the tensor's memory space: make_factor(exec, matrix) copies it there
  mttkrp(exec, X, A, 0, given<Matrix<double, OutOfCoreSpace>>());
  // says: the execution space cannot access the tensor's memory space: copy_to(exec, X) copies
  log_likelihood(exec, given<CooTensor<double, std::uint32_t, OutOfCoreSpace>>(), model);
  // says: make_mttkrp_plan takes a CooTensor: make_coo makes one of Views
  make_mttkrp_plan(exec, model);
  // says: phi takes a PhiPlan that is not const, or a CooTensor
  phi(exec, plan, A, V, 0, V);
  // says: update_pi takes a PhiPlan that is not const
  update_pi(exec, given<PhiPlan<double, std::uint32_t, Space> const>(), A, 0);
  // says: ttm_chain takes a TtmChainPlan that is not const
  ttm_chain(exec, given<TtmChainPlan<double, std::uint32_t, Space> const>(), A, 0);
  // says: sspttm takes an SspttmPlan that is not const, then Y
  sspttm(exec, given<SspttmPlan<double, std::uint32_t, Space> const>(), V, V, V);
  // says: update_pi takes a PhiPlan that is not const
  update_pi(exec, X, A, 0);
  // says: ttm_chain takes a TtmChainPlan that is not const
  ttm_chain(exec, X, A, 0);
  // says: sspttm takes an SspttmPlan that is not const, then Y
  sspttm(exec, X, V, V, V);
  // says: spttm takes an SpttmPlan that is not const, or a HierarchicalTensor
  spttm(exec, X, V, V);
  // says: the product must be a ScooTensor of the tensor's types: make_spttm_output and
  spttm(exec, given<HierarchicalTensor<double>>(), V, V);
  // says: log_likelihood takes a CooTensor and a KruskalTensor
  log_likelihood(exec, plan, model);
  // says: loss_value takes a CooTensor, or a LossGradientPlan that is not const
  loss_value(exec, plan, model, PoissonLoss{}, AbsentEntries::zero);
  // says: the model of a loss is a KruskalTensor
  loss_value(exec, X, A, PoissonLoss{}, AbsentEntries::zero);
  // says: a loss is a trivially copyable type with the members value, derivative and those of
  loss_value(exec, X, model, 2.5, AbsentEntries::missing);
  // says: loss_gradient takes a LossGradientPlan that is not const
  loss_gradient(exec, plan, model, PoissonLoss{}, AbsentEntries::zero, A);
  // says: make_loss_gradient_plan takes a CooTensor: make_coo makes one of Views
  make_loss_gradient_plan(exec, model);
  // says: enumerated_loss takes a CooTensor, or a LossGradientPlan that is not const
  enumerated_loss(exec, plan, model, PoissonLoss{});
  // says: enumerated_gradient takes a LossGradientPlan that is not const
  enumerated_gradient(exec, plan, model, PoissonLoss{}, A);
  // says: make_loss_samples_plan takes a CooTensor: make_coo makes one of Views
  make_loss_samples_plan(exec, model);
  // says: draw_loss_samples takes a LossSamplesPlan that is not const, and a KruskalTensor
  draw_loss_samples(exec, plan, model, 0);
  // says: estimated_loss and estimated_gradient take a LossSamplesPlan that is not const
  estimated_loss(exec, plan, model, PoissonLoss{}, 0);
  // says: estimated_loss and estimated_gradient take a LossSamplesPlan that is not const
  estimated_gradient(exec, plan, model, PoissonLoss{}, 0, A);
  // says: innerprod takes a CooTensor and a model, or two models: KruskalTensors or TuckerTensors
  innerprod(exec, X, X);
  // says: norm takes a CooTensor, a KruskalTensor or a TuckerTensor
  norm(exec, V);
  // says: model_values takes coordinates and a KruskalTensor or a TuckerTensor
  model_values(exec, X, X);
  // says: model_values: values must be float or double, in the model's memory space
  model_values(exec, X, model, given<Vector<int, Space>>());
  // says: update_values takes a plan that is not const: of MTTKRP, on one mode or all, of Phi
  update_values(exec, finished, X.values);
  // says: arrays must have one scalar type and one memory space
  update_values(exec, given<SptvPlan<double, std::uint32_t, Space>>(),
                given<Vector<float, Space>>());
  // says: the model must be a KruskalTensor
  normalize(exec, X);
  // says: core_consistency takes a CooTensor or a MttkrpPlan, and a KruskalTensor of its scalar type and memory space
  // says: core_consistency takes a CooTensor or a MttkrpPlan, and a KruskalTensor of its scalar type and memory space
  core_consistency(exec, X, 2.5f);
  // says: score takes two KruskalTensors of one scalar type and memory space
  // says: score takes two KruskalTensors of one scalar type and memory space
  score(exec, X.values, model);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  squeeze(exec, 2.5f);
  // says: arrays must be Kokkos::Views of rank 1 without gaps, and not const
  stream_copy(exec, V, V);
  // says: arrays must have one scalar type and one memory space
  stream_scale(exec, 2, X.values, given<Vector<float, Space>>());
  // says: make_coo: coordinates must be a Kokkos::View of N x nnz, or a vector or an array of N
  // Views
  make_coo(exec, {3, 4}, 1, X.values);
  // says: make_coo: the coordinates of a mode must be integers, a View of rank 1
  make_coo(exec, {3, 4}, std::vector{X.values}, X.values);
  // says: make_coo: the type in angle brackets is that of indices, std::uint32_t or std::uint64_t
  make_coo<double>(exec, {3, 4}, X.coordinates, X.values);
  // says: make_factors takes a list of matrices, one a mode: make_factor takes one matrix
  make_factors(exec, V);
  // says: copy_factor takes a factor and a Kokkos::View of rank 2
  copy_factor(exec, A, V);
  // says: make_coo: values must be a Kokkos::View of nnz
  make_coo(exec, {3, 4}, X.coordinates, 1);
  // says: columns_of takes a table: a Kokkos::View of rank 2
  columns_of(X.values);
  // says: factors must be a list of matrices, one a mode
  mttkrp(exec, plan, V, 0, V);
  std::vector<int> const modes{0, 1, 2};
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  sorted(exec, plan, modes);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  is_sorted(exec, 1.5, modes);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  sum_duplicates(exec, V);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  check_coordinates(exec, 1u, "here");
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_csf(exec, given<CsfTensor<double>>(), modes);
  // says: the tensor is a std::variant, as read_tensor<double> gives it: read_tensor<double, std::
  make_hierarchical(exec, given<AnyCooTensor<float>>(), modes);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_scoo(exec, modes, modes);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_packed(exec, 1, 0);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_alto(exec, X.values);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_permuted(exec, given<AltoTensor<double>>());
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_hocoo(exec, given<HocsrTensor<double>>(), 0);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_hocsr(exec, given<HocfsTensor<double>>(), 0);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_cfb(exec, given<HocooTensor<double>>(), 0);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_hocfs(exec, given<CfbTensor<double>>(), 0, HocfsSlices::csr);
  // says: to_coo takes a tensor of another format than CooTensor, an MttkrpPlan, or a TtmChainPlan
  to_coo(exec, X);
  // says: copy_to takes a CooTensor, a ScooTensor or a model: make_factor copies a matrix
  copy_to(exec, V);
  // says: the tensor is a std::variant, as read_tensor<double> gives it: read_tensor<double, std::
  copy_to(exec, given<std::variant<CooTensor<float>>>());
  // says: copy_to takes a CooTensor, a ScooTensor, a KruskalTensor or a TuckerTensor
  copy_to(exec, plan);
  // says: make_spttm_output takes a HierarchicalTensor and R, or an SpttmPlan, n and R
  make_spttm_output(exec, given<SpttmPlan<double, std::uint32_t, Space>>(), 16);
  // says: make_sspttm_output takes an SspttmPlan and R
  make_sspttm_output(exec, plan, 16);
  auto& product = given<SptvPlan<double, std::uint32_t, Space>>();
  auto const& finished_product = product;
  auto& v = X.values;
  // says: make_sptv_plan takes a CooTensor and a mode, or a HocooTensor, HocsrTensor, CfbTensor or
  make_sptv_plan(exec, given<CfbTensor<double>>(), 0);
  // says: make_sptv_plan takes a HocooTensor, HocsrTensor, CfbTensor or HocfsTensor, or a CooTensor
  make_sptv_plan(exec, X);
  // says: make_sptv_output takes an SptvPlan
  make_sptv_output(exec, X);
  // says: sptv takes an SptvPlan that is not const, a vector and the product, or a HocooTensor,
  sptv(exec, finished_product, v, X);
  // says: sptv takes an SptvPlan that is not const, a vector and the product, or a HocooTensor,
  sptv(exec, given<HierarchicalTensor<double>>(), v);
  // says: the product must be a CooTensor of the plan's types: make_sptv_output makes it
  sptv(exec, product, v, v);
  // says: a vector must be a Kokkos::View of rank 1 without gaps, of the tensor's scalar type, in
  sptv(exec, product, V, X);
  // says: a vector must be a Kokkos::View of rank 1 without gaps, of the tensor's scalar type, in
  sptv(exec, given<HocfsTensor<double>>(), given<Vector<float, Space>>());
  // says: a vector must be a Kokkos::View of rank 1 without gaps, of the tensor's scalar type, in
  sptv_chain(exec, X, {0, 1}, A);
  // says: sptv_chain takes a CooTensor
  sptv_chain(exec, product, {0}, {v});
  // says: write_tns takes a CooTensor on the host: copy_to(Kokkos::DefaultHostExecutionSpace{},
  // ...)
  write_tns("x.tns", given<CooTensor<double, std::uint32_t, OutOfCoreSpace>>());
  // says: write_spt takes a CooTensor on the host
  write_spt("x.spt", V);
  // says: write_ktensor takes a KruskalTensor on the host
  write_ktensor("x.ktns", given<KruskalTensor<double, OutOfCoreSpace>>());
  // says: write_ttensor takes a TuckerTensor on the host
  write_ttensor("x.ttns", model);
  // says: readers give tensors with indices of type std::uint32_t or std::uint64_t
  read_tensor<double, int>("x.tns");
  // says: strongest takes a KruskalTensor or a TuckerTensor
  strongest(plan, 0, 0, 10);
  // says: strongest(model, count) takes a TuckerTensor: of a KruskalTensor it gives the entries of
  strongest(model, 10);
  // says: strongest takes a model on the host: copy_to(Kokkos::DefaultHostExecutionSpace{}, model)
  strongest(given<KruskalTensor<double, OutOfCoreSpace>>(), 0, 0, 10);
  CpAlsOptions als;
  auto& als_problem = given<CpAlsProblem<double, std::uint32_t, Space>>();
  auto& als_state = given<CpAlsState<double, Space>>();
  auto& apr_state = given<CpAprState<double, Space>>();
  auto const observer = [](IterationInfo const&) { return true; };
  cp_als(exec, X, als, observer);
  cp_als(exec, als_problem, als, als_state, observer);
  // says: the tensor is a std::variant, as read_tensor<double> gives it: read_tensor<double, std::
  cp_als(exec, given<AnyCooTensor<double>>(), als);
  // says: the tensor must be a CooTensor: make_coo makes one of Views
  make_cp_apr_problem(exec, model, CpAprOptions());
  // says: the last argument is an observer: a function that takes an IterationInfo and returns
  cp_als(exec, X, als, [](int) { return true; });
  // says: the last argument is an observer: a function that takes an IterationInfo and returns
  cp_als(exec, als_problem, als, als_state, [](IterationInfo const&) {});
  // says: the state must be one of this method
  cp_als(exec, als_problem, als, apr_state);
  // says: the second argument must be a CooTensor, or the problem that
  cp_apr(exec, als_problem, CpAprOptions(), apr_state);
  // says: the problem must not be const: its buffers are written
  tucker(exec, given<TuckerProblem<double, std::uint32_t, Space> const>(), TuckerOptions(),
         given<TuckerState<double, Space>>());
  auto& gcp_problem = given<GcpProblem<double, std::uint32_t, Space>>();
  // says: the state must be one of this method
  gcp(exec, gcp_problem, GcpOptions(), als_state);
  // says: the state must be one of this method
  complete(exec, given<CompleteProblem<double, std::uint32_t, Space>>(), CompleteOptions(),
           als_state);
  // says: gcp with a loss of your own: include <sporades/algorithms/definitions.hpp> first
  gcp(exec, X, GcpOptionsOf<PoissonLoss>());
  // says: the problem and the state must have the same scalar type and memory space
  cp_als(exec, als_problem, als, given<CpAlsState<float, Space>>());
  // says: the state must be a variable that is not const: it is written
  cp_als(exec, als_problem, als, CpAlsState<double, Space>{});
  // says: the library is not compiled for this scalar type, index type or execution space: include
  cp_als(exec, given<CooTensor<long double>>(), als);
  // says: the execution space cannot access the tensor's memory space: copy_to(exec, X) copies
  tucker(exec, given<CooTensor<double, std::uint32_t, OutOfCoreSpace>>(), TuckerOptions());
}

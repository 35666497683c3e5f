// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Estimates of losses beside what is exact, over many steps.

#include <map>
#include <sporades/kernels/loss_samples.hpp>
#include <support/catch.hpp>
#include <support/loss_gradient.hpp>

namespace sporades::test {

/// A mean and its standard error, of numbers that come one after another.
class Mean {
 public:
  void add(double x) {
    ++count_;
    double const difference = x - mean_;
    mean_ += difference / count_;
    squares_ += difference * (x - mean_);
  }
  double value() const { return mean_; }
  double variance() const { return squares_ / (count_ - 1); }
  double error() const { return std::sqrt(variance() / count_); }

 private:
  double count_ = 0, mean_ = 0, squares_ = 0;
};

/// The variances of an estimate of the loss, and of each entry of its gradient.
struct Variances {
  double value = 0;
  std::vector<std::vector<double>> gradient;  // per mode, row by row
};

/// What single draws give, with chances in proportion to q: sums of y^2 / q and of y.
struct Moments {
  double squares = 0, sum = 0;

  void add(double y, double q) {
    if (q > 0) squares += y * y / q;
    sum += y;
  }
  /// Of the mean of so many draws, where the q of all sum up to mass. What rounding leaves of a
  /// single cell, which always gives the same, is 0.
  double variance(double mass, Position draws) const {
    double const square = sum * sum, spread = mass * squares - square;
    return draws == 0 || spread <= 1e-14 * square ? 0 : spread / static_cast<double>(draws);
  }
};

/// By the formulas of the samplers, cell by cell.
template <class Tensor, class Model, class Loss>
Variances variances(Tensor const& given, Model const& given_model, Loss const& loss,
                    LossSampleOptions const& options) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = copy_to(host, given);
  auto const model = copy_to(host, given_model);
  PlainModel<typename Tensor::Scalar> const plain(model);
  std::size_t const R = model.weights.extent(0);
  std::map<std::vector<std::uint64_t>, double> entries;
  for (Position p = 0; p < X.nnz(); ++p)
    entries[coordinates_at(X, p)] = static_cast<double>(X.values(p));
  auto const sampler = options.sampler;
  bool const by_model = sampler == LossSampler::model;
  sporades::LossPolynomial c{};  // P
  if (by_model) c = {loss.value(0.0, 0.0), loss.derivative(0.0, 0.0), 0, 0};
  if (auto const all = loss.at_zero(); by_model && all) c = *all;
  auto const exact = [&](double m) { return c[0] + m * (c[1] + m * (c[2] + m * c[3])); };
  auto const exact_slope = [&](double m) { return c[1] + m * (2 * c[2] + m * 3 * c[3]); };
  Moments value[2];  // of cells, of entries
  std::vector<std::vector<Moments>> gradient[2];
  for (auto& kind : gradient)
    for (auto const dim : X.dims) kind.emplace_back(dim * R);
  auto const add = [&](std::size_t kind, std::vector<std::uint64_t> const& i, double y,
                       double slope, double q) {
    value[kind].add(y, q);
    for (std::size_t n = 0; n < i.size(); ++n)
      for (std::size_t r = 0; r < R; ++r) {
        double term = slope * static_cast<double>(model.weights(r));
        for (std::size_t k = 0; k < i.size(); ++k)
          if (k != n) term *= static_cast<double>(model.factors[k](i[k], r));
        gradient[kind][n][i[n] * R + r].add(term, q);
      }
  };
  double mass = 0;
  for_each_cell(X.dims, [&](std::vector<std::uint64_t> const& i) {
    auto const at = plain.at(i);
    double const m = at.value, q = by_model ? at.magnitude : 1;
    auto const entry = entries.find(i);
    bool const is_entry = entry != entries.end();
    if (is_entry) {
      double const x = entry->second;
      if (sampler == LossSampler::semi_stratified)
        add(1, i, loss.value(x, m) - loss.value(0.0, m),
            loss.derivative(x, m) - loss.derivative(0.0, m), 1);
      else
        add(1, i, loss.value(x, m) - exact(m), loss.derivative(x, m) - exact_slope(m), 1);
    }
    if (is_entry && sampler == LossSampler::stratified) return;
    mass += q;
    double const x = is_entry && sampler == LossSampler::uniform ? entry->second : 0;
    if (is_entry && by_model) return;  // dropped
    add(0, i, loss.value(x, m) - exact(m), loss.derivative(x, m) - exact_slope(m), q);
  });
  Variances result;
  auto const nnz = static_cast<double>(X.nnz());
  auto const both = [&](Moments const& of_cells, Moments const& of_entries) {
    return of_cells.variance(mass, options.samples) + of_entries.variance(nnz, options.nonzeros);
  };
  result.value = both(value[0], value[1]);
  for (std::size_t n = 0; n < X.dims.size(); ++n) {
    result.gradient.emplace_back();
    for (std::size_t e = 0; e < gradient[0][n].size(); ++e)
      result.gradient[n].push_back(both(gradient[0][n][e], gradient[1][n][e]));
  }
  return result;
}

/// Over many steps the mean of estimates, of the loss and of each entry of its gradient, is within
/// 5 standard errors of what is exact: by the normal law each fails by chance once in 1.7 million,
/// the thousands of this file once in some hundred, and the draws are the same in every run. The
/// variances are those of the formulas: standard errors claim them on average, and the values and
/// all entries of the gradient together have them.
template <class Exec, class Tensor, class Model, class Loss>
void check_unbiased(Exec const& exec, Tensor const& X, Model const& model, Loss const& loss,
                    LossSampleOptions const& options, int steps) {
  using Scalar = typename Tensor::Scalar;
  CAPTURE(loss.name(), to_string(X.dims), X.nnz(), model.rank(),
          sporades::to_string(options.sampler), options.nonzeros);
  auto const exact = loss_definition(X, model, loss, AbsentEntries::zero);
  auto const expected = variances(X, model, loss, options);
  auto plan = make_loss_samples_plan(exec, X, options);
  auto const V = room_for(model);
  Mean value, claimed;
  std::vector<std::vector<Mean>> gradient;
  for (auto const& of_mode : exact.gradient) gradient.emplace_back(of_mode.size());
  for (int step = 0; step < steps; ++step) {
    auto const estimate =
        estimated_gradient(exec, plan, model, loss, static_cast<std::uint64_t>(step), V);
    value.add(estimate.value);
    claimed.add(estimate.standard_error * estimate.standard_error);
    for (std::size_t n = 0; n < V.size(); ++n) {
      auto const host = matrix_on_host(V[n]);
      for (std::size_t i = 0; i < host.extent(0); ++i)
        for (std::size_t r = 0; r < host.extent(1); ++r)
          gradient[n][i * host.extent(1) + r].add(static_cast<double>(host(i, r)));
    }
  }
  double const rounding = 1e-12 * exact.magnitude;
  CHECK(std::abs(value.value() - exact.value) <= 5 * std::sqrt(expected.value / steps) + rounding);
  CHECK(std::abs(claimed.value() - expected.value) <= 5 * claimed.error() + rounding * rounding);
  // The variance of a normal number has a relative error of sqrt(2 / steps).
  double const spread = 8 * std::sqrt(2.0 / steps);
  CHECK(std::abs(value.variance() - expected.value) <=
        spread * expected.value + rounding * rounding);
  double const unit = 100 * double{std::numeric_limits<Scalar>::epsilon()};
  Position wrong = 0;
  double all = 0, all_expected = 0, magnitude = 0;
  for (std::size_t n = 0; n < V.size(); ++n)
    for (std::size_t e = 0; e < gradient[n].size(); ++e) {
      wrong += !(std::abs(gradient[n][e].value() - exact.gradient[n][e]) <=
                 5 * std::sqrt(std::max(0.0, expected.gradient[n][e]) / steps) +
                     unit * (1e-3 + exact.magnitudes[n][e]));
      all += gradient[n][e].variance();
      all_expected += expected.gradient[n][e];
      magnitude += std::pow(exact.magnitudes[n][e], 2);
    }
  CHECK(wrong == 0);
  CHECK(std::abs(all - all_expected) <= spread * all_expected + unit * unit * magnitude);
}

/// Each sampler, of all entries and of 7 of them, where there are entries.
inline std::vector<LossSampleOptions> all_samplers(Position samples, Position nnz) {
  std::vector<LossSampleOptions> all;
  for (auto const sampler : {LossSampler::model, LossSampler::uniform, LossSampler::stratified,
                             LossSampler::semi_stratified})
    for (Position const nonzeros : {0, 7}) {
      if (nonzeros > 0 && (nnz == 0 || sampler == LossSampler::uniform)) continue;
      LossSampleOptions options;
      options.sampler = sampler;
      options.samples = samples;
      options.nonzeros = nonzeros;
      options.seed = 5;
      all.push_back(options);
    }
  return all;
}

}  // namespace sporades::test

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/model_signs.hpp>

namespace sporades::command {
namespace {

using Factor = Matrix<double, Kokkos::HostSpace>;

/// 1 or -1 of a column whose entries have that sign or are 0, 0 of zeros, 2 of both signs.
int sign_of_column(Factor const& A, std::size_t r) {
  bool has_positive = false, has_negative = false;
  for (std::size_t i = 0; i < A.extent(0); ++i) {
    has_positive = has_positive || A(i, r) > 0;
    has_negative = has_negative || A(i, r) < 0;
  }
  return has_positive && has_negative ? 2 : has_positive ? 1 : has_negative ? -1 : 0;
}

double sum_of_column(Factor const& A, std::size_t r) {
  double sum = 0;
  for (std::size_t i = 0; i < A.extent(0); ++i) sum += A(i, r);
  return sum;
}

/// of(A, r) of every column of every factor.
template <class Number, class Model>
std::vector<std::vector<Number>> of_columns(Model const& model,
                                            Number (*of)(Factor const&, std::size_t)) {
  std::vector<std::vector<Number>> all;
  for (auto const& A : model.factors) {
    all.emplace_back();
    for (std::size_t r = 0; r < A.extent(1); ++r) all.back().push_back(of(A, r));
  }
  return all;
}

int sign_of(double number) {
  return number > 0 ? 1 : number < 0 ? -1 : 0;
}

/// Calls visit(coefficient, columns) for each product of columns, one of each mode.
template <class Visit>
void for_each_product(KruskalTensor<double> const& model, Visit const& visit) {
  for (int r = 0; r < model.rank(); ++r)
    visit(model.weights(r),
          std::vector<std::size_t>(model.factors.size(), static_cast<std::size_t>(r)));
}
template <class Visit>
void for_each_product(TuckerTensor<double> const& model, Visit const& visit) {
  std::vector<std::size_t> columns(model.factors.size());
  for (std::size_t g = 0; g < model.core.extent(0); ++g) {
    auto rest = g;  // the first index is the fastest
    for (std::size_t n = 0; n < columns.size(); ++n) {
      columns[n] = rest % model.factors[n].extent(1);
      rest /= model.factors[n].extent(1);
    }
    visit(model.core(g), columns);
  }
}

template <class Model>
std::string why_negative_in(Model const& model) {
  auto const signs = of_columns(model, sign_of_column);
  std::string why;
  for_each_product(model, [&](double coefficient, std::vector<std::size_t> const& columns) {
    int sign = sign_of(coefficient);
    for (std::size_t n = 0; n < columns.size() && why.empty() && sign != 0; ++n) {
      int const own = signs[n][columns[n]];
      if (own == 2)
        why = sporades::detail::concatenate("column ", columns[n] + 1, " of mode ", n,
                                            " has entries of both signs");
      sign *= own;
    }
    if (why.empty() && sign < 0)
      why = sporades::detail::concatenate("column ", columns[0] + 1,
                                          " of mode 0 has a part in negative entries");
  });
  return why;
}

template <class Model>
double sum_in(Model const& model) {
  auto const sums = of_columns(model, sum_of_column);
  double all = 0;
  for_each_product(model, [&](double coefficient, std::vector<std::size_t> const& columns) {
    for (std::size_t n = 0; n < columns.size(); ++n) coefficient *= sums[n][columns[n]];
    all += coefficient;
  });
  return all;
}

}  // namespace

std::string why_negative(KruskalTensor<double> const& model) {
  return why_negative_in(model);
}
std::string why_negative(TuckerTensor<double> const& model) {
  return why_negative_in(model);
}
double sum_of_entries(KruskalTensor<double> const& model) {
  return sum_in(model);
}
double sum_of_entries(TuckerTensor<double> const& model) {
  return sum_in(model);
}

}  // namespace sporades::command

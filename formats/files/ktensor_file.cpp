// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/initialized.hpp>
#include <sporades/formats/files/detail/model_text.hpp>
#include <sporades/formats/files/ktensor_file.hpp>

namespace sporades {

namespace {

/// What comes first: the order, the dims and the rank.
struct Sizes {
  Dims dims;
  std::uint64_t rank;
};

Sizes read_sizes(detail::TokenReader& in) {
  auto const type = in.next();
  if (type != "ktensor") in.refuse("expected \"ktensor\", found ", in.found(type));
  in.end_line("\"ktensor\"");
  Sizes sizes{detail::read_dims(in), 0};
  sizes.rank = in.integer("the rank");
  if (sizes.rank < 1 || sizes.rank > std::numeric_limits<int>::max())
    in.refuse("rank ", sizes.rank, " is not in 1 to ", std::numeric_limits<int>::max());
  in.end_line("the rank");
  double numbers = static_cast<double>(sizes.rank);
  for (auto dim : sizes.dims) numbers += static_cast<double>(dim) * static_cast<double>(sizes.rank);
  detail::check_size(in, numbers, to_string(sizes.dims), " and rank ", sizes.rank);
  return sizes;
}

}  // namespace

template <class Scalar>
KruskalTensor<Scalar> detail::parse_ktensor(InputFile const& file) {
  expect_initialized("read_ktensor");
  TokenReader in = model_reader(file);
  auto const sizes = read_sizes(in);
  KruskalTensor<Scalar> model;
  model.weights = Vector<Scalar, Kokkos::HostSpace>("sporades::weights", sizes.rank);
  for (std::uint64_t r = 0; r < sizes.rank; ++r) model.weights(r) = in.real<Scalar>("a weight");
  in.end_line("the weights");
  for (std::size_t n = 0; n < sizes.dims.size(); ++n)
    model.factors.push_back(
        detail::read_factor<Scalar>(in, static_cast<int>(n), sizes.dims[n], sizes.rank));
  detail::end_file(in);
  return model;
}

template <class Scalar>
KruskalTensor<Scalar> parse_ktensor(std::string_view content, std::string const& name) {
  return detail::parse_ktensor<Scalar>(detail::InputFile(content, name));
}

template <class Scalar>
KruskalTensor<Scalar> read_ktensor(std::string const& path) {
  detail::InputFile const file(path);
  return detail::read_unchanged(file, [&] { return detail::parse_ktensor<Scalar>(file); });
}

template <class Scalar>
void write_ktensor(std::string const& path, KruskalTensor<Scalar> const& model,
                   std::vector<RowMap> const& rows, ModelFacts const& facts) {
  auto const rank = static_cast<std::size_t>(model.rank());
  for (std::size_t n = 0; n < model.factors.size(); ++n)
    expects(model.factors[n].extent(1) == rank, "write_ktensor: the factor of mode ", n, " has ",
            model.factors[n].extent(1), " columns, the rank is ", rank);
  detail::write_model(path, "ktensor", model.factors, rows, facts, [&](auto& out) {
    out.text(std::to_string(rank) + '\n');
    for (std::size_t r = 0; r < rank; ++r) {
      out.number(model.weights(r), "weight ", r);
      out.text(r + 1 < rank ? " " : "\n");
    }
  });
}

template KruskalTensor<float> detail::parse_ktensor(InputFile const&);
template KruskalTensor<float> parse_ktensor(std::string_view, std::string const&);
template KruskalTensor<double> detail::parse_ktensor(InputFile const&);
template KruskalTensor<double> parse_ktensor(std::string_view, std::string const&);
template KruskalTensor<float> read_ktensor(std::string const&);
template KruskalTensor<double> read_ktensor(std::string const&);
template void write_ktensor(std::string const&, KruskalTensor<float> const&,
                            std::vector<RowMap> const&, ModelFacts const&);
template void write_ktensor(std::string const&, KruskalTensor<double> const&,
                            std::vector<RowMap> const&, ModelFacts const&);

}  // namespace sporades

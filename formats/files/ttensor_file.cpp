// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/initialized.hpp>
#include <sporades/formats/files/detail/model_text.hpp>
#include <sporades/formats/files/ttensor_file.hpp>

namespace sporades {

namespace {

/// The core's ranks, from the head of its block.
std::vector<int> read_ranks(detail::TokenReader& in, std::size_t order) {
  auto const type = in.next();
  if (type != "tensor") in.refuse("expected \"tensor\", the core, found ", in.found(type));
  in.end_line("\"tensor\"");
  auto const own = in.integer("the core's order");
  if (own != order) in.refuse("the core has order ", own, ", expected ", order);
  in.end_line("the core's order");
  std::vector<int> ranks;
  for (std::size_t n = 0; n < order; ++n) {
    auto const rank = in.integer("a rank");
    if (rank < 1 || rank > std::numeric_limits<int>::max())
      in.refuse("rank ", rank, " is not in 1 to ", std::numeric_limits<int>::max());
    ranks.push_back(static_cast<int>(rank));
  }
  in.end_line("the ranks");
  return ranks;
}

}  // namespace

template <class Scalar>
TuckerTensor<Scalar> detail::parse_ttensor(InputFile const& file) {
  expect_initialized("read_ttensor");
  TokenReader in = model_reader(file);
  auto const type = in.next();
  if (type != "ttensor") in.refuse("expected \"ttensor\", found ", in.found(type));
  in.end_line("\"ttensor\"");
  auto const dims = detail::read_dims(in);
  auto const ranks = read_ranks(in, dims.size());
  double core = 1, numbers = 0;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    core *= ranks[n];
    numbers += static_cast<double>(dims[n]) * ranks[n];
  }
  detail::check_size(in, core + numbers, to_string(dims), " and a core of ",
                     to_string(Dims(ranks.begin(), ranks.end())));
  TuckerTensor<Scalar> model;
  model.core =
      Vector<Scalar, Kokkos::HostSpace>("sporades::tucker::core", detail::core_size(ranks));
  for (std::size_t g = 0; g < model.core.extent(0); ++g) {
    model.core(g) = in.real<Scalar>("an entry of the core");
    if (g + 1 == model.core.extent(0)) in.end_line("the core");
  }
  for (std::size_t n = 0; n < dims.size(); ++n)
    model.factors.push_back(detail::read_factor<Scalar>(in, static_cast<int>(n), dims[n],
                                                        static_cast<std::uint64_t>(ranks[n])));
  detail::end_file(in);
  return model;
}

template <class Scalar>
TuckerTensor<Scalar> parse_ttensor(std::string_view content, std::string const& name) {
  return detail::parse_ttensor<Scalar>(detail::InputFile(content, name));
}

template <class Scalar>
TuckerTensor<Scalar> read_ttensor(std::string const& path) {
  detail::InputFile const file(path);
  return detail::read_unchanged(file, [&] { return detail::parse_ttensor<Scalar>(file); });
}

template <class Scalar>
void write_ttensor(std::string const& path, TuckerTensor<Scalar> const& model,
                   std::vector<RowMap> const& rows, ModelFacts const& facts) {
  auto const ranks = model.ranks();
  expects(model.core.extent(0) == detail::core_size(ranks), "write_ttensor: the core has ",
          model.core.extent(0), " entries, the factors' columns make ", detail::core_size(ranks));
  detail::write_model(path, "ttensor", model.factors, rows, facts, [&](auto& out) {
    out.text("tensor\n" + std::to_string(ranks.size()) + '\n');
    for (int rank : ranks) out.text(std::to_string(rank) + ' ');
    out.text("\n");
    for (std::size_t g = 0; g < model.core.extent(0); ++g) {
      out.number(model.core(g), "core entry ", g);
      out.text("\n");
    }
  });
}

template TuckerTensor<float> detail::parse_ttensor(InputFile const&);
template TuckerTensor<float> parse_ttensor(std::string_view, std::string const&);
template TuckerTensor<double> detail::parse_ttensor(InputFile const&);
template TuckerTensor<double> parse_ttensor(std::string_view, std::string const&);
template TuckerTensor<float> read_ttensor(std::string const&);
template TuckerTensor<double> read_ttensor(std::string const&);
template void write_ttensor(std::string const&, TuckerTensor<float> const&,
                            std::vector<RowMap> const&, ModelFacts const&);
template void write_ttensor(std::string const&, TuckerTensor<double> const&,
                            std::vector<RowMap> const&, ModelFacts const&);

}  // namespace sporades

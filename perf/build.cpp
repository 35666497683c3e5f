// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/cfb_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/hocsr_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/permuted_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/spttm.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>
#include <support/unfolded_matrix.hpp>

namespace sporades::perf {
namespace {

/// Longer arrays of rows are not made for HOCSR.
constexpr double most_rows = 1e8;

template <class Scalar>
using Tensor = CooTensor<Scalar, std::uint32_t, MemorySpace>;

/// The words that a format takes, as papers count them; 0 where none does.
template <class Format>
auto words_of(Format const& format, int) -> decltype(format.storage_words()) {
  return format.storage_words();
}
template <class Format>
std::uint64_t words_of(Format const&, long) {
  return 0;
}

/// Times make(exec, X, n), which gives a format that serves mode n, for modes from `first` on. The
/// counters have the bytes of all copies, and their words where a paper counts words.
template <class Scalar, class Make>
void run(benchmark::State& state, std::string const& name, int first, int copies,
         Make const& make) {
  ExecutionSpace const exec{};
  auto X = copy_to(exec, tensor<Scalar>(name));
  X.sorted_modes.clear();  // as a file that says nothing of its order
  std::uint64_t bytes = 0, words = 0;
  measure(state, exec, [&] {
    bytes = words = 0;
    for (int n = first; n < first + copies; ++n) {
      auto const format = make(exec, X, n);
      bytes += format.storage_bytes();
      words += words_of(format, 0);
    }
  });
  state.counters["bytes"] = static_cast<double>(bytes);
  if (words > 0) state.counters["words"] = static_cast<double>(words);
}

template <class Scalar>
void add_for(std::string const& name) {
  using X = Tensor<Scalar>;
  using Exec = ExecutionSpace;
  int const N = order_of<Scalar>(name);
  auto const add_copies = [&](std::string const& format, int first, int copies, auto const& make) {
    add("build/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + format,
        [=](benchmark::State& state) { run<Scalar>(state, name, first, copies, make); });
  };
  // one that serves all modes, one a mode together, and one a mode by itself
  auto const add_one = [&](std::string const& format, auto const& make) {
    add_copies(format, 0, 1, make);
  };
  auto const add_modes = [&](std::string const& format, auto const& make) {
    add_copies(format, 0, N, make);
  };
  auto const add_each = [&](std::string const& format, auto const& make) {
    for (int n = 0; n < N; ++n) add_copies(format + "/mode" + std::to_string(n), n, 1, make);
  };
  add_modes("coo_sorted", [](Exec const& exec, X const& x, int n) {
    return sorted(exec, x, detail::mttkrp_mode_order(x.dims, n));
  });
  add_one("permuted", [](Exec const& exec, X const& x, int) { return make_permuted(exec, x); });
  add_modes("packed", [](Exec const& exec, X const& x, int n) {
    return make_packed(exec, sorted(exec, x, detail::mttkrp_mode_order(x.dims, n)), n);
  });
  add_modes("csf", [](Exec const& exec, X const& x, int n) {
    return make_csf(exec, x, detail::mttkrp_mode_order(x.dims, n));
  });
  add_one("alto", [](Exec const& exec, X const& x, int) { return make_alto(exec, x); });
  add_one("flycoo", [](Exec const& exec, X const& x, int) { return make_flycoo(exec, x); });
  add_each("hierarchical", [](Exec const& exec, X const& x, int n) {
    return make_hierarchical(exec, x, detail::spttm_mode_order(x.dims, n));
  });
  // The matrix that the library of the GPU's vendor multiplies.
  add_modes("unfolded", [](Exec const& exec, X const& x, int n) {
    return make_unfolded_matrix(exec,
                                make_hierarchical(exec, x, detail::spttm_mode_order(x.dims, n)));
  });
  add_each("hocoo", [](Exec const& exec, X const& x, int n) { return make_hocoo(exec, x, n); });
  add_each("hocsr", [](Exec const& exec, X const& x, int n) {
    double const rows = detail::dense_size(x.dims) / static_cast<double>(x.dims[n]);
    expects(rows <= most_rows, "hocsr: mode ", n, " has ", rows, " rows, more than ", most_rows);
    return make_hocsr(exec, x, n);
  });
  add_each("cfb", [](Exec const& exec, X const& x, int n) { return make_cfb(exec, x, n); });
  add_each("hocfs", [](Exec const& exec, X const& x, int n) { return make_hocfs(exec, x, n); });
}

}  // namespace

void add_build(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(name); });
}

}  // namespace sporades::perf

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Sparten_Configure.h>
#include <sparten/AsciiIO.h>
#include <sparten/CpAprMultiplicativeUpdate.h>
#include <sparten/KruskalTensorInitializer.h>
#include <sparten/Log.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

/// Times SparTen's Pi and Phi of each mode on hosts, which its own program does not do apart, and
/// Phi with Pi computed on the fly, which SparTen has not. For
///   perf/peers/run --peer sparten=FOLDER
/// compile it against a built SparTen to FOLDER/sparten_phi:
///   c++ -O3 -fopenmp -I SPARTEN -I SPARTEN/build/include -I KOKKOS/include sparten_phi.cpp
///     -L SPARTEN/build/lib -lsparten -lsparten_generator -L KOKKOS/lib -lkokkoscore -ldl
///     -Wl,-rpath,KOKKOS/lib
/// Arguments: a tensor of counts in SparTen's text format, the number of components, and how many
/// calls are timed after one that is not. perf/peers/sparten.py reads what is printed.

namespace {

using Count = std::uint64_t;
using Index = std::uint32_t;
using Sparse = sparten::SparseTensor<Count, Index, Index>;
using Kruskal = sparten::KruskalTensor<double, Index>;
using Update = sparten::CpAprMultiplicativeUpdate<Count, double, Index, Index>;
using Matrix = sparten::FactorMatrix<double>;

constexpr double eps = 1e-10;
constexpr int most_modes = 8, most_components = 256, block_size = 32;

/// Phi of one mode without a stored Pi, after what Anderson & Choi (2021) write of their change to
/// SparTen. Blocks of 32 nonzeros in the order of rows. A row's sum goes to Phi where the row
/// changes; that of a block's first and last row atomically, as other blocks may have the same row.
struct OnTheFly {
  sparten::Vector<Index> order;         // nonzeros, by rows
  sparten::SparseIndices<Index> index;  // N x nnz
  sparten::SparseData<Count> count;     // nnz
  Matrix factor[most_modes];            // I_m x R
  Matrix phi;                           // I_n x R, zero
  int mode, modes, components;
  Index nonzeros;

  void add(Index row, double const* sum, bool is_shared) const {
    for (int r = 0; r < components; ++r)
      if (is_shared)
        Kokkos::atomic_add(&phi(row, r), sum[r]);
      else
        phi(row, r) += sum[r];
  }

  void operator()(Index block) const {
    double sum[most_components], pi[most_components];
    Index const begin = block * block_size;
    Index const end = std::min<Index>(nonzeros, begin + block_size);
    Index const first = index(mode, order(begin));
    Index row = first;
    std::fill(sum, sum + components, 0.0);
    for (Index at = begin; at < end; ++at) {
      Index const p = order(at);
      if (index(mode, p) != row) {
        add(row, sum, row == first);
        std::fill(sum, sum + components, 0.0);
        row = index(mode, p);
      }
      std::fill(pi, pi + components, 1.0);
      for (int m = 0; m < modes; ++m) {
        if (m == mode) continue;
        double const* const other = &factor[m](index(m, p), 0);  // rows are contiguous on hosts
        for (int r = 0; r < components; ++r) pi[r] *= other[r];
      }
      double const* const own = &factor[mode](row, 0);
      double model = 0;
#pragma omp simd reduction(+ : model)
      for (int r = 0; r < components; ++r) model += pi[r] * own[r];
      double const share = static_cast<double>(count(p)) / std::max(eps, model);
      for (int r = 0; r < components; ++r) sum[r] += share * pi[r];
    }
    add(row, sum, true);
  }
};

/// SparTen's class, whose functions of one mode are protected.
class Phi : public Update {
 public:
  /// One iteration of one step, on a copy of the model, makes the buffers.
  Phi(Sparse const& X, Kruskal& model)
      : Update(1e-4, 1, 1, 1e-2, 1e-10, 1, eps), X_(X), model_(model) {
    Kruskal scratch(model);
    compute(scratch, X);
  }
  void update_pi(int mode) {
    compute_pi(model_, X_, mode);
    Kokkos::fence();
  }
  void stored(int mode) {
    compute_phi(model_, X_, mode);
    Kokkos::fence();
  }
  void on_the_fly(int mode) {
    OnTheFly loop;
    loop.order = _nonzLoc(mode);
    loop.index = X_.get_indices_view();
    loop.count = X_.get_data_view();
    for (Index m = 0; m < X_.get_nDim(); ++m) loop.factor[m] = model_.get_factor_matrix(m);
    loop.phi = result(mode);
    loop.mode = mode;
    loop.modes = X_.get_nDim();
    loop.components = model_.get_nComponent();
    loop.nonzeros = X_.get_nElement();
    Kokkos::deep_copy(loop.phi, 0.0);
    Kokkos::parallel_for("on_the_fly",
                         Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(
                             0, (loop.nonzeros + block_size - 1) / block_size),
                         loop);
    Kokkos::fence();
  }
  Matrix result(int mode) { return _phiBuffer->get_factor_matrix(mode); }

 private:
  Sparse const& X_;
  Kruskal& model_;
};

/// Prints the seconds of each call after one.
template <class Call>
void time(char const* what, int mode, int calls, Call const& call) {
  call();
  std::printf("%s mode %d:", what, mode);
  for (int at = 0; at < calls; ++at) {
    Kokkos::Timer const timer;
    call();
    std::printf(" %.9f", timer.seconds());
  }
  std::printf("\n");
}

/// Over the largest entry.
double difference(Matrix const& a, Matrix const& b) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i)
    for (std::size_t r = 0; r < a.extent(1); ++r) {
      largest = std::max(largest, std::abs(a(i, r)));
      apart = std::max(apart, std::abs(a(i, r) - b(i, r)));
    }
  return apart / largest;
}

void run(std::string const& path, Index components, int calls) {
  sparten::Log::new_log(sparten::Log::TO_SCREEN, "", sparten::Log::QUIET);
  using File = sparten::AsciiIO<Count, double, Index, Index>;
  std::unique_ptr<Sparse> const X(
      File(path, File::READ, File::FIXED_PRECISION, 16, File::INDEX_1).read());
  if (X->get_nDim() > most_modes) throw std::runtime_error("the tensor has more than 8 modes");
  Kruskal model(X->get_nDim(), components, X->get_size_dim());
  sparten::KruskalTensorInitializer<double, Index> initializer;
  initializer.set_random_seed(1);
  initializer.initialize(model, sparten::KruskalTensorInitializer<double, Index>::RANDOM);
  Phi phi(*X, model);
  std::printf("SparTen %s\nnonzeros %u\n", SPARTEN_VERSION,
              static_cast<unsigned>(X->get_nElement()));
  double apart = 0;
  for (int mode = 0; mode < static_cast<int>(X->get_nDim()); ++mode) {
    time("pi stored_pi", mode, calls, [&] { phi.update_pi(mode); });
    time("phi stored_pi", mode, calls, [&] { phi.stored(mode); });
    auto const stored = phi.result(mode);
    Matrix const expected("expected", stored.extent(0), stored.extent(1));
    Kokkos::deep_copy(expected, stored);
    time("phi reduced_footprint", mode, calls, [&] { phi.on_the_fly(mode); });
    apart = std::max(apart, difference(expected, phi.result(mode)));
  }
  std::printf("largest difference %.3e\n", apart);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  int status = 2;
  if (argc == 4 && std::atoi(argv[2]) > 0 && std::atoi(argv[2]) <= most_components &&
      std::atoi(argv[3]) > 0) {
    try {
      run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
      status = 0;
    } catch (std::exception const& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
    }
  } else {
    std::fprintf(stderr, "sparten_phi TENSOR COMPONENTS CALLS: at most %d components\n",
                 most_components);
  }
  Kokkos::finalize();
  return status;
}

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/decide_layout.hpp>
#include <sporades/kernels/detail/processes/mttkrp.hpp>
#include <sporades/kernels/detail/processes/share_linear_order.hpp>
#include <sporades/kernels/detail/processes/share_rows.hpp>
#include <sporades/kernels/detail/processes/slices.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// How a plan of MTTKRP gets its nonzeros where they are those of several processes.

namespace sporades::detail {

/// The modes that take a linear order with so many parts each: where `automatic` took it, those
/// without parts revert to rows in order; else they are refused.
inline void choose_linear_modes(std::vector<Position> const& parts, MttkrpOptions const& options,
                                Dims const& dims, Position nnz,
                                std::vector<MttkrpChoice>& choices) {
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (parts[n] > 0 || nnz == 0) continue;
    expects(chooses_layout(options), "make_mttkrp_plan: strategy alto needs atomics on mode ", n,
            ", whose rows are used too seldom (", dims[n], " rows, ", nnz,
            " nonzeros): sorted and fibers work");
    revert_to_rows(choices[n]);
  }
}

/// Whether some mode takes a linear order.
inline bool has_linear_mode(std::vector<MttkrpChoice> const& choices) {
  return std::any_of(choices.begin(), choices.end(),
                     [](MttkrpChoice const& choice) { return is_linear(choice.strategy); });
}

/// The chunks of the process's nonzeros that are of parts of its own rows alone; none where parts
/// are of several slices, or none is another's. X: in the order of parts.
template <class ExecutionSpace, class Tensor, class Parts>
OwnChunks own_chunks(ExecutionSpace const& exec, Tensor const& X, int n, Parts const& parts,
                     Position length) {
  auto const [first, end] = parts.own_parts();
  if (!parts.is_one_slice() || first == end || (first == 0 && end == parts.count())) return {};
  std::uint64_t const number = row_ends(exec, X, n).first;
  IndexTuples<typename Tensor::Coordinates> const numbers{{X.coordinates, {n}}};
  std::vector<IndexTuple> const bounds{{{number + first}}, {{number + end}}};
  auto const places = count_below(exec, numbers, X.nnz(), bounds);
  OwnChunks own{(places[0] + length - 1) / length, places[1] / length, first + 1, end};
  if (end == parts.count()) own.end = chunks_of(X.nnz(), length);
  return own.begin < own.end ? own : OwnChunks{};
}

/// Gives a plan that several processes share its nonzeros, step by step: those of each process for
/// each mode, the rows that it owns, those that it reads, and what products need for both. All
/// processes take the same steps in the same order. For one call of build.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
class DistributedPlanBuilder {
 public:
  using Plan = MttkrpPlan<Scalar, Index, MemorySpace>;
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;

  /// plan: without nonzeros, of this layout.
  DistributedPlanBuilder(Communicator const& processes, ExecutionSpace const& exec,
                         MttkrpOptions const& options, MttkrpPlanUse const& use,
                         Layout const& layout, Plan& plan)
      : processes_(processes),
        exec_(exec),
        options_(options),
        use_(use),
        layout_(layout),
        plan_(plan),
        read_(exec, plan.dims) {
    plan_.rows.resize(plan_.dims.size());
    length_ = chunk_length<ExecutionSpace>(plan_.nnz);
    cuts_ = even_cuts(processes.size(), plan_.nnz, block_length<ExecutionSpace>(plan_.nnz));
    for (int n = 0; n < order(); ++n)
      orders_.push_back({mttkrp_mode_order(plan_.dims, n), cuts_, length_});
    distributed_->processes = processes;
    distributed_->shares.resize(plan_.dims.size());
    distributed_->chains.resize(plan_.dims.size());
    distributed_->own.resize(plan_.dims.size());
  }

  /// X: the nonzeros that the process brings. Collective. Fences exec.
  void build(Tensor X) {
    if constexpr (!is_gpu<ExecutionSpace>)
      if (layout_.is_linear()) take_linear_order(X);
    if (layout_.slices > 1)
      share_in_slices(hand_over(X));
    else
      share_in_order(hand_over(X));
    for (int n = 0; n < order(); ++n)
      if (in_order(n)) own_rows_in_order(n);
    read_rows();
    for (int n = 0; n < order(); ++n)
      if (in_order(n))
        make_share(n);
      else if constexpr (!is_gpu<ExecutionSpace>)
        make_chain(n);
    for (int m = 0; m < order(); ++m)
      distributed_->read.emplace_back(processes_, exec_, plan_.rows[at(m)].begins,
                                      read_.lists()[at(m)]);
    auto const& parts = plan_.work.parts;
    distributed_->sums = {processes_, std::any_of(parts.begin(), parts.end(), [](auto const& mode) {
                            return mode.is_registered();
                          })};
    for (auto const& share : distributed_->shares)
      if (share.all_chunks > 0)
        share.reserve(exec_, plan_.work.carry, static_cast<std::size_t>(options_.rank));
    plan_.work.distributed = distributed_;
    fence(exec_, "sporades::mttkrp::build_distributed_plan");
  }

 private:
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }
  int order() const { return static_cast<int>(plan_.dims.size()); }
  bool in_order(int n) const { return !is_linear(plan_.choices[at(n)].strategy); }
  bool is_grid() const { return !use_.last.is_whole(); }
  /// Whether mode n's nonzeros are in parts of rows.
  bool has_parts(int n) const { return layout_.slices > 1 && n != layout_.sliced_mode; }

  /// A linear order for the modes that take it, if any does.
  void take_linear_order(Tensor const& X) {
    linear_ = share_linear_order(processes_, exec_, X);
    choose_linear_modes(linear_.parts, options_, plan_.dims, plan_.nnz, plan_.choices);
    has_linear_ = has_linear_mode(plan_.choices);
    if (has_linear_)
      read_.insert(exec_, linear_.nonzeros);
    else
      linear_ = {};
  }

  /// Nonzeros in the order of each mode's rows.
  void share_in_order(Tensor X) {
    std::vector<bool> wanted;
    for (int n = 0; n < order(); ++n) wanted.push_back(in_order(n));
    nonzeros_ = sorted_shares(processes_, exec_, hand_over(X), orders_, wanted, read_);
  }

  /// Nonzeros in slices of one mode, and in the order of their parts of the others' rows.
  void share_in_slices(Tensor X) {
    int const sliced = layout_.sliced_mode;
    plan_.work.parts.resize(plan_.dims.size());
    parts_.resize(plan_.dims.size());
    nonzeros_.resize(plan_.dims.size());
    X = sorted_across(processes_, exec_, hand_over(X), orders_[at(sliced)].modes, cuts_);
    nonzeros_[at(sliced)] = X;
    read_.insert(exec_, X, sliced);
    auto const named =
        with_slices(exec_, X, slice_cuts<ExecutionSpace>(layout_.slices, plan_.nnz), first());
    X = {};
    for (int n = 0; n < order(); ++n) {
      if (n == sliced) continue;
      auto& share = parts_[at(n)];
      share = share_parts(processes_, exec_, named, n, cuts_);
      read_.insert(exec_, share.nonzeros, n);
      nonzeros_[at(n)] = hand_over(share.nonzeros);
    }
  }

  /// The rows of mode n that processes own, which begin there.
  void own_rows(int n, std::vector<std::uint64_t> const& begins) {
    auto const columns = padded_columns(static_cast<std::size_t>(options_.rank));
    plan_.rows[at(n)] = is_grid() && n + 1 == order()
                            ? use_.last
                            : make_row_map<ExecutionSpace>(processes_, plan_.dims[at(n)], begins,
                                                           columns * columns);
  }

  /// Those where its nonzeros begin; of parts, those that go with its slices, or evenly many.
  void own_rows_in_order(int n) {
    auto const dim = plan_.dims[at(n)];
    if (!has_parts(n)) {
      own_rows(n,
               CutRows(all_gather(processes_, "rows at cuts", row_ends(exec_, nonzeros_[at(n)], n)))
                   .begins);
    } else if (options_.slices.rows.empty()) {
      auto begins = even_cuts(processes_.size(), dim);
      begins.pop_back();
      own_rows(n, begins);
    } else {
      auto const& rows = options_.slices.rows[at(n)];
      expects(rows.size() == static_cast<std::size_t>(layout_.slices) + 1 && rows.back() == dim &&
                  std::is_sorted(rows.begin(), rows.end()),
              "make_mttkrp_plan: slices.rows of mode ", n, " are not where the rows of ",
              layout_.slices, " slices begin, and end");
      own_rows(n, begins_of_slice_rows(processes_.size(), rows));
    }
    // All that is its own is read: GhostRows then finds it in one place.
    std::uint64_t const row = plan_.rows[at(n)].first();
    read_.insert_rows(exec_, at(n), row, row + plan_.rows[at(n)].here(dim));
  }

  /// Ends the lists of rows that this process reads.
  void read_rows() {
    for (int n = 0; is_grid() && n + 1 < order(); ++n)
      read_.insert_rows(exec_, at(n), 0, plan_.dims[at(n)]);
    read_.finish(exec_);
    distributed_->first_is_read = use_.first_is_read;
    if (use_.first_is_read) distributed_->cells = read_.lists().front();
    if constexpr (!is_gpu<ExecutionSpace>)
      if (has_linear_) {
        linear_order_ = plan_.formats.share(make_linear_share(exec_, linear_, read_, plan_.nnz));
        distributed_->parts = most_parts(plan_.nnz);
      }
  }

  /// A mode in the linear order: its rows are added to by one process after another.
  void make_chain(int n) {
    auto const added = read_.subset(exec_, linear_.nonzeros, n);
    own_rows(n, begins_of_added_rows(processes_, plan_.dims[at(n)], added.rows));
    distributed_->chains[at(n)] = RowChain<Scalar, MemorySpace>(
        processes_, exec_, plan_.rows[at(n)].begins, added.rows, added.numbers);
    plan_.formats.set(n, linear_order_);
    auto const& alto = *plan_.formats.template as<AltoTensor>(n);
    plan_.work.carry.buffer_rows(exec_, alto.partitions[at(n)].buffer_rows, options_.rank);
  }

  /// A mode in the order of rows, or of their parts.
  void make_share(int n) {
    auto& choice = plan_.choices[at(n)];
    bool const fits = layout_.modes[at(n)].is_packed;
    OwnChunks own;
    if (has_parts(n)) {
      choice.slices = layout_.slices;
      auto& parts = plan_.work.parts[at(n)];
      parts = RowParts<Scalar, MemorySpace>(processes_, exec_, plan_.rows[at(n)].begins,
                                            parts_[at(n)].rows, parts_[at(n)].slices,
                                            static_cast<std::uint32_t>(layout_.slices));
      parts_[at(n)] = {};
      if (fits) own = own_chunks(exec_, nonzeros_[at(n)], n, parts, length_);
    }
    auto X = read_.renumbered(exec_, hand_over(nonzeros_[at(n)]), n);
    auto const share = make_row_share(processes_, exec_, X, orders_[at(n)], fits);
    plan_.formats.set(
        n, fits ? plan_.formats.share(pack_share(exec_, share, n, X)) : plan_.formats.share(X));
    X = {};
    // Rows that go on from one process to the next have carries to exchange first.
    if (std::all_of(share.leading.begin(), share.leading.end(),
                    [](Position slots) { return slots == 0; }))
      distributed_->own[at(n)] = own;
    choice.gather = options_.gather;
    distributed_->shares[at(n)] = share;
    choose_split_of_runs<ExecutionSpace, Scalar>(options_, order(), fits, choice, [&](int k) {
      return run_length_of_all(*plan_.formats.template as<PackedTensor>(n), k);
    });
  }

  /// The mean length of runs of all processes' nonzeros that agree in k modes.
  template <class Packed>
  double run_length_of_all(Packed const& packed, int k) {
    auto const end = cuts_[at(processes_.rank()) + 1];
    RunSample sample;
    for (auto const& part :
         all_gather(processes_, "samples of runs",
                    sample_runs(exec_, packed, k, end - first(), first(), plan_.nnz))) {
      sample.pairs += part.pairs;
      sample.breaks += part.breaks;
    }
    return sample.length();
  }

  /// The place of this process's first nonzero among those of all.
  Position first() const { return cuts_[at(processes_.rank())]; }

  Communicator processes_;
  ExecutionSpace exec_;
  MttkrpOptions const& options_;
  MttkrpPlanUse const& use_;
  Layout const& layout_;
  Plan& plan_;
  std::shared_ptr<DistributedProducts<Scalar, Index, MemorySpace>> distributed_ =
      std::make_shared<DistributedProducts<Scalar, Index, MemorySpace>>();
  Position length_ = 0;             // of a chunk
  std::vector<Position> cuts_;      // process p has nonzeros cuts_[p] to cuts_[p + 1] - 1
  std::vector<ShareOrder> orders_;  // per mode
  std::vector<Tensor> nonzeros_;    // per mode, until its share is made
  std::vector<NumberedParts<Scalar, Index, MemorySpace>> parts_;  // per mode, with slices
  ReadRows<MemorySpace> read_;
  LinearShare<Scalar, Index> linear_;
  typename decltype(Plan::formats)::Shared linear_order_;  // its nonzeros here
  bool has_linear_ = false;                                // some mode takes the linear order
};

}  // namespace sporades::detail

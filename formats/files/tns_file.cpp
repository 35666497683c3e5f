// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <filesystem>
#include <sporades/core/detail/initialized.hpp>
#include <sporades/core/detail/processes/same_options.hpp>
#include <sporades/formats/files/detail/input_file.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/spt_file/parse.hpp>
#include <sporades/formats/files/detail/tns_file/read_text.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades {
namespace {

template <class Scalar>
ReadResult<Scalar> parse_any(Communicator const& processes, detail::InputFile const& file,
                             ReadOptions const& options) {
  auto result = detail::read_unchanged(file, [&] {
    return file.text(0, detail::spt_magic.size()) == detail::spt_magic
               ? detail::parse_spt<Scalar>(processes, file, options)
               : detail::read_text<Scalar>(processes, file, options);
  });
  detail::handle_duplicates(processes, result, file.name(), options);
  return result;
}

/// X with indices of another type. Throws Error naming the first mode that is too long for it.
template <class To, class Scalar, class From>
CooTensor<Scalar, To> with_indices(CooTensor<Scalar, From> const& X, std::string const& name) {
  if constexpr (std::is_same_v<From, To>) {
    return X;
  } else {
    for (int n = 0; n < X.order(); ++n)
      expects(X.dims[n] == 0 || X.dims[n] - 1 <= std::numeric_limits<To>::max(), name, ": mode ", n,
              " has length ", X.dims[n], ", past the ", 8 * sizeof(To),
              "-bit indices that the tensor shall have");
    Kokkos::DefaultHostExecutionSpace const exec{};
    auto Y = detail::allocate_coo<Scalar, To>(exec, X.dims, X.nnz());
    exec.fence();
    for (int n = 0; n < X.order(); ++n)
      std::transform(X.indices(n), X.indices(n) + X.nnz(), Y.indices(n),
                     [](From i) { return static_cast<To>(i); });
    Y.values = X.values;
    Y.sorted_modes = X.sorted_modes;
    return Y;
  }
}

template <class Scalar, class Index>
ReadResult<Scalar, Index> parse_as(Communicator const& processes, detail::InputFile const& file,
                                   ReadOptions const& options) {
  auto any = parse_any<Scalar>(processes, file, options);
  if constexpr (std::is_void_v<Index>) {
    return any;
  } else {
    auto const convert = [&](auto const& X) { return with_indices<Index>(X, file.name()); };
    return {std::visit(convert, any.tensor), any.duplicates, any.dialect, any.notes,
            any.out_of_core};
  }
}

}  // namespace

template <class Scalar, class Index>
ReadResult<Scalar, Index> parse_tensor(std::string_view content, std::string const& name,
                                       ReadOptions const& options) {
  detail::expect_initialized("parse_tensor");
  return parse_as<Scalar, Index>({}, detail::InputFile(content, name), options);
}

template <class Scalar, class Index>
ReadResult<Scalar, Index> read_tensor(std::string const& path, ReadOptions const& options) {
  return read_tensor<Scalar, Index>(Communicator(), path, options);
}

template <class Scalar, class Index>
ReadResult<Scalar, Index> read_tensor(Communicator const& processes, std::string const& path,
                                      ReadOptions const& options) {
  detail::expect_initialized("read_tensor");
  auto const named = [&] {
    return detail::types_of_call<Scalar, std::conditional_t<std::is_void_v<Index>, char, Index>>()
        .add("dims", options.dims)
        .add("index_base", options.index_base)
        .add("first_line", options.first_line)
        .add("duplicates", options.duplicates)
        .add("values", options.values)
        .add("pattern", options.pattern);
  };
  return detail::together(processes, "read_tensor", named, [&] {
    auto const name = detail::input_name(path);
    bool const is_distributed = processes.size() > 1;
    std::error_code ignored;
    bool const is_other = path == "-" || (std::filesystem::exists(path, ignored) &&
                                          !std::filesystem::is_regular_file(path, ignored));
    expects(!is_distributed || !is_other, name,
            ": several processes read a file that each of them can open, and this is none");
    expects(!is_distributed || options.memory == 0, name,
            ": ReadOptions::memory is for one process, and there are ", processes.size());
    detail::InputFile const file(path, options.memory);
    auto const sizes = detail::all_gather(processes, "sizes of files", file.size());
    expects(sizes[0] == file.size(), name, ": has ", file.size(), " bytes here and ", sizes[0],
            " for process 0");
    return parse_as<Scalar, Index>(processes, file, options);
  });
}

template ReadResult<float> parse_tensor(std::string_view, std::string const&, ReadOptions const&);
template ReadResult<float, std::uint32_t> parse_tensor(std::string_view, std::string const&,
                                                       ReadOptions const&);
template ReadResult<float, std::uint64_t> parse_tensor(std::string_view, std::string const&,
                                                       ReadOptions const&);
template ReadResult<double> parse_tensor(std::string_view, std::string const&, ReadOptions const&);
template ReadResult<double, std::uint32_t> parse_tensor(std::string_view, std::string const&,
                                                        ReadOptions const&);
template ReadResult<double, std::uint64_t> parse_tensor(std::string_view, std::string const&,
                                                        ReadOptions const&);
template ReadResult<float> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<float> read_tensor(Communicator const&, std::string const&, ReadOptions const&);
template ReadResult<float, std::uint32_t> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<float, std::uint32_t> read_tensor(Communicator const&, std::string const&,
                                                      ReadOptions const&);
template ReadResult<float, std::uint64_t> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<float, std::uint64_t> read_tensor(Communicator const&, std::string const&,
                                                      ReadOptions const&);
template ReadResult<double> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<double> read_tensor(Communicator const&, std::string const&,
                                        ReadOptions const&);
template ReadResult<double, std::uint32_t> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<double, std::uint32_t> read_tensor(Communicator const&, std::string const&,
                                                       ReadOptions const&);
template ReadResult<double, std::uint64_t> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<double, std::uint64_t> read_tensor(Communicator const&, std::string const&,
                                                       ReadOptions const&);

}  // namespace sporades

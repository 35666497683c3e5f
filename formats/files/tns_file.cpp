// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/nonzero_order.hpp>
#include <sporades/formats/files/detail/spt_file/parse.hpp>
#include <sporades/formats/files/detail/tns_file/read_text.hpp>
#include <sporades/formats/files/tns_file.hpp>

namespace sporades {

template <class Scalar>
ReadResult<Scalar> parse_tensor(std::string_view content, std::string const& name,
                                ReadOptions const& options) {
  if (content.substr(0, detail::spt_magic.size()) == detail::spt_magic)
    return detail::parse_spt<Scalar>(content, name, options);
  auto result = detail::read_text<Scalar>(content, name, options);
  detail::handle_duplicates(result, name, options);
  return result;
}

template <class Scalar>
ReadResult<Scalar> read_tensor(std::string const& path, ReadOptions const& options) {
  detail::MappedFile const file(path);
  return parse_tensor<Scalar>(file.bytes(), detail::input_name(path), options);
}

template ReadResult<float> parse_tensor(std::string_view, std::string const&, ReadOptions const&);
template ReadResult<double> parse_tensor(std::string_view, std::string const&, ReadOptions const&);
template ReadResult<float> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<double> read_tensor(std::string const&, ReadOptions const&);

}  // namespace sporades

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/file.hpp>
#include <sporades/formats/nonzero_order.hpp>
#include <sporades/formats/spt_file.hpp>
#include <sporades/formats/tns_file.hpp>
#include <sporades/formats/tns_file/read_text.hpp>

namespace sporades {

template <class Scalar>
ReadResult<Scalar> parse_tensor(std::string_view content, std::string const& name,
                                ReadOptions const& options) {
  if (content.substr(0, spt_magic.size()) == spt_magic)
    return parse_spt<Scalar>(content, name, options);
  auto result = detail::read_text<Scalar>(content, name, options);
  detail::handle_duplicates(result, name, options);
  return result;
}

template <class Scalar>
ReadResult<Scalar> read_tensor(std::string const& path, ReadOptions const& options) {
  MappedFile const file(path);
  return parse_tensor<Scalar>(file.bytes(), input_name(path), options);
}

template ReadResult<float> parse_tensor(std::string_view, std::string const&, ReadOptions const&);
template ReadResult<double> parse_tensor(std::string_view, std::string const&, ReadOptions const&);
template ReadResult<float> read_tensor(std::string const&, ReadOptions const&);
template ReadResult<double> read_tensor(std::string const&, ReadOptions const&);

}  // namespace sporades

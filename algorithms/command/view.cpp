// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/command/view/page.hpp>
#include <sporades/formats/files/detail/model_text.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <sporades/formats/files/ttensor_file.hpp>
#include <variant>

namespace sporades::command {
namespace {

namespace fs = std::filesystem;

/// Where the page goes: what -o says, or the model's name with another suffix.
std::string page_name(ViewArguments const& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  bool const has_name =
      !is_pipe(arguments.model) && sporades::detail::inherited_descriptor(arguments.model) < 0;
  expects(has_name, "view ", arguments.model, ": this gives the page no name; name it with -o");
  return fs::path(arguments.model).replace_extension(".html").string();
}

using Model = std::variant<KruskalTensor<double>, TuckerTensor<double>>;

Model read_model(std::string const& path) {
  sporades::detail::MappedFile const file(path);
  auto const name = sporades::detail::input_name(path);
  sporades::detail::TokenReader in(sporades::detail::model_text(file.bytes(), name), name);
  auto const type = in.next();
  if (type == "ktensor") return parse_ktensor<double>(file.bytes(), name);
  if (type == "ttensor") return parse_ttensor<double>(file.bytes(), name);
  in.refuse("expected a model, which begins with \"ktensor\" or \"ttensor\", found ",
            in.found(type));
}

/// The modes that --lines names; each is one of the model's.
std::vector<int> line_modes(std::string const& text, int order) {
  if (text.empty() || text == "none") return {};
  auto const modes = parse_modes(text, "--lines");
  for (int const n : modes)
    expects(n < order, "--lines ", text, ": the model has modes 0 to ", order - 1);
  return modes;
}

std::string describe(KruskalTensor<double> const& model) {
  return "CP model, " + to_string(model.dims()) + ", rank " + std::to_string(model.rank());
}

std::string describe(TuckerTensor<double> const& model) {
  auto const ranks = model.ranks();
  return "Tucker model, " + to_string(model.dims()) + ", core " +
         to_string(Dims(ranks.begin(), ranks.end()));
}

template <class Tensor>
void write_page(std::string const& output, Tensor const& model, ViewArguments const& arguments) {
  auto const dims = model.dims();
  auto const lines = line_modes(arguments.lines, model.order());
  PageContent content;
  content.file = fs::path(sporades::detail::input_name(arguments.model)).filename().string();
  content.modes = choose_panels(
      dims, arguments.labels.empty() ? Labels() : read_labels(arguments.labels, dims),
      lines, arguments.lines.empty());
  content.top = arguments.top;
  content.components = arguments.components;

  sporades::detail::OutputFile file(output);
  file.write(page_of(model, content));
  file.commit();
  bool const is_printed = sporades::detail::inherited_descriptor(output) == STDOUT_FILENO;
  if (arguments.quiet || is_printed) return;
  std::printf("%s: %s, from %s\n", output.c_str(), describe(model).c_str(),
              sporades::detail::input_name(arguments.model).c_str());
}

}  // namespace

int view(ViewArguments const& arguments) {
  expect_one_process("view");
  auto const output = page_name(arguments);
  std::vector<NamedFile> inputs{{"MODEL", arguments.model}};
  for (auto const& path : label_candidates(arguments.labels)) inputs.push_back({"--labels", path});
  check_files(inputs, {{"-o", output}});

  auto const model = read_model(arguments.model);
  std::visit([&](auto const& M) { write_page(output, M, arguments); }, model);
  return 0;
}

}  // namespace sporades::command

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/files.hpp>
#include <sporades/algorithms/command/models.hpp>
#include <sporades/algorithms/command/name_search.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/algorithms/command/view/page.hpp>
#include <sporades/formats/files/detail/file.hpp>
#include <sporades/formats/files/detail/input_file.hpp>

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

/// The modes that --lines names; each is one of the model's.
std::vector<int> line_modes(std::string const& text, int order) {
  if (text.empty() || text == "none") return {};
  auto const modes = parse_modes(text, "--lines");
  for (int const n : modes)
    expects(n < order, "--lines ", text, ": the model has modes 0 to ", order - 1);
  return modes;
}

/// The names of a folder, or those of the modes that the model's file tells.
Labels labels_of(ViewArguments const& arguments, ModelFacts const& facts, Dims const& dims) {
  Labels labels;
  if (!arguments.labels.empty()) labels = printable(read_labels(arguments.labels, dims));
  if (labels.modes.empty()) labels.modes = mode_names(facts, dims.size());
  return labels;
}

std::string page_html(KruskalTensor<double> const& model, PageContent& content) {
  auto const as_read = shown(model);
  content.shares = as_read.shares;
  content.shares_are_of_sum = as_read.is_sum;
  content.note = as_read.note;
  return page_of(as_read.model, content);
}

std::string page_html(TuckerTensor<double> const& model, PageContent& content) {
  return page_of(model, content);
}

template <class Tensor>
void write_page(std::string const& output, Tensor const& model, ModelFacts const& facts,
                Labels const& labels, ViewArguments const& arguments) {
  PageContent content;
  content.file = fs::path(sporades::detail::input_name(arguments.model)).filename().string();
  content.run = run_text(facts);
  content.modes = choose_panels(model.dims(), labels, line_modes(arguments.lines, model.order()),
                                arguments.lines.empty());
  content.top = arguments.top;
  content.components = arguments.components;

  sporades::detail::OutputFile file(output);
  file.write(page_html(model, content));
  file.commit();
  bool const is_printed = sporades::detail::inherited_descriptor(output) == STDOUT_FILENO;
  if (arguments.quiet || is_printed) return;
  std::printf("%s: %s, from %s\n", output.c_str(), describe(model).c_str(),
              sporades::detail::input_name(arguments.model).c_str());
  if (!content.run.empty()) std::printf("%s\n", content.run.c_str());
}

}  // namespace

int view(ViewArguments const& arguments) {
  expect_one_process("view");
  // The answer about a name is the output, unless a page is asked for, too.
  bool const has_page = arguments.name.empty() || !arguments.output.empty();
  auto const output = has_page ? page_name(arguments) : "";
  std::vector<NamedFile> inputs{{"MODEL", arguments.model}};
  for (auto const& path : label_candidates(arguments.labels)) inputs.push_back({"--labels", path});
  check_files(inputs, {{"-o", output}});

  auto const [model, facts] = read_model(arguments.model);
  auto const dims = std::visit([](auto const& M) { return M.dims(); }, model);
  auto const labels = labels_of(arguments, facts, dims);
  if (!arguments.name.empty())
    std::fputs(holders_text(model, labels, arguments.name).c_str(), stdout);
  if (!has_page) return 0;
  std::visit(
      [&, &facts = facts](auto const& M) { write_page(output, M, facts, labels, arguments); },
      model);
  return 0;
}

}  // namespace sporades::command

// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/kernels/loss.hpp>

namespace sporades::command {

void add_gcp_options(CLI::App& app, GcpArguments& gcp) {
  app.footer(
      "Cells for which the tensor holds no value count as 0, or with --missing not at all.\n"
      "`sporades convert --binarize` makes each value 1.");
  app.add_option("--loss", gcp.loss,
                 fmt::format("What is made small: {}", fmt::join(sporades::loss_names(), ", ")))
      ->capture_default_str();
  add_missing(app, gcp.common, gcp.missing);
  app.add_flag("--non-negative", gcp.non_negative,
               "Keep all factors at 0 or above, where the loss does not ask for it");
  app.add_option("--method", gcp.method,
                 "L-BFGS with factors at 0 or above as squares, or by projection; or steps along "
                 "gradients, by Adam or for comparison (default: lbfgs_square_roots where factors "
                 "are at 0 or above, adam where zeros are sampled and they are not, else lbfgsb)")
      ->check(
          CLI::IsMember({"automatic", "lbfgsb", "lbfgs_square_roots", "adam", "adagrad", "sgd"}))
      ->capture_default_str();
  app.add_option("--zeros", gcp.zeros,
                 "How cells that count as 0 are summed: in closed form, one by one, or by samples "
                 "(default: the first of them that the loss has and is fast enough)")
      ->check(CLI::IsMember({"automatic", "closed_form", "enumeration", "samples"}))
      ->capture_default_str();
  add_whole(app, "--samples", gcp.samples, "Cells that a gradient draws; 0: by the tensor", 0)
      ->capture_default_str();
  add_whole(app, "--nonzeros", gcp.nonzeros, "Values that a gradient of adam draws; 0: takes all",
            0)
      ->capture_default_str();
  add_whole(app, "--history", gcp.history, "Steps that L-BFGS knows of", 0)->capture_default_str();
  add_whole(app, "--epoch", gcp.epoch,
            "Steps of an iteration, of adam or where zeros are sampled; 0: 100", 0)
      ->capture_default_str();
  add_real(app, "--rate", gcp.rate,
           "Of adam: the length of a step, where the factors have the length 1; 0: 0.1")
      ->capture_default_str();
  add_real(
      app, "--decay", gcp.decay,
      "What the rate, or the steps of an iteration, are multiplied by after one that is undone")
      ->capture_default_str();
  add_whole(app, "--failures", gcp.most_failures, "Iterations that may be undone", 0)
      ->capture_default_str();
}

}  // namespace sporades::command

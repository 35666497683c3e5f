# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What perf/sporades-bench, perf/report, perf/compare and perf/tables are made of."""

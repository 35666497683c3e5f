# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures of perf/report: a module for each; draw(data) gives back Pictures."""

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures and tables of five papers' evaluations, by their numbers."""
from bench import exhibit, jobs, papers
from bench.exhibits import ahm24, and21, ma18, wij24, yan19
from bench.originals import ORIGINALS

ENOUGH = 3e6  # nonzeros, for what is published
BY_PAPER = {"ma18": ma18, "wij24": wij24, "and21": and21, "yan19": yan19, "ahm24": ahm24}


def _notes(key, scales, data):
    found = [BY_PAPER[key].NOTE] + ["Made with --scale %s: look-alikes have this share of their "
                                    "originals' nonzeros." % one for one in dict.fromkeys(scales) if one]
    rows = [row for machine in data.machines for row in machine.rows.values() if row["tensor"]]
    small = [base for _, base in papers.PAPERS[key].tensors
             if any(jobs.stem(row["tensor"]) == base and
                    (row.get("nnz") or 0) < 0.99 * min(ENOUGH, ORIGINALS[base][1]) for row in rows)]
    if small:
        found.append("Of fewer than %.0f M nonzeros, and than their originals: %s. Larger ones say more."
                     % (ENOUGH / 1e6, ", ".join(small)))
    return found


def sections(data, draw):
    """[(id, title, notes, [exhibit.Shown])] of the papers that the results were measured for. draw:
    bench/pictures/papers.py."""
    files = [one for machine in data.machines for one in machine.files]
    found = []
    for key, scales in papers.of_files(files).items():
        paper, own = papers.PAPERS[key], BY_PAPER[key]
        found.append((key, "%s: %s" % (paper.title, paper.about), _notes(key, scales, data),
                      exhibit.shown(key, paper, own.EXHIBITS, data, draw)))
    return found

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the time of CP-APR by multiplicative updates goes into: Anderson & Choi's figure 2."""
from bench import kernels, names

PARTS = ("Φ", "Π", "KKT", "update", "other")
BEGINNINGS = (("phi ", "Φ"), ("pi ", "Π"), ("kkt", "KKT"), ("multiply", "update"))
STRATEGIES = ("mu", "mu_stored_pi")


def shares_of(row):
    """{part: share} of the time of a row; None where its kernels are not timed."""
    found = dict.fromkeys(PARTS, 0.0)
    for name, value in kernels.parts_of_time(row).items():
        part = next((part for start, part in BEGINNINGS if name.startswith(start)), "other")
        found[part] += value
    whole = sum(found.values())
    return {part: value / whole for part, value in found.items()} if whole else None


def shares(machine, scalar, rank):
    """[(family, whether Π is stored, {part: share})] of the largest tensor of each family."""
    rows = kernels.of_largest([
        row for row in machine.timed()
        if row["kernel"] == "cp_apr" and row["strategy"] in STRATEGIES and shares_of(row)
        and (row["scalar"], row["rank"]) == (scalar, rank)])
    tensors = list(dict.fromkeys(row["tensor"] for row in rows))
    rows.sort(key=lambda row: (tensors.index(row["tensor"]), STRATEGIES.index(row["strategy"])))
    return [(names.family(row["tensor"]), row["strategy"] == "mu_stored_pi", shares_of(row))
            for row in rows]

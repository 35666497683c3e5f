# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of Sporades beside loops without Kokkos and beside other libraries, on the same
tensors."""
from bench import kernels

# Shown besides the strategy that stands for the kernel: of Φ that with Π stored, as SparTen has it,
# and both of Anderson & Choi (2021).
SHOWN = {"phi": ("pull_stored_pi", "coo-alto-atomic", "coo-alto-pull")}


def kernels_of(machine):
    """Those of which there are rows of other libraries."""
    return list(dict.fromkeys(row["kernel"] for row in machine.peer_rows().values()))


def implementations(machine, kernel, scalar, rank):
    """[(label, native loop, library or None, {family of tensors: Whole})]: loops without Kokkos,
    other libraries, Sporades."""
    rows = [row for row in machine.beside_peers().timed() if row["kernel"] == kernel]
    tensors = {row["tensor"] for row in rows if row.get("peer")} or {
        row["tensor"] for row in rows if row["native"]}
    rows = [row for row in rows if row["tensor"] in tensors]

    def wholes(strategy, native=False, peer=None):
        return kernels.wholes(rows, kernel, scalar, rank, native, strategy, peer)

    others = dict.fromkeys((row["native"], row.get("peer"), row["strategy"]) for row in rows
                           if row["native"] or row.get("peer"))
    found = [((peer or "native") + " " + (strategy or ""), native, peer,
              wholes(strategy, native, peer))
             for native, peer, strategy in sorted(others, key=lambda one: not one[0])]
    found += [(" ".join(["Sporades", strategy or ""]), False, None, wholes(strategy))
              for strategy in (None,) + SHOWN.get(kernel, ())]
    return [(label.strip(), *rest) for label, *rest in found if rest[-1]]


def performance(found):
    """{label: {family: (how many times as fast as the fastest loop without Kokkos, noise)}}, on
    the same tensor."""
    fastest = {}
    for _, native, _, wholes in found:
        for family, whole in wholes.items():
            if native and (family not in fastest or whole.seconds < fastest[family].seconds):
                fastest[family] = whole
    return {label: {family: (fastest[family].seconds / whole.seconds,
                             max(fastest[family].noise, whole.noise))
                    for family, whole in wholes.items()
                    if family in fastest and fastest[family].tensor == whole.tensor}
            for label, _, _, wholes in found}


def architectural(found, roof):
    """{label: {family: (the share of the bandwidth `roof` that the bytes reach, noise)}}"""
    return {label: {family: (whole.bandwidth / roof, whole.noise)
                    for family, whole in wholes.items() if whole.bytes}
            for label, _, _, wholes in found}

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of other libraries for a results file."""
from bench import noise
from bench.rows import rounded

PART = "peers"


class Recorder:
    """Takes samples, round by round."""

    def __init__(self):
        self._rows, self._rounds = {}, {}  # of each name: {round: [seconds]}

    def __len__(self):
        return len(self._rows)

    def add(self, library, scalar, case, round_number, sample):
        """Gives back whether it is the first one of its row and round."""
        scalar = sample.scalar or scalar
        rank = None if sample.kernel in ("sptv", "build") else case.rank
        mode = "mode%d" % sample.mode if isinstance(sample.mode, int) else sample.mode
        parts = [library.name, sample.kernel, case.tensor.name, scalar, sample.strategy,
                 rank and "R%d" % rank, mode]
        name = "/".join(part for part in parts if part)
        self._rows.setdefault(name, {
            "name": name, "kernel": sample.kernel, "native": False, "tensor": case.tensor.name,
            "scalar": scalar, "strategy": sample.strategy, "rank": rank, "mode": sample.mode,
            "threads": case.threads, "part": PART, "dims": case.tensor.dims,
            "nnz": case.tensor.nonzeros, "label": library.timed[sample.kernel], "counters": {},
            "peer": library.name})
        rounds = self._rounds.setdefault(name, {})
        is_new = round_number not in rounds
        rounds.setdefault(round_number, []).extend(map(rounded, sample.seconds))
        return is_new

    def rows(self):
        """Without noise bands."""
        done = []
        for name, row in self._rows.items():
            rounds = [self._rounds[name][at] for at in sorted(self._rounds[name])]
            times = [one for samples in rounds for one in samples]
            done.append(dict(row, rounds=rounds, median=rounded(noise.median(times)),
                             min=min(times)))
        return done

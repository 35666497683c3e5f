# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run of perf/profile: sporades_perf under NVIDIA's ncu, tensor by tensor, and a results file
whose rows have shares of what the GPU can do as counters."""
import math
import os
import tempfile

from bench import command, jobs, machine, ncu, program, session
from bench.progress import Progress
from bench.results import Bad

PART = "profile"
# The program does not execute itself anew (core/spin_limit.hpp); numbers have points.
ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE", "LC_ALL": "C"}


def job(options, tensor, threads, round_number):
    """One tensor, all strategies. A benchmark is a few calls, of which one is looked at."""
    part = {"part": PART, "weight": 1, "repetitions": options.repetitions, "filter": options.filter,
            "ranks": ",".join(map(str, options.ranks)), "strategies": ",".join(options.strategies),
            "scalars": ",".join(options.scalars)}
    found = jobs.Job(part, tensor, threads, round_number, [])
    found.arguments.append("--profile")
    return found


def samples(printed, text):
    """The benchmarks that the program printed, with what ncu counted in place of what was timed; those
    that were refused as they are. text: what ncu said. Throws Bad."""
    kept = [one for one in printed if one.get("run_type") != "aggregate"
            and (one.get("profiled") or one.get("error_occurred"))]
    ran = [one for one in kept if not one.get("error_occurred")]
    if not ran:
        why = ncu.refusal(text)
        if not kept or why:
            raise Bad(why or "no benchmark was profiled: none has this name, or it is no kernel")
        counted = iter(())
    else:
        counted = iter(ncu.benchmarks(text))
    found = []
    for one in kept:
        sample = {"name": ncu.PREFIX + one["name"], "real_time": 0.0, "time_unit": "s"}
        sample["run_name"] = ncu.PREFIX + one.get("run_name", one["name"])
        if one.get("error_occurred"):
            sample.update(error_occurred=True, error_message=one.get("error_message", ""))
        else:
            counters = next(counted, None)
            if counters is None:
                raise Bad("ncu looked at fewer benchmarks than sporades_perf ran")
            sample["label"], sample["real_time"] = one.get("label", ""), counters.pop("seconds")
            sample.update(counters)
        found.append(sample)
    if next(counted, None) is not None:
        raise Bad("ncu looked at more benchmarks than sporades_perf ran")
    return found


class Session(session.Session):
    def __init__(self, options):
        super().__init__(options, jobs.Suite([], {"rounds": options.rounds}, {}, (), (), (0, 0)))

    def run_job(self, job, progress, share):
        """With ncu around the program. A run that failed gives no rows."""
        progress.begin(job.what() + (", round %d" % (job.round + 1)))
        before, printed = progress.rows, []
        with tempfile.TemporaryDirectory(prefix="sporades-profile-") as folder:
            log = os.path.join(folder, "ncu.csv")
            why = program.run(self.options.ncu, ncu.arguments(log) + [
                self.options.program, *job.arguments], ENVIRONMENT, self.deadline, self.take_context,
                printed.append, progress.show, self.stop)
            text = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as file:
                    text = file.read()
        try:
            if why is not None:
                raise Bad(ncu.refusal(text) or why)
            for one in samples(printed, text):
                if self.recorder.add(one, job.threads, job.round, job.part):
                    progress.row()
        except Bad as error:
            why, self.failed = str(error), True
            self.leave_out(job, why)
        progress.end(progress.rows - before, why)

    def contents(self, complete):
        options, found = self.options, super().contents(complete)
        found["command"] = command.given(options, "tensors", "ranks", "scalars", "strategies", "filter",
                                         "repetitions", "rounds")
        found["settings"]["ncu"] = ncu.arguments("FILE")
        return found

    def run(self):
        self.probe()
        if self.context.get("backend") != "Cuda":
            raise Bad("%s was built for %s: ncu looks at CUDA only" % (
                self.options.program, self.context.get("backend")))
        self.threads, self.memory = machine.processors(), None
        planned = [job(self.options, tensor, self.threads, at) for at in range(self.options.rounds)
                   for tensor in self.options.tensors]
        self.arguments = jobs.arguments_by_part(planned)
        progress = Progress(None, len(planned))
        try:
            for one in planned:
                self.run_job(one, progress, math.inf)
        except program.Stopped:
            pass
        if len(self.recorder):
            self.save(self.contents(not self.stop() and not self.left_out))
            progress.say("%s: %d rows" % (self.options.output, len(self.recorder)))
        if self.stop():
            return 128 + self.signal
        if not len(self.recorder):
            raise Bad(self.left_out[0]["why"] if self.left_out else "nothing was profiled")
        return 1 if self.failed else 0

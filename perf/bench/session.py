# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run of sporades-bench: measures the suite and writes the results file."""
import datetime
import os
import signal
import tempfile
import time

from bench import jobs as planning
from bench import inputs, machine, noise, program, results, rows
from bench.progress import Progress

# What in the environment decides how the program runs.
ENVIRONMENT = ("OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY",
               "GOMP_SPINCOUNT", "CUDA_VISIBLE_DEVICES")
TIME_OVER = "the time was over"
SLACK = 1.5  # times its share of the time that a job may take


class Session:
    def __init__(self, options, suite):
        self.options, self.suite = options, suite
        self.deadline = time.monotonic() + options.budget
        self.signal = None
        self.recorder, self.tensors, self.left_out, self.failed = rows.Recorder(), {}, [], False
        self.context, self.date = None, datetime.datetime.now(datetime.timezone.utc)

    def stop(self):
        return self.signal is not None

    def probe(self):
        """The program's context, from its shortest benchmark."""
        why = program.run(self.options.program,
                          ["--benchmark_filter=^stream/triad/double", "--stream-megabytes=1",
                           "--scalars=double", "--tensors=uniform:1000"], {}, self.deadline,
                          self.take_context, lambda row: None, lambda: None, self.stop)
        if self.context is None:
            raise results.Bad("%s does not run: %s" % (
                self.options.program, why or "it printed no results"))

    def take_context(self, context):
        """Of the first run, and the tensors of each."""
        self.context = self.context or context
        for name, value in context.items():
            if name.startswith("tensor "):
                dims, nonzeros = value.rsplit(" ", 1)
                self.tensors[name[len("tensor "):]] = ([int(dim) for dim in dims.split("x")],
                                                       int(nonzeros))

    def run_job(self, job, progress, share):
        progress.begin(job.what() + (", round %d" % (job.round + 1)))
        before = progress.rows

        def on_row(benchmark):
            if self.recorder.add(benchmark, job.threads, job.round, job.part):
                progress.row()

        deadline = min(self.deadline, time.monotonic() + share)
        why = program.run(self.options.program, job.arguments,
                          {"OMP_NUM_THREADS": str(job.threads)}, deadline, self.take_context, on_row,
                          progress.show, self.stop)
        if why is not None:
            self.leave_out(job, why)
            self.failed = self.failed or time.monotonic() < deadline
        progress.end(progress.rows - before, why)

    def leave_out(self, job, why):
        tensor = os.path.basename(job.tensor) if job.tensor else None
        self.left_out.append({"part": job.part["part"], "tensor": tensor, "round": job.round + 1,
                              "threads": job.threads, "why": why.replace(self.options.program,
                                                                         "sporades_perf")})

    def run_jobs(self, jobs, progress):
        for at, job in enumerate(jobs):
            left = self.deadline - time.monotonic()
            if left < 0.5:
                self.leave_out(job, TIME_OVER)
                continue
            weights = sum(one.weight for one in jobs[at:])
            self.run_job(job, progress, SLACK * left * job.weight / weights)

    def contents(self, complete):
        """All that the results file says."""
        options = self.options
        return {
            "schema": results.SCHEMA,
            "date": self.date.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "complete": complete,
            "command": inputs.command_of(options),
            "settings": {"paper": options.paper, "scale": options.scale,
                         "budget": options.budget, "memory": self.memory,
                         "rounds": self.suite.common["rounds"], "threads": self.threads,
                         "environment": {name: os.environ[name] for name in ENVIRONMENT
                                         if name in os.environ},
                         "suite": self.arguments},
            "machine": machine.describe(self.context.get("caches", []), options.name),
            "software": machine.software(self.context),
            "noise": noise.DEFINITION,
            "left_out": self.left_out,
            "rows": self.recorder.rows(self.tensors),
        }

    def save(self, contents):
        """Elsewhere where the output cannot be written, such as on a disk that is full by now."""
        try:
            results.write(self.options.output, contents)
        except results.Bad as error:
            elsewhere = os.path.join(tempfile.gettempdir(), "sporades-bench-%d.json" % os.getpid())
            try:
                results.write(elsewhere, contents)
            except results.Bad:
                raise error from None
            raise results.Bad("%s; the results are in %s" % (error, elsewhere)) from None

    def run(self):
        options, suite = self.options, self.suite
        parts = suite.chosen_parts(options.parts, options.quick)
        self.probe()
        on_gpu = self.context.get("backend") in machine.GPU_BACKENDS
        self.threads = machine.processors()
        if not on_gpu:
            self.threads = int(self.context.get("concurrency", self.threads))
        self.memory = options.memory or int(machine.free_memory(on_gpu)
                                            * suite.share_of_memory(on_gpu))
        tensors, left_out, smaller = suite.look_alikes(options, parts, self.memory, on_gpu,
                                                       self.threads)
        self.left_out += [{"part": None, "tensor": name, "why": why} for name, why in left_out]
        with tempfile.TemporaryDirectory(prefix="sporades-bench-") as folder:
            files = options.files
            if not files and any(part["tensors"] == "files" for part in parts):
                files = [inputs.written_file(folder, options.quick)]
            jobs = planning.plan(parts, tensors + options.files, files, self.threads,
                                 self.context.get("backend") == "OpenMP",
                                 suite.common["rounds"])
            self.arguments = planning.arguments_by_part(jobs)
            progress = Progress(options.budget, len(jobs))
            for name, why in left_out:
                progress.say("%s is left out: %s" % (name, why))
            for name, why in smaller:
                progress.say("%s is smaller: %s" % (name, why))
            if not jobs:
                raise results.Bad("there is nothing to run: none of these parts takes one of these "
                                  "tensors on this machine")
            try:
                self.run_jobs(jobs, progress)
            except program.Stopped:
                pass
        stopped = self.stop()
        late = sum(one["why"] in (program.LATE, TIME_OVER) for one in self.left_out)
        if late and not stopped:
            progress.say("%d of %d runs lacked time: a longer --budget measures more"
                         % (late, len(jobs)))
        if len(self.recorder):
            self.save(self.contents(not stopped and not self.left_out))
            progress.say("%s: %d rows%s" % (options.output, len(self.recorder), (
                ", as far as they were measured" if stopped else "")))
        else:
            progress.say("nothing was measured; %s is not written" % options.output)
        if stopped:
            return 128 + self.signal
        return 1 if self.failed or not len(self.recorder) else 0


def measure(options, suite):
    inputs.check(options)
    return guarded(Session(options, suite))


def guarded(session):
    """Its exit status; a signal ends it after the run that is under way has been stopped."""
    def end(number, _):
        session.signal = session.signal or number

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup has it
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        return session.run()
    except program.Stopped:  # before the first job
        return 128 + session.signal
    except OSError as error:
        raise results.Bad("%s: %s" % (
            error.filename or session.options.output, error.strerror)) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

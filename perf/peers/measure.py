# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run of the command: Sporades and the libraries in turn, tensor by tensor and round by round,
so that what disturbs the machine disturbs all of them."""
import math
import os
import tempfile

from bench import command, jobs, machine, noise, papers, program, session
from bench.progress import Progress
from bench.results import Bad
from peers import execute, library, rows, tensors

# What of Sporades is measured beside a kernel of a library: what `automatic` takes, and what papers
# compare with that library. A product of flycoo on one mode alone would remap through all others.
FILTERS = {"build": "build/.*/(%s)/" % "|".join(papers.BUILT), "mttkrp": "mttkrp/.*/(automatic/|flycoo.*/all/)", "phi": "(phi|phi_native)/", "pi": "pi/",
           "spttm": "spttm/.*/(automatic|%s|spmm_[a-z]+)/" % papers.FIVE,
           "sptv": "sptv/.*/(automatic|hocfs|hocfs_blocks_csr)/", "cp_als": "cp_als/",
           "cp_apr": "cp_apr/.*/mu"}
STRATEGIES = "automatic,flycoo"  # of MTTKRP; on GPUs papers.FLYCOO_BLOCKS, too


def without_folders(why, *paths):
    """Of folders that a program may have named in its error."""
    for path in paths:
        why = why.replace(os.path.dirname(path) + os.sep, "")
    return why


class Peer:
    """A library, and where it is: the folder of its programs, or the only one of them."""

    def __init__(self, its_library, path, scalar, commit):
        self.library, self.scalar = its_library, scalar or its_library.scalar
        self.programs = {name: os.path.abspath(os.path.join(path, name))
                         for name in its_library.programs
                         if os.path.isfile(os.path.join(path, name))}
        if os.path.isfile(path):
            name = os.path.basename(path)
            name = its_library.programs[0] if len(its_library.programs) == 1 else name
            self.programs = {name: os.path.abspath(path)} if name in its_library.programs else {}
        if not self.programs:
            raise Bad("%s: there is no program of %s there; its programs are %s" % (
                path, its_library.name, ", ".join(its_library.programs)))
        first = next(iter(self.programs.values()))
        self.commit = commit or execute.commit(first)
        self.version = None
        if its_library.ask_version:
            text, _ = execute.run([first] + its_library.ask_version, {}, 20, None, lambda: False)
            self.version = its_library.version(text)

    def about(self):
        """For software.peers of a results file."""
        return {"version": self.version or "unknown version",
                "git": self.commit or "unknown commit", "repository": self.library.repository,
                "timed": self.library.timed}


class Session(session.Session):
    def __init__(self, options, peers):
        super().__init__(options, jobs.Suite([], {"rounds": options.rounds}, {}, (), (), (0, 0)))
        self.deadline = math.inf  # runs have one each
        self.peers, self.peer_recorder = peers, rows.Recorder()
        self.given_up, self.said, self.commands = set(), set(), {}

    def leave_out_peer(self, peer, tensor, round_number, why):
        """Once for each reason."""
        if (peer.library.name, tensor.name, why) not in self.said:
            self.said.add((peer.library.name, tensor.name, why))
            self.left_out.append({"part": peer.library.name, "tensor": tensor.name, "why": why,
                                  "round": round_number + 1, "threads": self.threads})
            self.progress.say("%s, %s: %s" % (peer.library.name, tensor.name, why))

    def run_peer(self, peer, case, run, round_number, scratch):
        """One run of one program. One that failed is not tried again on this tensor."""
        name = " ".join([run.program] + [os.path.basename(one) for one in run.arguments])
        commands = self.commands.setdefault(peer.library.name, {}).setdefault(case.tensor.name, [])
        key = (peer.library.name, case.tensor.name, name)
        if key in self.given_up:
            return
        if name not in commands:
            commands.append(name)
        path = peer.programs[run.program]
        text, why = execute.run([path] + run.arguments, {  # a kernel is not loaded while it is timed
            "OMP_NUM_THREADS": str(self.threads), "CUDA_MODULE_LOADING": "EAGER"},
                                self.options.timeout, scratch, self.stop)
        try:
            samples = [] if why else run.read(text)
        except library.Unreadable as error:
            samples, why = [], str(error)
        for sample in samples:
            if sample.kernel in self.kernels and self.peer_recorder.add(
                    peer.library, peer.scalar, case, round_number, sample):
                self.progress.row()
        peer.version = peer.version or peer.library.version(text)
        if why:
            self.failed = True
            self.given_up.add(key)
            self.leave_out_peer(peer, case.tensor, round_number, "%s: %s" % (
                run.program, without_folders(why, path, case.tensor.frostt())))

    def runs_of(self, peer, tensor, round_number):
        """[(case, run)] of a library on a tensor; those whose program is not there are named."""
        found = []
        for rank in self.options.ranks:
            case = library.Case(tensor, rank, self.threads, self.options.calls, self.on_gpu)
            why = peer.library.refuses(case)
            if why:
                self.leave_out_peer(peer, tensor, round_number, why)
                return []
            for run in peer.library.runs(case):
                if not self.kernels.intersection(run.kernels):
                    continue
                if set(run.kernels) == {"sptv"} and rank != self.options.ranks[0]:
                    continue  # it has no components
                if run.program in peer.programs:
                    found.append((case, run))
                else:
                    self.leave_out_peer(peer, tensor, round_number, "%s: there is no such program"
                                        % run.program)
        return found

    def own_job(self, tensor, round_number):
        options = self.options
        part = {"part": rows.PART, "weight": 1, "repetitions": options.repetitions,
                "filter": "^(%s)" % "|".join(words for kernel, words in FILTERS.items()
                                             if kernel in self.kernels),
                "ranks": ",".join(map(str, options.ranks)), "strategies": STRATEGIES + ("," + papers.FLYCOO_BLOCKS) * self.on_gpu,
                "scalars": ",".join(sorted({peer.scalar for peer in self.peers}))}
        return jobs.Job(part, tensor.given, self.threads, round_number, [])

    def turn(self, tensor, round_number, scratch):
        """Sporades, then each library, on one tensor."""
        self.run_job(self.own_job(tensor, round_number), self.progress, math.inf)
        if tensor.name not in self.tensors:
            return  # sporades_perf cannot read it
        tensor.dims, tensor.nonzeros = self.tensors[tensor.name]
        for peer in self.peers:
            self.progress.begin("%s %s, round %d" % (peer.library.name, tensor.name,
                                                     round_number + 1))
            before = self.progress.rows
            for case, run in self.runs_of(peer, tensor, round_number):
                self.run_peer(peer, case, run, round_number, scratch)
            self.progress.end(self.progress.rows - before, None)

    def contents(self, complete):
        options, found = self.options, super().contents(complete)
        found["command"] = command.given(options, "tensors", "ranks", "kernels", "rounds", "calls",
                                         "repetitions", "threads", "timeout")
        del found["settings"]["budget"]
        found["settings"]["peers"] = self.commands
        measured = self.peer_recorder.rows()
        names = {row["peer"] for row in measured}
        found["software"]["peers"] = {peer.library.name: peer.about() for peer in self.peers
                                      if peer.library.name in names}
        found["rows"] += measured
        noise.set_bands(found["rows"])
        return found

    def run(self):
        options = self.options
        self.probe()
        self.on_gpu = self.context.get("backend") in machine.GPU_BACKENDS
        self.threads, self.memory = options.threads or machine.processors(), None
        timed = {kernel for peer in self.peers for kernel in peer.library.timed}
        self.kernels = timed.intersection(options.kernels or FILTERS)
        if not self.kernels:
            raise Bad("--kernels: of these libraries are timed %s" % ", ".join(sorted(timed)))
        with tempfile.TemporaryDirectory(prefix="sporades-peers-") as folder:
            made = tensors.make(options.tensors, options.generator, folder)
            self.arguments = jobs.arguments_by_part([self.own_job(tensor, 0) for tensor in made])
            self.progress = Progress(None, options.rounds * len(made) * (1 + len(self.peers)))
            try:
                for round_number in range(options.rounds):
                    for tensor in made:
                        self.turn(tensor, round_number, folder)
            except program.Stopped:
                pass
        return self.finish()

    def finish(self):
        """Writes the file; the exit status."""
        if len(self.recorder) or len(self.peer_recorder):
            self.save(self.contents(not self.stop() and not self.left_out))
            self.progress.say("%s: %d rows of Sporades, %d of other libraries" % (
                self.options.output, len(self.recorder), len(self.peer_recorder)))
        else:
            self.progress.say("nothing was measured; %s is not written" % self.options.output)
        if self.stop():
            return 128 + self.signal
        return 1 if self.failed or not len(self.peer_recorder) else 0

# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of benchmarks, as mttkrp/uber:100000/double/sorted/R16/mode0, taken apart."""
import re

SCALARS = ("double", "float")
# These have no tensor. stream/copy/double; gather/double/R16/32KB.
WITHOUT_TENSOR = ("stream", "gather")
# What names of one kernel and of a plain loop that does the same begin with.
NATIVE_KERNEL = re.compile(r"^(.+)_native$")
NATIVE_STREAM = re.compile(r"^native_(.+)$")


def without_settings(name):
    """The name without what Google Benchmark appends: /iterations:1/manual_time/repeats:3."""
    return re.split(r"/(?:iterations:\d+|manual_time|real_time|process_time|repeats:\d+)(?=/|$)",
                    name, maxsplit=1)[0]


def parse(name):
    """The parts of a benchmark's name: kernel, native (a loop without Kokkos), tensor, scalar,
    strategy, rank and mode; None where the name has no such part. A mode is a number, or "all"."""
    parts = without_settings(name).split("/")
    found = {"kernel": parts[0], "native": False, "tensor": None, "scalar": None,
             "strategy": None, "rank": None, "mode": None}
    rest = parts[1:]
    if parts[0] == "read":
        found["tensor"] = "/".join(rest)
        return found
    if parts[0] == "neighbour" and rest:
        found["kernel"] += "_" + rest.pop(0)
    if parts[0] == "stream" and rest:
        native = NATIVE_STREAM.match(rest[0])
        found["native"] = native is not None
        found["kernel"] = "stream_" + (native.group(1) if native else rest[0])
        rest = rest[1:]
    elif NATIVE_KERNEL.match(parts[0]):
        found["native"] = True
        found["kernel"] = NATIVE_KERNEL.match(parts[0]).group(1)
    has_tensor = rest and (rest[0] not in SCALARS or rest[1:2] and rest[1] in SCALARS)
    if parts[0] not in WITHOUT_TENSOR and has_tensor:
        found["tensor"] = rest.pop(0)
    strategy = []
    for part in rest:
        mode = re.match(r"^mode:?(\d+)$", part)
        if part in SCALARS and found["scalar"] is None:
            found["scalar"] = part
        elif re.match(r"^R\d+$", part) and found["rank"] is None:
            found["rank"] = int(part[1:])
        elif mode:
            found["mode"] = int(mode.group(1))
        elif part == "all":
            found["mode"] = "all"
        else:
            strategy.append(part)
    if strategy:
        found["strategy"] = "/".join(strategy)
    return found


def family(tensor):
    """What a tensor resembles: "uber" of uber:100000. Others are themselves."""
    if tensor is None or tensor.count(":") != 1:
        return tensor
    name, nonzeros = tensor.split(":")
    return name if nonzeros.isdigit() else tensor


def key(row):
    """What two rows have in common that measure the same, on one machine or on two."""
    return (row["name"], row["threads"])

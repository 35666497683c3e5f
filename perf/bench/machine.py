# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine is: nothing that names it, its user or its folders."""
import os
import platform
import re
import subprocess

GPU_BACKENDS = ("Cuda", "HIP", "SYCL")


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, timeout=20, check=True).stdout.decode()
    except (OSError, subprocess.SubprocessError):
        return ""


def processors():
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu():
    """The model, the sockets and the physical cores."""
    text = _read("/proc/cpuinfo")
    fields = re.findall(r"^(model name|physical id|core id)\s*:\s*(.*)$", text, re.MULTILINE)
    models = [value for name, value in fields if name == "model name"]
    sockets = {value for name, value in fields if name == "physical id"}
    cores = set()
    socket = None
    for name, value in fields:
        if name == "physical id":
            socket = value
        elif name == "core id":
            cores.add((socket, value))
    model = models[0] if models else _output("sysctl", "-n", "machdep.cpu.brand_string").strip()
    return model or platform.machine(), max(1, len(sockets)), len(cores) or (os.cpu_count() or 1)


def _memory():
    """Bytes in all, and those that are free for use."""
    found = {name: int(value) * 1024 for name, value in
             re.findall(r"^(MemTotal|MemAvailable):\s*(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)}
    total = found.get("MemTotal")
    if total is None and hasattr(os, "sysconf"):
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return total, found.get("MemAvailable", total)


def _gpu():
    """The first GPU that nvidia-smi names; None where there is none."""
    lines = _output("nvidia-smi", "--query-gpu=name,memory.total,driver_version",
                    "--format=csv,noheader,nounits").splitlines()
    parts = [part.strip() for part in lines[0].split(",")] if lines else []
    if len(parts) != 3:
        return None
    memory = int(parts[1]) * 1024 * 1024 if parts[1].isdigit() else None
    return {"name": parts[0], "memory": memory, "driver": parts[2], "count": len(lines)}


def describe(caches, name):
    """caches: those of Google Benchmark's context. name: what its owner calls it, or None."""
    model, sockets, cores = _cpu()
    memory, _ = _memory()
    kept = [{key: cache[key] for key in ("type", "level", "size", "num_sharing") if key in cache}
            for cache in caches if cache.get("type") != "Instruction"]
    return {"name": name, "cpu": re.sub(r"\s+", " ", model), "sockets": sockets, "cores": cores,
            "processors": processors(), "caches": kept, "memory": memory, "gpu": _gpu(),
            "system": platform.system() + " " + platform.machine()}


def free_memory(on_gpu):
    """Bytes of the GPU's memory, or those of the host's that are free."""
    if on_gpu:
        gpu = _gpu()
        if gpu and gpu["memory"]:
            return gpu["memory"]
    return _memory()[1] or 4 << 30


def software(context):
    """What was measured, by the context that sporades_perf prints."""
    configuration = context.get("kokkos", "")
    version = re.search(r"Kokkos Version: *(\S+)", configuration)
    lines = [line for line in configuration.splitlines() if line.strip() and "/" not in line]
    return {"sporades": context.get("sporades"), "git": context.get("git"),
            "compiler": context.get("compiler"), "backend": context.get("backend"),
            "kokkos": version.group(1) if version else None, "kokkos_configuration": lines}

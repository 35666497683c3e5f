# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What vendors state: the bandwidth of main memory, and more where pictures use it."""
import re

from bench.results import Bad, is_gpu

# A pattern of the GPU's name: GB/s, MB of the last cache, Tflop/s of double and of float (vector
# units). The first that matches counts. From the vendors' data sheets.
GPUS = [
    (r"GH200.*144", 4900, 60, 34, 67),
    (r"GH200", 4000, 60, 34, 67),
    (r"H200", 4800, 50, 34, 67),
    (r"H100.*NVL", 3900, 50, 30, 60),
    (r"H100.*PCIe", 2000, 50, 26, 51),
    (r"H100", 3350, 50, 34, 67),
    (r"A100.*80GB.*PCIe|A100.*PCIe.*80GB", 1935, 40, 9.7, 19.5),
    (r"A100.*80GB", 2039, 40, 9.7, 19.5),
    (r"A100", 1555, 40, 9.7, 19.5),
    (r"V100", 900, 6, 7.8, 15.7),
    (r"P100", 732, 4, 4.7, 9.3),
    (r"MI300X", 5300, 256, 81.7, 163.4),
    (r"MI250X?", 1638, 8, 23.9, 23.9),  # one of the two dies that a module has
    (r"MI210", 1638, 8, 22.6, 22.6),
    (r"MI100", 1229, 8, 11.5, 23.1),
    (r"MI50", 1024, 4, 6.6, 13.3),
    (r"MI25", 484, 4, 0.77, 12.3),
]
# A pattern of the processor's model: GB/s of one socket, by its channels and its fastest memory.
CPUS = [
    (r"EPYC 9\d\d5", 576),          # 12 channels of DDR5-6000
    (r"EPYC 9\d\d4", 460.8),        # 12 of DDR5-4800
    (r"EPYC 7\d\d[23]", 204.8),     # 8 of DDR4-3200
    (r"EPYC 7\d\d1", 170.6),        # 8 of DDR4-2666
    (r"Platinum 85\d\d|Gold 65\d\d", 358.4),        # 8 of DDR5-5600
    (r"Platinum 84\d\d|Gold 64\d\d", 307.2),        # 8 of DDR5-4800
    (r"Platinum 83\d\d|Gold 63\d\d", 204.8),        # 8 of DDR4-3200
    (r"Platinum 82\d\d|Gold 62\d\d", 140.8),        # 6 of DDR4-2933
    (r"Platinum 81\d\d|Gold 61\d\d", 128.0),        # 6 of DDR4-2666
    (r"Grace", 500),
    (r"A64FX", 1024),
    (r"POWER9", 170.6),
]


def _parse_given(texts, machines):
    """--peak: [(a part of the machine's name, or "" for all, bytes/s)] of MACHINE=GB/s or GB/s."""
    found = []
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            value = float(number) * 1e9
        except ValueError:
            value = 0.0
        if not 0 < value < 1e18:
            raise Bad("--peak %s: expected MACHINE=GB/s, such as H200=4800" % text)
        if not any(_is_of(name, machine) for machine in machines):
            raise Bad("--peak %s: no machine has %s in its name, but there are %s" % (
                text, name, ", ".join(machine.name for machine in machines)))
        found.append((name, value))
    return found


def _is_of(name, machine):
    return name.lower() in machine.name.lower()


class Peak:
    """What a machine can do by its data sheet; None where that is unknown."""

    def __init__(self, machine, given):
        self.bandwidth, self.cache, self.flops = None, None, {}
        described = machine.latest["machine"]
        if is_gpu(machine.latest):
            name = (described.get("gpu") or {}).get("name", "")
            for pattern, bandwidth, cache, double, single in GPUS:
                if re.search(pattern, name):
                    self.bandwidth, self.cache = bandwidth * 1e9, cache * 1e6
                    self.flops = {"double": double * 1e12, "float": single * 1e12}
                    break
        else:
            for pattern, bandwidth in CPUS:
                if re.search(pattern, described.get("cpu") or ""):
                    self.bandwidth = bandwidth * 1e9 * (described.get("sockets") or 1)
                    break
            self.cache = max((cache.get("size", 0) for cache in described.get("caches", [])
                              if isinstance(cache, dict)), default=None)
        for name, value in given:
            if _is_of(name, machine):
                self.bandwidth = value


def of_machines(machines, texts):
    """{machine's name: Peak}; texts: of --peak, which count more than the data sheets."""
    given = _parse_given(texts or [], machines)
    return {machine.name: Peak(machine, given) for machine in machines}

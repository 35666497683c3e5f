#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small inputs for the fuzzers to start from: make_corpus.py FOLDER."""
import gzip
import pathlib
import struct
import sys

TENSORS = [
    "1 1 1 1\n2 3 2 -2.5e3\n",
    "# comment\n1 2 3 4.5 # behind\r\n\r\n\t2 1 1 +.5\n// more\n3 3 3 5.",
    "sptensor\n3\n5 4 3\n2\n1 1 1 1.0\n5 4 3 2.0000000000000000e+00\n",
    "sptensor\n3\n5 4 3\n2\n0 0 0 1\n4 3 2 2\n",
    "sptensor indices-start-at-zero\n3\n5 4 3\n2\n1 1 1 1\n4 3 2 2\n",
    "// GenTen\nsptensor\n3\n4 3 2\n1\n0 0 0 1.0000000000000000e+000\n",
    "3\n4 4 3\n1 1 1 1.0\n4 4 3 8.0\n",
    "tensor\n3\n2 1 2\n1\n0\n3 4\n",
    "# sporades dims: 5 4 3\n1 1 1 1\n",
    "1 1 3 0 2.0\n2 1 1 1 4.0\n",
    "1 1\n2 1\n3 1\n",
    "4294967297 1 1\n1 18446744073709551615 2\n",
    "1 1 1 1\n1 1 1 2\n1 1 1 -3\n",
    "1 1 0.1234567890123456789012345\n1 2 1e-400\n1 3 4e-320\n",
    "1 2 3\n4 5 6\n7 8 9\n",
    "1 " * 16 + "1\n",
    "\xef\xbb\xbf1 1 1\n",
    "%%MatrixMarket matrix coordinate real symmetric\n% comment\n3 3 2\n2 1 1.5\n3 3 2\n",
    "%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n",
    "1 1 1\r2 2 2\r\n",
    "6 5 7 4\n1 3 2 1.5\n2 1 3 2.5\n3 5 5 3.0\n2 2 7 1\n",
    "2 2 1\n1 1 5\n",
    "4 5 3\n1 2\n3 4\n2 2\n",
    "# extended FROSTT format\n3 3\n4 5 6\n1 1 1 5.0\n4 5 6 2.0\n2 2 2 1\n",
    "2 3\n4 5\n1 2\n3 4\n2 2\n",
    "1.000e+00 2.000e+00 5.0D-01\n3.0E0 0.4e1 1.5-101\n",
    "% MatrixMarket matrix array real symmetric\n % c\n2 2\n1\n2 3 % c\n",
    "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
    "%%MatrixMarket tensor coordinate unsigned general\n%\n4 5 6 2\n1 1 1 5\n4 5 6 2\n",
    "%%MatrixMarket vector coordinate real general\n5 2\n1 7\n4 8\n",
    "1 1 9007199254740993\n1 2 -9007199254740993.0\n1 3 1e-400\n",
    "PK\3\4zip\n",
    "BZh9\n",
    "2 2 2 1e400\n1.5 2 2 1\n-1 2 2 1\n1 1 1 nan\n",
]
KTENSORS = [
    "ktensor\n3\n3 2 1\n2\n1.5 2\nmatrix\n2\n3 2\n1 2\n3 4\n5 6\nmatrix\n2\n2 2\n1 0\n0 1\n"
    "matrix\n2\n1 2\n7e-1 8\n",
    "// GenTen\r\nktensor\r\n1\r\n2\r\n1\r\n1.0\r\nfacmatrix\r\n2\r\n2 1\r\n.5\r\n-0.5\r\n",
]
# Bits of the options (see fuzz_csv.cpp), the bin, the columns and that of the values; the text.
TABLES = [
    (0, 0, 7, 4, "user,item,hour,amount\nbob,tea,9,1.5\nann,\"tea, green\",10,2\nbob,tea,9,.25\n"),
    (0, 0, 3, 3, "a , \"b\" ,c\n\"say \"\"hi\"\"\", x ,1\n\"two\nlines\",5\" pipe,1\ncaf\xe9,\"a,b\",1\n"),
    (1, 0, 2, 1, "7,x\n8,y\n7,x\n"),
    (2, 0, 3, 3, "a;b;v\r\nx;y;1\r\n;y;2\r\nx;;3\r\nx;y;\r\nx;y;NA\r\nx\r\nz;y;5;;\r\n"),
    (4, 0, 3, 0, "\"a\nb\"\tc\n\n1\t2\n1\t10\n2.0\t\"\"\n2\t9\n"),
    (0, 1, 1, 2, "when,n\n2024-03-01,1\n2024-02-29T23:59:59.5+01:00,2\n2023-12-31 12:00,4\n"),
    (0, 2, 3, 0, "a,when\nx,2024-03\ny,2023-12-31\nx,2024-03-04T00:00Z\n"),
    (0, 5, 1, 0, "when\n2000-02-29\n0001-01-01\n9999-12-31\n"),
    (0, 7, 3, 3, "a=b,c,d\n2024,x,1e308\n2024,x,1e308\n"),
    (0, 0, 1, 0, "\xef\xbb\xbfa\n\xef\xbb\xbfb\n\"c\td\"\n"),
    (1, 0, 1, 0, "\xef\xbb\xbf\x1f\x8b\n"),
]


def spt(dims, indices, values, index="I", value="d"):
    """An .spt file whose checksums are wrong; the fuzzer repairs them."""
    arrays = [struct.pack(f"<{len(values)}{index}", *mode) for mode in indices]
    arrays.append(struct.pack(f"<{len(values)}{value}", *values))
    widths = [struct.calcsize(index), struct.calcsize(value)]
    order = len(dims)
    content = b"\x89SPT\r\n\x1a\n" + struct.pack("<4I2QI20x", 1, order, *widths, len(values), 0, order)
    content += struct.pack("<16Q", *dims, *[0] * (16 - order))
    content += struct.pack("<16I", *range(order), *[0] * (16 - order)) + bytes(17 * 8 + 8)
    for array in arrays:
        content += bytes(-len(content) % 64) + array
    return content


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in ("tensor", "spt", "ktensor", "csv"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for k, text in enumerate(TENSORS):
        text = text.encode("latin-1")
        for flags in (0, 32, 32 + 64 + 3, 4 + 8):
            (folder / "tensor" / f"{k}-{flags}").write_bytes(bytes([flags, 0]) + text)
        packed = gzip.compress(text, mtime=0)
        (folder / "tensor" / f"{k}-gz").write_bytes(b"\0\0" + packed + (packed if k % 2 else b""))
    for k, text in enumerate(KTENSORS):
        (folder / "ktensor" / str(k)).write_bytes(text.encode())
    for k, (flags, *columns, text) in enumerate(TABLES):
        for more in (0, 8 + 16, 32, 64):
            content = bytes([flags + more, *columns]) + text.encode("latin-1")
            (folder / "csv" / f"{k}-{more}").write_bytes(content)
    (folder / "spt" / "0").write_bytes(spt([2, 3], [[0, 1], [2, 0]], [1.5, -2.0]))
    (folder / "spt" / "1").write_bytes(spt([4], [[0, 0, 3]], [1, 2, 3], "Q", "f"))
    (folder / "spt" / "2").write_bytes(spt([1 << 40], [[5, 1 << 39]], [1, 2], "Q", "d"))
    (folder / "spt" / "3").write_bytes(spt([0, 3, 0], [[], [], []], []))


main()

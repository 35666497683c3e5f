# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All libraries, by the names in which the command takes them."""
from peers import alto, blco, genten, hiparti, mm_csf, parti, pasta, sparten, splatt

LIBRARIES = {module.LIBRARY.name.lower(): module.LIBRARY for module in (
    alto, blco, genten, hiparti, mm_csf, parti, pasta, sparten, splatt)}

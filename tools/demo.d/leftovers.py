#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares, on the host, dmactl's output on the heaps before the job and after its
processes have ended: no buffer may be left, no byte missing.  leftovers.py RESULTS"""

import json
import pathlib
import sys

from checks import check, failures


def said(name: str) -> dict:
    return json.loads((pathlib.Path(sys.argv[1]) / name).read_text(encoding="utf-8"))


before = {heap["heap"]: heap for heap in said("before.json")["heaps"]}
check("no buffer is left", said("list.json")["buffers"] == [])
for heap in said("heaps.json")["heaps"]:
    check(f"heap {heap['heap']}: nothing used, nothing held",
          heap["used"] == heap["quarantined"] == heap["buffers"] == 0)
    # The system uses the other heaps too.
    if heap["heap"] == "reserved":
        check(f"heap reserved: {heap['free']:,} bytes free, as before",
              heap["free"] == before["reserved"]["free"] == heap["total"])
sys.exit(1 if failures() else 0)

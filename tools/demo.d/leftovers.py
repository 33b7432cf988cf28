#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares dmactl's output on the heaps before the job and after its processes
have ended: no buffer may be left, no byte missing."""

import json
import subprocess
import sys

from checks import check, failures


def dmactl(command: str) -> dict:
    return json.loads(subprocess.run(
        ["dmactl", command, "--json"], check=True, capture_output=True,
        text=True).stdout)


with open(sys.argv[1], encoding="utf-8") as before_file:
    before = {heap["heap"]: heap for heap in json.load(before_file)["heaps"]}
check("no buffer is left", dmactl("list")["buffers"] == [])
for heap in dmactl("heaps")["heaps"]:
    check(f"heap {heap['heap']}: nothing used, nothing held",
          heap["used"] == heap["quarantined"] == heap["buffers"] == 0)
    # The system uses the other heaps too.
    if heap["heap"] == "reserved":
        check(f"heap reserved: {heap['free']:,} bytes free, as before",
              heap["free"] == before["reserved"]["free"] == heap["total"])
sys.exit(1 if failures() else 0)

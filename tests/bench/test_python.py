# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each workload of tools/bench python runs, and its rows name such workloads."""

import subprocess
import sys

import pytest
import python

SMALLEST = {"back": str(128 << 20), "zeros": "1", "zeros-written": "1",
            "first": "1", "drop": "1000", "list": "1000", "aged": "1",
            "pool-argument": "800000", "pool-result": "800000", "watch-off": "1",
            "watch-statistics": "1", "watch-hook": "1", "watch-profiler": "1"}


def test_rows_have_a_workload_and_what_it_prints():
    assert {row[2].split()[0] for row in python.ROWS} == set(SMALLEST)
    assert all(row[3] == ("mib" if row[1] == "MiB" else "ns")
               for row in python.ROWS)


@pytest.mark.parametrize("workload", SMALLEST)
def test_a_workload_prints_one_figure(workload):
    done = subprocess.run(
        [sys.executable, python.WORKLOADS, "numpy", workload,
         SMALLEST[workload]], capture_output=True, text=True, check=False)
    name, value = done.stdout.split()
    assert (done.returncode, done.stderr) == (0, "")
    assert name == ("mib" if workload == "back" else "ns")
    float(value)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs tests/bench/python/workloads.py with each kind of memory in turn and
prints samples for tools/bench.

usage: python.py PYTHON
       PYTHON  the folder of the Python package

Each workload is a process of its own, as in alloc.py.  In a row, dray is private
memory of the host, with shareable memory beside it.  If shareable memory has a
goal, it has a row of its own too.
"""

import os
import sys

from alloc import NUMPY, OWN, SHAREABLE, Machine, measure, show

WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "..", "..", "tests", "bench", "python",
                         "workloads.py")


def at_most(ratio):
    return (OWN, ratio)


# Name, unit, workload, the figure that it prints, goals of private and shareable
# memory.
ROWS = tuple(
    (f"left of 1.5 GiB of arrays of {size} bytes", "MiB", f"back {size}", "mib",
     ("-", 64), ("-", 64)) for size in (200_000, 2_000_000, 128 << 20)
) + (
    ("np.zeros(64 MiB)", "ns", "zeros 64", "ns", at_most(1.1), at_most(1.1)),
    ("np.zeros(64 MiB), written", "ns", "zeros-written 64", "ns",
     at_most(1.1), at_most(1.1)),
    ("np.empty(64 MiB), first write", "ns", "first 64", "ns", (), ()),
    ("dropping a million small arrays", "ns", "drop 1000000", "ns",
     at_most(1.05), at_most(1.05)),
    ("making and dropping them", "ns", "list 1000000", "ns", (), ()),
) + tuple(
    (f"aged: a*b + b*c - a*c, {size} MiB", "ns", f"aged {size}", "ns",
     at_most(1), at_most(1.15)) for size in (1, 4, 16, 64)
) + (
    ("np.empty(1000), statistics and hooks off", "ns", "watch-off 1000", "ns",
     at_most(1.1), ()),
    ("np.empty(1000) in dray.statistics()", "ns", "watch-statistics 1000", "ns", (), ()),
    ("np.empty(1000) in a hook of empty methods", "ns", "watch-hook 1000", "ns", (), ()),
    ("np.empty(1000) in dray.profiler()", "ns", "watch-profiler 1000", "ns", (), ()),
) + tuple(
    (f"Pool: {way} of {size} B", "ns", f"pool-{way} {size}", "ns", (),
     at_most(1.1))
    for size in (80, 800, 8000, 80000, 800000)
    for way in ("argument", "result"))


def main():
    machine = Machine("", sys.argv[1])
    rounds = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or None
    values = measure(
        [(name, unit, "lower", workload, key, NUMPY, "numpy", private)
         for name, unit, workload, key, private, _ in ROWS],
        lambda name, workload: machine.python(WORKLOADS, name, workload),
        rounds)
    for name, unit, workload, key, private, _ in ROWS:
        show(name, unit, "lower", values[workload][key], private)
    for name, unit, workload, key, _, shareable in ROWS:
        found = values[workload][key]
        if shareable:
            show(f"{name}: shareable", unit, "lower",
                 {"dray": found[SHAREABLE], OWN: found[OWN]}, shareable)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turns the output of cost.c and handler.c of tests/bench/driver into samples
for tools/bench, and chooses the comparisons.

usage: driver.py TIMES UNIT

In a row, dray is its reserved heap, against all peers.  Its other heaps have
rows of their own if they have a goal, against dma-heap's heap of the same memory.
"""

import statistics
import sys

import alloc

STEPS = ("allocate", "allocate and attach", "map", "first write",
         "map and first write", "sync of all", "sync of 4 KiB",
         "sync of 1 KiB", "unmap", "map to unmap", "free",
         "detach and free")
SIZES = ("4 KiB", "64 KiB", "1 MiB", "16 MiB", "64 MiB")
OURS = "dray reserved"
# Steps that must not take longer than dma-heap's.
NO_LONGER = ("allocate", "free", "detach and free")
DMA_HEAPS = ("dma-heap cma", "dma-heap system")
LIKE = {"dray cma": "dma-heap cma", "dray pages": "dma-heap system"}


def read(path):
    """Returns step and size -> contender -> times."""
    times = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.rstrip("\r\n").split("\t")
            if len(words) == 4:
                step, size, contender, value = words
                times.setdefault((step, size), {}).setdefault(
                    contender, []).append(float(value))
    return times


def show(name, values, goal=()):
    alloc.show(name, sys.argv[2], "lower", values, goal)


def faster(values, names):
    return min(names, key=lambda name: statistics.median(values[name]))


def main():
    times = read(sys.argv[1])
    for step in STEPS:
        for size in SIZES:
            values = times[step, size]
            goal = ()
            if step in NO_LONGER:
                goal = (faster(values, DMA_HEAPS), 1)
            elif (step, size) == ("map and first write", "16 MiB"):
                goal = ("dma-heap cma", 0.1)
            peers = {name: values[name] for name in sorted(values)
                     if name != OURS}
            show(f"{step}, {size}", {"dray": values[OURS], **peers}, goal)
    for step in NO_LONGER:
        for ours, peer in LIKE.items():
            for size in SIZES:
                values = times[step, size]
                if ours in values:
                    show(f"{step}, {size}: {ours.split()[1]}",
                         {"dray": values[ours], peer: values[peer]},
                         (peer, 1))
    values = times["map and first write", "16 MiB"]
    for ours, peer in ((OURS, "dma-heap system"), ("dray cma", "dma-heap cma"),
                       ("dray cma", "dma-heap system")):
        show(f"map and first write, 16 MiB: {ours.split()[1]}, {peer}",
             {"dray": values[ours], peer: values[peer]}, (peer, 0.1))
    show("sync of 4 KiB in 64 MiB",
         {"dray": times["sync of 4 KiB", "64 MiB"][OURS],
          "dray, all of it": times["sync of all", "64 MiB"][OURS]},
         ("dray, all of it", 0.01))
    values = times["memory for a moment", "64 KiB"]
    show("memory for a moment, 64 KiB",
         {"dray": values.pop("dray handler"), **values},
         (faster(values, DMA_HEAPS), 0.01))


if __name__ == "__main__":
    main()

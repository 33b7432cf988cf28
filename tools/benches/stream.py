# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turns the output of tests/bench/stream/frames.c and of
tests/bench/executor/executor_frames.c into samples for tools/bench.

usage: stream.py TIMES

Frames are lost at the slowest rate at which the peer loses some.
"""

import sys

import alloc

PEER = "dma-proxy"
SIZES = ("64 bytes", "4096 bytes")


def read(path):
    """Returns row -> contender -> values."""
    rows = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.rstrip("\r\n").split("\t")
            if len(words) == 3:
                row, contender, value = words
                rows.setdefault(row, {}).setdefault(contender, []).append(
                    float(value))
    return rows


def show_lost(rows, what):
    """Shows the losses at the slowest of the rates at which the peer has some."""
    paces = sorted((int(row.split()[-2]) for row in rows
                    if row.startswith(f"{what}, ")), reverse=True)
    for pace in paces:
        values = rows[f"{what}, {pace} us"]
        if max(values[PEER]) > 0:
            alloc.show(f"{what}: one frame each {pace} µs", "of 500", "lower",
                       values, ("-", 0))
            return
    sys.exit(f"{what}: {PEER} loses none at any rate")


def show_executor(rows):
    """Shows a stream executor's frames beside those of a plain ring."""
    for size in SIZES:
        found = rows[f"frame there and back, {size}"]
        for kind, name in (("any", "of any operands"), ("named", "of named operands")):
            alloc.show(f"executor: frame there and back, {name}, {size}", "instr.",
                       "lower", {"dray": found[kind], "ring": found["ring"]},
                       ("ring", 1.1))
        alloc.show(f"executor: frame there and back as packets, {size}", "instr.",
                   "lower", {"dray": found["packets"], "ring": found["ring"]})


def main():
    rows = read(sys.argv[1])
    for size in SIZES:
        row = f"frame that waits, {size}"
        alloc.show(row, "instr.", "lower", rows[row], (PEER, 0.5))
    for row in (f"calls for a frame that waits, {SIZES[1]}",
                "calls for a frame that is awaited"):
        alloc.show(row, "calls", "lower", rows[row], ("-", 1))
    row = "from the report to the reader"
    alloc.show(row, "instr.", "lower", rows[row])
    for what in ("lost", "lost by a late reader"):
        show_lost(rows, what)
    show_executor(rows)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turns the output of tests/bench/dmactl/timed.c into samples for tools/bench.

usage: dmactl.py HOST GUEST

Each row has a goal on the host.
"""

import sys

import alloc

MOST_TIME = 100  # ms
MOST_MEMORY = 20  # MiB


def read(path):
    """Returns command -> (microseconds, kibibytes) of each run."""
    runs = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.rstrip("\r\n").split("\t")
            if len(words) != 3:
                continue
            _, name = words[0].split(" ", 1)
            runs.setdefault(name, []).append(
                (float(words[1]), float(words[2])))
    return runs


def main():
    host, guest = read(sys.argv[1]), read(sys.argv[2])
    for name, runs in host.items():
        alloc.show(name, "ms", "lower", {"dray": [
            time / 1e3 for time, _ in runs]}, ("-", MOST_TIME))
        alloc.show(f"{name}: memory", "MiB", "lower", {"dray": [
            memory / 1024 for _, memory in runs]}, ("-", MOST_MEMORY))
    for name, runs in guest.items():
        # a nanosecond is an instruction there
        alloc.show(f"{name}, on the board", "million instr.", "lower", {
            "dray": [time / 1e3 for time, _ in runs]})
        alloc.show(f"{name}, on the board: memory", "MiB", "lower", {
            "dray": [memory / 1024 for _, memory in runs]})


main()

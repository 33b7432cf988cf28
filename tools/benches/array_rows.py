# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times calls on arrays, by dray and by NumPy, and prints samples for tools/bench.

usage: array_rows.py [--long] [WORD]...
       --long  all sizes, and items of all sizes
       WORD    only rows with it in their names

tests/bench/array/array_times.c contains the timed loop.  A row is a name, arrays, the
contenders and a goal: add it to copies() here, to array_calls.py, or, if it is timed
from Python, to array_python.py.
"""

import functools
import itertools
import math
import os
import statistics
import sys

import array_times

import alloc
import array_calls
import array_python
import turns
from array_layouts import KINDS, LARGE, MIB, PLANES, SIZES, Row, memory, sides

TEN = 50  # ns, of a call on ten elements
TYPES = {1: "u1", 2: "u2", 4: "f4", 8: "f8", 16: "c16"}


def copy_row(kind, item, size):
    """A copy; the goal is the straight copy for long axes, else NumPy."""
    count = (SIZES[size] or 10 * item) // item
    contenders = {"dray": "copy dray", "NumPy": "copy NumPy"}
    goal = ("NumPy", 1)
    if kind.startswith("transposed"):
        if not SIZES[size] and kind != "transposed rank 2":
            return None
        contenders["straight"] = "copy dray"
        rank = int(kind.split()[2].strip(","))
        if count * item >= MIB and min(sides(count, rank)) >= 16:
            goal = ("straight", 2 if item >= 4 else 4)
    elif kind == "contiguous":
        contenders["memcpy"] = "memcpy"
        if count * item >= LARGE:
            goal = ("memcpy", 1 / 0.9)
    return Row(f"{kind}, {size} of {item} B", count * item,
               lambda: KINDS[kind](count, TYPES[item]), contenders, goal,
               not SIZES[size])


# Without --long.
FEW_SIZES, FEW_ITEMS = ("10 elements", "1 MiB", "64 MiB"), (1, 4)


def copies(is_long):
    for item, kind, size in itertools.product(TYPES, KINDS, SIZES):
        if is_long or size in FEW_SIZES and item in FEW_ITEMS:
            row = copy_row(kind, item, size)
            if row:
                yield row


def planes():
    """Copies of planes; the goal is a multiple of memcpy()'s time."""
    for item, kind, size in itertools.product((1, 2, 4), PLANES, ("1 MiB", "64 MiB")):
        # Pictures have planes of whole cache lines.
        count = (SIZES[size] // item // 192 + 1) * 192
        yield Row(f"{kind}, {size} of {item} B", count * item,
                  lambda kind=kind, count=count, item=item: PLANES[kind](count, TYPES[item]),
                  {"dray": "copy dray", "NumPy": "copy NumPy", "memcpy": "memcpy"},
                  ("memcpy", 1.3))


def threads():
    """Copies by two threads; time that passes is measured."""
    for kind in ("contiguous", "transposed rank 2"):
        yield Row(f"{kind}, 64 MiB of 4 B, 2 threads", 64 * MIB,
                  lambda kind=kind: KINDS[kind](16 * MIB, "f4"),
                  {"dray": "copy dray, 2 threads, clock",
                   "NumPy": "copy NumPy, clock",
                   "1 thread": "copy dray, clock"}, ("1 thread", 1))


def straight(arrays):
    """Both of them without gaps, in the same order."""
    shape, dtype = arrays[0].shape, arrays[0].dtype
    return memory(shape, dtype), memory(shape, dtype)


def whole(arrays):
    """Both without gaps, and as long as they are with the gaps of either."""
    reach = max(abs(array.strides[0]) * len(array) if array.ndim == 1 else array.nbytes
                for array in arrays[:2])
    return memory(reach, "u1"), memory(reach, "u1")


def time_native(call, operands, loops):
    return array_times.time(call, loops, *operands)


def measure(row, rounds, time=time_native):
    """Returns contender -> ns, in each round each once."""
    arrays = row.make()
    others = {"straight": straight, "memcpy": whole}
    return turns.measure({
        name: functools.partial(
            time, call, others[name](arrays) if name in others else arrays)
        for name, call in row.contenders.items()}, rounds)


def show(row, found):
    """Prints a row: small arrays in ns, large arrays in GB/s.  A goal without a ratio
    bounds nothing."""
    peer, ratio = row.goal
    if row.bytes < LARGE:
        alloc.show(row.name, "ns", "lower", found, (peer, ratio or "-"))
        return
    rates = {name: [row.bytes / value for value in values]
             for name, values in found.items()}
    alloc.show(row.name, "GB/s", "higher", rates, (peer, 1 / ratio if ratio else "-"))


def show_mean(name, medians, *goal):
    if medians:
        mean = math.exp(statistics.fmean(
            math.log(each["NumPy"] / each["dray"])
            for _, each in medians))
        alloc.show(name, "× NumPy", "higher", {"dray": [mean]}, goal)


def show_ten(ten):
    """Prints the slowest of the calls on ten elements, name -> ns, and the count of
    slow calls."""
    if ten:
        slowest = max(ten, key=ten.get)
        alloc.show(f"slowest call on ten elements: {slowest}", "ns", "lower",
                   {"dray": [ten[slowest]]}, ("-", TEN))
        alloc.show(f"calls on ten elements above {TEN} ns, of {len(ten)}",
                   "calls", "lower",
                   {"dray": [sum(each > TEN for each in ten.values())]},
                   ("-", 0))


def run(rows, words, rounds, time=time_native):
    """Measures and prints rows; returns each with its medians."""
    medians = []
    for row in rows:
        if all(word in row.name for word in words):
            found = measure(row, rounds, time)
            show(row, found)
            medians.append((row, {name: statistics.median(values)
                                  for name, values in found.items()}))
    return medians


def main():
    is_long = "--long" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--long"]
    rounds = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or turns.ROUNDS
    native = run(itertools.chain(copies(is_long), planes(), threads(),
                                 array_calls.rows()), words,
                 rounds)
    show_mean("geometric mean of all rows from C", native, "-", 2)
    show_ten({row.name: each["dray"] for row, each in native
              if row.is_ten})
    python = run(array_python.rows(), words, rounds, array_python.time)
    show_mean("geometric mean of all rows from Python", python)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times calls on arrays, by dray and by NumPy, and prints samples for tools/bench.

usage: array_rows.py [--long] [WORD]...
       --long  all sizes, and items of all sizes
       WORD    only rows with it in their names

tests/bench/array/array_times.c has the timed loop.  A row is a name, arrays, the
contenders and a goal: add it to rows().
"""

import collections
import itertools
import math
import os
import statistics
import sys

import array_times
import numpy as np

import alloc

ENOUGH = 5e6  # ns, of a sample
ROUNDS = 7
KIB, MIB = 1 << 10, 1 << 20
# Rows of at least that many bytes are in GB/s.
LARGE = MIB
TYPES = {1: "u1", 2: "u2", 4: "f4", 8: "f8", 16: "c16"}

# make() returns dst and src.  contenders maps names to calls of array_times;
# "straight" gets arrays without gaps.
Row = collections.namedtuple("Row", "name bytes make contenders goal")


def memory(shape, dtype):
    """Returns an array with all its pages."""
    made = np.empty(shape, dtype)
    made.fill(1)
    return made


def contiguous(count, dtype):
    return memory(count, dtype), memory(count, dtype)


def strided(count, dtype):
    return memory(count, dtype), memory(2 * count, dtype)[::2]


def spread(count, dtype):
    return memory(2 * count, dtype)[::2], memory(count, dtype)


def backwards(count, dtype):
    return memory(count, dtype), memory(count, dtype)[::-1]


def broadcast(count, dtype):
    """Repeats a row of 1/16 of the elements, and at least one."""
    rows = 16 if count >= 256 else 2
    row = memory(count // rows, dtype)
    return (memory((rows, count // rows), dtype),
            np.broadcast_to(row, (rows, count // rows)))


def repeated(count, dtype):
    """Repeats one element."""
    return memory(count, dtype), np.broadcast_to(memory((), dtype), (count,))


def sides(count, rank):
    """Splits a power of two into such axes, the first ones longest; ten is 5 × 2."""
    if count == 10:
        return (5, 2) + (1,) * (rank - 2)
    bits = count.bit_length() - 1
    return tuple(1 << (bits + rank - 1 - axis) // rank for axis in range(rank))


def transposed(rank, odd=0):
    def make(count, dtype):
        shape = tuple(side - odd for side in sides(count, rank))
        return memory(shape[::-1], dtype), memory(shape, dtype).T
    return make


KINDS = {
    "contiguous": contiguous,
    "strided": strided,
    "spread": spread,
    "reversed": backwards,
    "broadcast": broadcast,
    "one element": repeated,
    **{f"transposed rank {rank}": transposed(rank) for rank in range(2, 7)},
    "transposed rank 2, odd": transposed(2, 1),
}
SIZES = {"10 elements": None, "32 KiB": 32 * KIB, "1 MiB": MIB,
         "16 MiB": 16 * MIB, "64 MiB": 64 * MIB}


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
               lambda: KINDS[kind](count, TYPES[item]), contenders, goal)


# Without --long.
FEW_SIZES, FEW_ITEMS = ("10 elements", "1 MiB", "64 MiB"), (1, 4)


def rows(is_long):
    for item, kind, size in itertools.product(TYPES, KINDS, SIZES):
        if is_long or size in FEW_SIZES and item in FEW_ITEMS:
            row = copy_row(kind, item, size)
            if row:
                yield row


def straight(arrays):
    """Both of them without gaps, in the same order."""
    shape, dtype = arrays[0].shape, arrays[0].dtype
    return memory(shape, dtype), memory(shape, dtype)


def measure(row, rounds):
    """Returns contender -> ns, in each round each once."""
    arrays = row.make()
    operands = {name: straight(arrays) if name == "straight" else arrays
                for name in row.contenders}
    found = {name: [] for name in row.contenders}
    loops = {}
    for name, call in row.contenders.items():
        once = array_times.time(call, *operands[name], 1)
        if once < ENOUGH / 100:
            once = array_times.time(call, *operands[name], 10)
        loops[name] = max(1, int(ENOUGH / once))
    for number in range(rounds):
        for name in alloc.turns(row.contenders, number):
            found[name].append(array_times.time(
                row.contenders[name], *operands[name], loops[name]))
    return found


def show(row, found):
    """Prints a row: small ones in ns, large ones in GB/s."""
    peer, ratio = row.goal
    if row.bytes < LARGE:
        alloc.show(row.name, "ns", "lower", found, (peer, ratio))
        return
    rates = {name: [row.bytes / value for value in values]
             for name, values in found.items()}
    alloc.show(row.name, "GB/s", "higher", rates, (peer, 1 / ratio))


def main():
    is_long = "--long" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--long"]
    rounds = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or ROUNDS
    ratios = []
    for row in rows(is_long):
        if not all(word in row.name for word in words):
            continue
        found = measure(row, rounds)
        show(row, found)
        ratios.append(statistics.median(found["NumPy"])
                      / statistics.median(found["dray"]))
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    alloc.show("geometric mean of all rows", "× NumPy", "higher",
               {"dray": [mean]}, ("-", 2))


if __name__ == "__main__":
    main()

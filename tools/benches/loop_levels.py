# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the gain of lists of loops by each level of the processor's instructions.

    loop_levels.py FILE...

FILE is the output of loop-levels; of several, the least time of each row counts.  Prints a row of
a table for each list: the gain of AVX2 over the baseline, and of AVX-512 over the best level
below that stays, each as the geometric mean of all loops, and the loop that gains most.  A loop's
gain is the geometric mean of its layouts.
"""
import math
import sys

# A level stays if its mean is at least the first, or a loop gains more than the second.
MEAN, MOST = 1.10, 1.30


def read_times(paths):
    """{list: {(loop, layout): [nanoseconds of each level]}}"""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                name, loop, layout, *times = line.rstrip("\n").split("\t")
                times = [float(time) for time in times]
                rows = found.setdefault(name, {})
                rows[loop, layout] = list(map(min, rows.get((loop, layout), times), times))
    return found


def mean_of(gains):
    return math.exp(sum(map(math.log, gains)) / len(gains))


def gain_of(rows, below, level):
    """(geometric mean, the largest of a loop over its layouts, this loop)"""
    loops = {}
    for (loop, _), times in rows.items():
        loops.setdefault(loop, []).append(times[below] / times[level])
    gains = {loop: mean_of(each) for loop, each in loops.items()}
    best = max(gains, key=gains.get)
    return mean_of(gains.values()), gains[best], best


def main(paths):
    print("| list | AVX2: mean, most | AVX-512: mean, most | levels that stay |\n|---|---|---|---|")
    for name, rows in read_times(paths).items():
        below, kept, cells = 0, ["baseline"], []
        for level, word in ((1, "AVX2"), (2, "AVX-512")):
            mean, most, loop = gain_of(rows, below, level)
            cells.append(f"{mean:.2f}, {most:.2f} ({loop})")
            if mean >= MEAN or most > MOST:
                below = level
                kept.append(word)
        print(f"| {name} | {' | '.join(cells)} | {', '.join(kept)} |")


main(sys.argv[1:])

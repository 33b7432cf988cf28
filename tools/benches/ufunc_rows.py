# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times ufuncs of dray and of NumPy and prints samples for tools/bench.

usage: ufunc_rows.py [--long] [--avx2] [--bound] [WORD]...
       --long   all elementary functions
       --avx2   only rows from C, with ", AVX2" in their names: the caller keeps both
                libraries from longer vectors
       --bound  elementary functions get a goal too
       WORD     only rows with it in their names

tests/bench/array/ufunc_times.c contains the timed loop.  A row is a name, arrays,
contenders and a goal: add it to ufunc_calls.py, if it is a formula to ufunc_recorded.py,
or, if it is timed from Python, to ufunc_python.py.
"""

import os
import sys
import warnings

import ufunc_times

import array_rows
import turns
import ufunc_calls
import ufunc_python
import ufunc_recorded

MEAN = 1.5
RATIO_ALONE = ("NumPy", None)
AVX2 = ", AVX2"
OPTIONS = ("--long", "--avx2", "--bound")


def time(call, operands, loops):
    """Returns ns of a call; a call is a contender and a ufunc."""
    contender, name = call
    out, inputs, *axis = operands
    return ufunc_times.time(contender, name, loops, out, inputs, *axis)


def with_avx2(rows):
    return (row._replace(name=row.name + AVX2) for row in rows)


def is_elementary(row):
    return row.name.split()[0] in f"{ufunc_calls.ELEMENTARY} {ufunc_calls.MORE}".split()


def show_avx2(is_long, words, rounds):
    found = array_rows.run(with_avx2(ufunc_calls.rows(is_long, ufunc_calls.NUMPY)), words,
                           rounds, time)
    array_rows.run(with_avx2(ufunc_recorded.rows()), words, rounds, ufunc_recorded.time)
    array_rows.show_mean("geometric mean of all rows from C" + AVX2, found)
    array_rows.show_mean("geometric mean of elementary functions" + AVX2,
                         [each for each in found if is_elementary(each[0])])


def main():
    options = [word for word in sys.argv[1:] if word in OPTIONS]
    words = [word for word in sys.argv[1:] if word not in OPTIONS]
    is_long = "--long" in options
    rounds = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or turns.ROUNDS
    if "--avx2" in options:
        show_avx2(is_long, words, rounds)
        return
    goal = ufunc_calls.NUMPY if "--bound" in options else RATIO_ALONE
    native = array_rows.run(ufunc_calls.rows(is_long, goal), words, rounds, time)
    array_rows.show_mean("geometric mean of all rows from C", native, "-", MEAN)
    array_rows.show_ten({row.name: each["dray"] for row, each in native if row.is_ten})
    array_rows.run(ufunc_recorded.rows(), words, rounds, ufunc_recorded.time)
    python = array_rows.run(ufunc_python.rows(), words, rounds, ufunc_python.time)
    array_rows.show_mean("geometric mean of all rows from Python", python)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

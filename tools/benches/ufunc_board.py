# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts instructions of elementary functions of dray and of NumPy on the emulated
board, and prints samples for tools/bench.

usage: ufunc_board.py [FUNCTION]...

The board's clock counts a nanosecond for each instruction.  Both are called from Python,
on the same arrays; there are so many elements that the call itself is below a hundredth.
"""

import sys
import time
import warnings

import dray
import numpy as np

import alloc
from ufunc_calls import ELEMENTARY, MORE, contiguous

COUNT = 16384
ROUNDS = 3
# The goals, of each type.
GOALS = {"f4": 0.5, "f8": "-"}


def instructions(function, out, inputs):
    begin = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
    function(*inputs, out=out)
    return (time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - begin) / COUNT


def main():
    names = sys.argv[1:] or f"{ELEMENTARY} {MORE} sqrt".split()
    warnings.simplefilter("ignore")
    for name in names:
        for dtype, goal in GOALS.items():
            out, inputs = contiguous(name, dtype, COUNT)
            found = {}
            for contender, module in (("dray", dray), ("NumPy", np)):
                function = getattr(module, name)
                function(*inputs, out=out)  # the first call finds symbols
                found[contender] = [instructions(function, out, inputs)
                                    for _ in range(ROUNDS)]
            alloc.show(f"{name} {dtype}, on the board", "instr.", "lower", found,
                       ("NumPy", goal))


if __name__ == "__main__":
    main()

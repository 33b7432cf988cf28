# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures elementary functions of the library in DRAY_BUILD beside NumPy's, in one
process: nanoseconds for each element of contiguous arrays that a cache holds, the best of
many turns.

    DRAY_BUILD=build python3 tests/elementary/speed.py [FUNCTION]...

Without AVX-512: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F and
NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"."""

import ctypes
import os
import sys
import time
import warnings

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "unit"))
import test_elementary_numpy as dray  # noqa: E402

FAST = 1
COUNT = 16384
TURNS = 40


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("dtype", ctypes.c_uint64),
                ("signature", ctypes.c_void_p),
                ("where", ctypes.c_void_p), ("order", ctypes.c_char),
                ("casting", ctypes.c_uint8), ("weak", ctypes.c_uint16),
                ("flags", ctypes.c_uint32), ("threads", ctypes.c_uint),
                ("wraps", ctypes.c_void_p)]


def arguments(name, letter):
    """Numbers that the function has results for."""
    random = np.random.default_rng(1)
    low, high = {"arccosh": (1, 100), "exp": (-10, 10), "exp2": (-10, 10),
                 "sinh": (-10, 10), "cosh": (-10, 10), "sin": (-10, 10),
                 "cos": (-10, 10), "tan": (-10, 10)}.get(name, (0.05, 0.95))
    numbers = random.uniform(low, high, (2, COUNT)).astype(letter)
    return list(numbers[:getattr(np, name).nin])


def best(call):
    least = float("inf")
    for _ in range(TURNS):
        begin = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
        call()
        least = min(least, time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - begin)
    return least / COUNT


def of_dray(name, inputs, out, flags):
    ufunc = dray.library.dray_ufunc_find(name.encode())
    ins, outs = [dray.view_of(x) for x in inputs], [dray.view_of(out)]
    options = Options(flags=flags)
    ins, outs = (dray.pointers(ins), ins), (dray.pointers(outs), outs)

    def call():
        dray.library.dray_ufunc_call(ufunc, ins[0], outs[0], ctypes.byref(options), None)

    call()
    return best(call)


def main():
    names = sys.argv[1:] or dray.ONE + ["arctan2", "hypot", "power", "logaddexp"]
    print("| function | type | dray | fast | NumPy | dray / NumPy | fast / NumPy |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        for letter in "fd":
            inputs = arguments(name, letter)
            out = np.empty(COUNT, letter)
            numpy_function = getattr(np, name)
            exact, fast = (of_dray(name, inputs, out, flags) for flags in (0, FAST))
            peer = best(lambda: numpy_function(*inputs, out=out))
            print(f"| `{name}` | float{out.itemsize * 8} | {exact:.2f} | {fast:.2f} | "
                  f"{peer:.2f} | {exact / peer:.2f} | {fast / peer:.2f} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What NumPy takes with one handler.

usage: numpy_times.py numpy|dray|dray-shareable|kept WORKLOAD [NUMBER]

    empty N        np.empty(N), made and dropped, in ns
    exp N          np.exp() of an array of N doubles that was made just before
                   the result's memory is, in ns
    expression N   a*b + b*c - a*c with arrays of N MiB, times a second

With "kept", the expression's arrays are made before and used again by out=:
what the arithmetic takes, whoever allocates.

Times are of the thread's processor.
"""

import sys
import time

import numpy as np

ENOUGH = 0.3  # seconds


def handler_begin(name):
    """Every array from now on has it."""
    if name not in ("numpy", "kept"):
        import dray
        expected = dray.install(
            shareable=name == "dray-shareable").pool.handler_name
        if dray.handler_name(np.empty(1)) != expected:
            sys.exit(f"the handler is not {expected}")


def empty(length):
    count, make = 200000, np.empty
    for _ in range(count // 50):
        make(length)
    rounds = range(count)
    begin = time.thread_time_ns()
    for _ in rounds:
        make(length)
    print("ns", (time.thread_time_ns() - begin) / count)


def exponential(length):
    """With the memory that a program gets which has done nothing before."""
    array = np.ones(length)
    result = np.exp(array)
    count, exp = max(10000000 // length, 3), np.exp
    rounds = range(count)
    begin = time.thread_time_ns()
    for _ in rounds:
        del result
        result = exp(array)
    print("ns", (time.thread_time_ns() - begin) / count)


def evaluate(a, b, c):
    return a * b + b * c - a * c


def evaluate_kept(a, b, c, result, other):
    np.multiply(a, b, out=result)
    np.multiply(b, c, out=other)
    np.add(result, other, out=result)
    np.multiply(a, c, out=other)
    np.subtract(result, other, out=result)


def expression(mebibytes, kept):
    length = (mebibytes << 20) // 8
    a = np.linspace(0, 1, length)
    arrays = [a, a + 1, a + 2]
    run = evaluate
    if kept:
        run = evaluate_kept
        arrays += [np.zeros(length), np.zeros(length)]
    for _ in range(3):
        run(*arrays)
    count, spent, begin = 0, 0.0, time.thread_time()
    while spent < ENOUGH or count < 3:
        run(*arrays)
        count += 1
        spent = time.thread_time() - begin
    print("rate", count / spent)


def main():
    handler, workload, number = sys.argv[1:]
    handler_begin(handler)
    if workload == "expression":
        expression(int(number), handler == "kept")
    elif workload == "exp":
        exponential(int(number))
    else:
        empty(int(number))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Time or memory of a program with one handler.

usage: workloads.py numpy|dray|dray-shareable WORKLOAD [NUMBER]

    back N             arrays of N bytes, 1.5 GiB together, written and dropped:
                       how many MiB more the process has then
    zeros N, zeros-written N
                       np.zeros() of N MiB in a process that has written as much
                       before; untouched, or with a word written in each page
    first N            np.empty() of N MiB that were never used, a word written
                       in each page
    drop N             dropping a list of N arrays of 16 to 80 bytes
    list N             making and dropping it
    aged N             a*b + b*c - a*c with arrays of N MiB, in a process that
                       has dropped an array of 31 MiB
    watch-off N, watch-statistics N, watch-hook N, watch-profiler N
                       np.empty() of N doubles, made and dropped, after each tool of
                       dray that watches memory was on; while one is on
    pool-argument N, pool-result N
                       an array of N bytes to or from a worker of
                       multiprocessing.Pool, in it and in the program

Times are of the processor, in ns.
"""

import contextlib
import functools
import multiprocessing
import os
import resource
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "alloc"))
from numpy_times import evaluate, handler_begin  # noqa: E402

MIB = 1 << 20
PAGE = 4096
ENOUGH = 300_000_000  # ns
SENT = 20 * MIB  # bytes, in 200 to 5000 arrays
CALLS = 1000
AGED = 31 * MIB  # glibc takes blocks up to so much from its heap from then on


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


def back(size):
    before = resident()
    arrays = [np.ones(size, np.uint8) for _ in range(1536 * MIB // size)]
    assert resident() - before > 1520 * MIB
    del arrays
    print("mib", (resident() - before) / MIB)


def timed(run, calls=1):
    """The time of each of the @calls in @run, called as often as it takes."""
    run()
    count, begin, spent = 0, time.thread_time_ns(), 0
    while spent < ENOUGH or count < 3:
        run()
        count += 1
        spent = time.thread_time_ns() - begin
    print("ns", spent / count / calls)


def zeros(mebibytes, write):
    np.ones(mebibytes * MIB, np.uint8)

    def run():
        array = np.zeros(mebibytes * MIB, np.uint8)
        if write:
            array[::PAGE] = 1
    timed(run)


def first(mebibytes):
    begin = time.thread_time_ns()
    array = np.empty(mebibytes * MIB, np.uint8)
    array[::PAGE] = 1
    print("ns", time.thread_time_ns() - begin)


def small(count, whole):
    sizes = [number % 9 + 2 for number in range(count)]
    begin = time.thread_time_ns()
    arrays = [np.empty(size) for size in sizes]
    if not whole:
        begin = time.thread_time_ns()
    del arrays
    print("ns", (time.thread_time_ns() - begin) / count)


def aged(mebibytes):
    np.ones(AGED, np.uint8)
    a = np.linspace(0, 1, mebibytes * MIB // 8)
    b, c = a + 1, a + 2
    timed(lambda: evaluate(a, b, c))


def watch(size, tool, handler):
    tools = {}
    if handler != "numpy":
        import dray
        tools = {"statistics": dray.statistics, "hook": dray.MemoryHook,
                 "profiler": dray.profiler}
    for begin in tools.values():
        with begin():
            np.empty(size)

    def run():
        for _ in range(CALLS):
            np.empty(size)
    with tools.get(tool, contextlib.nullcontext)():
        timed(run, CALLS)


def first_byte(array):
    return int(array[0])


def ones(size):
    return np.ones(size, np.uint8)


def processor_time():
    """Of this process and of those that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in
               (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def pool(size, arguments, handler):
    """Without the time that a pool takes which is sent one byte."""
    def run(function, items):
        begin = processor_time()
        with multiprocessing.get_context("fork").Pool(
                2, handler_begin, (handler,)) as workers:
            workers.map(function, items)
            workers.close()
            workers.join()
        return processor_time() - begin
    count = min(max(SENT // size, 200), 5000)
    none = min(run(first_byte, [b"1"]) for _ in range(3))
    if arguments:
        spent = run(first_byte, [ones(size) for _ in range(count)])
    else:
        spent = run(ones, [size] * count)
    print("ns", (spent - none) / count * 1e9)


def main():
    handler, workload, number = sys.argv[1:]
    number = int(number)
    handler_begin(handler)
    {"back": lambda: back(number),
     "zeros": lambda: zeros(number, False),
     "zeros-written": lambda: zeros(number, True),
     "first": lambda: first(number),
     "drop": lambda: small(number, False),
     "list": lambda: small(number, True),
     "aged": lambda: aged(number),
     **{f"watch-{tool}": functools.partial(watch, number, tool, handler)
        for tool in ("off", "statistics", "hook", "profiler")},
     "pool-argument": lambda: pool(number, True, handler),
     "pool-result": lambda: pool(number, False, handler)}[workload]()


if __name__ == "__main__":
    main()

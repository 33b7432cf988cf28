# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the programs of tests/bench/alloc in turns and prints samples for
tools/bench.

usage: alloc.py PROGRAMS PYTHON [--long]
       PROGRAMS  the folder with a program for each contender
       PYTHON    the folder of the Python package
       --long    NumPy's core suite too

Each workload of each contender is a process of its own.  In every round, all
contenders run a workload in turn.

In a row, dray is a pool over private memory of the host.  Shareable memory is a
contender, with rows of its own if it has a goal.
"""

import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "..", "tests", "bench", "alloc")
LIMIT = 900  # seconds, for one process

SHAREABLE, MIMALLOC, OWN = "dray shareable", "mimalloc", "NumPy's own"
PUBLISHED = "dray, publishing"
FOREIGN = {SHAREABLE: "dray-shareable", MIMALLOC: "mimalloc",
           "jemalloc": "jemalloc",
           "jemalloc, metadata out": "jemalloc-out",
           "jemalloc, metadata out, tcache": "jemalloc-tcache",
           "memkind fixed": "memkind", "TBB fixed_pool": "tbb"}
HEAPS = {"glibc malloc": "glibc", "glibc, 64-byte aligned": "glibc-aligned"}
# Contenders with a region, all contenders, and the clock alone.
REGIONAL = {"dray": "dray", **FOREIGN}
ALL = {"dray": "dray", PUBLISHED: "dray-published", SHAREABLE: "dray-shareable",
       **HEAPS, **FOREIGN}
CLOCKED = {**ALL, "no allocator": "none"}
NUMPY = {"dray": "dray", SHAREABLE: "dray-shareable", OWN: "numpy"}
# Adds the arithmetic without an allocator.
REUSED = {**NUMPY, "no allocator": "kept"}

ROUNDS = {"time": 9, "room": 3, "worst": 3, "numpy": 7, "suite": 3}
IDLE = 4
BEST = "best"
# Goals of shareable memory that differ.
SHAREABLE_GOALS = {"mixed": 1.6}


def ns(name, workload, contenders, kind, *goal, key="ns"):
    """A row in nanoseconds."""
    return name, "ns", "lower", workload, key, contenders, kind, goal


def fill(threads, where=""):
    """The rows of a workload that fills a region."""
    return tuple(
        (name + where, unit, "higher", f"fill {threads}", key, REGIONAL, "room",
         goal) for name, unit, key, goal in (
             ("fill", "%", "filled", ("-", 99)),
             ("fill after 6 rounds", "%", "refilled", ()),
             ("largest after freeing all", "MiB", "largest", ("-", 1024))))


# Name, unit, better, workload and printed figure, contenders, rounds, goal.
PROGRAM_ROWS = (
    ns("pair, 64 B", "pair 64", ALL, "time", MIMALLOC, 0.8),
    ns("pair, 4 KiB", "pair 4096", ALL, "time", MIMALLOC, 0.5),
    ns("pair, 1 MiB", "pair 1048576", ALL, "time", BEST, 1),
    ns("mixed", "mixed", ALL, "time", MIMALLOC, 1.3),
    ns("pair, 64 B, 2 threads", "pair-both 64", ALL, "time"),
    ns("mixed, 2 threads", "mixed-both", ALL, "time", MIMALLOC, 1.6),
    ns("freed by another thread", "pass", ALL, "time", MIMALLOC, 1.2),
    *fill(0), *fill(IDLE, f", {IDLE} idle threads"),
    (f"kept by {IDLE} idle threads", "KiB", "lower", "kept", "kib", REGIONAL,
     "room", ()),
    ("lines dirtied", "lines", "lower", "lines", "lines", REGIONAL, "room",
     ("-", 0)),
    ns("worst case, p99.99", "worst", CLOCKED, "worst", "-", 1000, key="p99.99"),
    ns("worst case, maximum", "worst", CLOCKED, "worst", key="most"),
    ns("worst case, p99.99 of one run", "worst", CLOCKED, "worst", key="once"),
)
NUMPY_ROWS = (
    ns("np.empty(10)", "empty 10", NUMPY, "numpy"),
    ns("np.empty(100000)", "empty 100000", NUMPY, "numpy"),
    ns("np.exp(x), 1000 doubles", "exp 1000", NUMPY, "numpy"),
    ns("np.exp(x), 1024 doubles", "exp 1024", NUMPY, "numpy"),
    ns("np.exp(x), 131072 doubles", "exp 131072", NUMPY, "numpy"),
    *((f"a*b + b*c - a*c, {size} MiB", "a second", "higher",
       f"expression {size}", "rate", REUSED, "numpy",
       (OWN, 3 if size <= 4 else 1.3 if size <= 16 else 0.95))
      for size in (1, 2, 4, 8, 16, 32, 64)),
)
SUITE_ROWS = (
    ("NumPy's core suite", "s", "lower", "suite", "s", NUMPY, "suite",
     (OWN, 1)),
)
# Differences of two workloads.
DIFFERENCES = {"kept": ("reach 0", f"reach {IDLE}")}


class Failed(Exception):
    """A process failed."""


def ended(status):
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def figures(command, environment=None):
    """Runs a command; returns its lines of name and value as a dictionary."""
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=LIMIT, check=False)
    if done.returncode:
        raise Failed(f"{ended(done.returncode)} {done.stderr.strip()}")
    return {name: float(value) for name, value in
            (line.split() for line in done.stdout.splitlines())}


class Machine:
    """Runs workloads on this machine."""

    def __init__(self, programs, python):
        self.programs = programs
        self.environment = dict(
            os.environ, DRAY_BACKEND="host", PYTHONDONTWRITEBYTECODE="1",
            PYTHONPATH=os.pathsep.join([TESTS, python]))

    def program(self, name, workload):
        if workload not in DIFFERENCES:
            return figures([os.path.join(self.programs, f"alloc-{name}"),
                            *workload.split()])
        whole, part = (self.program(name, each)
                       for each in DIFFERENCES[workload])
        return {key: whole[key] - part[key] for key in whole}

    def python(self, program, name, workload):
        return figures([sys.executable, program, name, *workload.split()],
                       self.environment)

    def numpy(self, name, workload):
        return self.python(os.path.join(TESTS, "numpy_times.py"), name,
                           workload)

    def suite(self, name, _workload):
        """Measures user and system time of the suite; counts passed tests."""
        import numpy
        folder = os.path.dirname(numpy.__file__)
        command = [sys.executable, "-m", "pytest", "-q", "-p",
                   "numpy_handler", "-p", "no:cacheprovider", "-W", "ignore",
                   "-m", "not slow", f"--rootdir={folder}",
                   os.path.join(folder, "core", "tests")]
        before = os.times()
        done = subprocess.run(
            command, env={**self.environment, "DRAY_BENCH_HANDLER": name},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        after = os.times()
        passed = re.search(r"(\d+) passed", done.stdout)
        if done.returncode not in (0, 1) or not passed:
            raise Failed(f"{ended(done.returncode)} {done.stdout[-2000:]}")
        return {"s": after.children_user + after.children_system
                - before.children_user - before.children_system,
                "passed": float(passed[1])}


def turns(names, number):
    """Rotates the order, so that each comes first once."""
    names = list(names)
    number %= len(names)
    names = names[number:] + names[:number]
    return names[::-1] if number % 2 else names


def measure(rows, run, rounds=None):
    """Returns workload -> printed figure -> contender -> values."""
    values, given_up = {}, set()
    workloads = dict.fromkeys((row[3], row[6]) for row in rows)
    contenders = {row[3]: row[5] for row in rows}
    most = max(ROUNDS[kind] for _, kind in workloads)
    for number in range(rounds or most):
        for workload, kind in workloads:
            if number >= ROUNDS[kind]:
                continue
            for name in turns(contenders[workload], number):
                if (workload, name) in given_up:
                    continue
                try:
                    found = run(contenders[workload][name], workload)
                except (Failed, subprocess.TimeoutExpired) as error:
                    print(f"    {name}, {workload}: {error}", file=sys.stderr)
                    given_up.add((workload, name))
                    continue
                for key, value in found.items():
                    values.setdefault(workload, {}).setdefault(
                        key, {}).setdefault(name, []).append(value)
    return values


def show(name, unit, better, values, goal=()):
    print("row", name, unit, better, *goal, sep="\t")
    for contender, samples in values.items():
        for sample in samples:
            print("sample", name, contender, sample, sep="\t")


def fastest(values):
    """Finds the best peer, excluding dray's other memory."""
    return min((name for name in values if name not in ("dray", PUBLISHED, SHAREABLE)),
               key=lambda name: statistics.median(values[name]))


def named(goal, values):
    return (fastest(values), *goal[1:]) if goal[:1] == (BEST,) else goal


def print_rows(rows, values):
    for name, unit, better, workload, key, contenders, _, goal in rows:
        found = values[workload][key]
        show(name, unit, better,
             {each: found[each] for each in contenders if each in found},
             named(goal, found))


def print_shareable(rows, values):
    for name, unit, better, workload, key, _, _, goal in rows:
        if not goal:
            continue
        found = values[workload][key]
        peer = named(goal, found)
        few = {"dray": found[SHAREABLE]}
        if peer[0] in found:
            few[peer[0]] = found[peer[0]]
        if name in SHAREABLE_GOALS:
            peer = peer[0], SHAREABLE_GOALS[name]
        show(f"{name}: shareable", unit, better, few, peer)


def check_suites(values):
    """Refuses times of different tests; tolerates three that need much memory."""
    passed = {name: counts for name, counts in
              values["suite"]["passed"].items()}
    every = [count for counts in passed.values() for count in counts]
    if max(every) - min(every) > 3:
        sys.exit(f"not the same tests pass: {passed}")


def main():
    programs, python, *more = sys.argv[1:]
    machine = Machine(programs, python)
    groups = [(PROGRAM_ROWS, machine.program), (NUMPY_ROWS, machine.numpy)]
    if "--long" in more:
        groups.append((SUITE_ROWS, machine.suite))
    # Fewer rounds for a trial of the programs.
    rounds = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or None
    measured = [(rows, measure(rows, run, rounds)) for rows, run in groups]
    for rows, values in measured:
        if rows is SUITE_ROWS:
            check_suites(values)
        print_rows(rows, values)
    for rows, values in measured:
        print_shareable(rows, values)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tests of a package, without dray's handler and with it, compared.

Compares what became of each test: not the number of failures but the whole list,
because some tests take a MemoryError for an expected failure.  The last line
counts these tests: passed means the same good outcome in both runs.

`dray` must be found by Python: PYTHONPATH=BUILD/userspace/python.
"""
import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# xpassed: a failure was expected, with and without the handler in vain.
GOOD = ("passed", "xfailed", "xpassed")


def lines_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            yield line


def allowed_differences(backend):
    """{test: (outcome without, outcome with, reason)}"""
    allowed = {}
    for line in lines_of(HERE / "differences.txt"):
        name, where, without, with_, reason = (
            part.strip() for part in line.split("|", 4))
        if backend.startswith(where):
            allowed[name] = (without, with_, reason)
    return allowed


def memory_for_tests():
    """What tests that ask for gigabytes are told: the same in each run."""
    with open("/proc/meminfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return f"{int(line.split()[1])} kib"
    return "0"


MEMORY = memory_for_tests()


def package_of(tests):
    """The one that the paths of some tests begin with."""
    return importlib.import_module(tests[0].split("/")[0])


def run_once(tests, backend, options):
    """The plug-in's report of some tests in a process of their own, and what
    it said.  `backend`: None is without the handler."""
    folder = pathlib.Path(package_of(tests).__file__).parents[1]
    with tempfile.TemporaryDirectory(prefix="dray-outcomes-") as scratch:
        report = pathlib.Path(scratch, "report.json")
        environment = dict(
            os.environ, DRAY_OUTCOMES_REPORT=str(report),
            DRAY_OUTCOMES_HANDLER="1" if backend else "0",
            PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0",
            PYTHONPATH=os.pathsep.join(
                [str(HERE)] + [p for p in
                               [os.environ.get("PYTHONPATH")] if p]))
        if backend:
            environment["DRAY_BACKEND"] = backend
        for package in ("NPY", "SCIPY"):
            environment.setdefault(f"{package}_AVAILABLE_MEM", MEMORY)
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short",
                   "-p", "outcomes", "-p", "no:cacheprovider",
                   "-W", "ignore", "-m", "not slow", f"--rootdir={folder}",
                   *options]
        command += [str(folder / test) for test in tests]
        done = subprocess.run(command, cwd=scratch, env=environment,
                              stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        # 1 is a failed test; a crash at the very end leaves a report too.
        if not report.exists() or done.returncode not in (0, 1):
            print(done.stdout[-6000:])
            print(f"FAILED: {tests[0]} on {backend or 'NumPy'}: pytest ended "
                  f"with {done.returncode}")
            return None, done.stdout
        return json.loads(report.read_text(encoding="utf-8")), done.stdout


def evidence(report, backend, least_peak):
    """Sentences on why the run with the handler does not count; or none."""
    stats, wrong = report["stats"], []
    if not report["handler"].startswith("dray "):
        wrong.append(f"the handler was {report['handler']}")
    shared = report["memory"].startswith("/memfd:")
    if backend.startswith("host") and shared != (backend == "host:shareable"):
        wrong.append(f"on {backend} the memory was \"{report['memory']}\"")
    if report["strays"]:
        wrong.append(f"{len(report['strays'])} tests began without the "
                     f"handler, first {report['strays'][0]}")
    if report["probed"] + len(report["strays"]) != len(report["outcomes"]):
        wrong.append(f"only {report['probed']} of "
                     f"{len(report['outcomes'])} tests were probed")
    if stats["peak"] < least_peak:
        wrong.append(f"the pool's peak was {stats['peak']} bytes, less than "
                     f"{least_peak}")
    if stats["bad_frees"]:
        wrong.append(f"{stats['bad_frees']} bad frees")
    return wrong


def compare(without, with_, allowed):
    """Prints what differs; the counts of passed, failed and skipped.  Where
    `without` is None, what each test did is taken for what it should."""
    passed = failed = skipped = 0
    if without is None:
        without = {name: allowed.get(name, (outcome,))[0]
                   if outcome not in GOOD else outcome
                   for name, outcome in with_.items()}
    for name in sorted(without.keys() | with_.keys()):
        before = without.get(name, "not run")
        after = with_.get(name, "not run")
        if before == after == "skipped":
            skipped += 1
        elif before == after and after in GOOD:
            passed += 1
        elif (before, after) == allowed.get(name, ())[:2]:
            print(f"allowed: {name}: {before} without, {after} with: "
                  f"{allowed[name][2]}")
            passed += 1
        else:
            print(f"FAILED: {name}: {before} without, {after} with the "
                  "handler")
            failed += 1
    return passed, failed, skipped


def judge(tests, reports, backend, least_peak):
    """Prints what is wrong with one part; what was passed, failed, skipped."""
    without, (with_, output) = reports
    passed, failed, skipped = compare(
        without and without[0]["outcomes"], with_["outcomes"],
        allowed_differences(backend))
    wrong = evidence(with_, backend, least_peak)
    if not passed:
        wrong.append("no test was run")
    if failed or wrong:
        print(output[-20000:])
    for sentence in wrong:
        print(f"FAILED: {sentence}")
    stats, package = with_["stats"], package_of(tests)
    print(f"{package.__name__} {package.__version__} on {backend}, handler "
          f"{with_['handler']}: {with_['probed']} tests, peak "
          f"{stats['peak'] / 2**20:.1f} MiB, {stats['blocks']} blocks alive "
          f"at the end, {stats['bad_frees']} bad frees")
    return passed, failed + len(wrong), skipped


def parser_of(description):
    """For the options of a runner, with the one that all have."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backends", metavar="NAME[,NAME]...",
                        default=os.environ.get("DRAY_BACKEND", "host"))
    return parser


def main(parts, backends, least_peak, once=False, options=()):
    """Runs and compares; the exit status.

    parts        lists of tests, each for a process: paths that begin with the
                 package's name
    least_peak   how many bytes of the pool each part uses at least
    once         only with the handler: each test must pass
    options      for pytest
    """
    runs = [(number, backend) for number in range(len(parts))
            for backend in ([] if once else [None]) + backends.split(",")]
    # Each in a process of its own, as many at a time as there are processors.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as together:
        reports = dict(zip(runs, together.map(
            lambda run: run_once(parts[run[0]], run[1], options), runs)))
    if any(report is None for report, _ in reports.values()):
        print("0 passed, 1 failed, 0 skipped")
        return 1
    total = [0, 0, 0]
    for number, backend in runs:
        if not backend:
            continue
        counts = judge(parts[number], (reports.get((number, None)),
                                       reports[number, backend]),
                       backend, least_peak)
        total = [sum(both) for both in zip(total, counts)]
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] else 0

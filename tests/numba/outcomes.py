#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs modules of tests in one process and writes what became of each test.

    outcomes.py REPORT MODULE...

DRAY_NUMBA_INSTALL=1 calls dray.numba.install() first, for tests that Numba
skips where the environment names a memory manager.

The report, in JSON:
    outcomes    {"numba.cuda.tests.cudadrv.test_x.Class.test_y": "passed", ...};
                else "failed", "skipped", or "error" and the exception's name
    numba       Numba's version
    device      the name of the first device
    manager     the class that manages memory at the end
    peak        the most bytes that dray.numba's pool gave at one time; null
                where it was not there
    probed      whether pinned and mapped arrays of the end lie in that pool
"""
import json
import os
import sys
import unittest


def exception_name(error):
    return error[0].__name__


class Outcomes(unittest.TextTestResult):
    """What became of each test; what a subtest did counts for its test."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.outcomes = {}

    def note(self, test, outcome):
        # The first that went wrong is what became of it.
        if self.outcomes.get(test.id(), "passed") == "passed":
            self.outcomes[test.id()] = outcome

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, f"error {exception_name(err)}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, f"error {exception_name(err)}")


def probe(report):
    """Whether host memory now comes from the plug-in's pool."""
    from numba import cuda

    manager = type(cuda.current_context().memory_manager)
    report["manager"] = f"{manager.__module__}.{manager.__name__}"
    report["device"] = cuda.gpus[0].name.decode()
    if "dray.numba" not in sys.modules:
        return
    pool = sys.modules["dray.numba"].pool()
    report["peak"] = pool.stats().peak
    before = pool.stats().blocks
    arrays = cuda.pinned_array(1000), cuda.mapped_array(1000)
    report["probed"] = pool.stats().blocks == before + len(arrays)
    cuda.close()


def main():
    import numba

    if os.environ.get("DRAY_NUMBA_INSTALL") == "1":
        import dray.numba
        dray.numba.install()
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:])
    result = unittest.TextTestRunner(sys.stdout, verbosity=2,
                                     resultclass=Outcomes).run(suite)
    report = {"outcomes": result.outcomes, "numba": numba.__version__,
              "device": None, "manager": None, "peak": None, "probed": False}
    probe(report)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)


# Tests start processes, which import this file.
if __name__ == "__main__":
    main()

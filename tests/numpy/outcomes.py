# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A pytest plug-in (-p outcomes): writes what became of each test.

With DRAY_OUTCOMES_HANDLER=1 it first installs dray's handler, when it is
imported, and again in each thread that starts, so that every array lies in
dray memory: the test files stay as they are.  Before each test it makes sure,
with an array of its own, that this is still so.  Each test has the same random
numbers in each run.

DRAY_OUTCOMES_REPORT names the file for the report, in JSON:
    outcomes    {"numpy/core/tests/test_x.py::test_y": "passed", ...}; the names
                are relative to pytest's rootdir, where the package lies
    handler     the handler's name, null without one
    memory      what the kernel says of the mapping that an array lies in: the
                name of a file, of a kind ("memfd:..."), or nothing
    probed      number of tests whose probe lay in dray memory
    strays      the tests whose probe did not
    stats       the pool's counters at the end
"""
import json
import os
import random
import threading

import numpy
import pytest

WITH_HANDLER = os.environ.get("DRAY_OUTCOMES_HANDLER") == "1"

if WITH_HANDLER:
    import dray
    POOL = dray.install().pool
    # A new thread starts with NumPy's own handler.
    begin = threading.Thread._bootstrap_inner

    def begin_with_handler(thread):
        dray.install(POOL)
        begin(thread)
    threading.Thread._bootstrap_inner = begin_with_handler

outcomes = {}
strays = []
probed = 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    global probed
    random.seed(0)
    numpy.random.seed(0)
    if not WITH_HANDLER:
        return
    probe = numpy.empty(1)
    if dray.handler_name(probe) == POOL.handler_name:
        probed += 1
    else:
        strays.append(item.nodeid)


def mapping_of(array):
    """The last words of the line of /proc/self/maps around an array."""
    address = array.__array_interface__["data"][0]
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split(maxsplit=5)
            first, last = (int(end, 16) for end in words[0].split("-"))
            if first <= address < last:
                return words[5].strip() if len(words) > 5 else ""
    return "none"


def outcome_of(report):
    """pytest's word for one phase of a test."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when != "call":
        return f"error in {report.when}"
    return report.outcome


def pytest_runtest_logreport(report):
    outcome = outcome_of(report)
    # A set-up or an end that went well says nothing about the test.
    if report.when == "call" or outcome != "passed":
        outcomes[report.nodeid] = outcome


def pytest_collectreport(report):
    if report.failed:
        outcomes[report.nodeid or "collection"] = "error in collection"


def pytest_sessionfinish():
    report = {"outcomes": outcomes, "handler": None, "memory": None,
              "probed": probed, "strays": strays, "stats": None}
    if WITH_HANDLER:
        report["memory"] = mapping_of(numpy.empty(1))
        report["handler"] = POOL.handler_name
        stats = POOL.stats()
        report["stats"] = dict(zip(stats.__match_args__, stats))
    with open(os.environ["DRAY_OUTCOMES_REPORT"], "w",
              encoding="utf-8") as file:
        json.dump(report, file, indent=1)

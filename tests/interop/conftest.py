# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Exchanges with the libraries of others: the real ones, and dray on the host.

DRAY_INTEROP says which are there: "pypi" is the set of requirements.txt, "debian" is
Debian's torch and NumPy, in Debian's Python, "dpctl" is that of requirements-dpctl.txt,
with tests of its own, and "nixl" that of requirements-nixl.txt.  A library that is missing is a failure.
"""
import gc
import os
import sys
import threading
import time

import numpy as np
import pytest

WHERE = os.environ.get("DRAY_INTEROP", "pypi")
# JAX has no doubles otherwise, and would look for other processors.
os.environ.update(JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu")
if WHERE == "pypi":
    # apache-tvm-ffi compiles an extension of torch if it finds one, and Debian's is
    # made for another NumPy.
    sys.modules["torch"] = None

import dray

# Tests of libraries that are elsewhere; others are of those that are here.
ELSEWHERE = {"pypi": ("test_torch", "test_dpctl", "test_nixl"),
             "debian": ("test_arrow", "test_pypi", "test_dpctl", "test_nixl"),
             "dpctl": (), "nixl": ()}
collect_ignore = [name for name in os.listdir(os.path.dirname(__file__))
                  if name.startswith(ELSEWHERE[WHERE])]

DEADLINE = 30
SENT = np.arange(1, 33, dtype="f4")


def pytest_collection_finish():
    """The libraries' own objects make a collection slow."""
    gc.collect()
    gc.freeze()


def blocks():
    """Blocks of the usual pools that are in use."""
    return sum(pool.stats().blocks
               for pool in (dray.pool(), dray.pool(shareable=True)))


@pytest.fixture(autouse=True)
def gives_all_blocks_back(request):
    """Each array of a test is gone at its end, in whichever hands it was.

    JAX releases what it has copied in a thread of its own, somewhat later.
    """
    before = blocks()
    yield
    end = time.monotonic() + DEADLINE
    if hasattr(request.node, "failed"):
        return
    while blocks() > before:
        assert time.monotonic() < end, f"{blocks() - before} blocks are left"
        gc.collect()


def pytest_runtest_makereport(item, call):
    if call.when == "call" and call.excinfo:
        item.failed = True  # the traceback keeps arrays


class Helper(threading.Thread):
    """Runs a function in a thread; value() waits for its result, or raises its
    error."""

    def __init__(self, function, *arguments):
        super().__init__(daemon=True)
        self.call, self.result, self.error = (function, arguments), None, None
        self.start()

    def run(self):
        function, arguments = self.call
        try:
            self.result = function(*arguments)
        except BaseException as error:
            self.error = error
        finally:
            self.call = None

    def value(self):
        self.join(DEADLINE)
        assert not self.is_alive(), "the thread did not end"
        if self.error:
            raise self.error
        result, self.result = self.result, None
        return result


class Pending:
    """An array with a receive into it."""

    def __init__(self, tx, rx):
        self.tx = tx
        with dray.memory():
            self.source = np.array(SENT)
            self.array = dray.Array.zeros(SENT.shape, "f4")
        self.event = rx.recv(np.asarray(self.array), wait=False)

    def end(self):
        self.tx.send(self.source)

    def while_it_ends(self, function):
        """Runs the function on the array in a thread, and ends the receive meanwhile.
        It has ended when the function returns."""
        begins = threading.Event()

        def run():
            begins.set()
            result = function(self.array)
            assert self.event.done
            return result
        helper = Helper(run)
        assert begins.wait(DEADLINE)
        self.end()
        return helper.value()


@pytest.fixture
def pending():
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        receive = Pending(tx, rx)
        yield receive
        if not receive.event.done:
            receive.event.cancel()
        vars(receive).clear()  # pytest keeps the object longer

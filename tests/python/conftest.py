# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tests of the Python package: the real NumPy on the real library.

They run on the back end that DRAY_BACKEND names: on the host here, on the
kernel's in a guest.  A test that is a fact of one back end only is marked
with its name, and is left out on the other.  They run with DRAY_HANDLER=check
too; one that counts or places bytes or blocks, which a checking handler changes, is marked with
"exact".  And on a Python without a GIL: a fact of only that is marked "free".
"""
import functools
import gc
import multiprocessing
import os
import signal
import sysconfig

import numpy as np
import pytest

import dray
from deadline import wait_until

BACKEND = dray.open().backend
CHECKED = os.environ.get("DRAY_HANDLER") == "check"
FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def pytest_configure(config):
    for name in ("host", "kernel"):
        config.addinivalue_line("markers", f"{name}: a fact of this back end")
    config.addinivalue_line(
        "markers", "exact: counts bytes or blocks, which a checking handler changes")
    config.addinivalue_line(
        "markers", "free: a fact of a Python without a GIL")


def pytest_collection_modifyitems(config, items):
    other = "kernel" if BACKEND == "host" else "host"
    left = [item for item in items if item.get_closest_marker(other)
            or CHECKED and item.get_closest_marker("exact")
            or not FREE and item.get_closest_marker("free")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_runtest_makereport(item, call):
    if call.when == "call" and call.excinfo:
        item.failed = True


def name_on(backend):
    return f"checked dray {backend}" if CHECKED else f"dray {backend}"


@pytest.fixture
def handler():
    """The name that arrays of the default pool have."""
    return name_on(BACKEND)


@pytest.fixture
def plain_handler():
    """The same where nothing is checked."""
    return f"dray {BACKEND}"


@pytest.fixture
def host_handler():
    """And of one that is on the host, on any back end."""
    return name_on("host")


@pytest.fixture(autouse=True)
def leaves_no_handler():
    before = dray.handler_name()
    yield
    after = dray.handler_name()
    dray.uninstall()
    assert after == before


@pytest.fixture(autouse=True, scope="session")
def frees_only_blocks():
    yield
    assert dray.stats().bad_frees == 0


@pytest.fixture(autouse=True)
def leaves_nothing_behind(request):
    """Memory that a test made is gone at its end, or soon after its children's.

    On the kernel's back end a block that is left until the interpreter ends
    keeps its memory if its address was told, and so the module.  The traceback of
    a test that failed keeps its arrays, so there is nothing to wait for.
    """
    if CHECKED:  # which keeps freed memory for a while
        yield
        return
    before = blocks()
    yield
    if blocks() > before and not hasattr(request.node, "failed"):
        gc.collect()
        assert wait_until(lambda: trimmed_blocks() <= before)


def usual_pools():
    return {dray.pool(), dray.pool(shareable=True)}


def trimmed_blocks():
    """An engine may be done with some by now."""
    for pool in usual_pools():
        pool.trim()
    return blocks()


def blocks():
    """Blocks of the usual pools, and bytes that are parked in them."""
    counters = [pool.stats() for pool in usual_pools()]
    return sum(each.blocks + each.parked for each in counters)


@pytest.fixture
def make():
    """make(array) -> the same array in dray memory."""
    def copy_of(array, **options):
        with dray.memory(**options):
            return np.array(array)
    return copy_of


@pytest.fixture
def shared(make):
    """shared(array) -> the same array in memory that can be passed on."""
    return functools.partial(make, shareable=True)


class Alarm:
    """Raises an exception in the block, again and again: a signal may come just
    before a call waits."""

    class raised(Exception):
        pass

    def ring(self, number, frame):
        if self.inside:
            self.inside = False
            raise self.raised

    def __enter__(self):
        self.inside = True
        self.before = signal.signal(signal.SIGALRM, self.ring)
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)

    def __exit__(self, *_):
        self.inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


@pytest.fixture
def alarm():
    return Alarm()


# An emulated board takes long to start Python and NumPy: there, the other ways
# to start a process are tried once.
@pytest.fixture(params=["fork",
                        pytest.param("forkserver", marks=pytest.mark.host),
                        pytest.param("spawn", marks=pytest.mark.host)])
def context(request):
    return multiprocessing.get_context(request.param)


@pytest.fixture
def fork():
    return multiprocessing.get_context("fork")


@pytest.fixture
def revokes_waiting():
    yield
    dray.revoke_waiting()

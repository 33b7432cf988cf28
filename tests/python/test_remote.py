# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that multiprocessing sends through TCP, to another machine maybe: a
process in a network of its own, where no record leads back."""
import ctypes
import multiprocessing.connection
import multiprocessing.reduction
import os

import numpy as np
import pytest

import dray

# In children that are started anew, too.
dray.share_arrays(min_bytes=0)

pytestmark = pytest.mark.host  # a guest has no network

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
LOST, COPIED, NO_NAMESPACES = 10, 11, 12


@pytest.fixture
def copies():
    before = dray.share_arrays(False)
    yield
    dray.share_arrays(before, min_bytes=0)


def shared():
    with dray.memory(shareable=True):
        return np.arange(5.0)


def connection():
    """Both ends, of TCP."""
    with multiprocessing.connection.Listener(("127.0.0.1", 0)) as listener:
        return (multiprocessing.connection.Client(listener.address),
                listener.accept())


def what_is_received_elsewhere():
    """And how many arrays waited here for who received it."""
    here, there = connection()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            here.close()
            if ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWNET):
                status = NO_NAMESPACES
            else:
                got = there.recv()
                status = LOST if isinstance(got, dray.LostArray) else (
                    COPIED if (got == np.arange(5.0)).all() else 2)
        finally:
            os._exit(status)
    there.close()
    with here:
        here.send(shared())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    waited = dray.revoke_waiting()
    if status == NO_NAMESPACES:
        pytest.skip("this process may make no network namespace")
    return status, waited


def test_a_copy_arrives_on_another_machine(copies):
    assert what_is_received_elsewhere() == (COPIED, 0)


def test_without_it_the_array_is_lost_there():
    assert what_is_received_elsewhere() == (LOST, 1)


def test_a_copy_is_an_array_of_its_own(copies):
    array, (here, there) = shared(), connection()
    with here, there:
        here.send(array)
        got = there.recv()
    array[:] = 0
    assert got.tolist() == [0, 1, 2, 3, 4]


def test_copies_are_switched_on_and_off():
    array = shared()
    forking = multiprocessing.reduction.ForkingPickler
    assert dray.share_arrays(False) is True
    assert dray.share_arrays(False) is False
    assert dray.share_arrays(min_bytes=0) is False
    got = forking.loads(forking.dumps(array))
    assert np.shares_memory(got, array)
    assert dray.waiting_arrays() == []

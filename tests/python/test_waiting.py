# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that multiprocessing has sent: those that nobody receives can be seen
and revoked, and those that a process of any kind receives are the array."""
import errno
import gc
import multiprocessing
import multiprocessing.connection
import os

import numpy as np
import pytest

import dray
from deadline import DEADLINE, wait_until

# In children that are started anew, too.
dray.share_arrays(min_bytes=0)


@pytest.fixture(autouse=True)
def nothing_waits():
    yield
    assert dray.revoke_waiting() == 0


def parked():
    return dray.pool(shareable=True).stats().parked


def send(array):
    """What a queue sends, which is nowhere then."""
    return bytes(multiprocessing.reduction.ForkingPickler.dumps(array))


@pytest.mark.exact
def test_what_nobody_receives_is_seen_and_revoked(shared):
    before = parked()
    queue = multiprocessing.SimpleQueue()
    queue.put(shared(np.arange(10_000)))
    queue.put(shared(np.arange(100, dtype=np.int8))[10:90:2])
    gc.collect()
    assert parked() >= before + 80_000
    first, second = sorted(dray.waiting_arrays(), key=lambda one: -one.nbytes)
    assert (first.nbytes, second.nbytes) == (80_000, 79)
    assert 0 <= first.seconds < 600 and len(first.record) == 64
    queue.close()
    assert parked() >= before + 80_000
    assert dray.revoke_waiting() == 2
    assert parked() == before
    assert dray.revoke_waiting() == 0


def test_only_what_has_waited_long_is_revoked(shared):
    array = shared(np.arange(10))
    message = send(array)
    assert dray.revoke_waiting(older_than=3600) == 0
    [waiting] = dray.waiting_arrays()
    assert wait_until(lambda: dray.waiting_arrays()[0].seconds > waiting.seconds)
    assert dray.revoke_waiting(older_than=waiting.seconds) == 1
    again = multiprocessing.reduction.ForkingPickler.loads(message)
    assert isinstance(again, dray.LostArray)


def test_one_of_them_is_revoked(shared):
    arrays = [shared(np.full(10, i)) for i in range(3)]
    messages = [send(array) for array in arrays]
    waiting = dray.waiting_arrays()
    assert len(waiting) == 3
    dray.revoke_array(waiting[1].record)
    load = multiprocessing.reduction.ForkingPickler.loads
    assert load(messages[1]).error.errno == errno.ESTALE
    assert (load(messages[0]) == 0).all() and (load(messages[2]) == 2).all()
    with pytest.raises(OSError) as caught:
        dray.revoke_array(waiting[1].record)
    assert caught.value.errno == errno.ESTALE


def test_a_revoked_record_opens_no_more(shared):
    array = shared(np.arange(10))
    record = dray.export_array(array)
    stays = dray.export_array(array[1:])
    has_it = dray.open_array(record)
    dray.revoke_array(record)
    with pytest.raises(OSError) as caught:
        dray.open_array(record)
    assert caught.value.errno == errno.ESTALE
    assert (has_it == np.arange(10)).all()
    assert (dray.open_array(stays) == np.arange(1, 10)).all()
    assert dray.export_array(array) != record


@pytest.mark.parametrize("record, error", [
    (b"", ValueError), (bytes(63), ValueError), (bytes(64), OSError),
    (3, TypeError)])
def test_what_is_no_record_is_not_revoked(record, error):
    with pytest.raises(error):
        dray.revoke_array(record)


def test_a_record_is_revoked_by_its_own_process_only(shared):
    message = send(shared(np.arange(10)))
    [waiting] = dray.waiting_arrays()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            dray.revoke_array(waiting.record)
        except OSError as error:
            code = error.errno != errno.ESTALE or dray.waiting_arrays() != []
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    again = multiprocessing.reduction.ForkingPickler.loads(message)
    assert (again == np.arange(10)).all()


def receive_one(queue, event):
    array = queue.get()
    event.set()
    multiprocessing.connection.wait([], 600)
    del array


def test_what_a_worker_left_in_its_queue_is_revoked(shared):
    context = multiprocessing.get_context("fork")
    queue, event = context.SimpleQueue(), context.Event()
    child = context.Process(target=receive_one, args=(queue, event))
    before = parked()
    child.start()
    for i in range(3):
        queue.put(shared(np.full(1000, i)))
    gc.collect()
    assert event.wait(DEADLINE)
    assert len(dray.waiting_arrays()) == 2
    child.kill()
    child.join(DEADLINE)
    assert len(dray.waiting_arrays()) == 2
    assert dray.revoke_waiting() == 2
    assert wait_until(lambda: parked() <= before)


def test_a_record_that_was_received_waits_no_more(shared):
    array = shared(np.arange(10))
    again = multiprocessing.reduction.ForkingPickler.loads(send(array))
    assert dray.waiting_arrays() == [] and dray.revoke_waiting() == 0
    again += 1
    assert (array == np.arange(1, 11)).all()


def work(there, back):
    """A worker that imported all anew: where it is, and what it sends."""
    array, for_reading = there.get()
    node = dray.open()
    with dray.memory(shareable=True):
        mine = np.empty_like(array)
    dray.copy(mine, array)
    array += 1
    back.put((node.backend, dray.handler_name(mine), mine[::2], array,
              for_reading.flags.writeable))


# An emulated board takes long to start Python and NumPy: once each way.
@pytest.mark.parametrize("start", ["forkserver", "spawn"])
def test_a_process_that_was_started_anew_has_the_same_memory(
        start, shared):
    context = multiprocessing.get_context(start)
    there, back = context.SimpleQueue(), context.SimpleQueue()
    child = context.Process(target=work, args=(there, back))
    child.start()
    array = shared(np.arange(3000, dtype=np.int32).reshape(3, 1000))
    for_reading = array[0]
    for_reading.flags.writeable = False
    there.put((array, for_reading))
    backend, name, theirs, again, writeable = back.get()
    with dray.memory(shareable=True) as pool:
        assert (backend, name) == (dray.open().backend, pool.handler_name)
    assert not writeable
    # What the worker has made stays, although it has ended.
    child.join(DEADLINE)
    assert child.exitcode == 0
    wanted = np.arange(3000, dtype=np.int32).reshape(3, 1000)
    assert (theirs == wanted[::2]).all() and (array == wanted + 1).all()
    again[0] = 7
    assert (array[0] == 7).all()
    with dray.memory(shareable=True):
        whole = np.zeros_like(theirs)
    dray.copy(whole, theirs)
    assert (whole == wanted[::2]).all()


def fill_elsewhere(array, i):
    array[:] = i
    return os.getpid(), dray.handler_name()


@pytest.mark.parametrize("start", [
    "fork", pytest.param("forkserver", marks=pytest.mark.host),
    pytest.param("spawn", marks=pytest.mark.host)])
def test_workers_that_are_replaced_write_into_one_array(start, shared):
    array = shared(np.zeros((4, 5000), np.int64))
    context = multiprocessing.get_context(start)
    with context.Pool(1, maxtasksperchild=2) as workers:
        said = workers.starmap(fill_elsewhere,
                               [(row, i) for i, row in enumerate(array)],
                               chunksize=1)
    assert len({pid for pid, _ in said}) == 2
    assert {name for _, name in said} == {"default_allocator"}
    assert (array == np.arange(4)[:, None]).all()

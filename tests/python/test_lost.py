# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that multiprocessing passes and that cannot be opened: whoever waits
for a result gets the error, and nobody waits for ever."""
import concurrent.futures
import copy
import errno
import multiprocessing
import operator
import os
import pickle
import resource

import numpy as np
import pytest

import dray
from deadline import DEADLINE

# In children that are started anew, too.
dray.share_arrays(min_bytes=0)

pytestmark = pytest.mark.usefixtures("revokes_waiting")

dumps = multiprocessing.reduction.ForkingPickler.dumps
loads = multiprocessing.reduction.ForkingPickler.loads


def shared(array):
    with dray.memory(shareable=True):
        return np.array(array)


class Message:
    """Pickles as what was pickled before: as a message that was on its way."""

    def __init__(self, message):
        self.message = message

    def __reduce__(self):
        return loads, (self.message,)


def make_revoked():
    """A message whose array was revoked while it was on its way."""
    message = bytes(dumps(shared(range(10))))
    assert dray.revoke_waiting() == 1
    return Message(message)


def make_orphan():
    """A message from a process that has died."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, dumps(shared(range(10))))
        finally:
            os._exit(0)  # without a wait for who opens it
    os.close(write)
    with open(read, "rb") as pipe:
        message = pipe.read()
    os.waitpid(child, 0)
    return Message(message)


def take_descriptors():
    """A process that can open no more files."""
    lowest = os.dup(0)
    os.close(lowest)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))


def total(array):
    return int(array.sum())


def add_one(array):
    array += 1
    return int(array.sum())


def what_it_is(thing):
    return type(thing).__name__


def send_revoked(_):
    return make_revoked()


def send_orphan(_):
    return make_orphan()


def send_without_descriptors(_):
    array = shared(range(10))
    take_descriptors()
    return array


def test_a_pool_without_descriptors_gets_copies(context):
    with context.Pool(1, take_descriptors) as workers:
        arrays = [shared(range(10)), np.arange(5)]
        assert workers.map_async(add_one, arrays).get(DEADLINE) == [55, 15]
    assert arrays[0].sum() == 45
    assert dray.waiting_arrays() == []


GONE = [(make_revoked, errno.ESTALE), (make_orphan, errno.ECONNREFUSED)]


@pytest.mark.parametrize("make, number", GONE)
def test_a_pool_says_what_its_workers_do_not_get(fork, make, number):
    stays = shared(range(10))
    record = dray.export_array(stays)
    with fork.Pool(1) as workers:
        with pytest.raises(OSError) as caught:
            workers.map_async(total, [make()]).get(DEADLINE)
        assert caught.value.errno == number
        assert workers.map_async(total, [stays]).get(DEADLINE) == [45]
    dray.revoke_array(record)


@pytest.mark.parametrize("send, errors", [
    (send_revoked, (errno.ESTALE, errno.ECONNREFUSED)),
    (send_orphan, (errno.ECONNREFUSED,))])
def test_a_result_that_does_not_arrive_is_an_error_where_it_is_used(
        fork, send, errors):
    with fork.Pool(1) as workers:
        [result] = workers.map_async(send, [0]).get(DEADLINE)
        assert isinstance(result, dray.LostArray)
        with pytest.raises(OSError) as caught:
            result.sum()
        assert caught.value.errno in errors
        # What collects the results is at work.
        assert workers.map_async(total, [np.arange(5)]).get(DEADLINE) == [10]


def test_a_worker_without_descriptors_sends_copies(fork):
    with fork.Pool(1) as workers:
        [got] = workers.map_async(send_without_descriptors, [0]).get(DEADLINE)
        assert (got == np.arange(10)).all()


def test_a_task_that_does_not_use_it_may_pass_it_on(fork):
    with fork.Pool(1) as workers:
        [said, again] = [workers.apply_async(work, (make_orphan(),))
                         for work in (what_it_is, copy.copy)]
        assert said.get(DEADLINE) == "LostArray"
        assert isinstance(again.get(DEADLINE), dray.LostArray)


def answer(there, back):
    take_descriptors()
    for _ in range(2):
        back.put(int(there.get().sum()))


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue", "JoinableQueue"])
def test_a_queue_gives_a_copy_if_there_is_no_descriptor(fork, kind):
    there, back = getattr(fork, kind)(), fork.Queue()
    child = fork.Process(target=answer, args=(there, back))
    child.start()
    there.put(shared(range(10)))
    there.put(np.arange(5))
    assert back.get(timeout=DEADLINE) == 45
    assert back.get(timeout=DEADLINE) == 10
    child.join(DEADLINE)
    assert child.exitcode == 0


@pytest.mark.host
def test_an_argument_of_a_process_is_an_error_where_it_is_used(capfd):
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=total, args=(make_revoked(),))
    child.start()
    child.join(DEADLINE)
    assert child.exitcode == 1
    assert "in total" in capfd.readouterr().err


def test_an_executor_without_descriptors_gets_copies(context):
    with concurrent.futures.ProcessPoolExecutor(
            1, context, take_descriptors) as workers:
        assert workers.submit(total, shared(range(10))).result(DEADLINE) == 45


def test_an_executor_gives_a_lost_result(fork):
    with concurrent.futures.ProcessPoolExecutor(1, fork) as workers:
        result = workers.submit(send_orphan, 0).result(DEADLINE)
        with pytest.raises(ConnectionRefusedError):
            result[0]
        assert workers.submit(total, np.arange(5)).result(DEADLINE) == 10


def put_and_end(queue):
    dray._pickle.PATIENCE_MS = 10
    queue.put(shared(range(10)))
    queue.put(shared(range(20)))


def test_who_joins_before_reading_is_told(fork, capfd):
    queue = fork.Queue()
    child = fork.Process(target=put_and_end, args=(queue,), name="writer")
    child.start()
    child.join(DEADLINE)
    assert child.exitcode == 0
    assert ("dray: writer ends, and 2 arrays that it sent are lost"
            in capfd.readouterr().err)
    assert isinstance(queue.get(timeout=DEADLINE), dray.LostArray)
    assert isinstance(queue.get(timeout=DEADLINE), dray.LostArray)


class OfAnotherType:
    """Pickles as an array that is open there, and cannot be what it was."""

    def __init__(self, array):
        self.record = dray.export_array(array)

    def __reduce__(self):
        return dray._pickle.rebuild, (self.record, np.dtype("V7"))


def test_an_error_of_any_class_arrives(fork):
    array = shared(range(10))
    with fork.Pool(1) as workers:
        with pytest.raises(ValueError, match="sent here could not be opened"):
            workers.map_async(total, [OfAnotherType(array)]).get(DEADLINE)
        assert workers.map_async(total, [np.arange(5)]).get(DEADLINE) == [10]


@pytest.fixture(scope="module")
def lost():
    thing = loads(make_orphan().message)
    assert isinstance(thing, dray.LostArray)
    return thing


USES = [np.asarray, np.array, np.sum, np.copy, np.ravel, np.linalg.norm,
        np.atleast_1d, np.shape, np.ascontiguousarray, np.empty_like,
        len, iter, list, bool, int, float, complex, abs,
        sum, sorted, operator.neg, operator.invert, operator.index,
        dray.address, dray.segments, dray.sync_for_cpu, dray.export_array,
        lambda lost: lost.shape, lambda lost: lost.flags.writeable,
        lambda lost: lost.dtype, lambda lost: lost.T,
        lambda lost: lost.fill(3), lambda lost: lost[0],
        lambda lost: lost[1:, ::2], lambda lost: 3 in lost,
        lambda lost: lost + 1, lambda lost: 1 + lost,
        lambda lost: np.ones(3) * lost, lambda lost: lost * np.ones(3),
        lambda lost: lost @ lost, lambda lost: lost == 3,
        lambda lost: lost < 3, lambda lost: lost ** 2,
        lambda lost: divmod(lost, 2), lambda lost: np.add(1, lost),
        lambda lost: np.add(1, 2, out=lost),
        lambda lost: np.concatenate([np.ones(3), lost]),
        lambda lost: np.ones(3).dot(lost),
        lambda lost: np.copyto(np.ones(3), lost),
        lambda lost: np.stack([lost, lost]),
        lambda lost: dray.copy(shared(np.ones(3)), lost),
        lambda lost: dray.copy(lost, shared(np.ones(3))),
        lambda lost: operator.iadd(lost, 1),
        lambda lost: operator.setitem(lost, 0, 1),
        lambda lost: setattr(lost, "shape", (2, 5)),
        lambda lost: delattr(lost, "shape"),
        lambda lost: np.from_dlpack(lost), lambda lost: f"{lost.sum()}"]


@pytest.mark.parametrize("use", USES)
def test_every_use_says_that_it_is_lost(lost, use):
    with pytest.raises(ConnectionRefusedError, match="sent here could not be "
                       "opened: ") as caught:
        use(lost)
    assert caught.value.errno == errno.ECONNREFUSED


@pytest.mark.parametrize("use", [
    memoryview, bytes, np.frombuffer,
    lambda lost: operator.setitem(np.ones(3), 0, lost),
    lambda lost: np.ones(3).fill(lost)])
def test_where_it_is_not_asked_it_is_no_array(lost, use):
    with pytest.raises((TypeError, ValueError, ConnectionRefusedError)):
        use(lost)


def test_it_can_be_told_and_shown(lost):
    assert not isinstance(lost, np.ndarray)
    assert isinstance(lost.error, ConnectionRefusedError)
    assert repr(lost) == f"<dray.LostArray: {lost.error}>" == str(lost)
    with pytest.raises(TypeError, match="unhashable"):
        hash(lost)


@pytest.mark.parametrize("again", [
    copy.copy, copy.deepcopy, lambda lost: loads(dumps(lost)),
    lambda lost: pickle.loads(pickle.dumps(lost, 0))])
def test_its_copies_are_lost_too(lost, again):
    other = again(lost)
    assert isinstance(other, dray.LostArray)
    with pytest.raises(ConnectionRefusedError, match=str(lost.error.strerror)):
        other.sum()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays for other processes by records, and by multiprocessing."""
import errno
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dray
from deadline import DEADLINE, wait_until

# In children that are started anew, too.
dray.share_arrays(min_bytes=0)


def parked():
    return dray.pool(shareable=True).stats().parked


OPEN = """
import sys, dray
array = dray.open_array(bytes.fromhex(sys.stdin.readline()))
print(array.shape, array.dtype, int(array.sum()), array.flags.writeable,
      flush=True)
if array.flags.writeable:
    array += 1
"""


def opened_elsewhere(record):
    child = subprocess.run([sys.executable, "-c", OPEN], input=record.hex(),
                           capture_output=True, text=True, timeout=DEADLINE)
    return child.stdout if not child.returncode else child.stderr


def test_another_process_opens_a_record(shared):
    array = shared(np.arange(10_000, dtype=np.int32).reshape(100, 100))
    record = dray.export_array(array[10:20, ::-2])
    assert len(record) == 96 + 2 * 16
    said = opened_elsewhere(record)
    wanted = np.arange(10_000, dtype=np.int32).reshape(100, 100)
    assert said == f"(10, 50) int32 {wanted[10:20, ::-2].sum()} True\n"
    wanted[10:20, ::-2] += 1
    assert (array == wanted).all()


def test_in_its_own_process_a_record_is_the_array(shared):
    array = shared(np.arange(10))
    again = dray.open_array(dray.export_array(array[2:]))
    assert again.__array_interface__["data"] == (
        array[2:].__array_interface__["data"])
    del array
    gc.collect()
    assert (again == np.arange(2, 10)).all()


def test_what_is_for_reading_is_not_written_there():
    array = dray.shared_zeros((3, 4), np.int16)
    array[:] = 7
    said = opened_elsewhere(dray.export_array(array, read_only=True))
    assert said == "(3, 4) int16 84 False\n"
    array[:] = 8


@pytest.mark.host
def test_on_the_host_only_a_whole_buffer_is_for_reading(shared):
    with pytest.raises(OSError) as caught:
        dray.export_array(shared(np.zeros(3)), read_only=True)
    assert caught.value.errno == errno.EOPNOTSUPP


@pytest.mark.host
def test_private_memory_has_no_record(make):
    with pytest.raises(OSError, match=r"dray.memory\(shareable=True\)") as caught:
        dray.export_array(make(np.zeros(3)))
    assert caught.value.errno == errno.EOPNOTSUPP


@pytest.mark.parametrize("shape", [5, (), (2, 3), (0, 4), [2, 1]])
def test_shared_zeros_have_the_shape_of_zeros(shape):
    array = dray.shared_zeros(shape, "<f4")
    assert array.shape == np.zeros(shape).shape and array.dtype == "<f4"
    assert not array.any() and array.flags.writeable


def test_objects_are_not_shared():
    with pytest.raises(TypeError, match="references to objects"):
        dray.shared_zeros(3, object)


@pytest.mark.parametrize("make", [
    lambda: dray.empty(3, object), lambda: dray.zeros((2, 0), "i4,O", shareable=True),
    lambda: dray.array([{}, None]), lambda: dray.array([1, 2], object),
    lambda: dray.array(np.array(["a", None], object), shareable=True)],
    ids=["empty", "zeros", "values", "type", "array"])
def test_no_function_makes_arrays_of_objects(make):
    """A forked child and its parent would count and free the objects by themselves."""
    with pytest.raises(TypeError, match=r"references to objects .* outside of dray.memory\(\)"):
        make()


@pytest.mark.parametrize("dtype", ["U", "U0", "S0", "3f4", "V5"])
def test_shared_zeros_have_the_type_of_zeros(dtype):
    array, zeros = dray.shared_zeros((2, 3), dtype), np.zeros((2, 3), dtype)
    assert (array.dtype, array.shape) == (zeros.dtype, zeros.shape)


@pytest.mark.parametrize("dtype", ["V0", "V", [], [("a", "V0")]])
def test_elements_without_bytes_are_not_shared(dtype):
    with pytest.raises(ValueError, match="cannot be shared: its elements are "
                       "0 bytes long"):
        dray.shared_zeros(3, dtype)


@pytest.mark.parametrize("shape, dtype, sentence", [
    (1 << 55, "V256", f"has {1 << 63} bytes: {(1 << 63) - 1} are the most"),
    (-3, "u1", "^shape is -3: an extent of -3, 0 is the least$"),
    ((2, -1), "u1", r"^shape is \(2, -1\): an extent of -1"),
    (1 << 70, "u1", f"has {1 << 70} bytes: {(1 << 63) - 1} are the most")])
def test_a_shape_that_no_array_has_is_a_value_error(shape, dtype, sentence):
    with pytest.raises(ValueError, match=sentence):
        dray.shared_zeros(shape, dtype)


def test_a_record_that_is_none_is_refused(shared):
    array = shared(np.arange(100))
    record = dray.export_array(array)
    for wrong in [b"", record[:-1], record + b"x", bytes(len(record))]:
        with pytest.raises(OSError) as caught:
            dray.open_array(wrong)
        assert caught.value.errno == errno.EBADMSG
    with pytest.raises(PermissionError):
        dray.open_array(record[:8] + bytes(16) + record[24:])
    with pytest.raises(ConnectionRefusedError):
        dray.open_array(record[:24] + bytes(8) + record[32:])
    strides = record[:-8] + (800).to_bytes(8, "little")
    with pytest.raises(OSError, match="covers bytes"):
        dray.open_array(strides)
    with pytest.raises(TypeError):
        dray.open_array(3)
    with pytest.raises(TypeError):
        dray.open_array(record, "host")


def test_a_record_of_freed_memory_is_stale(shared):
    stays = shared(np.arange(100))
    array = shared(np.arange(100))
    dray.export_array(stays)
    record = dray.export_array(array)
    del array
    gc.collect()
    with pytest.raises(OSError) as caught:
        dray.open_array(record)
    assert caught.value.errno == errno.ESTALE


def add_one(array):
    array += 1
    return int(array.sum())


def answer(receive, send):
    """What a child does with the arrays that it gets, until None comes."""
    while True:
        array = receive.get()
        if array is None:
            return
        if array.flags.writeable:
            array += 1
        send.put((array.shape, array.strides, str(array.dtype), array))


@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_a_process_gets_the_array_itself(start, shared):
    context = multiprocessing.get_context(start)
    array = shared(np.arange(1000, dtype=np.int64))
    child = context.Process(target=add_one, args=(array[100:200],))
    child.start()
    child.join(DEADLINE)
    assert child.exitcode == 0
    wanted = np.arange(1000)
    wanted[100:200] += 1
    assert (array == wanted).all()


def test_a_queue_passes_the_array_itself_there_and_back(context, shared):
    there, back = context.Queue(), context.Queue()
    child = context.Process(target=answer, args=(there, back))
    child.start()
    array = shared(np.arange(60, dtype=np.int32).reshape(5, 12))
    there.put(array[::-1, ::3])
    shape, strides, dtype, again = back.get(timeout=DEADLINE)
    assert (shape, strides, dtype) == ((5, 4), (-48, 12), "int32")
    again += 1
    wanted = np.arange(60).reshape(5, 12)
    wanted[:, ::3] += 2
    assert (array == wanted).all()
    there.put(None)
    child.join(DEADLINE)
    assert child.exitcode == 0


def test_what_was_put_into_a_queue_may_be_forgotten(context, shared):
    there, back = context.Queue(), context.Queue()
    child = context.Process(target=answer, args=(there, back))
    child.start()
    for i in range(20):
        there.put(shared(np.full(1000, i)))
        gc.collect()
        # What is made meanwhile lies elsewhere.
        shared(np.full(1000, -1))
    for i in range(20):
        *_, again = back.get(timeout=DEADLINE)
        assert (again == i + 1).all()
        del again
    there.put(None)
    child.join(DEADLINE)
    assert child.exitcode == 0
    gc.collect()
    assert wait_until(lambda: parked() == 0)


def put_and_end(queue):
    with dray.memory(shareable=True):
        queue.put(np.arange(1000))


def test_a_worker_that_ends_leaves_what_it_has_sent(context):
    queue = context.Queue()
    child = context.Process(target=put_and_end, args=(queue,))
    child.start()
    array = queue.get(timeout=DEADLINE)
    child.join(DEADLINE)
    assert child.exitcode == 0
    assert (array == np.arange(1000)).all()


def test_a_pool_of_workers_changes_one_array(context, shared):
    array = shared(np.zeros((8, 1000), np.int32))
    with context.Pool(2) as workers:
        sums = workers.map(add_one, list(array))
    assert sums == [1000] * 8
    assert (array == 1).all()


def test_types_and_flags_arrive_as_they_were(shared):
    context = multiprocessing.get_context("fork")
    there, back = context.Queue(), context.Queue()
    child = context.Process(target=answer, args=(there, back))
    child.start()
    structure = np.dtype([("r", "u1"), ("xy", "<f4", (2,))])
    for dtype in [structure, np.dtype("<M8[ms]"), np.dtype("S5")]:
        array = shared(np.zeros((2, 3), dtype))
        array.flags.writeable = False
        there.put(array)
        shape, strides, said, again = back.get(timeout=DEADLINE)
        assert (shape, strides, said) == (array.shape, array.strides,
                                          str(dtype))
        assert again.dtype == dtype and not again.flags.writeable
    there.put(None)
    child.join(DEADLINE)
    assert child.exitcode == 0


class Mine(np.ndarray):
    pass


@pytest.mark.parametrize("array", [
    np.arange(10), np.zeros((0, 3)), np.array([None, 1]),
    np.arange(10).view(Mine)])
def test_other_arrays_are_copied_as_ever(array):
    made = pickle.loads(
        multiprocessing.reduction.ForkingPickler.dumps(array))
    assert type(made) is type(array) and made.dtype == array.dtype
    assert made.shape == array.shape and (made == array).all()


@pytest.mark.host
def test_private_memory_is_copied(make):
    array = make(np.arange(10))
    made = pickle.loads(
        multiprocessing.reduction.ForkingPickler.dumps(array))
    made[0] = 5
    assert array[0] == 0 and (made[1:] == array[1:]).all()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_ordinary_pickles_are_copies(shared, protocol):
    array = shared(np.arange(10))
    made = pickle.loads(pickle.dumps(array, protocol))
    made[0] = 5
    assert array[0] == 0 and (made[1:] == array[1:]).all()


def test_a_child_that_was_killed_lets_go(shared):
    context = multiprocessing.get_context("fork")
    there, back = context.Queue(), context.Queue()
    child = context.Process(target=answer, args=(there, back))
    child.start()
    before = parked()
    there.put(shared(np.arange(10_000)))
    back.get(timeout=DEADLINE)
    gc.collect()
    child.kill()
    child.join(DEADLINE)
    assert wait_until(lambda: parked() <= before)


@pytest.mark.exact
def test_a_fork_of_the_importer_keeps_it_open(shared):
    array = shared(np.arange(100))
    record = dray.export_array(array)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        # Opens, and leaves it to a child of its own.
        os.close(write)
        got = dray.open_array(record)
        if os.fork() == 0:
            os.read(read, 1)
            os._exit(0 if (got == np.arange(100)).all() else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    before = parked()
    del array
    gc.collect()
    assert parked() > before
    os.close(write)
    os.close(read)
    assert wait_until(lambda: parked() <= before)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that are passed to another process, or back to this one."""
import errno
import gc
import os
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import dray
from deadline import DEADLINE


@pytest.fixture
def pair():
    left, right = socket.socketpair()
    with left, right:
        yield left, right


def there_and_back(pair, array):
    dray.send(pair[0], array)
    return dray.receive(pair[1])


VIEWS = ["a", "a[1:, ::2]", "a[::-1, ::-1]", "a.T", "a[2:3, 3:4].reshape(())",
         "a[..., None, 1]", "np.broadcast_to(a, (3, 6, 7))"]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_arrives_with_its_shape_and_strides(pair, shared, view):
    array = shared(np.arange(42, dtype=np.int32).reshape(6, 7))
    sent = eval(view, {"a": array, "np": np})
    got = there_and_back(pair, sent)
    assert (got.shape, got.strides, got.dtype) == (sent.shape, sent.strides,
                                                   sent.dtype)
    assert (got == sent).all()


@pytest.mark.parametrize("dtype", ["?", "i1", "<i2", ">i4", "<u8", "<f2", "g",
                                   ">c16", "S5", "<U3", "V7", "<m8", "<M8"])
def test_a_type_arrives_as_it_was(pair, shared, dtype):
    got = there_and_back(pair, shared(np.zeros(4, dtype)))
    assert got.dtype == np.dtype(dtype)


def test_a_structure_arrives_as_bytes(pair, shared):
    dtype = np.dtype([("r", "u1"), ("xy", "<f4", (2,))])
    array = shared(np.array([(1, (2, 3)), (4, (5, 6))], dtype))
    got = there_and_back(pair, array)
    assert got.dtype == np.dtype("V9")
    assert (got.view(dtype) == array).all()


def test_both_ends_see_the_same_memory(pair, shared):
    array = shared(np.zeros(100, np.int32))
    got = there_and_back(pair, array[10:20])
    got[:] = 7
    assert array.sum() == 70
    array[10] = 1
    assert got[0] == 1


def test_what_was_received_stays_when_the_sender_lets_go(pair, shared):
    array = shared(np.arange(1000))
    got = there_and_back(pair, array)
    del array
    gc.collect()
    assert got.sum() == 499500


def mappings():
    with open("/proc/self/maps", encoding="ascii") as file:
        return sum("memfd:" in line or "dmabuf" in line for line in file)


def test_the_mapping_goes_with_the_last_view(pair, shared):
    array = shared(np.arange(1000))
    before, descriptors = mappings(), len(os.listdir("/proc/self/fd"))
    got = there_and_back(pair, array)
    view = got[::2].T
    del got
    gc.collect()
    assert view.sum() == 249500
    del view
    gc.collect()
    assert mappings() == before
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_received_array_is_dray_memory(pair, shared):
    array = shared(np.arange(1000))
    got = there_and_back(pair, array)
    assert dray.handler_name(got) is None
    with dray.memory(shareable=True):
        target = np.zeros(500, got.dtype)
    dray.copy(target, got[::2])
    assert (target == np.arange(0, 1000, 2)).all()
    dray.fill(got[10:20], 3)
    assert (array[10:20] == 3).all()
    dray.sync_for_device(got)


def test_a_received_array_can_be_sent_on(pair, shared):
    array = shared(np.arange(10))
    got = there_and_back(pair, there_and_back(pair, array)[5:])
    got[0] = 55
    assert array[5] == 55


def test_a_read_only_array_arrives_read_only(pair, shared):
    array = shared(np.arange(10))
    array.flags.writeable = False
    got = there_and_back(pair, array)
    assert not got.flags.writeable
    with pytest.raises(ValueError):
        got[0] = 1
    with pytest.raises(ValueError):
        got.flags.writeable = True


def test_an_array_without_elements_arrives(pair, shared):
    got = there_and_back(pair, shared(np.zeros((0, 3), np.int16)))
    assert got.shape == (0, 3) and got.dtype == np.int16


def test_a_socket_may_be_given_as_its_descriptor(pair, shared):
    dray.send(pair[0].fileno(), shared(np.arange(3)))
    assert (dray.receive(pair[1].fileno()) == np.arange(3)).all()


CHANGE = """
import socket, sys, dray
sock = socket.socket(fileno=int(sys.argv[1]))
array = dray.receive(sock)
print(array.shape, array.dtype, int(array.sum()))
array += 1
sock.sendall(b"done")
"""


def run_child(code, fd):
    return subprocess.Popen([sys.executable, "-c", code, str(fd)],
                            pass_fds=[fd], stdout=subprocess.PIPE, text=True)


def test_another_process_changes_the_array_in_place(pair, shared):
    array = shared(np.arange(1_000_000, dtype=np.int32).reshape(1000, 1000))
    child = run_child(CHANGE, pair[1].fileno())
    dray.send(pair[0], array[100:200, ::-1])
    said, _ = child.communicate(timeout=DEADLINE)
    assert child.returncode == 0
    assert said == "(100, 1000) int32 14999950000\n"
    assert pair[0].recv(4) == b"done"
    wanted = np.arange(1_000_000, dtype=np.int32).reshape(1000, 1000)
    wanted[100:200] += 1
    assert (array == wanted).all()


def test_a_forked_child_sees_shared_memory(shared):
    array = shared(np.zeros(10))
    child = os.fork()
    if child == 0:
        array[:] = 4
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (array == 4).all()


@pytest.mark.host
def test_private_host_memory_is_not_sent(pair, make):
    with pytest.raises(OSError) as caught:
        dray.send(pair[0], make(np.zeros(3)))
    assert caught.value.errno == errno.EOPNOTSUPP
    assert "dray.memory(shareable=True)" in caught.value.strerror
    pair[1].setblocking(False)
    with pytest.raises(BlockingIOError):
        pair[1].recv(1)


def test_memory_that_is_not_drays_is_not_sent(pair):
    with pytest.raises(ValueError, match="array: the array's memory is not "
                       "dray's: make it inside"):
        dray.send(pair[0], np.zeros(3))


def test_objects_are_not_sent(pair):
    with dray.memory(shareable=True):
        array = np.array([None])
    with pytest.raises(TypeError, match="array: .* holds references to objects"):
        dray.send(pair[0], array)


def test_a_peer_that_hung_up_is_a_connection_error(pair, shared):
    pair[1].close()
    with pytest.raises(BrokenPipeError):
        dray.send(pair[0], shared(np.zeros(3)))
    with pytest.raises(ConnectionResetError) as caught:
        dray.receive(pair[0])
    assert caught.value.strerror == dray.last_error()


def test_what_is_no_record_is_refused(pair):
    pair[0].sendall(bytes(range(256)) * 32)
    with pytest.raises(OSError) as caught:
        dray.receive(pair[1])
    assert caught.value.errno == errno.EBADMSG, caught.value


def test_what_is_no_socket_is_an_os_error(shared):
    with open("/dev/null", "r+b") as null:
        with pytest.raises(OSError) as caught:
            dray.send(null, shared(np.zeros(3)))
        assert caught.value.errno == errno.ENOTSOCK, caught.value
        with pytest.raises(OSError) as caught:
            dray.receive(null)
        assert caught.value.errno == errno.ENOTSOCK, caught.value


def test_what_has_no_descriptor_is_a_type_error(shared):
    with pytest.raises(TypeError):
        dray.send("socket", shared(np.zeros(3)))
    with pytest.raises(TypeError):
        dray.receive(None)


def test_a_closed_descriptor_is_an_os_error(pair, shared):
    pair[0].close()
    with pytest.raises(ValueError):
        dray.send(pair[0], shared(np.zeros(3)))
    spare = os.dup(0)
    os.close(spare)
    with pytest.raises(OSError) as caught:
        dray.receive(spare)
    assert caught.value.errno == errno.EBADF, caught.value


def test_an_array_is_received_for_the_node_that_is_named(pair, shared):
    node = (dray.open("host:shareable") if dray.open().backend == "host"
            else dray.open())
    dray.send(pair[0], shared(np.arange(3)))
    assert (dray.receive(pair[1], node) == np.arange(3)).all()


def test_a_node_that_is_none_is_a_type_error(pair):
    with pytest.raises(TypeError, match="node is not a dray.Node but str"):
        dray.receive(pair[0], "host")


def test_other_threads_run_while_one_receives(pair, shared):
    array = shared(np.arange(10))
    got = []
    thread = threading.Thread(target=lambda: got.append(
        dray.receive(pair[1])))
    thread.start()
    # Deadlocks when receive() keeps the GIL.
    dray.send(pair[0], array)
    thread.join(DEADLINE)
    assert (got[0] == array).all()


def test_a_signal_ends_a_receive_that_waits(pair):
    class Alarm(Exception):
        pass

    def ring(number, frame):
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise Alarm
    before = signal.signal(signal.SIGALRM, ring)
    try:
        # Again and again: the first may come before the call waits.
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        with pytest.raises(Alarm):
            dray.receive(pair[1])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_signal_that_is_handled_does_not_end_a_receive(pair, shared):
    array = shared(np.arange(10))
    rings = []

    def ring(number, frame):
        rings.append(number)
        if len(rings) == 3:
            dray.send(pair[0], array)
            signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        assert (dray.receive(pair[1]) == array).all()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(rings) == 3

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python package with XRT's own library in its mode `noop`, which has devices and
memory but no kernels, and imports nothing."""
import ctypes
import errno
import subprocess
import sys
import threading

import numpy as np
import pytest

import dray

SIZE = 8192


@pytest.fixture(scope="session")
def device():
    with dray.xrt_device(0) as device:
        yield device


@pytest.fixture
def bo(device):
    with device.alloc(SIZE) as bo:
        yield bo


def test_a_bo_has_the_properties_of_xrt_s(device, bo):
    assert (bo.size, bo.side, bo.closed) == (SIZE, "xrt", False)
    assert device.handle and bo.handle != device.handle
    size = ctypes.CDLL("libxrt_coreutil.so.2").xrtBOSize
    size.restype, size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    assert size(bo.handle) == SIZE


@pytest.mark.parametrize("kind", ["normal", "cacheable", "svm", "host_only", "p2p"])
def test_each_kind_of_memory_becomes_an_array(device, kind):
    array = dray.from_xrt(device.alloc("8K", kind), dtype="u4")
    array[-1] = 3
    assert (array.shape, array[-1]) == ((2048,), 3)


def test_an_array_has_the_shape_and_strides_that_were_asked_for(bo):
    dray.from_xrt(bo, (SIZE,))[...] = np.arange(SIZE) % 251
    array = dray.from_xrt(bo, (3, 2), ">u2", offset=100, strides=(-10, 4))
    expected = [[((100 - 10 * i + 4 * j) % 251) * 256 + (101 - 10 * i + 4 * j) % 251
                 for j in range(2)] for i in range(3)]
    assert array.tolist() == expected


@pytest.mark.parametrize("shape, dtype, offset, strides", [
    (SIZE + 1, "u1", 0, None), (SIZE, "u1", 1, None), (2, "u1", 0, (SIZE,)),
    (2, "u1", 0, (-1,)), (1, "u8", SIZE - 7, None), (-1, "u1", 0, None),
    ((2, 2), "u1", 0, (1,)), (1, "u1", SIZE, None)])
def test_elements_outside_a_bo_are_a_value_error(bo, shape, dtype, offset, strides):
    with pytest.raises(ValueError):
        dray.from_xrt(bo, shape, dtype, offset=offset, strides=strides)


def test_elements_of_python_objects_are_a_type_error(bo):
    with pytest.raises(TypeError):
        dray.from_xrt(bo, 1, "O")


def test_two_arrays_of_a_bo_share_its_memory(bo):
    one, two = dray.from_xrt(bo), dray.from_xrt(bo.part(4096, 100))
    one[4096 + 99] = 77
    assert two[99] == 77


def test_a_part_has_its_own_address_and_its_parts_too(bo):
    part = bo.part(4096, 4096).part(96, 8)
    assert (part.address - bo.address, part.size) == (4192, 8)
    with pytest.raises(ValueError, match="8192"):
        bo.part(1, SIZE)


@pytest.mark.parametrize("first", ["bo", "array", "device"])
def test_either_side_may_end_first(first):
    device = dray.xrt_device(0)
    bo = device.alloc(SIZE)
    array = dray.from_xrt(bo)
    array[0] = 1
    for name in sorted(["bo", "array", "device"], key=lambda name: name != first):
        if name == "array":
            del array
        else:
            {"bo": bo, "device": device}[name].close()
        if name != "array" and "array" in locals():
            array[1] = array[0] + 1
            assert array[1] == 2


@pytest.mark.parametrize("direction", ["to_device", "from_device", 0, 1])
def test_any_bytes_are_synced(bo, direction):
    bo.sync(direction)
    bo.sync(direction, 1, SIZE - 1)
    bo.sync(direction, size="4K", offset=4096)
    with pytest.raises(ValueError, match="8192"):
        bo.sync(direction, 2, SIZE - 1)


@pytest.mark.parametrize("direction", ["both", 2, -1, None, 1.5])
def test_another_direction_is_a_value_error(bo, direction):
    with pytest.raises(ValueError, match="'to_device' or 'from_device'"):
        bo.sync(direction)


def test_user_memory_is_that_of_the_array(device):
    array = dray.shared_zeros((2, 2048), "u4")
    with dray.xrt_bo(array, device, user=True) as bo:
        assert bo.size == array.nbytes
        dray.from_xrt(bo, array.shape, "u4")[1, 1] = 5
    assert array[1, 1] == 5


def test_user_memory_may_be_numpy_s_and_a_dray_array(device):
    room = np.zeros(3 * 4096, np.uint8)
    start = -room.ctypes.data % 4096
    page = room[start:start + 4096]
    for array in (page, dray.Array(page)):
        bo = dray.xrt_bo(array, device, user=True)
        dray.from_xrt(bo)[7] += 1
    assert page[7] == 2


def test_a_bo_keeps_the_array_of_its_user_memory(device):
    bo = dray.xrt_bo(dray.shared_zeros(4096, "u1"), device, user=True)
    assert [dray.shared_zeros(4096, "u1")[0] for _ in range(9)] == [0] * 9
    dray.from_xrt(bo)[0] = 9
    assert dray.from_xrt(bo)[0] == 9


def test_a_bo_waits_for_what_is_written_to_its_array(device):
    node = dray.open("host:shareable")
    array, sent = dray.shared_zeros(4096, "u1"), dray.shared_zeros(4096, "u1")
    with dray.stream("tx0", node=node) as tx, dray.stream("rx0", node=node) as rx:
        event = rx.recv(array, wait=False)
        sender = threading.Thread(target=tx.send, args=(sent,))
        sender.start()
        dray.xrt_bo(array, device, user=True)
        assert event.done
        sender.join()


def test_memory_that_cannot_be_a_bo_is_an_error(device):
    array = dray.shared_zeros(8192, "u1")
    with pytest.raises(OSError, match="not a dma-buf") as caught:
        dray.xrt_bo(array, device)
    assert caught.value.errno == errno.EOPNOTSUPP
    with pytest.raises(ValueError, match="multiple of the page size"):
        dray.xrt_bo(array[1:], device, user=True)
    with pytest.raises(ValueError, match="not dray's"):
        dray.xrt_bo(np.zeros(8), device)
    with pytest.raises(ValueError, match="without elements"):
        dray.xrt_bo(array[:0], device)
    assert array.sum() == 0


def test_handles_of_the_program_s_stay_the_program_s(device, bo):
    mine = dray.xrt_device(handle=device.handle)
    array = dray.from_xrt(bo.handle, 4, device=mine)
    mine.close()
    dray.from_xrt(bo)[0] = 6
    assert array[0] == 6
    del array
    bo.sync("to_device")


def test_a_part_of_the_program_s_is_found_in_its_whole(device, bo):
    part = bo.part(4096, 4096)
    array = dray.from_xrt(part.handle, root=bo.handle, device=device)
    dray.from_xrt(bo)[4096] = 8
    assert (array.shape, array[0]) == ((4096,), 8)
    with pytest.raises(ValueError):
        dray.from_xrt(bo.handle, root=part.handle, device=device)


def test_a_handle_that_is_none_is_a_value_error(device):
    with pytest.raises(ValueError, match="no device with handle 0x7"):
        dray.xrt_device(handle=7)
    with pytest.raises(ValueError, match="no BO with handle 0x7"):
        dray.from_xrt(7, device=device)
    with pytest.raises(ValueError, match="bo is 0: XRT made none"):
        dray.from_xrt(0, device=device)
    with pytest.raises(TypeError, match="takes the device="):
        dray.from_xrt(7)


def test_a_closed_object_is_a_value_error(device):
    bo = device.alloc(SIZE)
    with bo:
        pass
    for use in (lambda: bo.size, lambda: bo.handle, lambda: bo.address, lambda: bo.side,
                lambda: bo.sync(0), lambda: bo.part(0, 1), lambda: dray.from_xrt(bo),
                bo.__enter__):
        with pytest.raises(ValueError, match="the dray.XrtBo is closed"):
            use()
    bo.close()
    assert bo.closed
    other = dray.xrt_device(0)
    other.close()
    for use in (lambda: other.handle, lambda: other.alloc(1), other.__enter__,
                lambda: dray.xrt_bo(dray.zeros(1), other)):
        with pytest.raises(ValueError, match="the dray.XrtDevice is closed"):
            use()


def test_wrong_arguments_of_alloc_are_errors(device):
    with pytest.raises(ValueError, match="kind is 'fast'"):
        device.alloc(SIZE, "fast")
    for size in (0, -1):
        with pytest.raises(ValueError):
            device.alloc(size)
    with pytest.raises(TypeError):
        device.alloc(1.5)
    with pytest.raises(ValueError, match="bank is"):
        device.alloc(SIZE, bank=1 << 32)


def test_memory_of_the_device_alone_has_no_array(device):
    with pytest.raises(OSError) as caught:
        dray.from_xrt(device.alloc(SIZE, "device_only"))
    assert caught.value.errno == errno.EOPNOTSUPP


def test_threads_close_what_others_use(device):
    def use(bo):
        try:
            while True:
                dray.from_xrt(bo.part(0, 4096))[0] = 1
                bo.sync("to_device")
        except ValueError as error:
            closed.append(str(error))

    closed = []
    for _ in range(20):
        bo = device.alloc(SIZE)
        threads = [threading.Thread(target=use, args=(bo,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        bo.close()
        for thread in threads:
            thread.join()
    assert closed == ["the dray.XrtBo is closed"] * 60


@pytest.mark.parametrize("end", ["", "raise SystemExit", "import atexit; atexit.register(a.fill, 1)"])
def test_a_program_may_end_with_all_of_it_open(end):
    code = ("import dray; d = dray.xrt_device(0); b = d.alloc(8192); p = b.part(0, 4096)\n"
            "a = dray.from_xrt(p); u = dray.xrt_bo(dray.shared_zeros(4096, 'u1'), d, "
            "user=True)\n" + end)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")

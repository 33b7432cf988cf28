# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python package with XRT's own library on the emulated board, over a stand-in for
its driver: real dma-bufs go both ways.  The emulator shows no cache, so syncs are tested
as calls."""
import errno
import gc
import os

import numpy as np
import pytest

import dray
from dray import Bank, _dray

SHAPE = (16, 1024)


@pytest.fixture(scope="module")
def device():
    with dray.xrt_device(0) as device:
        yield device


@pytest.fixture
def array():
    array = dray.zeros(SHAPE, "u4")
    array[...] = np.arange(array.size).reshape(SHAPE)
    return array


def test_a_bo_has_the_address_of_the_array(device, array):
    for part in (array, array[3:7], array[2, 5:9], array[::-1]):
        bo = dray.xrt_bo(part, device)
        lowest = part[-1] if part.strides[0] < 0 else part
        assert bo.address == dray.address(lowest)
        assert bo.size == part.nbytes


def test_the_array_of_a_bo_is_the_same_memory(device, array):
    bo = dray.xrt_bo(array[4:6], device)
    again = dray.from_xrt(bo, (2, 1024), "u4")
    assert again[1, 7] == array[5, 7]
    again[0, 0] = 99
    assert array[4, 0] == 99
    assert np.shares_memory(np.asarray(again), array)


def test_a_dray_array_and_a_view_of_it_become_bos(device, array):
    row = dray.Array(array)[3]
    assert dray.xrt_bo(row, device).address == dray.address(array[3])


@pytest.mark.parametrize("direction", ["to_device", "from_device", 0, 1])
def test_a_bo_is_synced_by_the_side_that_it_tells(device, array, direction):
    bo = dray.xrt_bo(array, device)
    assert bo.side in ("xrt", "none")
    bo.sync(direction)
    bo.sync(direction, 64, 4096)
    with pytest.raises(ValueError):
        bo.sync(direction, 1, array.nbytes)


def test_bos_by_index_share_the_import_of_their_buffer(array):
    # XRT alone would take the second one's memory with the first.
    one, two = dray.xrt_bo(array, 0), dray.xrt_bo(array[1:], 0)
    one.close()
    two.sync("to_device")
    assert two.address == dray.address(array[1])


def test_a_bo_keeps_its_array(device):
    bo = dray.xrt_bo(dray.zeros(1024, "u4"), device)
    gc.collect()
    others = [dray.zeros(1024, "u4") for _ in range(8)]
    assert bo.address not in [dray.address(other) for other in others]


def test_memory_of_xrt_becomes_an_array_of_the_node(device, array):
    bo = device.alloc(array.nbytes, "cacheable")
    received = dray.from_xrt(bo, SHAPE, "u4", node=dray.open())
    dray.copy(np.asarray(received), array)
    bo.sync("to_device")
    bo.close()
    assert (np.asarray(received) == array).all()


@pytest.mark.parametrize("kind", ["normal", "cacheable"])
def test_memory_of_xrt_becomes_an_array_of_its_own(device, kind):
    bo = device.alloc(8192, kind)
    part = dray.from_xrt(bo.part(4096, 8), dtype="u4")
    part[1] = 5
    assert dray.from_xrt(bo, dtype="u4", offset=4096)[1] == 5


def test_a_file_descriptor_of_an_array_becomes_one_again(array):
    fd, offset, size = _dray.xrt_fd(array)
    again = dray.from_xrt(fd=fd, shape=SHAPE, dtype="u4", offset=offset)
    again[7, 7] = 1234
    assert (array[7, 7], size) == (1234, array.nbytes)


def test_user_memory_that_the_driver_refuses_is_an_error(device):
    scattered = np.zeros(4 << 20, np.uint8)
    start = -scattered.ctypes.data % 4096
    with pytest.raises(OSError, match="XRT") as caught:
        dray.xrt_bo(scattered[start:start + (2 << 20)], device, user=True)
    assert caught.value.errno == errno.EIO


def test_no_such_device_is_an_error():
    with pytest.raises(OSError) as caught:
        dray.xrt_device(7)
    assert caught.value.errno == errno.ENODEV


def test_memory_of_the_host_is_refused(device):
    pool = dray.open("host:shareable").pool()
    with pytest.raises(OSError, match="dma-buf") as caught:
        dray.xrt_bo(dray.zeros(8, pool=pool), device)
    assert caught.value.errno == errno.EOPNOTSUPP


def test_the_bank_of_an_array_is_the_group_of_its_bo(device, array):
    start = dray.address(array) & -(1 << 28)
    banks = [Bank(2, "DDR", "DDR4", start, 1 << 28, True)]
    bank = dray.xclbin_bank_of(array, banks)
    bo = dray.xrt_bo(array, device)
    assert bank.address <= bo.address < bank.address + bank.size


def test_each_heap_lies_in_a_bank_of_all_memory():
    everything = Bank(0, "all", "DDR4", 0, 1 << 63, True)
    for heap in dray.open().heaps():
        assert dray.xclbin_bank_of(heap.name, [everything]) is everything


def test_no_file_descriptor_is_left(device):
    def use():
        bo = dray.xrt_bo(dray.zeros(1024), device)
        dray.from_xrt(bo)
        dray.from_xrt(device.alloc(4096), node=dray.open())
    use()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        use()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before

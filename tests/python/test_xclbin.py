# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory banks of .xclbin files, and the banks of arrays and heaps.  The files are
made here: no package has one."""
import errno
import os

import numpy as np
import pytest

import dray
from dray import Bank
from xclbin_file import BANKS, xclbin

READ = [
    Bank(0, "HPC0", "DDR4", 0, 2 << 30, False),
    Bank(1, "HP0", "DDR4", 0, 2 << 30, True),
    Bank(2, "stream0", "stream", 0, 0, True),
    Bank(3, "HBM[0]", "HBM", 0x4000000000, 256 << 20, True),
    Bank(4, "0123456789abcdef", "host", 1 << 20, 16384, True),
]


@pytest.fixture
def path(tmp_path):
    """A file with BANKS."""
    path = tmp_path / "design.xclbin"
    path.write_bytes(xclbin(BANKS))
    return path


def test_the_banks_of_a_file_are_read(path):
    for name in (path, str(path), os.fsencode(path)):
        assert dray.xclbin_banks(name) == READ


def test_a_file_may_have_hundreds_of_banks(path):
    path.write_bytes(xclbin(300 * BANKS))
    assert dray.xclbin_banks(path)[1499] == READ[4]._replace(index=1499)


def test_a_file_that_is_cut_at_any_byte_is_an_error(path):
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="is cut"):
            dray.xclbin_banks(path)


@pytest.mark.parametrize("content, error, sentence", [
    (b"", ValueError, "the header ends at byte 456, the file has 0"),
    (b"xclbin0\0" + bytes(500), ValueError, "not begin as an xclbin of version 2"),
    (xclbin(BANKS, kind=7), OSError, "no table of memory banks among its 2"),
    (xclbin([(1, 1, 1 << 54, 0, b"")]), ValueError, "bank 0 of .* ends above"),
])
def test_a_wrong_file_is_an_error(path, content, error, sentence):
    path.write_bytes(content)
    with pytest.raises(error, match=sentence):
        dray.xclbin_banks(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        dray.xclbin_banks(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        dray.xclbin_banks(tmp_path)
    with pytest.raises(TypeError):
        dray.xclbin_banks(3)
    with pytest.raises(ValueError, match="null"):
        dray.xclbin_banks("a\0b")


@pytest.mark.host
def test_memory_of_the_host_is_in_no_bank(path):
    picture = dray.zeros((480, 640), "u1")
    for what in (picture, picture[::2, ::-3], dray.Array(picture), "private"):
        with pytest.raises(OSError, match="no DMA addresses") as caught:
            dray.xclbin_bank_of(what, path)
        assert caught.value.errno == errno.EOPNOTSUPP


def test_memory_that_is_not_dray_s_is_in_no_bank(path):
    with pytest.raises(ValueError, match="not dray's"):
        dray.xclbin_bank_of(np.zeros(8), path)
    with pytest.raises(TypeError, match="memory is not a NumPy array or dray.Array but int"):
        dray.xclbin_bank_of(3, path)


def test_an_unknown_heap_is_in_no_bank(path):
    with pytest.raises(ValueError, match='no heap "none"'):
        dray.xclbin_bank_of("none", path)
    with pytest.raises(TypeError, match="node is not a dray.Node"):
        dray.xclbin_bank_of("none", path, node=3)


def test_banks_are_those_of_xclbin_banks():
    array = dray.zeros(8)
    for banks in ([3], [(1, 2)], [("1", "a", "b", 0, 0, True)], 3):
        with pytest.raises(TypeError):
            dray.xclbin_bank_of(array, banks)
    with pytest.raises((TypeError, OverflowError)):
        dray.xclbin_bank_of(array, [READ[0]._replace(name=3)])


@pytest.mark.parametrize("field, number", [
    ("index", -1), ("index", 1 << 32), ("address", -1), ("address", 1 << 64),
    ("size", -1), ("size", 1 << 64)])
def test_a_number_that_no_bank_has_is_a_value_error(field, number):
    with pytest.raises(ValueError, match=f"{field} is {number}"):
        dray.xclbin_bank_of(dray.zeros(8), [READ[0]._replace(**{field: number})])


@pytest.fixture
def around():
    """around(ARRAY): a bank in use of 64 KiB that holds the array's first byte."""
    def make(array, **changes):
        start = dray.address(array) & ~0xffff
        return Bank(7, "DDR[1]", "DDR4", start, 1 << 16, True)._replace(**changes)
    return make


@pytest.mark.kernel
def test_an_array_lies_in_the_bank_of_its_addresses(around):
    array = dray.zeros(1024, "u1")
    unused, bank = around(array, used=False), around(array)
    assert dray.xclbin_bank_of(array, [*READ[2:4], unused, bank]) is bank
    assert dray.xclbin_bank_of(array[::-3], [bank]) is bank


@pytest.mark.kernel
def test_an_array_across_two_banks_is_an_error(around):
    array = dray.zeros(1 << 17, "u1")
    first = around(array)
    second = first._replace(index=8, name="DDR[2]", size=1 << 20,
                            address=first.address + first.size)
    with pytest.raises(ValueError, match=r"in bank 7 \(DDR\[1\]\), .*bank 8"):
        dray.xclbin_bank_of(array, [first, second])
    with pytest.raises(ValueError, match="none of the 1 bank in use holds address"):
        dray.xclbin_bank_of(array, [first])


@pytest.mark.kernel
def test_each_heap_lies_in_a_bank_of_all_memory():
    everything = Bank(0, "all", "DDR4", 0, (1 << 63), True)
    for heap in dray.open().heaps():
        assert dray.xclbin_bank_of(heap.name, [everything]) is everything

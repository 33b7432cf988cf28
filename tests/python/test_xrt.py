# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays and XRT's buffer objects (BOs), as far as no XRT is needed: pyxrt is a mock
here, since no package has it, and XRT itself is not there.  Suite `xrt` has tests
with the real library."""
import ctypes.util
import enum
import errno
import gc
import os
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

import dray
from dray import _dray


class Bo:
    """A pyxrt.bo with the methods of XRT 2.25, and nothing more."""

    def __init__(self, device, size, flags, group):
        if not isinstance(device, Device):
            raise TypeError("incompatible constructor arguments")
        self._memory = memoryview(bytearray(size))
        self._flags = flags
        self.synced = []

    def map(self):
        if self._flags == "device_only":
            raise RuntimeError("device only buffer has no host buffer")
        return self._memory

    def size(self):
        return len(self._memory)

    def address(self):
        return 0x7000000

    def sync(self, direction, size=None, offset=None):
        if not isinstance(direction, Direction):
            raise TypeError("incompatible function arguments")
        self.synced.append((direction, size, offset))


class Device:
    pass


class Direction(enum.Enum):
    """pybind11's enumerations are no ints."""
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1

    def __int__(self):
        return self.value


class ImportingBo(Bo):
    """One that C++ has, and pyxrt may have one day: it imports a file descriptor, and
    has parts."""
    imports = []

    def __init__(self, first, *rest):
        if len(rest) == 1:
            os.fstat(rest[0])
            self.imports.append(rest[0])
            self._memory = memoryview(bytearray(1 << 20))
        elif isinstance(first, Bo):
            size, offset = rest
            self.parent, self.offset = first, offset
            self._memory = first._memory[offset:offset + size]
        else:
            super().__init__(first, *rest)


@pytest.fixture(params=[Bo, ImportingBo])
def pyxrt(request, monkeypatch):
    """A mock of pyxrt, imported by the program."""
    module = types.ModuleType("pyxrt")
    module.bo, module.device, module.xclBOSyncDirection = request.param, Device, Direction
    monkeypatch.setitem(sys.modules, "pyxrt", module)
    ImportingBo.imports.clear()
    return module


def make(pyxrt, size=4096, flags="normal"):
    return pyxrt.bo(pyxrt.device(), size, flags, 0)


def test_a_bo_of_pyxrt_becomes_an_array_over_its_memory(pyxrt):
    bo = make(pyxrt)
    array = dray.from_xrt(bo, (2, 3), "<u4", offset=8, strides=(100, 4))
    array[1, 2] = 0x01020304
    assert isinstance(array, dray.Array)
    assert bytes(bo.map()[116:120]) == b"\4\3\2\1"
    assert array.strides == (100, 4)


def test_without_a_shape_it_is_all_of_the_bo(pyxrt):
    assert dray.from_xrt(make(pyxrt)).shape == (4096,)
    assert dray.from_xrt(make(pyxrt), dtype="u4", offset=10).shape == (1021,)


def test_the_array_keeps_the_bo(pyxrt):
    bo = make(pyxrt)
    gone = weakref.ref(bo)
    view = dray.from_xrt(bo)[::2]
    del bo
    gc.collect()
    assert gone()
    del view
    gc.collect()
    assert not gone()


def test_elements_outside_the_bo_are_a_value_error(pyxrt):
    for shape, offset, strides in [((4097,), 0, None), ((4096,), 1, None),
                                   ((2,), 0, (4096,)), ((2,), 0, (-1,)), ((1,), -1, None),
                                   (None, 5000, None)]:
        with pytest.raises((ValueError, TypeError)):
            dray.from_xrt(make(pyxrt), shape, offset=offset, strides=strides)


def test_a_bo_without_a_mapping_is_pyxrt_s_own_error(pyxrt):
    with pytest.raises(RuntimeError, match="no host buffer"):
        dray.from_xrt(make(pyxrt, flags="device_only"))


def test_another_object_is_a_type_error(pyxrt):
    for wrong in ("bo", np.zeros(3), pyxrt.device()):
        with pytest.raises(TypeError, match="bo is not a dray.XrtBo, a pyxrt.bo or"):
            dray.from_xrt(wrong)
    with pytest.raises(TypeError, match="takes a BO or fd="):
        dray.from_xrt()
    with pytest.raises(TypeError, match="takes a BO or fd="):
        dray.from_xrt(make(pyxrt), fd=0)
    with pytest.raises(TypeError, match="takes the device="):
        dray.from_xrt(77)


def test_a_device_is_an_index_or_an_object():
    array = dray.shared_zeros(10)
    for device in ("0", 1.5, None):
        with pytest.raises(TypeError, match="device is not an index"):
            dray.xrt_bo(array, device)
    for index in (-1, 1 << 32):
        with pytest.raises(ValueError, match="index is"):
            dray.xrt_bo(array, index)
    with pytest.raises(TypeError, match="index is not a whole number but str"):
        dray.xrt_device("0")
    with pytest.raises(ValueError, match="handle is 0: XRT made none"):
        dray.xrt_device(handle=0)
    with pytest.raises(ValueError, match="handle is -1: a number from 0 to 18446744073709551615"):
        dray.xrt_device(handle=-1)


@pytest.mark.host
def test_memory_of_the_host_is_no_bo_of_pyxrt(pyxrt):
    with pytest.raises(OSError, match="not a dma-buf") as caught:
        dray.xrt_bo(dray.zeros(10), pyxrt.device())
    assert caught.value.errno == errno.EOPNOTSUPP


@pytest.mark.parametrize("pyxrt", [Bo], indirect=True)
def test_a_pyxrt_that_imports_nothing_is_an_error(pyxrt):
    with pytest.raises(OSError, match="imports no memory: pass the device's index") as caught:
        dray.xrt_bo(dray.shared_zeros(10), pyxrt.device())
    assert caught.value.errno == errno.EOPNOTSUPP


def test_pyxrt_makes_no_bo_of_the_program_s_memory(pyxrt):
    with pytest.raises(OSError, match="program's memory"):
        dray.xrt_bo(dray.shared_zeros(10), pyxrt.device(), user=True)


@pytest.mark.parametrize("pyxrt", [ImportingBo], indirect=True)
def test_a_pyxrt_that_imports_gives_a_part_of_one_import(pyxrt):
    device, array = pyxrt.device(), dray.shared_zeros((4, 100), "u1")
    whole, row = dray.xrt_bo(array, device), dray.xrt_bo(array[2, 10:20], device)
    assert len(pyxrt.bo.imports) == 1
    assert (row.parent, row.offset - whole.offset, row.size()) == (whole.parent, 210, 10)
    dray.xrt_bo(array, pyxrt.device())
    assert len(pyxrt.bo.imports) == 2


EXPORT = """
import dray, sys
array = dray.shared_zeros(100, "u1")
print(dray.export_array(array).hex(), flush=True)
sys.stdin.read()
"""


@pytest.mark.host
@pytest.mark.parametrize("pyxrt", [ImportingBo], indirect=True)
def test_buffers_of_two_nodes_over_one_memory_are_one_import(pyxrt):
    device = pyxrt.device()
    with subprocess.Popen([sys.executable, "-c", EXPORT], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as other:
        record = bytes.fromhex(other.stdout.readline())
        bos = [dray.xrt_bo(dray.open_array(record, dray.open("host:shareable")), device)
               for _ in range(2)]
        other.stdin.close()
    assert len(pyxrt.bo.imports) == 1
    assert bos[0].parent is bos[1].parent


@pytest.mark.parametrize("pyxrt", [ImportingBo], indirect=True)
def test_a_part_of_an_import_keeps_both(pyxrt):
    device, array = pyxrt.device(), dray.shared_zeros(100, "u1")
    row = array[50:]
    bo = dray.xrt_bo(row, device)
    root, kept = weakref.ref(bo.parent), weakref.ref(row)
    del array, row
    gc.collect()
    assert root() is not None and kept() is not None
    del bo
    gc.collect()
    assert root() is None and kept() is None


@pytest.mark.parametrize("fd", ["memfd", "file", "pipe", 12345, -1])
def test_a_file_descriptor_of_something_else_is_an_error(fd, tmp_path):
    with open(tmp_path / "file", "wb") as file:
        file.write(bytes(4096))
    ends = os.pipe()
    given = {"memfd": os.memfd_create("x"), "pipe": ends[0],
             "file": os.open(tmp_path / "file", os.O_RDWR)}
    os.ftruncate(given["memfd"], 4096)
    with pytest.raises((OSError, ValueError)) as caught:
        dray.from_xrt(fd=given.get(fd, fd))
    assert str(caught.value)
    for number in [*given.values(), ends[1]]:
        os.close(number)


@pytest.mark.kernel
def test_a_file_descriptor_of_a_dma_buf_becomes_an_array():
    array = dray.shared_zeros((4, 1024), "u4")
    array[2, 3] = 7
    fd, offset, size = _dray.xrt_fd(array)
    assert size == array.nbytes
    again = dray.from_xrt(fd=fd, offset=offset, shape=array.shape, dtype="u4")
    assert again[2, 3] == 7
    again[2, 4] = 8
    assert array[2, 4] == 8
    reached = np.asarray(dray.from_xrt(fd=fd, offset=offset, dtype="u4",
                                       node=dray.open()))
    assert dray.address(reached) == dray.address(array)


LOAD = "import dray; dray.xrt_device(0)"


def failure(code=LOAD, **variables):
    """The last line that a program says when it ends with an exception."""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                          env={**os.environ, **variables})
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.skipif(ctypes.util.find_library("xrt_coreutil") is not None,
                    reason="XRT is installed")
def test_without_xrt_a_device_is_a_file_not_found_error():
    sentence = failure(XILINX_XRT="/nowhere")
    assert sentence.startswith("FileNotFoundError")
    assert "libxrt1" in sentence and "/nowhere/lib" in sentence


def test_an_unknown_mode_of_emulation_is_a_value_error():
    assert 'XCL_EMULATION_MODE is "nothing"' in failure(XCL_EMULATION_MODE="nothing")


def test_a_library_that_is_not_xrt_is_an_error(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("libxrt_core.so.2", "libxrt_coreutil.so.2"):
        (tmp_path / "lib" / name).write_bytes(b"no library")
    sentence = failure(LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert sentence.startswith("FileNotFoundError")

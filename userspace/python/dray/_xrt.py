# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays as buffer objects (BOs) of XRT, and BOs as arrays.

Objects of pyxrt are told by their class, if the program has imported pyxrt.  Its
BOs have no handle for C, so they are used through their methods.
"""

import errno
import operator
import os
import sys
import weakref
from types import TracebackType
from typing import Any, Iterable, Literal, Optional, Type, Union, final

import numpy

from . import _dray
from ._dray import Array
from ._node import Node

# XRT's flags.
_KINDS = {"normal": 0, "cacheable": 1 << 24, "svm": 1 << 27, "device_only": 1 << 28,
          "host_only": 1 << 29, "p2p": 1 << 30}


class _Closable(_dray.Handle):
    """An object that close() drops at once, or the last call that uses it."""

    __slots__ = ()
    __module__ = "dray"

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._dropped

    def __exit__(self, type: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType], /) -> Literal[False]:
        """Closes it."""
        self._drop()
        return False


@final
class XrtDevice(_Closable):
    """A device of XRT; dray.xrt_device() opens it."""

    __slots__ = ()
    __module__ = "dray"

    @property
    def handle(self) -> Optional[int]:
        """The xrtDeviceHandle, an int for ctypes."""
        return _dray.xrt_device_handle(self) or None

    def alloc(self, size: Union[int, str], kind: str = "normal", *, bank: int = 0) -> "XrtBo":
        """A new XrtBo of memory that XRT allocates: 'normal', 'cacheable', 'svm',
        'device_only', 'host_only' or 'p2p'.  `bank`: Bank.index, or the group of a
        kernel's argument."""
        size, bank = _dray.size(size, "size"), _dray.whole(bank, "bank", 2**32 - 1)
        if kind not in _KINDS:
            raise ValueError(f"kind is '{kind}': 'normal', 'cacheable', 'svm', 'device_only', "
                             "'host_only' or 'p2p'")
        return _dray.xrt_alloc(XrtBo, self, size, _KINDS[kind], bank)

    def close(self) -> None:
        """Closes the device when the last XrtBo on it is gone."""
        self._drop()

    def __enter__(self) -> "XrtDevice":
        """Returns the device."""
        _dray.xrt_device_handle(self)
        return self


@final
class XrtBo(_Closable):
    """A buffer object of XRT; dray.xrt_bo() makes it over an array."""

    __slots__ = ()
    __module__ = "dray"

    @property
    def handle(self) -> Optional[int]:
        """The xrtBufferHandle, an int for ctypes; None for a pyxrt.bo."""
        return _dray.xrt_describe(self)[0] or None

    @property
    def size(self) -> int:
        """Bytes."""
        return _dray.xrt_describe(self)[1]

    @property
    def address(self) -> int:
        """The DMA address of the first byte; OSError (EOPNOTSUPP) if it is without an address."""
        return _dray.xrt_address(self)

    @property
    def side(self) -> str:
        """The side that sync() calls: 'xrt', 'dray', or 'none' if there is nothing
        to do."""
        return ("none", "xrt", "dray")[_dray.xrt_describe(self)[2]]

    def sync(self, direction: Any, size: Union[int, str] = 0,
             offset: Union[int, str] = 0) -> None:
        """Hands bytes over between the CPU and the device, by the side that must do it:
        exactly these bytes.  direction: 'to_device' before a kernel reads or writes
        them, 'from_device' before the CPU does; or pyxrt's values.
        size 0: to the end."""
        owners = {"to_device": _dray.FOR_DEVICE, 0: _dray.FOR_DEVICE,
                  "from_device": _dray.FOR_CPU, 1: _dray.FOR_CPU}
        try:
            owner = owners[direction if isinstance(direction, str) else operator.index(direction)]
        except (KeyError, TypeError):
            raise ValueError(f"direction is {direction!r}: 'to_device' or "
                             "'from_device'") from None
        _dray.xrt_sync(self, owner, _dray.size(size, "size"), _dray.size(offset, "offset"))

    def part(self, offset: Union[int, str], size: Union[int, str]) -> "XrtBo":
        """An XrtBo of these bytes, which keeps this BO's memory."""
        return _dray.xrt_part(XrtBo, self, _dray.size(offset, "offset"),
                              _dray.size(size, "size"))

    def close(self) -> None:
        """Frees the BO when the last part of it, and the last array over it, is
        gone; drops the array that it was made of."""
        self._drop()

    def __enter__(self) -> "XrtBo":
        """Returns the BO."""
        _dray.xrt_describe(self)
        return self


def _handle(number: Any, name: str) -> int:
    """The int of a handle; 0 is one that XRT's functions give on failure."""
    if not (handle := _dray.whole(number, name)):
        raise ValueError(f"{name} is 0: XRT made none")
    return handle


def _is_pyxrt(thing: Any, name: str) -> bool:
    """Whether it is an object of that class of pyxrt."""
    pyxrt = sys.modules.get("pyxrt")
    return pyxrt is not None and isinstance(thing, getattr(pyxrt, name, ()))


def xrt_device(index: int = 0, *, handle: Optional[int] = None) -> XrtDevice:
    """Opens the device of XRT with this index, or makes an object of a device that the
    program opened: `handle` is its xrtDeviceHandle, which stays the program's,
    and open as long as the object and all that is made with it.

        with dray.xrt_device(0) as device:
            bo = dray.xrt_bo(picture, device)

    XRT is loaded on first use.  FileNotFoundError if it is not installed, OSError
    (ENODEV) if there is no such device, ValueError for a handle that XRT does not
    know.
    """
    if handle is not None:
        return _dray.xrt_device_of(XrtDevice, _handle(handle, "handle"))
    return _dray.xrt_device(XrtDevice, _dray.whole(index, "index", 2**32 - 1))


def _device(device: Any) -> XrtDevice:
    """The XrtDevice of an argument `device`."""
    if isinstance(device, XrtDevice):
        return device
    try:
        index = operator.index(device)
    except TypeError as error:
        raise TypeError("device is not an index, a dray.XrtDevice or a pyxrt.device but "
                        + type(device).__name__) from error
    return xrt_device(index)


# BOs of pyxrt over whole dma-bufs, by device and inode: numbers of buffers repeat
# on another node, and of an import there are two.  A second import of a dma-buf
# would share the first import's handle in the kernel, so each is imported once.
_roots: "weakref.WeakValueDictionary[Any, Any]" = weakref.WeakValueDictionary()


def _keep(*_: Any) -> None:
    """Called at the end of a BO; until then its finalizer keeps the arguments."""


def _import_pyxrt(array: numpy.ndarray, device: Any) -> Any:
    """A pyxrt.bo over the array, if this pyxrt imports memory."""
    bo = sys.modules["pyxrt"].bo
    fd, offset, size = _dray.xrt_fd(array)
    if fd < 0:
        raise OSError(errno.EOPNOTSUPP, "memory of the host is not a dma-buf to import")
    file = os.fstat(fd)
    key = device, file.st_dev, file.st_ino
    root = _roots.get(key)
    if root is None:
        try:
            root = bo(device, fd)
        except TypeError as error:
            raise OSError(errno.EOPNOTSUPP, "this pyxrt imports no memory: pass the device's "
                          "index, or make the memory as a pyxrt.bo and pass it to "
                          "dray.from_xrt()") from error
        _roots[key] = root
    part = bo(root, size, offset)
    weakref.finalize(part, _keep, root, array).atexit = False
    return part


def xrt_bo(array: Any, device: Any, *, user: bool = False) -> Any:
    """Makes a BO of XRT over the memory of an array, without a copy.  The BO keeps
    the array.

        bo = dray.xrt_bo(picture, 0)
        bo.sync("to_device")
        run_kernel(bo.handle)               # an xrtBufferHandle, for ctypes
        bo.sync("from_device")

    It covers the bytes from the lowest to the highest of `array`, the gaps of a
    view included, and waits until no copy and no packet is written there.  Kernels
    of XRT do not wait for fences of dray: dray.wait() after a later copy is the
    program's.

    If the array leads back to the BO, as by an attribute of a subclass, close() frees
    both: Python's collector of cycles does not see that the BO keeps the array.

    `array`: in memory of the kernel module, whose dma-buf is imported
    `device`: xrt_device(), or its index; or a pyxrt.device, if that pyxrt imports
    memory (none up to August 2026 does): the result is then a pyxrt.bo
    `user`: makes a BO of the mapped memory instead, also of NumPy's own.  The first
    byte is at the start of a page; on boards the memory must be contiguous, and
    XRT's driver does not let go of its pages before the next boot

    FileNotFoundError if XRT is not installed; OSError with ENODEV if there is no
    such device, EOPNOTSUPP for memory of the host, EIO if XRT refuses it; ValueError
    if the array is not in dray's memory.
    """
    _dray.wait_array(array, False, None)
    if _is_pyxrt(device, "device"):
        if user:
            raise OSError(errno.EOPNOTSUPP, "pyxrt makes no BO of the program's memory: pass "
                          "the device's index")
        return _import_pyxrt(array, device)
    return _dray.xrt_import(XrtBo, _device(device), array, user)


class _Mapped:
    """Memory of a pyxrt.bo, which it keeps."""

    def __init__(self, bo: Any, array: numpy.ndarray) -> None:
        self._kept = bo, array

    @property
    def __array_interface__(self) -> Any:
        return self._kept[1].__array_interface__


def _wrap_pyxrt(bo: Any, fd: int) -> XrtBo:
    """An XrtBo over a pyxrt.bo that was exported."""
    directions = sys.modules["pyxrt"].xclBOSyncDirection
    names = "XCL_BO_SYNC_BO_TO_DEVICE", "XCL_BO_SYNC_BO_FROM_DEVICE"

    def sync(direction: int, size: int, offset: int) -> None:
        bo.sync(getattr(directions, names[direction]), size, offset)
    return _dray.xrt_wrap(XrtBo, sync, fd, _dray.size(bo.size(), "size"),
                          _dray.whole(bo.address(), "address"))


def _wrap_fd(fd: int) -> XrtBo:
    """An XrtBo over the whole memory of a file descriptor."""
    def sync(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "a file descriptor alone cannot be synced: use the BO")
    # A dma-buf has no other way to say its size; its position means nothing.
    size = os.lseek(fd, 0, os.SEEK_END)
    if not size:
        raise ValueError(f"file descriptor {fd} has no memory: 0 bytes")
    return _dray.xrt_wrap(XrtBo, sync, fd, size, 0)


def from_xrt(bo: Any = None, shape: Any = None, dtype: Any = "u1", *,
             fd: Optional[int] = None, device: Any = None, root: Optional[int] = None,
             node: Optional[Node] = None, offset: int = 0, strides: Any = None) -> Array:
    """Makes a dray.Array over the memory of a BO of XRT, which it keeps.

        frame = dray.from_xrt(bo, (480, 640), "u2")

    `bo`: an XrtBo, a pyxrt.bo, or the int of an xrtBufferHandle, which then stays
    open as long as the array, and needs `device`, xrt_device(), and if it is a part of
    another BO also `root`, the handle of the whole BO
    `fd`: instead of `bo`, the file descriptor of its export (xrtBOExport()), which is
    duplicated
    `shape`: by default all of the BO, in one axis
    `node`: of the kernel module: the array lies in a buffer of it, so that its
    engines reach it
    `offset`, `strides`: bytes, of the first element in the BO and of each axis

    Sync by the BO: `bo.sync()`.  A pyxrt.bo has no export (up to August 2026), so its
    own mapping is used, and a dray engine does not reach it.

    FileNotFoundError if XRT is not installed; ValueError for elements outside the BO,
    a handle that XRT does not know or a closed BO; OSError (EOPNOTSUPP) for a BO or file
    descriptor without memory for a CPU.
    """
    if (bo is None) == (fd is None):
        raise TypeError("from_xrt() takes a BO or fd=: "
                        f"{'neither was' if bo is None else 'both were'} given")
    if fd is not None:
        made = _wrap_fd(fd)
    elif isinstance(bo, XrtBo):
        made = bo
    elif _is_pyxrt(bo, "bo"):
        if not hasattr(bo, "export_buffer"):
            return _over_map(bo, shape, dtype, offset, strides)
        made = _wrap_pyxrt(bo, bo.export_buffer())
    elif isinstance(bo, int):
        if device is None:
            raise TypeError("from_xrt() of a handle takes the device= that the BO is on")
        made = _dray.xrt_adopt(XrtBo, _device(device), _handle(bo, "bo"),
                               0 if root is None else _handle(root, "root"))
    else:
        raise TypeError("bo is not a dray.XrtBo, a pyxrt.bo or the int of a handle but "
                        + type(bo).__name__)
    if shape is None:
        shape = _all(made.size, dtype, offset)
    if strides is not None:
        strides = _tuple(strides)
        if len(strides) != len(_tuple(shape)):
            raise ValueError(f"{len(strides)} strides, the shape has {len(_tuple(shape))} axes")
    return _dray.xrt_array(made, node, _dray.size(offset, "offset"), numpy.dtype(dtype), shape,
                           strides)


def _tuple(numbers: Any) -> tuple[int, ...]:
    """Extents, or the only one."""
    return tuple(numbers) if isinstance(numbers, Iterable) else (operator.index(numbers),)


def _all(size: int, dtype: Any, offset: int) -> tuple[int]:
    """The shape of all whole elements from `offset` on."""
    return (max(size - offset, 0) // max(numpy.dtype(dtype).itemsize, 1),)


def _over_map(bo: Any, shape: Any, dtype: Any, offset: int, strides: Any) -> Array:
    """An Array over the mapping of a pyxrt.bo."""
    if shape is None:
        shape = _all(bo.size(), dtype, offset)
    # NumPy checks the numbers, except for a negative offset.
    if offset < 0:
        raise ValueError(f"offset is {offset}: 0 bytes are the least")
    array: numpy.ndarray = numpy.ndarray(shape, dtype, bo.map(), offset, strides)
    return Array(_Mapped(bo, array))

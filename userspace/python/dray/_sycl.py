# SPDX-License-Identifier: Apache-2.0 OR MIT
"""__sycl_usm_array_interface__, read and offered.

The memory behind it may be a device's, which a CPU must not read, so its kind
decides over all else.  dpctl knows the kind of its own memory, and the table of blocks
dray's; other memory is of no known kind, and is not read without a buffer.
"""
from __future__ import annotations

import math
import re
import sys
from typing import Any, NamedTuple, Optional

import numpy
import numpy.lib.format

from . import _dray
from ._records import named_type

NAME = "__sycl_usm_array_interface__"
VERSION = 1
MAX_NDIM = 64
INT64 = range(-2**63, 2**63)
TYPE = re.compile(r"[<>|=][?a-zA-Z][0-9]{1,9}(\[[^]]{1,20}\])?")


class Described(NamedTuple):
    """The interface of an object, after all checks."""

    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    address: Optional[int]
    """Of the element [0, 0, ...]; None: it lies in the object's buffer."""
    offset: int
    """Bytes, of that element in the buffer."""
    strides: Optional[tuple[int, ...]]
    """Bytes."""
    read_only: bool
    queue: Any


def _refuse(field: str, value: Any, wanted: str) -> ValueError:
    return ValueError(f"{NAME}: {field} is {value!r:.200}: {wanted}")


def _integer(value: Any, field: str, limits: range) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{NAME}: {field} is {value!r:.200}, not an int")
    # Of a subclass a range looks at each number, and an operator may be another.
    number = int.__index__(value)
    if number not in limits:
        raise _refuse(field, number, f"from {limits.start} to {limits.stop - 1}")
    return number


def _integers(value: Any, field: str, limits: range) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{NAME}: {field} is {value!r:.200}, not a tuple")
    if len(value) > MAX_NDIM:
        raise ValueError(f"{NAME}: {field} has {len(value)} axes, {MAX_NDIM} are the most")
    return tuple(_integer(each, f"{field}[{i}]", limits)
                 for i, each in enumerate(value))


def _type(interface: dict[str, Any]) -> numpy.dtype:
    text, fields = interface["typestr"], interface.get("typedescr")
    if not isinstance(text, str):
        raise TypeError(f"{NAME}: typestr is {text!r:.200}, not a str")
    text = str.__str__(text)
    if not TYPE.fullmatch(text):
        raise _refuse("typestr", text, "a type as '<f4'")
    try:
        dtype = numpy.dtype(text)
        if fields is not None and dtype.kind == "V":
            dtype = numpy.lib.format.descr_to_dtype(fields)
    except Exception as error:  # of any class, as fields are anything
        raise _refuse("typestr", text, f"no type of NumPy ({error})") from None
    if dtype.hasobject:
        raise _refuse("typestr", text, "objects have no place in memory of SYCL")
    # NumPy forgets the upper bits of a long number.
    size = int(re.findall("[0-9]+", text)[0]) * (4 if text[1] == "U" else 1)
    if dtype.itemsize != size:
        raise _refuse("typedescr" if fields else "typestr", fields or text,
                      f"elements of {dtype.itemsize} bytes, not {size}")
    return dtype


def _data(interface: dict[str, Any]) -> tuple[Optional[int], bool]:
    data = interface.get("data")
    if data is None:
        return None, False
    if not isinstance(data, tuple) or len(data) != 2:
        raise _refuse("data", data, "a tuple of an address and a flag")
    if not isinstance(data[1], (bool, numpy.bool_)):
        raise TypeError(f"{NAME}: data[1] is {data[1]!r:.200}, not a bool")
    return _integer(data[0], "data[0]", range(2**64)), bool(data[1])


def _is_of_dpctl(obj: Any) -> bool:
    """Whether strides count elements for certain, and the second part of data is set for
    memory that may be written."""
    module: Any = type(obj).__module__
    return isinstance(module, str) and module.partition(".")[0] in ("dpctl", "dpnp")


def _check_unit(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> None:
    """Refuses strides that fit C order in bytes, but not in elements."""
    dense, step = [], size
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1:
            dense.append(stride == step)
        step *= extent
    if size > 1 and len(dense) > 1 and all(dense):
        raise ValueError(f"{NAME}: strides {strides!r:.200} are those of C order if they count "
                         "bytes, but they are read as elements: strides_in_bytes=True or "
                         "False says which")


def describe(obj: Any, strides_in_bytes: Optional[bool]) -> Described:
    """Reads the interface, of which nothing is trusted."""
    try:
        interface = getattr(obj, NAME)
    except AttributeError:
        raise TypeError(f"{named_type(obj)} has no {NAME}") from None
    if not isinstance(interface, dict):
        raise TypeError(f"{NAME} is {named_type(interface)}, not a dict")
    for field in ("shape", "typestr", "version", "syclobj"):
        if field not in interface:
            raise ValueError(f"{NAME} has no {field}")
    _integer(interface["version"], "version", range(1, VERSION + 1))
    shape = _integers(interface["shape"], "shape", range(2**63))
    dtype = _type(interface)
    address, flag = _data(interface)
    unit = 1 if strides_in_bytes else dtype.itemsize
    strides = interface.get("strides")
    if strides is not None:
        given = _integers(strides, "strides", INT64)
        strides = tuple(_integer(each * unit, f"bytes of strides[{i}]", INT64)
                        for i, each in enumerate(given))
        if len(strides) != len(shape):
            raise _refuse("strides", strides, f"there are {len(shape)} axes")
        if strides_in_bytes is None and not _is_of_dpctl(obj):
            _check_unit(shape, given, dtype.itemsize)
    offset = interface.get("offset")
    offset = 0 if offset is None else _integer(offset, "offset", INT64)
    offset = _integer(offset * unit, "bytes of offset", INT64)
    if address is not None:
        address = _integer(address + offset, "address", range(2**64))
    read_only = not flag if address is not None and _is_of_dpctl(obj) else flag
    return Described(shape, dtype, address, offset, strides, read_only,
                     interface["syclobj"])


class _Bytes:
    """Some bytes of memory, for dpctl."""

    def __init__(self, address: int, count: int, queue: Any) -> None:
        setattr(self, NAME, {"data": (address, True), "shape": (count,),
                             "typestr": "|u1", "strides": None, "version": VERSION,
                             "syclobj": queue})


def usm_memory(address: int, count: int, queue: Any) -> Any:
    """dpctl's object for bytes of its memory; None if the memory is not dpctl's.

    dpctl ends the process if it is asked for a foreign pointer by a context, and
    mistakes text for a device: it only ever gets a queue."""
    dpctl = sys.modules.get("dpctl")
    memory = sys.modules.get("dpctl.memory")
    if dpctl is None or memory is None:
        return None
    if isinstance(queue, dpctl.SyclContext):
        queue = dpctl.SyclQueue(queue, queue.get_devices()[0])
    if not isinstance(queue, dpctl.SyclQueue):
        return None
    try:
        return memory.as_usm_memory(_Bytes(address, count, queue))
    except ValueError:
        return None


def kind_of(address: int, queue: Any) -> str:
    """The kind that dpctl reports, else "unknown"."""
    memory = usm_memory(address, 1, queue)
    return memory.get_usm_type() if memory is not None else "unknown"


def wait_for(queue: Any) -> None:
    """Waits for all that was submitted to a queue of dpctl."""
    dpctl = sys.modules.get("dpctl")
    if dpctl is not None and isinstance(queue, dpctl.SyclQueue):
        queue.wait()


def span_of(described: Described) -> tuple[int, int]:
    """Bytes from the element [0, 0, ...] to the lowest and behind the highest element."""
    strides, size = described.strides, described.dtype.itemsize
    if 0 in described.shape:
        return 0, 0
    if strides is None:
        return 0, math.prod(described.shape) * size
    reaches = [(extent - 1) * stride for extent, stride in zip(described.shape, strides)]
    return (sum(reach for reach in reaches if reach < 0),
            sum(reach for reach in reaches if reach > 0) + size)


def in_buffer(obj: Any, described: Described) -> Optional[numpy.ndarray]:
    """The elements in the object's buffer; None if they are not there."""
    try:
        whole = numpy.frombuffer(obj, numpy.uint8)
    except (AttributeError, BufferError, TypeError, ValueError):
        return None
    offset = described.offset
    if described.address is not None:
        offset = described.address - whole.ctypes.data
    low, high = span_of(described)
    # NumPy believes an offset below 0.
    if offset + low < 0 or offset + high > whole.size:
        return None
    try:
        array = numpy.ndarray(described.shape, described.dtype, whole, offset,
                              described.strides)
    except (OverflowError, TypeError, ValueError):
        return None
    if described.read_only:
        array.flags.writeable = False
    return array


def read(obj: Any, strides_in_bytes: Optional[bool], wait: bool) -> _dray.Array:
    """dray.from_sycl()."""
    described = describe(obj, strides_in_bytes)
    if wait:
        wait_for(described.queue)
    array = None
    if described.address is None:
        array = in_buffer(obj, described)
        if array is None:
            raise BufferError(f"{NAME} has no data, and the {type(obj).__name__} has no "
                              f"buffer with {described.shape} elements of "
                              f"{described.dtype}")
    address = described.address if array is None else array.ctypes.data
    assert address is not None
    kind = kind_of(address, described.queue)
    if kind == "unknown":
        array = in_buffer(obj, described)
        if array is not None:
            return _dray.Array(array)
    owner = obj if array is None else array
    strides = described.strides if array is None else array.strides
    writable = not described.read_only if array is None else array.flags.writeable
    return _dray.array_at(owner, address, described.dtype, described.shape, strides,
                          writable, kind)


class SyclQueue:
    """A queue of dray, as `syclobj`: the DMA channels of a node.

    name: 'dray0', or 'host'
    backend: 'kernel' or 'host'

    SYCL does not know it, and kernels do not run on it.
    """

    def __init__(self, name: str, backend: str) -> None:
        self.name = name
        self.backend = backend

    def __repr__(self) -> str:
        return f"<dray.SyclQueue of {self.name}, back end {self.backend}>"


class SyclArray:
    """A dray.Array with __sycl_usm_array_interface__, made by to_sycl().

    array: the array, which it keeps
    kind: "host", "shared" or "device"
    """

    def __init__(self, array: _dray.Array, kind: str) -> None:
        self.array = array
        self.kind = kind
        size = array.itemsize
        address, _, _, writable, node = _dray.place(array)
        if node is None:
            raise ValueError("the array's memory is not dray's: make it inside "
                             "`with dray.memory():`")
        self._interface: dict[str, Any] = {
            "shape": array.shape,
            "typestr": array.typestr,
            "data": (address, not writable),
            "strides": tuple(each // size for each in array.strides) if size else None,
            "offset": 0,
            "version": VERSION,
            "syclobj": SyclQueue(node.info().name, node.backend),
        }
        if array.dtype.fields:
            self._interface["typedescr"] = array.dtype.descr

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        return dict(self._interface)

    def __repr__(self) -> str:
        return (f"<dray.SyclArray of shape {self.array.shape} and "
                f"{self.array.dtype!r}, {self.kind} memory>")


def offer(a: Any) -> SyclArray:
    """dray.to_sycl()."""
    array = a if isinstance(a, _dray.Array) else _dray.Array(a)
    if not array.size:
        raise ValueError("an array without elements lies in no memory")
    for i, stride in enumerate(array.strides):
        if array.itemsize and stride % array.itemsize:
            raise ValueError(f"strides[{i}] is {stride} bytes: {NAME} counts elements, "
                             f"which have {array.itemsize}")
    return SyclArray(array, _dray.kind(array, None))


def _foreign(a: Any, strides_in_bytes: Optional[bool]) -> _dray.Array:
    return a if isinstance(a, _dray.Array) else read(a, strides_in_bytes, True)


def _usm_bytes(array: _dray.Array) -> Any:
    """dpctl's object for all bytes from the lowest to the highest of an array."""
    address, low, high, _, _ = _dray.place(array)
    base = array.base
    memory = None
    if hasattr(base, NAME):
        queue = describe(base, True).queue
        wait_for(queue)
        memory = usm_memory(address + low, high - low, queue)
    if memory is None:
        raise ValueError("dpctl does not know the memory, or was not imported: nothing "
                         "can copy it")
    return memory


def _check_pair(dst: Any, src: Any, given: Any) -> None:
    # A copy to an array that is made of another object would be lost.
    if not isinstance(given, (_dray.Array, numpy.ndarray)):
        raise TypeError(f"{'dst' if given is dst else 'src'} is {named_type(given)}, "
                        "not an array")
    if dst.shape != src.shape:
        raise ValueError(f"dst has the shape {dst.shape}, src {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"dst holds {dst.dtype!r}, src {src.dtype!r}: a copy converts "
                        "nothing, view() one of them")


def _is_reached(a: Any) -> bool:
    return not isinstance(a, _dray.Array) or _dray.is_reached(a)


def _move(dst: Any, src: Any) -> None:
    """Copies between memory that the CPU reaches, and dray's of any kind."""
    if _is_reached(dst) and _is_reached(src):
        numpy.copyto(numpy.asarray(dst), numpy.asarray(src), casting="no")
    else:
        _dray.copy(dst, src)


def _beside(array: _dray.Array) -> tuple[numpy.ndarray, numpy.ndarray]:
    """New bytes in dray's memory, and an array in them as the other in its own."""
    import dray
    _, low, high, _, _ = _dray.place(array)
    held = dray.empty(high - low, numpy.uint8)
    return held, numpy.ndarray(array.shape, array.dtype, held, -low, array.strides)


def copy_from(dst: Any, src: Any, strides_in_bytes: Optional[bool]) -> None:
    """dray.copy_from_sycl()."""
    array = _foreign(src, strides_in_bytes)
    _check_pair(dst, array, dst)
    if _is_reached(array):
        _move(dst, array)
        return
    held, elements = _beside(array)
    _usm_bytes(array).copy_to_host(held)
    _move(dst, elements)


def copy_to(dst: Any, src: Any, strides_in_bytes: Optional[bool]) -> None:
    """dray.copy_to_sycl()."""
    array = _foreign(dst, strides_in_bytes)
    _check_pair(array, src, src)
    if not _dray.place(array)[3]:
        raise ValueError("dst: the array is read-only")
    if _is_reached(array):
        _move(array, src)
        return
    memory = _usm_bytes(array)
    held, elements = _beside(array)
    if held.size != array.nbytes:
        memory.copy_to_host(held)
    _move(elements, src)
    memory.copy_from_host(held)

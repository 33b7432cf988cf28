# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The libraries that exchange arrays with dray, each by its own functions.

A door is one way into a library.  take() makes an object of the library of an array
of dray, and give() an object of the library with these values, for from_dlpack() of
dray.  address(), values() and strides() ask the library about its object, without a
copy.
"""
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from cases import LAYOUTS, MAX_NDIM
from conftest import WHERE


class Capsules:
    """An array of dray by its capsules only: without the table, the buffer protocol
    and the interfaces of Arrow.  Notes the arguments of the consumer."""

    def __init__(self, array: Any):
        self.array = array
        self.asked: list[dict[str, Any]] = []

    def __dlpack__(self, **arguments: Any) -> Any:
        self.asked.append(arguments)
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Door(NamedTuple):
    name: str
    take: Callable[[Any], Any]
    address: Callable[[Any], int]
    values: Callable[[Any], np.ndarray]
    # In bytes; None if the library has no strides.
    strides: Optional[Callable[[Any], tuple[int, ...]]] = None
    # From values of NumPy in any layout; None if the door is for taking only.
    give: Optional[Callable[[np.ndarray], Any]] = None
    # Layouts, numbers of axes and types that the library's own arrays have.
    layouts: Optional[tuple[str, ...]] = None
    ranks: range = range(MAX_NDIM + 1)
    types: str = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16"
    # Whether the library may write arrays of dray, and dray those of the library.
    writes: bool = False
    is_written: bool = False


FORWARD = tuple(name for name in LAYOUTS
                if "reversed" not in name and name != "read-only")
WRITABLE = tuple(name for name in LAYOUTS if name != "read-only")
REAL = "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8"


def writable(values: np.ndarray) -> np.ndarray:
    """The same layout in memory that may be written."""
    if values.flags.writeable:
        return values
    once = values[0].copy()
    return np.lib.stride_tricks.as_strided(once, values.shape, values.strides)


def numpy_address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def numpy_door(name: str) -> Door:
    return Door(name, np.from_dlpack, numpy_address, lambda a: a,
                lambda a: a.strides, lambda values: values, writes=name == "NumPy 2",
                is_written=True)


def torch_doors() -> list[Door]:
    import torch

    def strides(tensor: Any) -> tuple[int, ...]:
        return tuple(each * tensor.element_size() for each in tensor.stride())

    def give(values: np.ndarray) -> Any:
        return torch.from_numpy(writable(values))
    return [Door("torch", torch.from_dlpack, torch.Tensor.data_ptr,
                 torch.Tensor.numpy, strides, give, FORWARD,
                 types="? i1 i2 i4 i8 u1 f2 f4 f8 c8 c16", writes=True)]


def jax_doors() -> list[Door]:
    import jax

    def take(array: Any) -> Any:
        return jax.dlpack.from_dlpack(array).block_until_ready()

    def take_as_it_is(array: Any) -> Any:
        return jax.dlpack.from_dlpack(array, copy=False).block_until_ready()

    def give(values: np.ndarray) -> Any:
        return jax.numpy.array(values).block_until_ready()

    def address(array: Any) -> int:
        return array.unsafe_buffer_pointer()
    return [Door("JAX", take, address, np.asarray, None, give, ("C",)),
            Door("JAX, copy=False", take_as_it_is, address, np.asarray)]


def tvm_doors() -> list[Door]:
    import tvm_ffi

    def by_capsule(array: Any) -> Any:
        return tvm_ffi.from_dlpack(Capsules(array))

    def address(tensor: Any) -> int:
        return tensor.data_ptr()

    def strides(tensor: Any) -> tuple[int, ...]:
        # tensor.dtype raises an error for complex numbers.
        size = np.from_dlpack(tensor).itemsize
        return tuple(each * size for each in tensor.strides)

    def give(values: np.ndarray) -> Any:
        return tvm_ffi.from_dlpack(writable(values))
    about = address, np.from_dlpack, strides
    return [Door("apache-tvm-ffi, by the table", tvm_ffi.from_dlpack, *about,
                 give=give, layouts=WRITABLE, writes=True, is_written=True),
            Door("apache-tvm-ffi, by a capsule", by_capsule, *about, writes=True)]


def pyarrow_doors() -> list[Door]:
    import pyarrow

    def values(array: Any) -> np.ndarray:
        return array.to_numpy()

    def tensor_address(tensor: Any) -> int:
        return numpy_address(tensor.to_numpy())

    def array_address(array: Any) -> int:
        size = array.type.bit_width // 8
        return array.buffers()[1].address + array.offset * size

    def array_give(values: np.ndarray) -> Any:
        return pyarrow.array(values)
    return [Door("pyarrow.Tensor", pyarrow.Tensor.from_dlpack, tensor_address,
                 values, lambda tensor: tensor.strides,
                 pyarrow.Tensor.from_numpy, FORWARD, types=REAL, writes=True,
                 is_written=True),
            Door("pyarrow.Array", pyarrow.Array.from_dlpack, array_address, values,
                 None, array_give, ("C", "no elements"), range(1, 2), REAL)]


def nanoarrow_doors() -> list[Door]:
    import nanoarrow
    import nanoarrow.device

    def take(array: Any) -> Any:
        return nanoarrow.device.c_device_array(Capsules(array))

    def values(array: Any) -> np.ndarray:
        return np.asarray(array.array.view().buffer(1))

    def address(array: Any) -> int:
        return array.array.buffers[1]

    def give(values: np.ndarray) -> Any:
        return nanoarrow.c_array(values).view().buffer(1)
    return [Door("nanoarrow", take, address, values),
            Door("nanoarrow's buffers", None, numpy_address_of, np.asarray, None,
                 give, ("C",), range(1, 2), REAL)]


def numpy_address_of(buffer: Any) -> int:
    return numpy_address(np.asarray(buffer))


def doors() -> list[Door]:
    if WHERE == "debian":
        return [numpy_door("NumPy 1.24"), *torch_doors()]
    return [numpy_door("NumPy 2"), *jax_doors(), *tvm_doors(), *pyarrow_doors(),
            *nanoarrow_doors()]


DOORS = {door.name: door for door in doors()}

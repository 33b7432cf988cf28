# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Capsules of DLPack, looked at and changed by hand."""
import ctypes
from typing import Any

API = ctypes.pythonapi
API.PyCapsule_GetName.restype = ctypes.c_char_p
API.PyCapsule_GetName.argtypes = [ctypes.py_object]
API.PyCapsule_SetName.restype = ctypes.c_int
# The capsule keeps the address of its name.
API.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_void_p]
API.PyCapsule_GetPointer.restype = ctypes.c_void_p
API.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

VERSIONED = b"dltensor_versioned"
LEGACY = b"dltensor"
NAMES = {name: ctypes.create_string_buffer(name) for name in
         (VERSIONED, LEGACY, b"used_" + VERSIONED, b"used_" + LEGACY, b"something")}

EXT_DEV = 12


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


def name_of(capsule: Any) -> bytes:
    return API.PyCapsule_GetName(capsule)


def rename(capsule: Any, name: bytes) -> Any:
    assert API.PyCapsule_SetName(capsule, ctypes.addressof(NAMES[name])) == 0
    return capsule


def managed(capsule: Any) -> Any:
    name = name_of(capsule)
    structure = Versioned if name.endswith(VERSIONED) else Managed
    return structure.from_address(API.PyCapsule_GetPointer(capsule, name))


class Stale:
    """A producer that hands out one capsule each time it is asked."""

    def __init__(self, array: Any):
        self.array, self.capsule = array, None

    def __dlpack__(self, **arguments: Any) -> Any:
        if self.capsule is None:
            self.capsule = self.array.__dlpack__(**arguments)
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Renamed:
    """A producer of capsules with another name."""

    def __init__(self, array: Any, name: bytes):
        self.array, self.name, self.capsule = array, name, None

    def __dlpack__(self, **arguments: Any) -> Any:
        self.capsule = self.array.__dlpack__(**arguments)
        self.before = name_of(self.capsule)
        return rename(self.capsule, self.name)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def restore(self) -> None:
        """Gives the capsule its name back, so that it frees its tensor."""
        rename(self.capsule, self.before)


class Elsewhere:
    """A producer of tensors on a device of no known kind, as in memory that the CPU does
    not reach."""

    def __init__(self, array: Any):
        self.array = array

    def __dlpack__(self, **arguments: Any) -> Any:
        arguments.pop("dl_device", None)
        capsule = self.array.__dlpack__(**arguments)
        managed(capsule).tensor.device_type = EXT_DEV
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return EXT_DEV, 0

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""DLPack's structures for tests: a look into capsules, and tensors made by hand, for a
test to spoil."""
import ctypes

from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, \
    c_uint32, c_uint64, c_void_p, py_object

import numpy as np

LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"
READ_ONLY, IS_COPIED = 1, 2
CPU = (1, 0)

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = py_object
_python.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
_python.PyCapsule_GetName.restype = c_char_p
_python.PyCapsule_GetName.argtypes = [py_object]
_python.PyCapsule_SetName.argtypes = [py_object, c_char_p]
_python.PyCapsule_GetPointer.restype = c_void_p
_python.PyCapsule_GetPointer.argtypes = [py_object, c_char_p]


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8),
                ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager_ctx", c_void_p),
                ("deleter", c_void_p), ("flags", c_uint64), ("tensor", Tensor)]


Deleter = ctypes.PYFUNCTYPE(None, c_void_p)
SetError = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)


class Table(ctypes.Structure):
    """The table of C functions at a class."""
    Allocator = ctypes.PYFUNCTYPE(c_int, POINTER(Tensor), POINTER(POINTER(Versioned)),
                                  c_void_p, SetError)
    FromObject = ctypes.PYFUNCTYPE(c_int, py_object, POINTER(c_void_p))
    ToObject = ctypes.PYFUNCTYPE(c_int, c_void_p, POINTER(py_object))
    Borrow = ctypes.PYFUNCTYPE(c_int, py_object, POINTER(Tensor))
    Stream = ctypes.PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))

    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("prev_api", c_void_p),
                ("allocator", Allocator), ("from_object", FromObject),
                ("to_object", ToObject), ("borrow", Borrow), ("stream", Stream)]

    def capsule(self):
        _kept.append(self)  # as long as the process, as the tables of others
        return _python.PyCapsule_New(ctypes.addressof(self), b"dlpack_exchange_api",
                                     None)


def name_of(capsule):
    return _python.PyCapsule_GetName(capsule)


# Python borrows the names of capsules.
_names = {}
_kept = []


def rename(capsule, name):
    _python.PyCapsule_SetName(capsule, _names.setdefault(name, c_char_p(name)))


def inside(capsule):
    """The structure in a capsule, which it keeps, before a consumer has taken its
    tensor."""
    name = name_of(capsule)
    kind = {LEGACY: Legacy, VERSIONED: Versioned}[name]
    found = kind.from_address(_python.PyCapsule_GetPointer(capsule, name))
    found.capsule = capsule
    return found


class Made:
    """A tensor of 3 times 4 doubles, in a capsule without a destructor."""

    def __init__(self, versioned=True):
        self.array = np.arange(12.0).reshape(3, 4)
        self.given_back = 0
        self.managed = (Versioned if versioned else Legacy)()
        self.tensor = self.managed.tensor
        self.tensor.data = self.array.ctypes.data
        self.tensor.device_type = CPU[0]
        self.tensor.ndim = 2
        self.tensor.code, self.tensor.bits, self.tensor.lanes = 2, 64, 1
        self.shape, self.strides = (c_int64 * 2)(3, 4), (c_int64 * 2)(4, 1)
        self.tensor.shape, self.tensor.strides = self.shape, self.strides
        self._deleter = Deleter(self._give_back)
        self.managed.deleter = ctypes.cast(self._deleter, c_void_p)
        if versioned:
            self.managed.major, self.managed.minor = 1, 3
        self.name = VERSIONED if versioned else LEGACY
        self.address = ctypes.addressof(self.managed)

    def _give_back(self, address):
        assert address == self.address
        self.given_back += 1

    def capsule(self):
        return _python.PyCapsule_New(self.address, self.name, None)

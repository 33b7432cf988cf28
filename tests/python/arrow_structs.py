# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrow's structures by ctypes, as another producer or consumer has them: Debian has
no pyarrow, so suite interop tests that."""
import ctypes

import numpy as np


class Schema(ctypes.Structure):
    pass


class ArrayStructure(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrayStructure))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream),
                            ctypes.POINTER(ArrayStructure))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)), ("release", RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p)]
ArrayStructure._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrayStructure))),
    ("dictionary", ctypes.POINTER(ArrayStructure)), ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR),
    ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p)]


class DeviceArray(ctypes.Structure):
    _fields_ = [
        ("array", ArrayStructure), ("device_id", ctypes.c_int64),
        ("device_type", ctypes.c_int32), ("sync_event", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 3)]


PYTHON = ctypes.pythonapi
PYTHON.PyCapsule_New.restype = ctypes.py_object
PYTHON.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
PYTHON.PyCapsule_GetPointer.restype = ctypes.c_void_p
PYTHON.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def capsule(structure, name):
    """A capsule over a structure, which the caller keeps."""
    return PYTHON.PyCapsule_New(ctypes.addressof(structure), name, None)


def read(capsule_, name, type_):
    """The structure in a capsule."""
    return type_.from_address(PYTHON.PyCapsule_GetPointer(capsule_, name))


class Producer:
    """A column of numbers, or of strings with `data` beside their offsets, and all that its
    structures point to; counts releases."""

    def __init__(self, format_, values, *, length=None, offset=0, nulls=0, bits=None,
                 children=(), data=None):
        self.released = {"schema": 0, "array": 0}
        self.keep = [values, bits, children, data]
        buffers = [None if bits is None else bits.ctypes.data]
        if values is not None:
            buffers.append(values.ctypes.data)
        if data is not None:
            buffers.append(data.ctypes.data)
        length = len(values) - offset if length is None else length
        self.buffers = (ctypes.c_void_p * len(buffers))(*buffers)
        self.schemas = (ctypes.POINTER(Schema) * len(children))(
            *[ctypes.pointer(each.schema) for each in children])
        self.arrays = (ctypes.POINTER(ArrayStructure) * len(children))(
            *[ctypes.pointer(each.array) for each in children])
        self.schema = Schema(
            format=format_, name=b"", n_children=len(children),
            children=ctypes.cast(self.schemas, Schema._fields_[5][1]),
            release=RELEASE_SCHEMA(self.release_schema))
        self.array = ArrayStructure(
            length=length, null_count=nulls, offset=offset, n_buffers=len(buffers),
            n_children=len(children),
            buffers=ctypes.cast(self.buffers, ctypes.POINTER(ctypes.c_void_p)),
            children=ctypes.cast(self.arrays, ArrayStructure._fields_[6][1]),
            release=RELEASE_ARRAY(self.release_array))

    def release_schema(self, schema):
        self.released["schema"] += 1
        schema.contents.release = RELEASE_SCHEMA()

    def release_array(self, array):
        self.released["array"] += 1
        array.contents.release = RELEASE_ARRAY()

    def capsules(self):
        return (capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array"))

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules()


class Pieces:
    """A stream of producers, as a column of a data frame is one."""

    def __init__(self, *producers, error=0):
        self.producers, self.error = list(producers), error
        self.sentence = ctypes.c_char_p(b"the disk is full")
        self.schema = Producer(b"l", np.zeros(1, "i8")).schema
        self.released = 0
        self.stream = Stream(
            get_schema=GET_SCHEMA(self.get_schema), get_next=GET_NEXT(self.get_next),
            get_last_error=GET_ERROR(
                lambda _: ctypes.cast(self.sentence, ctypes.c_void_p).value),
            release=RELEASE_STREAM(lambda _: None))

    def get_schema(self, _, out):
        out[0] = self.producers[0].schema if self.producers else self.schema
        return 0

    def get_next(self, _, out):
        if self.error:
            return self.error
        out[0] = self.producers.pop(0).array if self.producers else ArrayStructure()
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(self.stream, b"arrow_array_stream")

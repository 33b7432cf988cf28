# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arguments of numpy.nditer, checked as its part in Python and C does, for libdray."""
import nditers
import numpy
from arrays import new

PYTHONS_FLAGS = {"refs_ok"}  # of objects and classes of Python
PYTHONS_OPERAND_FLAGS = {"no_subtype"}
TYPE_ERRORS = ("could not be cast from", "required copying", "required buffering",
               "masks are supported", "find the type")


def raise_as_numpy(error):
    """The library has one kind of error, of which NumPy makes two."""
    raise (TypeError if any(words in str(error) for words in TYPE_ERRORS)
           else ValueError)(str(error)) from None


def list_of(value, count, convert):
    """One for each operand, or the same for all."""
    if isinstance(value, (list, tuple)) and len(value) == count:
        try:
            return [convert(each) for each in value]
        except TypeError:
            pass
    return [convert(value)] * count


def dtype_of(value):
    return None if value is None else numpy.dtype(value)


def operand_flags(given, operands):
    if given is None:
        return [["writeonly", "allocate"] if each is None else ["readonly"]
                for each in operands]
    if given and all(isinstance(each, str) for each in given):
        return [list(given)] * len(operands)
    if len(given) != len(operands):
        raise ValueError("op_flags must be one list for all operands, or for each of them")
    return [list(each) for each in given]


def known(flags, table, pythons):
    for flag in flags:
        if flag not in table and flag not in pythons:
            raise ValueError(f"unexpected flag {flag}")
    return [flag for flag in flags if flag not in pythons]


def array_and_flags(value, flags):
    flags = known(flags, nditers.OPERAND_FLAGS, PYTHONS_OPERAND_FLAGS)
    if len({"readonly", "writeonly", "readwrite"} & set(flags)) != 1:
        raise ValueError("an operand is read, written, or both")
    if value is None or isinstance(value, numpy.ndarray):
        return value, flags
    if "readonly" not in flags:
        raise TypeError("an object that is no array is not written")
    array = new(numpy.asarray(value))
    return array, flags if array.ndim else flags + ["copy"]


def axes_of(op_axes, itershape, count):
    if op_axes is None:
        if itershape is not None and not len(itershape):
            raise ValueError("a shape without axes needs op_axes")
        return None
    if len(op_axes) != count:
        raise ValueError("op_axes are not one list for each operand")
    rows = [None if row is None else [-1 if axis is None else axis for axis in row]
            for row in op_axes]
    if len({len(row) for row in rows if row is not None} |
           ({len(itershape)} if itershape is not None else set())) != 1:
        raise ValueError("op_axes differ in length")
    return rows

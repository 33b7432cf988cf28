# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The parts that all functions of dray.xp share: their operands as arrays of NumPy over the same
memory, their results as dray.Array, and the scope in which both are made."""
from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, ContextManager, TypeVar, cast

import numpy

from .._dray import Array, current_pool, scope, standard
from .._functions import pool

_Function = TypeVar("_Function", bound=Callable[..., Any])

# NumPy without types: its functions are called with arguments of any.
np: Any = numpy
DEVICE = "cpu"
DTYPES = {name: numpy.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128")}
# Letters of NumPy's kinds, for each kind of the standard.
KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
         "real floating": "f", "complex floating": "c", "numeric": "iufc"}
_NO_SCOPE: ContextManager[Any] = contextlib.nullcontext()


def in_scope() -> ContextManager[Any]:
    """The scope of the program, or without any the usual memory of dray."""
    return scope(pool()) if current_pool() is None else _NO_SCOPE


def is_array(x: Any) -> bool:
    """Whether it is an operand of the functions: numbers of NumPy are arrays without axes."""
    return isinstance(x, (Array, numpy.ndarray, numpy.generic))


def array(x: Any) -> Array:
    """An operand as a dray.Array, over its memory."""
    if isinstance(x, Array):
        return x
    if not is_array(x):
        raise TypeError(f"an array is needed, not {x!r} of type {type(x).__name__}; "
                        "dray.xp.asarray() makes it")
    return Array(numpy.asarray(x))


def over(x: Any) -> Any:
    """An operand as an array of NumPy, over its memory."""
    return numpy.asarray(array(x))


def result(found: Any) -> Any:
    """Arrays of dray instead of arrays and numbers of NumPy, also in tuples."""
    if isinstance(found, Array):
        return standard(found)
    if isinstance(found, (numpy.ndarray, numpy.generic)):
        return standard(Array(numpy.asarray(found)))
    if isinstance(found, tuple):
        items = map(result, found)
        return type(found)(*items) if hasattr(found, "_fields") else tuple(items)
    return found


def makes(function: _Function) -> _Function:
    """A function of which the arrays lie in the scope's memory, and are of dray."""
    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        with in_scope():
            return result(function(*args, **keywords))
    return cast(_Function, call)


def check_device(device: Any) -> None:
    """ValueError for a device on which no array can be made."""
    if device is not None and device != DEVICE:
        raise ValueError(f"there is no device {device!r}: {DEVICE!r} is the only device; "
                         "dray.device_empty() makes arrays for engines alone")


def promoted(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """The type of a result, by the types of arrays and the kinds of numbers of Python."""
    dtypes, numbers = [], []
    for given in arrays_and_dtypes:
        if type(given) in (bool, int, float, complex):
            numbers.append(numpy.dtype(type(given)))
        elif isinstance(given, (list, tuple)):
            raise TypeError(f"{given!r:.60} is neither an array nor a number: "
                            "dray.xp.asarray() makes an array of it")
        else:
            dtypes.append(given.dtype if is_array(given) else numpy.dtype(given))
    if not dtypes:
        raise ValueError("a type results from at least an array or a data type")
    found = numpy.result_type(*dtypes)
    order = "biufc"
    for number in numbers:
        if order.find(number.kind) <= order.find(found.kind) or found.kind not in order:
            continue
        if number.kind == "c" and found.kind == "f":
            found = numpy.result_type(found, numpy.complex64)
        elif not (number.kind == "i" and found.kind == "u"):
            found = number
    return found


def alike(*operands: Any) -> list[Any]:
    """Arrays and numbers of Python as arrays of NumPy of the type that results: older
    NumPys look at values without axes."""
    dtype = promoted(*operands)
    made = []
    for operand in operands:
        if is_array(operand):
            made.append(over(operand).astype(dtype, copy=False))
        else:
            whole = Array.empty((), dtype)
            whole.fill(operand)
            made.append(numpy.asarray(whole))
    return made

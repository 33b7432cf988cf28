# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions of numba.njit() over a dray.Array: they get an array of NumPy over the same memory.
Numba imports this module by the entry point numba_extensions; programs by dray.numba."""

from __future__ import annotations

from typing import Any

import numpy
from numba.core import cgutils, types  # pyright: ignore[reportMissingImports]
from numba.core.boxing import box_array, unbox_array  # pyright: ignore[reportMissingImports]
from numba.extending import (  # pyright: ignore[reportMissingImports]
    NativeValue, box, lower_cast, models, register_model, typeof_impl, unbox)

from ._dray import Array


class ArrayType(types.Array):
    """Numba's type of a dray.Array: that of NumPy's array over its memory, but for the way in."""

    def __init__(self, plain: Any) -> None:
        super().__init__(plain.dtype, plain.ndim, plain.layout, readonly=not plain.mutable,
                         name=f"dray.{plain.name}", aligned=plain.aligned)
        self.plain = plain


@typeof_impl.register(Array)
def _typeof(value: Any, context: Any) -> ArrayType:
    return ArrayType(typeof_impl(numpy.asarray(value), context))


@unbox(ArrayType)
def _unbox(kind: ArrayType, value: Any, c: Any) -> Any:
    """The array of NumPy keeps the dray.Array, and the function keeps the array of NumPy."""
    slot = cgutils.alloca_once(c.builder, c.context.get_value_type(kind), zfill=True)
    failed = cgutils.alloca_once_value(c.builder, cgutils.true_bit)
    convert = c.pyapi.unserialize(c.pyapi.serialize_object(numpy.asarray))
    array = c.pyapi.call_function_objargs(convert, (value,))
    c.pyapi.decref(convert)
    with c.builder.if_then(cgutils.is_not_null(c.builder, array)):
        native = unbox_array(kind.plain, array, c)
        c.builder.store(native.value, slot)
        c.builder.store(native.is_error, failed)
        c.pyapi.decref(array)
    return NativeValue(c.builder.load(slot), is_error=c.builder.load(failed))


@lower_cast(ArrayType, types.Array)
def _cast(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    """Both have the same members."""
    return value


register_model(ArrayType)(models.ArrayModel)
box(ArrayType)(box_array)


def register() -> None:
    """Runs for the entry point: the import did all."""

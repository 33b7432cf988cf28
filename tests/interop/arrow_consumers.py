# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The libraries that take arrays by Arrow's capsules, each by its own functions."""
import re
from typing import Any, Callable, NamedTuple

import nanoarrow.device
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa


class Consumer(NamedTuple):
    name: str
    take: Callable[[Any], Any]
    # Of the elements; 0 if the library does not tell it, or only of a copy.
    address: Callable[[Any], int]


def innermost(array: pa.Array) -> pa.Array:
    """The elements of lists of a fixed size."""
    while isinstance(array.type, pa.FixedSizeListType):
        array = array.flatten()
    return array


def pyarrow_address(array: pa.Array) -> int:
    array = innermost(array)
    if array.type.num_fields:
        return 0
    return array.buffers()[1].address + array.offset * (array.type.bit_width // 8)


def pyarrow_take(array: Any) -> pa.Array:
    held = pa.array(array)
    held.validate(full=True)
    return held


def pandas_take(array: Any) -> pd.Series:
    held = pa.array(array)
    return pd.Series(held, dtype=pd.ArrowDtype(held.type))


def pandas_address(series: pd.Series) -> int:
    chunk, = pa.chunked_array(series).chunks
    return pyarrow_address(chunk)


def polars_take(array: Any) -> pl.Series:
    return pl.Series("x", array)


def polars_address(series: pl.Series) -> int:
    try:
        return series.to_numpy(allow_copy=False).ctypes.data
    except RuntimeError:  # only as a copy
        return 0


def nanoarrow_address(array: Any) -> int:
    array = array.array
    while array.n_children == 1:
        array = array.child(0)
    return 0 if array.n_children else array.buffers[1]


CONSUMERS = {each.name: each for each in (
    Consumer("pyarrow", pyarrow_take, pyarrow_address),
    Consumer("pandas", pandas_take, pandas_address),
    Consumer("Polars", polars_take, polars_address),
    Consumer("nanoarrow", nanoarrow.device.c_device_array, nanoarrow_address),
)}


def values_of(array: np.ndarray) -> np.ndarray:
    """As Arrow has them: complex numbers as an axis of two, text as raw data."""
    kind, array = array.dtype, np.ascontiguousarray(array)
    if kind.kind == "c":
        return array.view(f"f{kind.itemsize // 2}").reshape(*array.shape, 2)
    if kind.kind == "S":
        return array.view(f"V{kind.itemsize}")
    return array


def is_pattern(pattern: str, type: pa.DataType) -> bool:
    return bool(re.fullmatch(pattern, str(type)))

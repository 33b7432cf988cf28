# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The memory of an array, from its lowest byte to its highest."""
import ctypes
from typing import Any

import numpy as np

import others


def bounds(array: np.ndarray) -> tuple[int, int]:
    return np.lib.array_utils.byte_bounds(array)


def of(array: np.ndarray) -> bytes:
    """Its bytes, also those between elements."""
    low, high = bounds(array)
    return ctypes.string_at(low, high - low) if array.size else b""


def copied(array: np.ndarray) -> np.ndarray:
    """An array of the same strides over a copy of the memory."""
    if not array.size:
        return array.copy()
    return np.ndarray(array.shape, array.dtype, bytearray(of(array)),
                      array.ctypes.data - bounds(array)[0], array.strides)


def addresses(array: np.ndarray) -> np.ndarray:
    """For each element those of its bytes, from the lowest byte of the array."""
    starts = np.full((), array.ctypes.data - bounds(array)[0])
    for extent, stride in zip(array.shape, array.strides):
        starts = np.add.outer(starts, np.arange(extent) * stride)
    return np.add.outer(starts, np.arange(array.itemsize))


def overlaps_itself(array: np.ndarray) -> bool:
    if not array.size:
        return False
    each = addresses(array)
    return len(np.unique(each)) < each.size


def assigned(line: Any, array: np.ndarray,
             arguments: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """What a statement writes to elements that do not overlap: which ones, and all
    values after it."""
    values = array.copy()
    given = {"a": Aside(values), **arguments}
    exec(line.code, {"np": np, "others": others}, given)  # pylint: disable=exec-used
    written = np.zeros(array.shape, bool)
    written[arguments.get("i", ...)] = True
    return written, values


class Aside:
    """An array that is read as it was and written elsewhere."""

    def __init__(self, values: np.ndarray):
        self.values = values
        self.before = values.copy()
        self.T = self.before.T
        self.fill = values.fill

    def __getitem__(self, index: Any) -> Any:
        return self.before[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[index] = value

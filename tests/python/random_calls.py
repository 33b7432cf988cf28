# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random calls of a ufunc of bytes, the same ones for each executor: the views of its
input and its output."""

import numpy as np

ROOM = 1 << 16


def random_view(dice, memory, shape):
    """Returns a view of `shape` in `memory`, or None if it does not fit."""
    order = dice.permutation(len(shape))
    parent = [int(shape[axis]) * int(dice.integers(1, 3)) for axis in order]
    room = int(np.prod(parent))
    if not 0 < room <= memory.size:
        return None
    start = int(dice.integers(0, memory.size - room + 1))
    if dice.integers(2):
        start -= start % 4
    view = memory[start:start + room].reshape(parent)
    view = view.transpose(np.argsort(order))
    part = []
    for whole, extent in zip(view.shape, shape):
        step = int(dice.integers(1, whole // extent + 1)) if extent else 1
        cut = slice(0, (extent - 1) * step + 1, step)
        part.append(cut)
    view = view[(Ellipsis, *part)]
    return view[::-1] if view.ndim and dice.integers(4) == 0 else view


def random_calls(dice, source, target):
    """Yields views of `source` and `target`, of one shape, for ever."""
    while True:
        shape = dice.integers(1, 12, dice.integers(0, 4))
        if len(shape) and dice.integers(4):
            shape[-1] *= 4
        x, y = (random_view(dice, memory, shape) for memory in (source, target))
        if x is not None and y is not None:
            yield x, y


def same_view(y, memory, other):
    """Returns the view of `other` that `y` is of `memory`."""
    return np.ndarray(y.shape, y.dtype, other, y.ctypes.data - memory.ctypes.data, y.strides)

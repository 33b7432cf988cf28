# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random calls of a ufunc of bytes, the same ones for each executor."""

import numpy as np

ROOM = 1 << 16
TYPES = ("u1", ">i2", "f4")


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


def twin(view, memory, copy):
    """Returns the view of `copy` that `view` is of `memory`."""
    start = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return np.ndarray(view.shape, view.dtype, copy, start, view.strides)


def random_call(dice, ufunc, memory):
    """Returns inputs, an output and a mask, or None."""
    shape = dice.integers(1, 12, dice.integers(0, 4))
    if len(shape) and dice.integers(4):
        shape[-1] *= 4
    views = [random_view(dice, one, shape) for one in memory]
    if any(view is None for view in views):
        return None
    *inputs, out = views
    where = True
    kind = dice.integers(6)
    if kind == 0:
        where = dice.integers(0, 2, shape).astype(bool)
    elif kind == 1:
        out = np.zeros(shape, TYPES[dice.integers(3)])
    elif kind == 2 and ufunc.nin == 2:
        inputs[1] = inputs[1][..., :1] if len(shape) else inputs[1]
    return inputs, out, where

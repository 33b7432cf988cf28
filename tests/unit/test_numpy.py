# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random views, indices and copies of the library in DRAY_BUILD are the same as those
of the real NumPy."""

import ctypes
import random

import pytest

np = pytest.importorskip("numpy")
from as_numpy import View, library, must, view_of  # noqa: E402

OMIT = -2**63
INTEGER, SLICE, NEWAXIS, ELLIPSIS, ARRAY = range(5)


class Index(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("start", ctypes.c_int64),
                ("stop", ctypes.c_int64), ("step", ctypes.c_int64),
                ("array", ctypes.POINTER(View))]


def same(view, array, what):
    shape = tuple(view.shape[:view.ndim])
    strides = tuple(view.strides[:view.ndim])
    if shape != array.shape or (array.size and strides != array.strides):
        # NumPy leaves strides of new axes and of single elements open
        told = [n for n, extent in zip(strides, shape) if extent > 1]
        meant = [n for n, extent in zip(array.strides, array.shape)
                 if extent > 1]
        assert (shape, told) == (array.shape, meant), what
    assert not array.size or view.data == array.ctypes.data, what


def random_array(draw, types=("u1", "<i2", "<f4", ">f8", "<c16")):
    shape = [draw.randrange(1, 7) for _ in range(draw.randrange(5))]
    if shape and draw.random() < 0.1:
        shape[draw.randrange(len(shape))] = 0
    array = np.zeros(shape, draw.choice(types))
    array = array[tuple(slice(None, None, draw.choice([1, 1, -1, 2, -3]))
                        for _ in shape) + (Ellipsis,)]
    return array.transpose(draw.sample(range(array.ndim), array.ndim))


def bound(draw, extent):
    return None if draw.random() < 0.25 else \
        draw.randrange(-2 * extent - 3, 2 * extent + 4)


def random_index(draw, array):
    index = []
    for extent in array.shape[:draw.randrange(array.ndim + 1)]:
        if draw.random() < 0.25:
            index.append(draw.randrange(-extent - 1, extent + 1))
        else:
            index.append(slice(bound(draw, extent), bound(draw, extent),
                               draw.choice([None, 1, 2, 3, -1, -2, -5, 7,
                                            10**12, -10**12])))
    for _ in range(draw.randrange(3)):
        index.insert(draw.randrange(len(index) + 1), None)
    if draw.random() < 0.4:
        index.insert(draw.randrange(len(index) + 1), Ellipsis)
    return tuple(index)


def translate(index):
    def number(value):
        return OMIT if value is None else value

    steps = (Index * max(len(index), 1))()
    for step, item in zip(steps, index):
        if item is None:
            step.kind = NEWAXIS
        elif item is Ellipsis:
            step.kind = ELLIPSIS
        elif isinstance(item, slice):
            step.kind = SLICE
            step.start, step.stop, step.step = map(
                number, (item.start, item.stop, item.step))
        else:
            step.kind, step.start = INTEGER, item
    return steps


def test_indices_are_numpys():
    draw = random.Random(1)
    refused = 0
    for _ in range(20000):
        array = random_array(draw)
        index = random_index(draw, array)
        view = view_of(array)
        steps = translate(index)
        result = library.dray_view_index(ctypes.byref(view), steps,
                                         ctypes.c_size_t(len(index)),
                                         ctypes.byref(view))
        try:
            # an array even where every axis is taken by an integer
            wanted = array[index if Ellipsis in index
                           else index + (Ellipsis,)]
        except IndexError:
            assert result == -34, f"{index} of {array.shape}"
            refused += 1
            continue
        must(result)
        same(view, wanted, f"{index} of {array.shape}")
    assert refused


def test_broadcasts_are_numpys():
    draw = random.Random(2)
    refused = 0
    for _ in range(5000):
        array = random_array(draw)
        shape = [draw.choice([extent, extent, 1, 3]) if extent == 1
                 or draw.random() < 0.1 else extent for extent in array.shape]
        shape = [draw.randrange(4) for _ in range(draw.randrange(3))] + shape
        view = view_of(array)
        wanted_shape = (ctypes.c_int64 * 64)(*shape)
        result = library.dray_view_broadcast(
            ctypes.byref(view), len(shape), wanted_shape, ctypes.byref(view))
        try:
            wanted = np.broadcast_to(array, shape)
        except ValueError:
            assert result == -22, f"{array.shape} to {shape}"
            refused += 1
            continue
        must(result)
        same(view, wanted, f"{array.shape} to {shape}")
    assert refused


def test_spans_and_contiguity_are_numpys():
    draw = random.Random(3)
    for _ in range(5000):
        array = random_array(draw)
        view = view_of(array)
        low, high = ctypes.c_int64(), ctypes.c_int64()
        library.dray_view_span(ctypes.byref(view), ctypes.byref(low),
                               ctypes.byref(high))
        assert library.dray_view_size(ctypes.byref(view)) == array.size
        contiguous = library.dray_view_is_contiguous(ctypes.byref(view))
        assert contiguous == array.flags.c_contiguous, (array.shape, array.strides)
        if array.size:
            first, end = np.byte_bounds(array) \
                if hasattr(np, "byte_bounds") \
                else np.lib.array_utils.byte_bounds(array)
            assert (view.data + low.value, view.data + high.value) == (
                first, end), array.shape


def test_copies_are_numpys():
    draw = random.Random(4)
    shape = (9, 11, 5)
    for _ in range(5000):
        type_ = draw.choice(["u1", "<u2", "<f4", "<f8", "<c16", "V3", "S5",
                             "<U2"])
        size = int(np.prod(shape)) * np.dtype(type_).itemsize
        memory = np.frombuffer(draw.randbytes(2 * size), "u1").copy()
        twin = memory.copy()
        one, two = ([m[:size].view(type_).reshape(shape),
                     m[size:].view(type_).reshape(shape)]
                    for m in (memory, twin))
        overlapping = draw.random() < 0.3
        index = tuple(slice(draw.randrange(3), draw.randrange(3, 6),
                            draw.choice([1, 2])) for _ in shape)
        taken = [(extent.stop - extent.start - 1) // extent.step + 1
                 for extent in index]
        order = draw.sample(range(3), 3)

        def target(arrays):
            return arrays[0].transpose(order)[tuple(
                slice(0, taken[axis]) for axis in range(3))]

        def source(arrays):
            array = arrays[0 if overlapping else 1]
            return array[index][:, ::draw_step, ::-1]

        draw_step = draw.choice([1, -1])
        if target(one).shape != source(one).shape:
            continue
        np.copyto(target(two), source(two))
        must(library.dray_view_assign(
            ctypes.byref(view_of(target(one))),
            ctypes.byref(view_of(source(one)))))
        assert np.array_equal(memory, twin), (type_, index, order, overlapping)

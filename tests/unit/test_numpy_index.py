# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random indices with arrays read and write the same as in the real NumPy: values,
shape, order in memory, and errors."""

import ctypes
import os
import random

import pytest

np = pytest.importorskip("numpy", "2.0")
from as_numpy import View, library, must, view_of  # noqa: E402
from test_numpy import ARRAY, random_array, translate  # noqa: E402

ROUNDS = int(os.environ.get("DRAY_INDEX_ROUNDS", "20000"))
INDEX_ERROR, VALUE_ERROR = -34, -22  # -ERANGE, -EINVAL
INTEGERS = ["i1", "<i2", ">i2", "<i4", ">i4", "<i8", "<i8", "<i8", ">i8",
            "u1", "<u2", ">u4", "<u8"]


def take_over(pointer):
    """The elements of a dray_array as a NumPy array; ends the dray_array."""
    view = View()
    library.dray_array_view(pointer, ctypes.byref(view))
    typestr = ctypes.create_string_buffer(16)
    assert library.dray_dtype_format(ctypes.c_uint64(view.dtype), typestr,
                                     ctypes.c_size_t(16)) > 0
    shape, strides = ([axes[i] for i in range(view.ndim)]
                      for axes in (view.shape, view.strides))
    count = int(np.prod(shape)) * np.dtype(typestr.value.decode()).itemsize
    memory = (ctypes.c_char * max(count, 1)).from_address(view.data)
    result = np.ndarray(shape, typestr.value.decode(), memory, 0,
                        strides if count else None).copy(order="K")
    assert result.strides == tuple(strides) or not count or 1 in shape
    ctypes.c_uint32.from_address(pointer.value).value = 0
    library.dray_block_free(pointer)
    return result


def restrided(draw, array):
    """The same values, anyhow in memory."""
    way = draw.randrange(5)
    if way == 0:
        return np.asfortranarray(array)
    if way == 1 and array.ndim:
        spread = np.repeat(array, 2, axis=-1)
        return spread[..., ::2]
    if way == 2 and array.ndim:
        return array[::-1].copy()[::-1]
    if way == 3 and array.dtype.itemsize > 1:
        moved = np.empty(array.nbytes + 1, "u1")[1:]
        moved = moved.view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    return array


def integers(draw, extent, shape):
    """An array of integers for an axis; seldom out of its range."""
    low = -extent if draw.random() < 0.7 else 0
    kind = np.dtype(draw.choice(INTEGERS if extent < 127 else
                                ["<i8", ">i4", "<u2"]))
    if kind.kind == "u":
        low = 0
    size = int(np.prod(shape))
    values = [draw.randrange(low, extent) if extent else 0
              for _ in range(size)]
    if values and draw.random() < 0.03:
        values[draw.randrange(size)] = draw.choice(
            [extent, 127] + ([] if kind.kind == "u" else [-extent - 1, -128]))
    return restrided(draw, np.array(values, kind).reshape(shape))


def part(draw, shape):
    """A shape that is broadcast to this one; seldom not."""
    shape = [1 if draw.random() < 0.2 else extent for extent in shape]
    if shape and draw.random() < 0.02:
        shape[draw.randrange(len(shape))] += 1
    return shape[draw.randrange(len(shape) + 1):] \
        if draw.random() < 0.2 else shape


def mask(draw, shape):
    shape = list(shape)
    if shape and draw.random() < 0.04:
        shape[draw.randrange(len(shape))] += draw.choice([-1, 1])
    shape = [max(extent, 0) for extent in shape]
    share = draw.choice([0, 0.2, 0.5, 0.9, 1])
    values = [draw.random() < share for _ in range(int(np.prod(shape)))]
    return restrided(draw, np.array(values, "?").reshape(shape))


def advanced(draw, array):
    if draw.random() < 0.1:
        return (mask(draw, array.shape),)
    common = [draw.choice([0, 1, 2, 3, 5])
              for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    if draw.random() < 0.01:
        common = [1, 600][draw.randrange(2):]  # more than a chunk
    index, axis = [], 0
    while axis < array.ndim and draw.random() < 0.9:
        extent = array.shape[axis]
        way = draw.random()
        if way < 0.5:
            index.append(integers(draw, extent, part(draw, common)))
        elif way < 0.6:
            index.append(draw.randrange(-extent, extent) if extent else 0)
        elif way < 0.63:
            index.append(draw.choice([extent, -extent - 1]))
        elif way < 0.67:
            index.append(integers(draw, extent, []))
        elif way < 0.75:
            taken = draw.randrange(1, array.ndim - axis + 1)
            index.append(mask(draw, array.shape[axis:axis + taken]))
            axis += taken - 1
        else:
            index.append(slice(draw.choice([None, 0, 1]),
                               draw.choice([None, 2, extent]),
                               draw.choice([None, 1, 2, -1])))
        axis += 1
    if draw.random() < 0.01:
        index.append(0)
    for extra, share in ((None, 0.2), (Ellipsis, 0.4), (Ellipsis, 0.01),
                         (np.True_, 0.03), (np.False_, 0.03)):
        if draw.random() < share:
            index.insert(draw.randrange(len(index) + 1), extra)
    return tuple(np.array(item) if isinstance(item, np.bool_) else item
                 for item in index)


def steps_of(index):
    plain = [0 if isinstance(item, np.ndarray) else item for item in index]
    steps = translate(plain)
    kept = [view_of(item) if isinstance(item, np.ndarray) else None
            for item in index]
    for step, view in zip(steps, kept):
        if view is not None:
            step.kind, step.array = ARRAY, ctypes.pointer(view)
    return steps, kept


def outcome(call):
    """(result, None) of NumPy, or (None, the code that dray has for it)."""
    try:
        return call(), None
    except IndexError:
        return None, INDEX_ERROR
    except (ValueError, TypeError):
        return None, VALUE_ERROR


def told(index):
    return [(item.dtype.str, item.shape, item.strides, item.tolist())
            if isinstance(item, np.ndarray) else item for item in index]


def filled(draw):
    array = random_array(draw)
    base = array
    while base.base is not None:
        base = base.base
    base.reshape(-1).view("u1")[...] = np.frombuffer(
        draw.randbytes(base.nbytes), "u1") % 120
    return array


def compare_get(array, index, wanted, code):
    steps, kept = steps_of(index)
    count = ctypes.c_size_t(len(index))
    view, out = view_of(array), ctypes.c_void_p()
    result = library.dray_index_get(ctypes.byref(view), steps, count,
                                    ctypes.byref(out))
    text = f"{told(index)} of {array.shape}, {array.strides}"
    if code:
        assert result == code, (text, library.dray_last_error())
        return
    assert result == 0, (text, library.dray_last_error())
    got = take_over(out)
    assert got.shape == wanted.shape, text
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes(), text
    arrays = any(isinstance(item, np.ndarray) and
                 (item.ndim or item.dtype == bool) for item in index)
    if arrays and got.size:
        assert [s for s, n in zip(got.strides, got.shape) if n > 1] == [
            s for s, n in zip(wanted.strides, wanted.shape) if n > 1], text
    into = np.zeros(wanted.shape[::-1], wanted.dtype).T
    must(library.dray_index_get_into(ctypes.byref(view), steps, count,
                                     ctypes.byref(view_of(into))))
    assert np.ascontiguousarray(into).tobytes() == got.tobytes(), text
    ndim, shape = ctypes.c_int(), (ctypes.c_int64 * 64)()
    must(library.dray_index_shape(ctypes.byref(view), steps, count,
                                  ctypes.byref(ndim), shape))
    assert tuple(shape[:ndim.value]) == wanted.shape, text


def test_advanced_indices_get_what_numpys_do():
    draw = random.Random(5)
    seen = {None: 0, INDEX_ERROR: 0, VALUE_ERROR: 0}
    for _ in range(ROUNDS):
        array = filled(draw)
        index = advanced(draw, array)
        wanted, code = outcome(
            lambda: np.asarray(array[index], array.dtype))
        compare_get(array, index, wanted, code)
        seen[code] += 1
    assert seen[None] > ROUNDS / 2 and seen[INDEX_ERROR] > ROUNDS / 50


def random_value(draw, shape, type_):
    shape = [1 if draw.random() < 0.15 else extent for extent in shape]
    if shape and draw.random() < 0.04:
        shape[draw.randrange(len(shape))] += 1
    if draw.random() < 0.2:
        shape = shape[draw.randrange(len(shape) + 1):]
    if draw.random() < 0.1:
        shape = [1] * draw.randrange(3) + shape
    count = int(np.prod(shape))
    values = np.array([draw.randrange(120) for _ in range(count)], "u1")
    return values.astype(type_).reshape(shape)


def base_of(array):
    while array.base is not None:
        array = array.base
    return array


def twin_of(array):
    """A copy of an array with all the memory that it is a part of."""
    base = base_of(array)
    copy = base.copy().reshape(-1).view("u1")
    offset = array.ctypes.data - base.ctypes.data
    return np.ndarray(array.shape, array.dtype, copy.data, offset,
                      array.strides) if array.size else array.copy()


def assign(array, index, value):
    array[index] = value


def test_advanced_indices_set_what_numpys_do():
    draw = random.Random(6)
    seen = {None: 0, INDEX_ERROR: 0, VALUE_ERROR: 0}
    for _ in range(ROUNDS):
        array = filled(draw)
        twin = twin_of(array)
        index = advanced(draw, array)
        shape = outcome(lambda: np.asarray(array[index]).shape)[0] or ()
        value = random_value(draw, shape, draw.choice(
            [array.dtype, array.dtype, "u1", ">i4", "<f4"]))
        if not shape and value.size == 1:
            # NumPy 2.4 refuses one of (1,) for a single element, older do not
            value = value.reshape(())
        # NumPy takes indices that are named twice as they lie in memory,
        # dray in C order
        ordered = tuple(np.ascontiguousarray(item).reshape(item.shape)
                        if isinstance(item, np.ndarray) else item
                        for item in index)
        _, code = outcome(lambda: assign(twin, ordered, value))
        steps, kept = steps_of(index)
        moved = restrided(draw, value)
        result = library.dray_index_set(
            ctypes.byref(view_of(array)), steps, ctypes.c_size_t(len(index)),
            ctypes.byref(view_of(moved)))
        text = (f"{told(index)} of {array.shape}, {array.strides}: "
                f"{value.shape}, {library.dray_last_error()}")
        assert result == (code or 0), text
        assert base_of(array).tobytes() == base_of(twin).tobytes() or \
            not array.size, text
        seen[code] += 1
    assert all(count > ROUNDS / 100 for count in seen.values()), seen

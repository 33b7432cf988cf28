# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions that choose elements do on random arrays what those of the real NumPy
do."""

import ctypes
import os
import random

import pytest

np = pytest.importorskip("numpy")
from as_numpy import library, must, view_of  # noqa: E402
from test_numpy import random_array  # noqa: E402
from test_numpy_index import (  # noqa: E402
    INDEX_ERROR, VALUE_ERROR, base_of, filled, integers, outcome, restrided,
    take_over, twin_of)

ROUNDS = int(os.environ.get("DRAY_INDEX_ROUNDS", "5000"))
MODES = ["raise", "wrap", "clip"]
FLAT = -2**31
library.dray_count_nonzero.restype = ctypes.c_int64


def ref(array):
    """Its view; the caller keeps the array."""
    return ctypes.byref(view_of(array))


def shape_of(draw):
    return [draw.choice([0, 1, 2, 3, 5]) for _ in range(draw.randrange(3))]


def indices_of(draw, extent, mode):
    array = integers(draw, extent, shape_of(draw))
    if mode and array.size and draw.random() < 0.5:
        wide = np.array([draw.randrange(-100, 100) for _ in range(array.size)])
        array = wide.reshape(array.shape).astype(draw.choice(["i1", ">i8"]))
    return array


def same(pointer, wanted, text):
    got = take_over(pointer)
    assert got.shape == wanted.shape, text
    assert got.tobytes() == wanted.tobytes(), text


def test_take_is_numpys():
    draw = random.Random(7)
    seen = {None: 0, INDEX_ERROR: 0}
    for _ in range(ROUNDS):
        array, mode = filled(draw), draw.randrange(3)
        axis = draw.choice([None] + list(range(-array.ndim, array.ndim)))
        extent = array.size if axis is None else array.shape[axis]
        indices = indices_of(draw, extent, mode)
        wanted, code = outcome(lambda: np.asarray(
            np.take(array, indices.astype("i8"), axis, mode=MODES[mode]),
            array.dtype))
        out = ctypes.c_void_p()
        result = library.dray_take(ref(array), ref(indices),
                                   FLAT if axis is None else axis, mode,
                                   ctypes.byref(out))
        text = (array.shape, axis, indices, MODES[mode])
        seen[code] += 1
        if code is None:
            assert result == 0, (text, library.dray_last_error())
            same(out, wanted, text)
        else:
            assert result == code, text
    assert min(seen.values()) > ROUNDS / 100


def test_put_is_numpys():
    draw = random.Random(8)
    for _ in range(ROUNDS):
        array, mode = filled(draw), draw.randrange(3)
        twin = twin_of(array)
        indices = indices_of(draw, array.size, mode)
        count = draw.choice([0, 1, 2, 3, indices.size, indices.size + 2])
        values = np.array([draw.randrange(100) for _ in range(count)],
                          draw.choice(["u1", array.dtype]))
        if not array.size:
            continue  # NumPy's answer depends on its version
        _, code = outcome(lambda: np.put(twin, indices.astype("i8"), values,
                                         MODES[mode]))
        values = restrided(draw, values)
        result = library.dray_put(ref(array), ref(indices), ref(values), mode)
        text = (array.shape, array.strides, indices, values, MODES[mode])
        if code and count:
            assert result == code, text
            continue
        assert result == 0, (text, library.dray_last_error())
        assert base_of(array).tobytes() == base_of(twin).tobytes(), text


def test_put_mask_is_numpys():
    draw = random.Random(9)
    for _ in range(ROUNDS):
        array = filled(draw)
        twin = twin_of(array)
        mask = restrided(draw, np.array(
            [draw.random() < 0.5 for _ in range(array.size)],
            "?").reshape(array.shape))
        if draw.random() < 0.2:
            mask = mask.reshape(-1)
        count = draw.choice([0, 1, 2, 3, array.size, array.size + 2])
        values = np.array([draw.randrange(100) for _ in range(count)],
                          "u1").astype(array.dtype)
        np.putmask(twin, mask.reshape(twin.shape), values)
        values = restrided(draw, values)
        must(library.dray_put_mask(ref(array), ref(mask), ref(values)))
        assert base_of(array).tobytes() == base_of(twin).tobytes() or \
            not array.size, (array.shape, array.strides, mask, values)


def test_where_is_numpys():
    draw = random.Random(10)
    seen = {None: 0, VALUE_ERROR: 0}
    for _ in range(ROUNDS):
        shape = shape_of(draw)
        type_ = draw.choice(["u1", "<i2", "<f4", ">f8", "<c16", "<i8"])

        def operand(kind):
            own = [1 if draw.random() < 0.2 else extent for extent in shape]
            if own and draw.random() < 0.03:
                own[0] += 1
            if draw.random() < 0.3:
                own = own[draw.randrange(len(own) + 1):]
            if draw.random() < 0.1:
                own = [37] + own
            values = [draw.choice([0, 0, 1, 7, 90])
                      for _ in range(int(np.prod(own)))]
            return restrided(draw, np.array(values, kind).reshape(own))

        condition = operand(draw.choice(["?", "?", "u1", "<i8", ">f4"]))
        yes = operand(type_)
        no = operand(draw.choice([type_, type_, "u1"]))
        wanted, code = outcome(lambda: np.where(condition, yes, no).astype(
            type_ if yes.dtype == no.dtype else
            np.promote_types(yes.dtype, no.dtype)))
        out = ctypes.c_void_p()
        result = library.dray_where(ref(condition), ref(yes), ref(no),
                                    ctypes.byref(out))
        text = (condition, yes, no)
        seen[code] += 1
        if code is None:
            assert result == 0, (text, library.dray_last_error())
            same(out, wanted, text)
        else:
            assert result == code, text
    assert min(seen.values()) > ROUNDS / 100


@pytest.mark.parametrize("type_", [
    "?", "i1", "u1", "<i2", ">u2", "<i4", ">i8", "<f2", ">f2", "<f4", ">f4",
    "<f8", ">f8", "g", "<c8", ">c8", "<c16", ">c16", "G", "S1", "S3", "<U2",
    "V3", "<M8", "<m8"])
def test_elements_that_are_not_0_are_numpys(type_):
    draw = random.Random(11)
    for _ in range(max(ROUNDS // 50, 20)):
        array = random_array(draw, (type_,))
        if array.dtype.kind in "fc":
            values = [draw.choice([0.0, -0.0, np.nan, 1.0, -2.0, np.inf])
                      for _ in range(array.size)]
        elif array.dtype.kind in "SUV":
            values = [draw.choice([b"", b"a"]) for _ in range(array.size)]
            if array.dtype.kind == "U":
                values = [value.decode() for value in values]
        else:
            values = [draw.choice([0, 0, 1]) for _ in range(array.size)]
        array[...] = np.array(values).astype(array.dtype).reshape(array.shape)
        assert library.dray_count_nonzero(ref(array)) == \
            np.count_nonzero(array)
        if not array.ndim:
            continue
        out = (ctypes.c_void_p * array.ndim)()
        must(library.dray_nonzero(ref(array), out))
        for pointer, wanted in zip(out, np.nonzero(array)):
            same(ctypes.c_void_p(pointer), wanted, array)

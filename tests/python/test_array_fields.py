# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fields of a dray.Array with a structured type."""
import numpy as np
import pytest

import dray

TYPES = [
    [("x", "<i4"), ("y", ">f8")],
    [(("a title", "x"), "<i4"), ("y", "S3", (2, 2))],
    np.dtype([("x", "u1"), ("y", "<f8")], align=True),
    {"names": ["y", "x"], "formats": ["<i2", "<i4"], "offsets": [8, 2], "itemsize": 12},
    [("x", [("one", "<i2"), ("two", "U2")]), ("y", "?")],
]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_field_is_that_of_numpy(dtype):
    plain = np.zeros((2, 3), dtype)
    plain.view("u1")[...] = 1
    array = dray.Array(plain)
    for name in plain.dtype.names:
        field, wanted = array[name], plain[name]
        assert field.dtype == wanted.dtype and field.strides == wanted.strides
        assert field.tolist() == wanted.tolist()


def test_a_new_array_has_the_type(tmp_path):
    for dtype in TYPES:
        if isinstance(dtype, dict):
            continue  # its fields are out of order, which .npy files do not have
        dray.Array(np.zeros(2, dtype)).save(tmp_path / "array.npy")
        assert dray.Array.load(tmp_path / "array.npy").dtype == np.dtype(dtype)


def test_a_field_is_set():
    array = dray.Array(np.zeros(2, TYPES[0]))
    array["x"] = [3, 4]
    array["y"] = dray.Array(np.array(0.5))
    assert array.tolist() == [(3, 0.5), (4, 0.5)]


def test_a_field_that_is_not_there_is_an_error():
    array = dray.Array(np.zeros(2, TYPES[0]))
    with pytest.raises(ValueError, match="no field of name z"):
        array["z"]
    with pytest.raises(ValueError, match="no field of name z"):
        array["z"] = 1
    with pytest.raises(IndexError):
        dray.Array(np.zeros(2))["x"]


@pytest.mark.parametrize("dtype", TYPES)
def test_several_fields_are_a_view_as_numpys(dtype):
    plain = np.zeros((2, 3), dtype)
    plain.view("u1")[...] = 1
    array = dray.Array(plain)
    for names in (["x"], ["x", "y"], ["y", "x"]):
        fields, wanted = array[names], plain[names]
        assert fields.dtype == wanted.dtype and fields.strides == wanted.strides
        assert fields.copy().__array__().tobytes() == wanted.tobytes()
        assert fields.shares_memory(array)


def test_several_fields_are_set():
    array = dray.Array(np.zeros(2, [("x", "<i4"), ("z", "?"), ("y", "<f8")]))
    array[["y", "x"]] = [(0.5, 3), (1.5, 4)]
    assert array.tolist() == [(3, False, 0.5), (4, False, 1.5)]
    array[["x", "y"]] = dray.Array(np.array((7, 8), "i2,i2"))
    assert array.tolist() == [(7, False, 8.0), (7, False, 8.0)]
    array["z"] = True
    other = dray.Array(np.zeros(2, array.dtype))
    array[["x", "y"]][...] = other[["x", "y"]]
    assert array.tolist() == [(0, True, 0.0)] * 2


@pytest.mark.parametrize("names, error", [
    (["x", "z"], KeyError), (["x", "x"], ValueError), (["x", 1], IndexError)])
def test_other_names_are_errors(names, error):
    with pytest.raises(error):
        dray.Array(np.zeros(2, TYPES[0]))[names]


def test_an_empty_list_names_no_field():
    assert dray.Array(np.zeros(2, TYPES[0]))[[]].shape == (0,)


@pytest.mark.parametrize("key", [
    ..., slice(None, None, -1), 2, [0, 3], np.array([True, False, True, True]), slice(1, None)],
    ids=repr)
@pytest.mark.parametrize("value", [(1, 2), np.array((5, 6), "u1,f8")], ids=str)
def test_other_fields_stay_as_they_are(key, value):
    plain = np.zeros(4, [("x", "<i4"), ("z", "u1"), ("y", "<f8")])
    plain["z"] = 7
    array = dray.Array(plain)
    array[["x", "y"]][key] = value
    assert plain["z"].tolist() == [7] * 4
    written = np.zeros(4, bool)
    written[key] = True
    first, last = np.array(value, "f8,f8").tolist() if isinstance(value, tuple) else value.tolist()
    assert plain["x"].tolist() == np.where(written, first, 0).tolist()
    assert plain["y"].tolist() == np.where(written, last, 0).tolist()

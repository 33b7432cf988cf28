# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Methods of NumPy's array that dray.Array computes by NumPy, and functions that make arrays: as
NumPy's, and where their results lie."""
import copy
import ctypes
import io
import pickle

import numpy as np
import pytest

import dray

FLOATS = np.array([[4., 1., 3.], [2., 8., 7.]])
SORTED = np.array([1., 2., 2., 5.])
NUMBERS = np.array([1, 0, 1])
RECORDS = np.array([(3, 1.5), (1, 2.5), (2, 0.5)], [("x", "i4"), ("y", "f8")])

CALLS = {
    "argpartition": lambda a: a(FLOATS).argpartition(1, 0), "byteswap": lambda a: a(FLOATS).byteswap(),
    "choose": lambda a: a(NUMBERS).choose([NUMBERS, SORTED[:3]]),
    "compress": lambda a: a(FLOATS).compress([False, True], 0),
    "flatten": lambda a: a(FLOATS).flatten(), "flatten-F": lambda a: a(FLOATS).flatten("F"),
    "flatten-K": lambda a: a(FLOATS.T).flatten("K"), "flatten-A": lambda a: a(FLOATS.T).flatten("A"),
    "getfield": lambda a: a(FLOATS).getfield("i4", 4), "repeat": lambda a: a(FLOATS).repeat(2, 1),
    "repeat-each": lambda a: a(NUMBERS).repeat([1, 0, 2]), "searchsorted": lambda a: a(SORTED).searchsorted([2, 9]),
    "searchsorted-right": lambda a: a(SORTED).searchsorted(2., "right"),
    "searchsorted-sorter": lambda a: a(SORTED[::-1]).searchsorted(2., sorter=[3, 2, 1, 0]),
    "trace": lambda a: a(FLOATS).trace(1), "argsort-kind": lambda a: a(FLOATS).argsort(0, kind="stable"),
    "argsort-order": lambda a: a(RECORDS).argsort(order="y"), "reshape-copy": lambda a: a(FLOATS).reshape(3, 2),
    "tobytes": lambda a: np.frombuffer(a(FLOATS[:, ::2]).tobytes(), "f8"),
    "tobytes-F": lambda a: np.frombuffer(a(FLOATS).tobytes("F"), "f8"),
    "pickled": lambda a: pickle.loads(a(FLOATS).dumps()),
    "data": lambda a: np.asarray(a(FLOATS).data), "copied": lambda a: copy.copy(a(FLOATS)),
    "astype-subok": lambda a: a(FLOATS).astype("i4", subok=False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_method_is_as_numpys(name):
    there, here = CALLS[name](np.array), CALLS[name](dray.Array)
    assert type(here) in (dray.Array, type(there))
    here = np.asarray(here)
    assert (here.dtype, here.shape, here.tolist()) == (there.dtype, there.shape, there.tolist())


def changed(change, values):
    there, here = values.copy(), values.copy()
    change(there)
    change(dray.Array(here))
    return there, here


@pytest.mark.parametrize("change, values", [
    (lambda a: a.sort(kind="stable"), FLOATS), (lambda a: a.sort(0, "quicksort"), FLOATS),
    (lambda a: a.sort(order="y"), RECORDS), (lambda a: a.sort(axis=0), FLOATS),
    (lambda a: a.byteswap(True), FLOATS), (lambda a: a.partition(0, 0), FLOATS),
    (lambda a: a.setfield(7, "i4", 4), FLOATS), (lambda a: setattr(a, "real", 5), FLOATS),
    (lambda a: setattr(a, "imag", [1, 2, 3]), FLOATS + 1j)])
def test_a_change_in_place_is_as_numpys(change, values):
    there, here = changed(change, values)
    assert here.tolist() == there.tolist()


@pytest.mark.parametrize("call, error", [
    (lambda a: a.sort(kind="bubble"), ValueError), (lambda a: a.sort(kind="stable", stable=True), ValueError),
    (lambda a: a.sort(kin="stable"), TypeError), (lambda a: a.argsort(0, "heap"), ValueError),
    (lambda a: a.broadcast_to(a.shape).partition(0), ValueError), (lambda a: a.T.reshape(6, copy=False), ValueError),
    (lambda a: a.flags["NONE"], KeyError), (lambda a: a.setflags(write=False), ValueError),
    (lambda a: a.setflags(uic=True), ValueError), (lambda a: delattr(a, "real"), AttributeError),
    (lambda a: setattr(a, "shape", (6,)), AttributeError), (lambda a: complex(a), TypeError),
    (lambda a: a.repeat(-1), ValueError), (lambda a: a.choose([1, 2]), (TypeError, ValueError))])
def test_a_wrong_call_is_an_error(call, error):
    with pytest.raises(error):
        call(dray.Array(FLOATS.copy()))


def test_a_copy_is_made_or_refused_as_asked():
    array = dray.Array(FLOATS.copy())
    assert array.reshape(6, copy=False).shares_memory(array)
    assert not array.reshape(6, copy=True).shares_memory(array)
    assert not array.flatten().shares_memory(array)
    array.setflags(write=True, align=True, uic=False)


def test_flags_have_numpys_names():
    for values in (FLOATS, FLOATS.T, FLOATS[:, ::2], np.zeros(3)):
        there, here = values.flags, dray.Array(values).flags
        for name in ("C_CONTIGUOUS", "C", "F_CONTIGUOUS", "F", "WRITEABLE", "W", "ALIGNED", "BEHAVED", "CARRAY",
                     "FNC", "FORC", "WRITEBACKIFCOPY", "CONTIGUOUS", "FORTRAN"):
            assert here[name] == there[name], name
        assert here.fnc == there.fnc and here[0] == there.c_contiguous
        assert np.isfortran(dray.Array(values)) == np.isfortran(values)


def test_a_file_has_the_elements(tmp_path):
    array = dray.Array(FLOATS[:, ::2])
    array.tofile(str(tmp_path / "bytes"))
    assert np.fromfile(tmp_path / "bytes").tolist() == [4, 3, 2, 7]
    array.tofile(str(tmp_path / "text"), " ")
    assert (tmp_path / "text").read_text() == "4.0 3.0 2.0 7.0"
    array.dump(tmp_path / "pickle")
    assert pickle.loads((tmp_path / "pickle").read_bytes()).tolist() == array.tolist()
    into = io.BytesIO()
    array.dump(into)
    assert pickle.loads(into.getvalue()).tolist() == array.tolist()


def test_ctypes_has_the_address():
    array = dray.Array(FLOATS)
    assert array.ctypes.data == array.__array_interface__["data"][0]
    assert ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_double))[1] == 1


def test_an_array_is_where_it_says_and_stays_there():
    array = dray.Array(FLOATS)
    assert array.device == "cpu" and array.to_device("cpu") is array
    assert dray.Array.zeros((2, 3, 4)).mT.shape == (2, 4, 3)


@pytest.mark.host
def test_an_array_of_device_memory_moves():
    moved = dray.device_empty((2, 3)).to_device("cpu")
    assert moved.device == "cpu" and moved.shape == (2, 3)


MADE = {
    "ones": (lambda m: m.ones((2, 3), "i4")), "full": lambda m: m.full(3, 2.5),
    "full-typed": lambda m: m.full((2, 2), 7, np.uint8), "arange": lambda m: m.arange(5),
    "arange-step": lambda m: m.arange(1, 9, 2, "f4"), "asarray": lambda m: m.asarray([1, 2]),
    "asarray-typed": lambda m: m.asarray(FLOATS, "f4"), "zeros-like": lambda m: m.zeros_like(FLOATS.T),
    "ones-like": lambda m: m.ones_like(FLOATS, "i2"), "full-like": lambda m: m.full_like(FLOATS, 3, shape=(2, 2)),
    "ones-F": lambda m: m.ones((2, 3), order="F"),
}


@pytest.mark.parametrize("name", MADE)
def test_an_array_is_made_in_drays_memory(name):
    there, here = MADE[name](np), MADE[name](dray)
    assert type(here) is np.ndarray and dray.handler_name(here) == dray.pool().handler_name
    assert (here.dtype, here.shape, here.strides, here.tolist()) == (
        there.dtype, there.shape, there.strides, there.tolist())


@pytest.mark.host
def test_an_array_in_memory_that_cannot_be_shared_is_copied_there():
    there = dray.ones(3)
    assert dray.asarray(there, shareable=True) is not there
    assert dray.handler_name(dray.asarray(there, shareable=True)) == dray.pool(shareable=True).handler_name


def test_an_array_that_is_in_drays_memory_is_not_copied():
    there = dray.ones(3)
    assert dray.asarray(there) is there and np.shares_memory(dray.asarray(dray.Array(there)), there)
    assert not np.shares_memory(dray.asarray(there, shareable=True), there)
    assert dray.empty_like(dray.Array.zeros((2, 3), "i4")).dtype == "i4"
    assert type(dray.zeros_like(dray.Array.zeros(3))) is np.ndarray


@pytest.mark.parametrize("make", [
    lambda: dray.ones(3, object), lambda: dray.full(3, None), lambda: dray.asarray([None]),
    lambda: dray.zeros_like(np.array([None])), lambda: dray.ones_like(np.array([None])),
    lambda: dray.empty_like([None])])
def test_an_array_of_objects_is_refused(make):
    with pytest.raises(TypeError):
        make()


def test_a_heap_has_a_word_for_its_type():
    assert {heap.type for heap in dray.open().heaps()} <= {"reserved", "cma", "pages", "carveout"}


def test_each_ufunc_has_a_docstring_of_its_own():
    texts = {ufunc.__doc__ for ufunc in dray._dray.ufuncs.values()}
    assert len(texts) == len(dray._dray.ufuncs)
    for name, ufunc in dray._dray.ufuncs.items():
        assert ufunc.__doc__.startswith(f"{name}(x") and len(ufunc.__doc__.split("\n\n")[1]) > 10
    assert dray.ufunc.__doc__.startswith("A function of whole arrays")
    assert "register()" in dray.ufunc("mine", 1, 1).__doc__


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("given", [{}, {"axis": 0}, {"axis": 1, "ddof": 1}, {"axis": 0, "dtype": "f4"},
                                   {"axis": 1, "where": [True, False, True]}])
def test_a_mean_that_is_known(name, given):
    array = np.array([[4., 1., 3.], [2., 8., 7.]])
    mean = array.mean(axis=given.get("axis"), keepdims=True, where=given.get("where", True)) + 1
    if np.__version__ < "2":
        with pytest.raises(TypeError, match="mean"):
            getattr(dray.Array(array), name)(mean=mean, **given)
        assert getattr(dray.Array(array), name)(mean=None) == getattr(array, name)()
        return
    wanted = getattr(array, name)(mean=mean, **given)
    for known in (mean, dray.Array(mean)):
        for found in (getattr(dray.Array(array), name)(mean=known, **given),
                      getattr(np, name)(dray.Array(array), mean=known, **given)):
            assert type(found) is (dray.Array if given else np.float64)
            np.testing.assert_array_equal(np.asarray(found), wanted, strict=True)
    out = dray.Array.zeros(np.shape(wanted), wanted.dtype)
    assert getattr(dray.Array(array), name)(mean=mean, out=out, **given) is out
    np.testing.assert_array_equal(np.asarray(out), wanted)


@pytest.mark.parametrize("given", [
    {"dtype": "f4"}, {"dtype": "i4", "casting": "unsafe"}, {"order": "F"}, {"dtype": None}])
def test_clip_with_keywords_of_a_ufunc(given):
    array = np.arange(12.).reshape(3, 4)
    wanted = array.clip(2, 7, **given)
    for found in (dray.Array(array).clip(2, 7, **given), np.clip(dray.Array(array), 2, 7, **given),
                  dray.Array(array).clip(min=2, max=dray.Array(np.array(7.)), **given)):
        assert type(found) is dray.Array and found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist() and found.strides == wanted.strides
    out = dray.Array(np.zeros_like(wanted))
    assert dray.Array(array).clip(2, 7, out, where=array > 3, **given) is out
    assert out.tolist() == np.clip(array, 2, 7, np.zeros_like(wanted), where=array > 3, **given).tolist()


@pytest.mark.parametrize("given, error", [({"dtype": "i4"}, TypeError), ({"dtype": "odd"}, TypeError),
                                          ({"odd": 1}, TypeError), ({"min": 1, "dtype": "f4"}, TypeError)])
def test_clip_refuses_keywords_as_numpy_does(given, error):
    array = np.arange(12.).reshape(3, 4)
    for each in (array, dray.Array(array)):
        with pytest.raises(error):
            each.clip(2, 7, **given)

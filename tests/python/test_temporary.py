# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result of an operator lies in an operand that nobody sees afterwards, and in no other."""
import ctypes
import functools
import itertools
import operator
import sys
import sysconfig

import numpy as np
import pytest

import dray

COUNT = 40_000
SMALL = 1_000
# On a Python without a GIL only from 3.14 on.
REUSES = not sysconfig.get_config_var("Py_GIL_DISABLED") or sys.version_info >= (3, 14)


def numbers(dtype, count=COUNT):
    return np.arange(1, count + 1).astype(dtype)


@pytest.fixture(name="arrays")
def fixture_arrays():
    """Yields arrays over NumPy's memory; results lie in dray's."""
    arrays = {name: dray.Array(numbers(dtype, count)) for name, dtype, count in (
        ("a", "f8", COUNT), ("b", "f8", COUNT), ("i", "i8", COUNT), ("j", "i8", COUNT),
        ("f", "f4", 2 * COUNT), ("z", "c16", COUNT), ("small", "f8", SMALL))}
    with dray.memory():
        yield arrays


def value_of(text, arrays, plain):
    """Computes an expression with dray's arrays or with NumPy's."""
    names = {name: np.asarray(array) if plain else array for name, array in arrays.items()}
    with np.errstate(all="ignore"):
        return eval(text, {}, names)  # pylint: disable=eval-used


def address_of(array):
    return np.asarray(array).ctypes.data


def reuses(first, whole, arrays):
    """Returns whether the value of @whole lies where the value of @first, its part, did."""
    where = address_of(value_of(first, arrays, False))
    found = value_of(whole, arrays, False)
    wanted = value_of(whole, arrays, True)
    assert isinstance(found, dray.Array) and found.dtype == wanted.dtype
    assert found.shape == wanted.shape and np.allclose(np.asarray(found), wanted, 1e-12)
    return address_of(found) == where


@pytest.mark.exact
@pytest.mark.skipif(not REUSES, reason="no proof without a GIL")
@pytest.mark.parametrize("first, whole", [
    ("a * b", "a * b + a"), ("a * b", "b + a * b"), ("a * b", "a - a * b"), ("a * b", "a * b / 2"),
    ("a * b", "2.5 * (a * b)"), ("a * b", "(a * b) ** 0.25"), ("a * b", "a * b % 7"),
    ("i + j", "i + j + i"), ("i + j", "(i + j) // 3"), ("i + j", "7 & (i + j)"),
    ("i + j", "(i + j) << 2"), ("f + f", "f + f + 1"), ("z * z", "z * z + 1j"),
    ("a * b", "(a * b) + a[:1]"), ("a - b", "(a - b) * (a - b) + b")])
def test_a_temporary_is_used_again(arrays, first, whole):
    assert reuses(first, whole, arrays)


@pytest.mark.parametrize("first, whole", [
    ("i + j", "(i + j) / 2"), ("i + j", "(i + j) + a"), ("i + j", "(i + j) * 2.5"),
    ("a * b", "a * b + z"), ("a * b", "a * b + 1j"), ("small * small", "small * small + small"),
    ("a[:1] * b[:1]", "a[:1] * b[:1] + a"), ("a * b", "a * b > 1"), ("a * b", "(a * b)[::2] + a[::2]"),
    ("f[:40000] + 1", "(f[:40000] + 1) + a")])
def test_a_result_of_another_type_or_shape_lies_elsewhere(arrays, first, whole):
    assert not reuses(first, whole, arrays)


@pytest.mark.parametrize("see", [
    lambda array: array, lambda array: [array], np.asarray, memoryview, lambda array: array[1:],
    lambda array: array.T, lambda array: array.__dlpack__(), lambda array: {"x": array}.values()])
def test_an_array_that_is_seen_stays_as_it_is(arrays, see):
    a, b = arrays["a"], arrays["b"]
    seen = []

    def look(array):
        seen.append(see(array))
        return array

    wanted = np.asarray(a) * np.asarray(b)
    found = look(a * b) + b
    assert np.array_equal(np.asarray(found), wanted + np.asarray(b))
    if isinstance(seen[0], (dray.Array, np.ndarray)):
        assert np.array_equal(np.asarray(seen[0]), wanted[-seen[0].shape[0]:])


def test_results_of_functions_that_call_operators_stay_as_they_are(arrays):
    a = np.asarray(arrays["a"])
    steps = list(itertools.accumulate([arrays["a"]] * 4, operator.add))
    for i, step in enumerate(steps):
        assert np.array_equal(np.asarray(step), (i + 1) * a)
    assert np.array_equal(np.asarray(functools.reduce(operator.mul, [arrays["a"]] * 3)), a * a * a)
    assert np.array_equal(np.asarray(sum([arrays["a"]] * 3)), 3 * a)


def test_a_compiled_program_keeps_what_it_holds(arrays):
    """Its variable, here a list, has the only reference."""
    add = ctypes.pythonapi.PyNumber_Add
    add.argtypes, add.restype = [ctypes.c_void_p] * 2, ctypes.py_object
    held = [arrays["a"] * arrays["b"]]
    wanted = np.asarray(held[0]).copy()
    found = add(id(held[0]), id(arrays["a"]))
    assert np.array_equal(np.asarray(found), wanted + np.asarray(arrays["a"]))
    assert np.array_equal(np.asarray(held[0]), wanted)


@pytest.mark.exact
def test_a_result_lies_in_the_memory_of_its_scope(arrays):
    def make():
        with dray.memory(shareable=True):
            return arrays["a"] * arrays["b"]

    where = address_of(make())
    assert address_of(make() + arrays["a"]) != where
    found = make() + arrays["a"]
    with dray.memory(shareable=True):
        assert address_of(arrays["a"] * arrays["b"]) == where
    assert np.array_equal(np.asarray(found),
                          np.asarray(arrays["a"]) * np.asarray(arrays["b"]) + np.asarray(arrays["a"]))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions of numba.njit() over a dray.Array: the same memory and results as with NumPy's."""
import gc
import os
import subprocess
import sys
import weakref

import numba
import numpy as np
import pytest

import dray
import dray._njit


@numba.njit
def total(a):
    result = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            result += a[i, j]
    return result


@numba.njit
def double(a):
    for i in range(a.size):
        a.flat[i] *= 2


@numba.njit
def mixed(a, b):
    return np.sqrt(a) + b.T.sum() * a[::-1]


@numba.njit("f8(f8[:, :])")
def declared(a):
    return a[0, 0] + a.mean()


@numba.njit
def itself(a):
    return a


@numba.njit
def inner(a):
    return total(a) + a.ndim


@numba.njit(parallel=True)
def parallel(a):
    result = 0.0
    for i in numba.prange(a.shape[0]):
        result += a[i].sum()
    return result


@numba.vectorize(nopython=True)
def plus(a, b):
    return a + b


VALUES = np.arange(12.).reshape(3, 4)
LAYOUTS = {"C": lambda a: a, "F": lambda a: a.T, "gaps": lambda a: a[::2, ::3], "reversed": lambda a: a[::-1],
           "middle": lambda a: a[1:, 1:], "without elements": lambda a: a[:0]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "c16", "?"])
def test_a_function_computes_as_with_numpys_arrays(layout, dtype):
    theirs = LAYOUTS[layout](VALUES.astype(dtype))
    ours = dray.Array(VALUES.astype(dtype))
    ours = LAYOUTS[layout](ours)
    if dtype != "c16":
        assert total(ours) == total(theirs) and inner(ours) == inner(theirs)
    found = mixed(ours, ours) if dtype != "?" else itself(ours)
    wanted = mixed(theirs, theirs) if dtype != "?" else itself(theirs)
    assert type(found) is np.ndarray and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_a_function_writes_the_memory():
    with dray.memory():
        a = dray.Array.zeros((3, 4))
    a[...] = VALUES
    double(a)
    assert a.tolist() == (VALUES * 2).tolist()


def test_a_declared_signature_wants_numpys_array():
    assert declared(np.asarray(dray.Array(VALUES))) == declared(VALUES)
    with pytest.raises(TypeError, match="can't unbox array"):
        declared(dray.Array(VALUES))


def test_a_variable_may_be_an_array_of_either_kind():
    @numba.njit
    def either(a, copies):
        b = a
        if copies:
            b = a + 1
        return b.sum()
    assert either(dray.Array(VALUES), False) == VALUES.sum()
    assert either(dray.Array(VALUES), True) == (VALUES + 1).sum()


def test_loops_of_threads_accept_it():
    assert parallel(dray.Array(VALUES)) == VALUES.sum()


def test_a_ufunc_of_numba_accepts_it():
    assert plus(dray.Array(VALUES), 1).tolist() == (VALUES + 1).tolist()


def test_a_read_only_array_stays_so():
    @numba.njit
    def set_first(a):
        a[0, 0] = 1
    with pytest.raises(numba.TypingError, match="readonly"):
        set_first(dray.Array(VALUES[0]).broadcast_to((3, 4)))


def test_the_result_keeps_the_memory_and_nothing_leaks():
    a = dray.Array(VALUES.copy())
    gone = weakref.ref(a)
    before = sys.getrefcount(a)
    for _ in range(100):
        total(a)
    assert sys.getrefcount(a) == before
    result = itself(a)
    assert np.shares_memory(result, np.asarray(a))
    del a
    gc.collect()
    assert gone() is not None and result.tolist() == VALUES.tolist()
    del result
    gc.collect()
    assert gone() is None


def test_types_of_other_layouts_are_other_functions():
    kinds = {numba.typeof(dray.Array(VALUES)), numba.typeof(dray.Array(VALUES).T),
             numba.typeof(dray.Array(VALUES)[:, ::2]), numba.typeof(VALUES)}
    assert len(kinds) == 4
    assert numba.typeof(dray.Array(VALUES)) == numba.typeof(dray.Array(VALUES + 1))


def test_numba_finds_it_by_an_entry_point(tmp_path):
    folder = tmp_path / "dray-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: dray\nVersion: 0\n")
    (folder / "entry_points.txt").write_text("[numba_extensions]\ninit = dray._njit:register\n")
    program = ("import sys, dray, numpy\nassert 'numba' not in sys.modules\nimport numba\n"
               "assert 'dray._njit' not in sys.modules\n"
               "f = numba.njit(lambda a: a.sum())\nprint(f(dray.Array(numpy.ones(3))))\n"
               "assert 'dray._njit' in sys.modules")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    said = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True, check=False)
    assert said.returncode == 0 and said.stdout == "3.0\n", said.stderr

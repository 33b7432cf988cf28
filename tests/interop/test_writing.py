# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Values that one side writes are there for the other side, if it may write."""
import numpy as np
import pytest

import dray
from cases import Case
from consumers import DOORS

TAKING = [name for name, door in DOORS.items() if door.take]
GIVING = [name for name, door in DOORS.items() if door.give]
CASE = Case("f4", "C", 1)


@pytest.mark.parametrize("name", TAKING)
def test_a_consumer_sees_what_dray_writes(name):
    array = CASE.array()
    held = DOORS[name].take(array)
    array[1] = 7
    assert DOORS[name].values(held)[1] == 7


@pytest.mark.parametrize("name", TAKING)
def test_a_consumer_may_write_as_foreseen(name):
    array = CASE.array()
    values = DOORS[name].values(DOORS[name].take(array))
    assert values.flags.writeable == DOORS[name].writes
    if values.flags.writeable:
        values[1] = 7
        assert array[1] == 7


def test_operators_and_indices_take_arrays_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    here, there = dray.Array(np.arange(4.)), jnp.arange(4.)
    for result in (here + there, there + here):
        assert np.asarray(result).tolist() == [0, 2, 4, 6]
    assert np.asarray(here == there).all() and not np.asarray(here < there).any()
    assert here[jnp.array([0, 2])].tolist() == [0, 2] and here[jnp.array(3)] == 3
    here[jnp.array([True, False, False, True])] = 7
    assert here.tolist() == [7, 1, 2, 7]


def test_operators_take_sparse_arrays():
    sparse = pytest.importorskip("scipy.sparse").csr_array(np.eye(2))
    here = dray.Array(np.ones((2, 2)))
    for result in (here + sparse, sparse + here):
        assert result.tolist() == [[2, 1], [1, 2]]
    assert (here @ sparse).tolist() == (sparse @ here).tolist() == here.tolist()


def test_a_bfloat16_is_no_bytes():
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    there = np.array([1.5, 2.25, -3], dtype)
    with pytest.raises(TypeError, match="another package"):
        dray.Array(there)
    assert (dray.Array(np.arange(3)) + there).dtype == (np.arange(3) + there).dtype
    assert dray.Array(there.view("u2")).tolist() == there.view("u2").tolist()


@pytest.mark.parametrize("name", GIVING)
def test_dray_may_write_as_foreseen(name):
    there = DOORS[name].give(CASE.expected())
    here = dray.from_dlpack(there)
    assert here.flags.writeable == DOORS[name].is_written
    if here.flags.writeable:
        here[1] = 7
        assert np.asarray(here)[1] == 7

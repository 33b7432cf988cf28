# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory lives as long as its last user on either side, and comes back then.

The blocks of dray's pool are counted: before and after each test too (conftest.py).
"""
import gc

import numpy as np
import pytest

import capsules
import dray
from cases import Case
from conftest import Helper, blocks
from consumers import DOORS

TAKING = [name for name, door in DOORS.items() if door.take]
GIVING = [name for name, door in DOORS.items() if door.give]
CASE = Case("f4", "C", 1)
ROUNDS, THREADS = 50, 4


@pytest.mark.parametrize("name", TAKING)
def test_memory_outlives_the_array_of_dray(name):
    door, before, array = DOORS[name], blocks(), CASE.array()
    held = door.take(array)
    del array
    gc.collect()
    assert blocks() == before + 1
    assert np.array_equal(door.values(held), CASE.expected())
    del held
    gc.collect()
    assert blocks() == before


@pytest.mark.parametrize("name", TAKING)
def test_an_array_of_dray_outlives_its_consumer(name):
    array = CASE.array()
    held = DOORS[name].take(array)
    del held
    gc.collect()
    assert array.tolist() == CASE.expected().tolist()


@pytest.mark.parametrize("name", GIVING)
def test_an_array_of_dray_keeps_the_memory_of_its_producer(name):
    """The memory of those that copy the values on their way in is their own."""
    before = blocks()
    with dray.memory():
        values = np.array(CASE.expected())
    there = DOORS[name].give(values)
    here = dray.from_dlpack(there)
    keeps = DOORS[name].address(there) == values.ctypes.data
    del there, values
    gc.collect()
    assert blocks() == before + keeps
    part = here[2:]
    del here
    assert part.tolist() == CASE.expected()[2:].tolist()
    del part
    gc.collect()
    assert blocks() == before


def rounds(door):
    for _ in range(ROUNDS):
        array = CASE.array()
        held = door.take(array)
        del array
        assert door.values(held)[-1] == CASE.expected()[-1]
        if door.give:
            there = door.give(CASE.expected())
            here = dray.from_dlpack(there)
            del there
            assert here[-1] == CASE.expected()[-1]


@pytest.mark.parametrize("name", TAKING)
def test_threads_exchange_arrays_at_the_same_time(name):
    for thread in [Helper(rounds, DOORS[name]) for _ in range(THREADS)]:
        thread.value()


@pytest.mark.parametrize("name", TAKING)
def test_another_thread_ends_the_last_use(name):
    before = blocks()
    held = [DOORS[name].take(CASE.array())]
    Helper(held.clear).value()
    gc.collect()
    assert blocks() == before


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)], ids=str)
def test_a_capsule_that_nobody_consumes_frees_its_tensor(version):
    before = blocks()
    capsule = CASE.array().__dlpack__(max_version=version)
    assert capsules.name_of(capsule) == (
        capsules.VERSIONED if version else capsules.LEGACY)
    assert blocks() == before + 1
    del capsule
    assert blocks() == before

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory lives as long as its last user in Arrow too, and nothing is in flight in it.

The blocks of dray's pool are counted: before and after each test too (conftest.py).
"""
import gc

import nanoarrow.device
import numpy as np
import pyarrow as pa
import pytest

import dray
from arrow_consumers import CONSUMERS
from capsules import API
from cases import Case
from conftest import SENT, Helper, blocks

CASE = Case("f4", "C", 1)
ROUNDS, THREADS = 50, 4


@pytest.mark.parametrize("name", CONSUMERS)
def test_memory_outlives_the_array_of_dray(name):
    before, array = blocks(), CASE.array()
    held = CONSUMERS[name].take(array)
    del array
    gc.collect()
    assert blocks() == before + 1
    back = dray.from_arrow(held)
    del held
    gc.collect()
    assert back.tolist() == CASE.expected().tolist()
    del back
    gc.collect()
    assert blocks() == before


def test_an_array_of_dray_keeps_the_memory_of_pyarrow():
    gc.collect()
    before = pa.total_allocated_bytes()
    there = pa.array([1.5] * 1000)
    here = dray.from_arrow(there)
    del there
    part = here[990:]
    del here
    gc.collect()
    assert pa.total_allocated_bytes() > before and part.tolist() == [1.5] * 10
    del part
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_a_field_outlives_its_structure():
    before = blocks()
    with dray.memory():
        array = dray.Array.zeros(5, [("x", "f8")])
    field = pa.array(array).field(0)
    del array
    gc.collect()
    assert blocks() == before + 1 and field.to_pylist() == [0] * 5
    del field
    gc.collect()
    assert blocks() == before


@pytest.mark.parametrize("method, names", [
    ("__arrow_c_array__", (b"arrow_schema", b"arrow_array")),
    ("__arrow_c_device_array__", (b"arrow_schema", b"arrow_device_array"))])
def test_capsules_that_nobody_consumes_free_their_array(method, names):
    before = blocks()
    pair = getattr(CASE.array(), method)()
    assert tuple(API.PyCapsule_GetName(each) for each in pair) == names
    assert blocks() == before + 1
    del pair
    assert blocks() == before


def test_capsules_are_consumed_once():
    pair = CASE.array().__arrow_c_array__()
    held = pa.Array._import_from_c_capsule(*pair)
    for take in (dray.from_arrow, lambda given: pa.Array._import_from_c_capsule(*given)):
        with pytest.raises(ValueError, match="released"):
            take(pair)
    assert held.to_pylist() == CASE.expected().tolist()


def test_dray_consumes_capsules_once():
    pair = CASE.array().__arrow_c_array__()
    held = dray.from_arrow(pair)
    with pytest.raises(ValueError, match="released|used"):
        dray.from_arrow(pair)
    assert held.tolist() == CASE.expected().tolist()


def rounds(consumer):
    for _ in range(ROUNDS):
        held = consumer.take(CASE.array())
        back = dray.from_arrow(held)
        del held
        assert back[-1] == CASE.expected()[-1]


@pytest.mark.parametrize("name", CONSUMERS)
def test_threads_exchange_arrays_at_the_same_time(name):
    for thread in [Helper(rounds, CONSUMERS[name]) for _ in range(THREADS)]:
        thread.value()


def test_device_arrays_are_the_cpus():
    held = nanoarrow.device.c_device_array(CASE.array())
    assert (held.device_type_id, held.device_id) == (1, -1)
    assert dray.from_arrow(held).tolist() == CASE.expected().tolist()


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_consumer_sees_the_received_elements(pending, name):
    held = pending.while_it_ends(CONSUMERS[name].take)
    assert np.array_equal(np.asarray(dray.from_arrow(held)), SENT)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Capsules in wrong hands: consumed twice, renamed by hand, of another device."""
import gc

import numpy as np
import pytest

import capsules
import dray
from cases import Case
from conftest import blocks
from consumers import DOORS
from refusals import DEVICE, MISUSES, RENAMED, SHARES, TWICE

TAKING = [name for name, door in DOORS.items() if door.take]
CASE = Case("f4", "C", 1)
USED = (b"used_" + capsules.VERSIONED, b"used_" + capsules.LEGACY)


def check(name, what, producer):
    """Compares the consumer's answer with that of the table."""
    row, = [row for row in MISUSES if name in row.doors and row.what == what]
    door = DOORS[name]
    if row.outcome == SHARES:
        assert door.address(door.take(producer))
        return
    with pytest.raises(Exception, match=row.words) as caught:
        door.take(producer)
    assert type(caught.value).__name__ == row.outcome


@pytest.mark.parametrize("name", TAKING)
def test_a_capsule_is_consumed_once(name):
    before = blocks()
    producer = capsules.Stale(CASE.array())
    held = DOORS[name].take(producer)
    check(name, TWICE, producer)
    assert DOORS[name].values(held).tolist() == CASE.expected().tolist()
    del held, producer
    gc.collect()
    assert blocks() == before


@pytest.mark.parametrize("given", [b"something", b"used_dltensor",
                                   b"used_dltensor_versioned"])
@pytest.mark.parametrize("name", TAKING)
def test_a_capsule_with_another_name_is_refused(name, given):
    """It frees its tensor under its own name."""
    before = blocks()
    producer = capsules.Renamed(CASE.array(), given)
    check(name, RENAMED, producer)
    producer.restore()
    del producer
    gc.collect()
    assert blocks() == before


@pytest.mark.parametrize("name", TAKING)
def test_memory_of_another_device(name):
    before = blocks()
    check(name, DEVICE, capsules.Elsewhere(CASE.array()))
    gc.collect()
    assert blocks() == before


# The same by dray.

GIVING = [name for name, door in DOORS.items() if door.give]


def give(name):
    """An array of the library, in memory of dray unless the library has its own."""
    with dray.memory():
        values = np.array(CASE.expected())
    return DOORS[name].give(values)


@pytest.mark.parametrize("name", GIVING)
def test_dray_consumes_a_capsule_once(name):
    producer = capsules.Stale(give(name))
    held = dray.from_dlpack(producer)
    assert capsules.name_of(producer.capsule) in USED
    with pytest.raises(ValueError, match="used_dltensor.*was taken before"):
        dray.from_dlpack(producer)
    assert held.tolist() == CASE.expected().tolist()


@pytest.mark.parametrize("other", [b"something", b"used_dltensor"])
@pytest.mark.parametrize("name", GIVING)
def test_dray_refuses_a_capsule_with_another_name(name, other):
    producer = capsules.Renamed(give(name), other)
    with pytest.raises(ValueError, match=f'called "{other.decode()}"'):
        dray.from_dlpack(producer)
    producer.restore()


@pytest.mark.parametrize("name", GIVING)
def test_dray_refuses_memory_of_another_device(name):
    """Unless it is dray's own, in the hands of a library that copied nothing."""
    with dray.memory():
        values = np.array(CASE.expected())
    there = DOORS[name].give(values)
    producer = capsules.Elsewhere(there)
    if DOORS[name].address(there) == values.ctypes.data:
        assert dray.from_dlpack(producer).tolist() == CASE.expected().tolist()
    else:
        with pytest.raises(BufferError, match="device"):
            dray.from_dlpack(producer)

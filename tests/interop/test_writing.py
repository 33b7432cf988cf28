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


@pytest.mark.parametrize("name", GIVING)
def test_dray_may_write_as_foreseen(name):
    there = DOORS[name].give(CASE.expected())
    here = dray.from_dlpack(there)
    assert here.flags.writeable == DOORS[name].is_written
    if here.flags.writeable:
        here[1] = 7
        assert np.asarray(here)[1] == 7

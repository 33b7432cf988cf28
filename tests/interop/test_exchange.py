# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each layout, type and number of axes through each library, both ways: no element is
copied, unless the table of refusals says so."""
import re

import numpy as np
import pytest

import dray
import page
from cases import LAYOUTS, cases
from consumers import DOORS
from refusals import COPIES, ENDS, GIVEN, ROWS, SHARES, address, here

TAKING = [name for name, door in DOORS.items() if door.take]
GIVING = [name for name, door in DOORS.items() if door.give]
# Rows that a case has met.
met = set()


def compare(address_there, values, strides, address_here, wanted):
    """A word for the way in which an array came over."""
    if values.shape != wanted.shape or values.dtype != wanted.dtype \
            or not np.array_equal(values, wanted):
        return f"other values: {values!r}"
    if not wanted.size:
        return SHARES
    if address_there != address_here:
        return COPIES
    if strides is not None and any(
            one != other for one, other, extent in
            zip(strides, wanted.strides, wanted.shape) if extent > 1):
        return f"other strides: {strides}"
    return SHARES


def taken(door, array, wanted):
    try:
        held = door.take(array)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return compare(door.address(held), door.values(held),
                   door.strides and door.strides(held), address(array), wanted)


def given(door, there, wanted):
    try:
        got = dray.from_dlpack(there)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return compare(door.address(there), np.asarray(got), got.strides, address(got),
                   wanted)


def foreseen(rows, name, case, array):
    for row in rows:
        if row.is_about(name) and row.holds(case, array):
            met.add(row)
            return row
    return None


def differs(row, outcome):
    if row is None:
        return outcome != SHARES
    if row.outcome in (SHARES, COPIES):
        return outcome != row.outcome
    return (not outcome.startswith(row.outcome + ":")
            or not re.search(row.words, outcome))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TAKING)
def test_takes_arrays_of_dray(name, layout):
    different = []
    for case in cases(layout):
        array = case.array()
        row = foreseen(ROWS, name, case, array)
        if row and row.outcome == ENDS:
            continue  # in a process of its own, below
        outcome = taken(DOORS[name], array, case.expected())
        if differs(row, outcome):
            different.append(f"{case}: {outcome}, not {row and row.what}")
    assert not different, "\n".join(different[:10])


@pytest.mark.parametrize("name, layout", [
    (name, layout) for name in GIVING for layout in DOORS[name].layouts or LAYOUTS])
def test_gives_arrays_to_dray(name, layout):
    door, different = DOORS[name], []
    for case in cases(layout, door.types.split()):
        if case.ndim not in door.ranks:
            continue
        wanted = case.expected()
        there = door.give(wanted)
        row = foreseen(GIVEN, name, case, wanted)
        outcome = given(door, there, wanted)
        if differs(row, outcome):
            different.append(f"{case}: {outcome}, not {row and row.what}")
    assert not different, "\n".join(different[:10])


def test_each_refusal_is_met():
    """Of those before it: the tables have no row that nothing meets."""
    if not met:
        pytest.skip("runs behind the others")
    left = [f"{row.doors}: {row.what}" for row in here(ROWS) + here(GIVEN)
            if row not in met]
    assert not left


def test_the_page_has_the_tables():
    assert not page.differences()

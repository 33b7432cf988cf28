# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays through Arrow's capsules into pyarrow, pandas, Polars and nanoarrow, and
back: valid, equal, and in the same memory wherever Arrow has the same layout."""
import itertools

import numpy as np
import pyarrow as pa
import pytest

import dray
from arrow_consumers import CONSUMERS, innermost, is_pattern, values_of
from arrow_types import TYPES
from cases import LAYOUTS, Case
from refusals import COPIES, SHARES, address

ROWS = {dtype: row for row in TYPES for dtype in row.dtypes.split()}
ARROW_LAYOUTS = ["C", "Fortran", "gaps", "from element 1", "reversed", "read-only",
                 "repeated", "no elements", "one element"]
SAME_LAYOUT = ["C", "from element 1", "read-only", "no elements"]
NUMBERS = ["i1", "u8", "f2", "f8", "c8", "M8[us]"]


def passes(consumer, array, wanted):
    """A word for the way of an array into the consumer and back."""
    try:
        held = consumer.take(dray.to_arrow(array))
        back = dray.from_arrow(held)
    except Exception as error:
        return type(error).__name__
    values = values_of(wanted)
    assert back.shape == values.shape
    # Units and byte orders may be others.
    assert np.array_equal(np.asarray(back).astype(values.dtype), values)
    if not wanted.size:
        return SHARES
    if consumer.address(held) != address(array):
        return COPIES
    assert address(back) == address(array)
    return SHARES


@pytest.mark.parametrize("dtype", ROWS)
@pytest.mark.parametrize("name", CONSUMERS)
def test_each_type_passes_as_foreseen(name, dtype):
    row = ROWS[dtype]
    for ndim in range(1, 5):
        case = Case(dtype, "C", ndim)
        assert passes(CONSUMERS[name], case.array(), case.expected()) == (
            row.polars if name == "Polars" else row.outcome), ndim


@pytest.mark.parametrize("dtype", [dtype for dtype, row in ROWS.items() if row.pattern])
def test_types_are_arrows(dtype):
    for ndim in range(1, 5):
        case = Case(dtype, "C", ndim)
        array = pa.array(dray.to_arrow(case.array()))
        for extent in case.expected().shape[1:]:
            assert array.type.list_size == extent
            array = array.flatten()
        assert is_pattern(ROWS[dtype].pattern, array.type)


@pytest.mark.parametrize("layout", ARROW_LAYOUTS)
@pytest.mark.parametrize("name", CONSUMERS)
def test_each_layout_passes_as_foreseen(name, layout):
    for dtype, ndim in itertools.product(NUMBERS, LAYOUTS[layout].ranks):
        case = Case(dtype, layout, ndim)
        if case.expected().ndim == 0:
            continue
        same = layout in SAME_LAYOUT or case.expected().flags.c_contiguous
        assert passes(CONSUMERS[name], case.array(), case.expected()) == (
            SHARES if same else COPIES), case


@pytest.mark.parametrize("layout", ["Fortran", "gaps", "reversed", "repeated"])
def test_a_copy_is_made_only_if_it_is_allowed(layout):
    array = Case("f4", layout, 2).array()
    with pytest.raises(ValueError, match="copy"):
        pa.array(array)
    with pytest.raises(ValueError, match="copy"):
        pa.array(dray.to_arrow(array, copy=False))


def test_an_array_without_axes_is_refused():
    with pytest.raises(ValueError, match="axes"):
        pa.array(Case("f4", "C", 0).array())


class Only:
    """An array by one of its methods only."""

    def __init__(self, array, name):
        setattr(self, name, getattr(array, name))


# pyarrow and nanoarrow look at the instance, and the others at its type.
@pytest.mark.parametrize("method", ["__arrow_c_array__", "__arrow_c_device_array__"])
def test_pyarrow_takes_either_capsule(method):
    array = Case("f4", "C", 1).array()
    held = pa.array(Only(array, method))
    held.validate(full=True)
    assert held.buffers()[1].address == address(array)


# Masks.

MASK = [False, True, False, True, False, False]


@pytest.mark.parametrize("dtype", ["i4", "f8", "?", "M8[s]", "M8[D]", "V2", "c8"])
@pytest.mark.parametrize("name", CONSUMERS)
def test_nulls_pass_both_ways(name, dtype):
    if ROWS[dtype].polars == "TypeError" and name == "Polars":
        return
    array, wanted = Case(dtype, "C", 1).array(), Case(dtype, "C", 1).expected()
    held = CONSUMERS[name].take(dray.to_arrow(array, mask=MASK))
    back, mask = dray.from_arrow(held, mask=True)
    assert np.array_equal(np.asarray(mask).reshape(6, -1)[:, 0], MASK)
    kept = ~np.array(MASK)
    values = values_of(wanted)
    assert np.array_equal(np.asarray(back).astype(values.dtype)[kept], values[kept])
    with pytest.raises(ValueError, match="null"):
        dray.from_arrow(held)


@pytest.mark.parametrize("ndim", range(1, 4))
def test_masks_of_numpy_are_valid(ndim):
    wanted = Case("i4", "C", ndim).expected()
    masked = np.ma.masked_array(wanted, mask=wanted % 2)
    held = innermost(pa.array(dray.to_arrow(masked)))
    held.validate(full=True)
    assert held.null_count == masked.mask.sum()
    assert held.to_pylist() == [None if each % 2 else each for each in wanted.flat]


def test_structures_have_nulls_in_each_field():
    array = np.ma.masked_array(
        Case("i4,f8", "C", 1).expected(),
        mask=np.array([(at == 1, at == 2) for at in range(6)], "?,?"))
    held = pa.array(dray.to_arrow(array))
    held.validate(full=True)
    assert held.field(0).null_count == held.field(1).null_count == 1
    back = dray.from_arrow(held, mask=True, fields=True)
    assert {name: np.flatnonzero(np.asarray(mask)).tolist()
            for name, (_, mask) in back.items()} == {"f0": [1], "f1": [2]}


def test_dates_that_are_none_become_nulls():
    dates = np.array(["2026-11-24", "NaT", "1970-01-01"], "M8[s]")
    held = pa.array(dray.to_arrow(dates))
    held.validate(full=True)
    assert held.null_count == 1
    assert held.is_null().to_pylist() == [False, True, False]
    assert held.buffers()[1].address == dates.ctypes.data


# Arrays of pyarrow.

@pytest.mark.parametrize("type", [
    pa.int8(), pa.uint16(), pa.float16(), pa.float64(), pa.timestamp("us", "UTC"),
    pa.duration("ms"), pa.time64("us"), pa.binary(4), pa.list_(pa.int32(), 3)], ids=str)
def test_arrays_of_pyarrow_come_in_without_a_copy(type):
    values = {pa.binary(4): [b"abcd", b"efgh", b"ijkl"],
              pa.list_(pa.int32(), 3): [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}.get(
                  type, [1, 2, 3])
    there = pa.array([values[0], *values], pa.int64() if values == [1, 2, 3]
                     else type).cast(type)[1:]
    here = dray.from_arrow(there)
    assert len(here) == 3 and not here.flags.writeable
    inner = innermost(there)
    size = inner.type.bit_width // 8
    assert address(here) == inner.buffers()[1].address + inner.offset * size


@pytest.mark.parametrize("array", [
    pa.array(["a"]), pa.array([b"a"]), pa.array([[1]]), pa.array([1.5]).cast(
        pa.decimal128(5, 2)), pa.array(["a"]).dictionary_encode(),
    pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), pa.nulls(3)],
    ids=lambda array: str(array.type)[:20])
def test_types_without_an_equal_are_refused(array):
    with pytest.raises(TypeError):
        dray.from_arrow(array)


def test_columns_of_a_table_come_in_without_a_copy():
    batch = pa.record_batch({"x": pa.array(np.arange(5.)), "n": pa.array([1, 2, 3, 4, 5])})
    columns = dray.from_arrow(batch, fields=True)
    assert list(columns) == ["x", "n"]
    for at, column in enumerate(columns.values()):
        assert address(column) == batch.column(at).buffers()[1].address
        assert column.tolist() == batch.column(at).to_pylist()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Strings through Arrow's capsules into pyarrow, pandas, Polars and nanoarrow, and back:
valid, equal, and the same bytes."""
import gc
import random
import threading

import nanoarrow
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dray
from dray import Strings

TEXTS = ["b", "é", None, "a\0b", "", "a text of more than twelve bytes", "\U0001f600"]
TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
         pa.binary_view()]
PARTS = [slice(None), slice(1, None), slice(2, 5), slice(3, 3)]


def pa_array(type_, items=TEXTS):
    if type_ in TYPES[3:]:
        items = [item if item is None else item.encode() for item in items]
    return pa.array(items, type_)


@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_each_type_of_pyarrow_passes(type_, part):
    theirs = pa_array(type_)[part]
    strings = Strings.from_arrow(theirs)
    assert strings.tolist() == theirs.to_pylist()
    assert strings.is_text == (type_ in TYPES[:3])
    back = pa.array(strings)
    back.validate(full=True)
    assert back.type == (pa.string() if strings.is_text else pa.binary())
    assert back.to_pylist() == theirs.to_pylist()


@pytest.mark.parametrize("type_", [each for each in TYPES if "view" not in str(each)], ids=str)
def test_bytes_are_shared_both_ways(type_):
    theirs = pa_array(type_)
    back = pa.array(Strings.from_arrow(theirs))
    assert back.buffers()[2].address == theirs.buffers()[2].address
    assert back.null_count == 1


@pytest.mark.parametrize("part", [*PARTS, slice(None, None, -2)], ids=str)
def test_strings_are_valid_in_pyarrow(part):
    for items in TEXTS, [item if item is None else item.encode() for item in TEXTS]:
        there = pa.array(Strings(items)[part])
        there.validate(full=True)
        assert there.to_pylist() == items[part]


@pytest.mark.parametrize("type_", [pa.large_string(), pa.string(), pa.binary()], ids=str)
def test_a_type_that_pyarrow_asks_for_is_delivered(type_):
    there = pa.array(Strings(TEXTS), type=type_)
    there.validate(full=True)
    assert there.equals(pa_array(type_))


def test_other_libraries_read_and_write_strings():
    strings = Strings(TEXTS)
    assert pl.Series(strings).to_list() == TEXTS
    assert nanoarrow.array(strings).to_pylist() == TEXTS
    assert pd.Series(pa.array(strings), dtype="str").tolist()[:2] == TEXTS[:2]
    for there in (pl.Series(TEXTS), nanoarrow.array(TEXTS, nanoarrow.string()),
                  pd.Series(TEXTS, dtype="str")):
        assert Strings.from_arrow(there).tolist() == TEXTS
    pieces = pa.chunked_array([["a"], ["b"]])
    with pytest.raises(ValueError, match="combine its pieces"):
        Strings.from_arrow(pieces)
    assert Strings.from_arrow(pieces.combine_chunks()).tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="dictionary"):
        Strings.from_arrow(pa.array(["a"]).dictionary_encode())


def test_a_consumer_keeps_the_memory_in_any_thread():
    with dray.memory() as pool:
        before = pool.stats().blocks
        there = [pa.array(Strings(["x", "y"]))[1:]]
        gc.collect()
        assert pool.stats().blocks == before + 1
        assert there[0].to_pylist() == ["y"]
        thread = threading.Thread(target=there.clear)
        thread.start()
        thread.join()
        gc.collect()
        assert pool.stats().blocks == before


def test_random_strings_compare_and_sort_as_in_pyarrow():
    dice = random.Random(7)
    letters = ["a", "b", "é", "\0", "\U0001f600"]
    items = [None if dice.random() < 0.1 else "".join(dice.choices(letters, k=dice.randrange(20)))
             for _ in range(3000)]
    theirs, strings = pa.array(items), Strings(items)
    order = pa.compute.array_sort_indices(theirs)
    assert strings.argsort().tolist() == order.to_pylist()
    assert pa.array(strings.sort()).equals(theirs.take(order))
    less = pa.compute.less(theirs[:-1], theirs[1:]).to_pylist()
    ours = (strings[:-1] < strings[1:]).tolist()
    assert [mine for mine, other in zip(ours, less) if other is not None] == [
        other for other in less if other is not None]


def test_numpys_strings_pass_through():
    array = np.array(["a", None, "é" * 40], np.dtypes.StringDType(na_object=None))
    assert pa.array(Strings(array)).to_pylist() == array.tolist()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Columns in dray's memory as frames of pandas and Polars, and back, without a copy."""
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dray
from arrow_consumers import pandas_address, polars_address
from refusals import address

COUNT = 1000


@pytest.fixture
def columns():
    with dray.memory():
        columns = {"time": dray.Array.zeros(COUNT, "M8[us]"),
                   "volt": dray.Array.arange(0, COUNT, 1, "f4"),
                   "pair": dray.Array.zeros((COUNT, 2), "i2")}
    yield columns
    columns.clear()  # pytest keeps the dictionary longer


def addresses(columns):
    return {name: address(column) for name, column in columns.items()}


def test_a_frame_of_pandas(columns):
    batch = pa.record_batch({name: pa.array(each) for name, each in columns.items()})
    frame = batch.to_pandas(types_mapper=pd.ArrowDtype)
    assert {name: pandas_address(frame[name]) for name in frame} == addresses(columns)
    assert frame["volt"].sum() == COUNT * (COUNT - 1) / 2
    back = dray.from_arrow(frame, fields=True)
    assert addresses(back) == addresses(columns)


def test_a_series_of_pandas_over_numpy(columns):
    series = pd.Series(np.asarray(columns["volt"]), copy=False)
    assert series.mean() == (COUNT - 1) / 2
    assert address(dray.Array(series.to_numpy())) == address(columns["volt"])


def test_pandas_copies_on_its_own_way(columns):
    """Series.from_arrow() makes memory of NumPy."""
    series = pd.Series.from_arrow(columns["volt"])
    assert address(series.to_numpy()) != address(columns["volt"])
    assert series.tolist() == columns["volt"].tolist()


def test_a_frame_of_polars(columns):
    frame = pl.DataFrame({name: pl.Series(each) for name, each in columns.items()})
    assert {name: polars_address(frame[name]) for name in frame.columns} == \
        addresses(columns)
    assert frame["volt"].sum() == COUNT * (COUNT - 1) / 2
    back = dray.from_arrow(frame, fields=True)
    assert addresses(back) == addresses(columns)


def test_a_structure_of_one_field_is_a_frame_of_polars():
    with dray.memory():
        array = dray.Array.zeros(COUNT, [("x", "f8")])
    frame = pl.DataFrame(array)
    assert frame.columns == ["x"] and polars_address(frame["x"]) == address(array)


@pytest.mark.parametrize("make", [pl.Series, pa.chunked_array, pd.Series],
                         ids=["Polars", "pyarrow", "pandas"])
def test_a_column_in_two_pieces_is_refused(make):
    parts = [pa.array([1, 2]), pa.array([3])]
    whole = pa.chunked_array(parts)
    column = {pl.Series: lambda: pl.from_arrow(whole, rechunk=False),
              pd.Series: lambda: pd.Series(whole, dtype=pd.ArrowDtype(whole.type)),
              pa.chunked_array: lambda: whole}[make]()
    with pytest.raises(ValueError, match="piece"):
        dray.from_arrow(column)

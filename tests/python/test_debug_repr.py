# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.debug_repr(): the parts of an array in memory."""
import re
import sys

import numpy as np
import pytest

import dray


def parts(a):
    """Returns the lines of the text as a dictionary."""
    text = dray.debug_repr(a)
    assert text.startswith("------ array\n") and text.endswith("------\n")
    return dict(line.strip().split(": ", 1) for line in text.splitlines()[1:-1]
                if ": " in line) | {"axes": re.findall(r"axis \d: size (\d+), stride (-?\d+)", text)}


def test_an_array_shows_its_parts():
    a = dray.Array.zeros((3, 4), "f4")
    found = parts(a)
    assert found["count"] == "1" and found["type"] == "strided * strided * <f4"
    assert found["axes"] == [("3", "16"), ("4", "4")] and found["meta-data"] == "32 bytes"
    assert found["flags"].endswith("read write aligned c_contiguous owned")
    assert found["data"] == found["first element"] == hex(np.asarray(a).ctypes.data)
    assert found["reference"].endswith("(handled, count 1)")


@pytest.mark.parametrize("index, axes, offset", [
    (np.s_[::2, ::-1], [("2", "64"), ("4", "-8")], 24),
    (np.s_[1], [("4", "8")], 32),
    (np.s_[2, 3, ...], [], 88),
    (np.s_[:0], [("0", "32"), ("4", "8")], 0),
    (np.s_[:, None, 1:3], [("3", "32"), ("1", "0"), ("2", "8")], 8)])
def test_a_view_shows_its_axes(index, axes, offset):
    a = dray.Array.zeros((3, 4))
    found = parts(a[index])
    assert [(size, stride) for size, stride in found["axes"] if size != "1"] == [
        axis for axis in axes if axis[0] != "1"]
    assert int(found["first element"], 16) - int(parts(a)["data"], 16) == offset
    assert found["reference"].startswith(parts(a)["reference"].split(" ")[0])


def test_arrays_of_numpy_and_dtypes():
    a = np.zeros(2, [("x", "i2"), ("y", "S3")])
    before = sys.getrefcount(a)
    assert parts(a)["type"] == "strided * [('x', '<i2'), ('y', '|S3')]"
    assert "external" in parts(a)["reference"]
    assert sys.getrefcount(a) == before


@pytest.mark.parametrize("bad", [3, None, "text", [1, 2], np.zeros(2, object)])
def test_other_objects_are_refused(bad):
    with pytest.raises(TypeError):
        dray.debug_repr(bad)

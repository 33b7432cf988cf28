# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.rows(): the memory of arrays as rows, in NIXL's columns too."""
import os

import numpy as np
import pytest

import dray


@pytest.fixture(params=[np.asarray, dray.Array])
def kind(request):
    return request.param


def offsets(array, rows):
    """Each byte of the rows in their order, from the array's first element."""
    start = np.asarray(array).ctypes.data
    return [address - start + piece * stride + byte
            for address, length, stride, count in rows.tolist()
            for piece in range(count) for byte in range(length)]


def wanted(array):
    """Each byte of the elements in C order."""
    where = np.zeros(array.shape, np.int64)
    for axis, (extent, stride) in enumerate(zip(array.shape, array.strides)):
        shape = [1] * array.ndim
        shape[axis] = extent
        where += (np.arange(extent) * stride).reshape(shape)
    return (where.reshape(-1, 1) + np.arange(array.itemsize)).reshape(-1).tolist()


PARENT = np.arange(4 * 6 * 8, dtype="<u2").reshape(4, 6, 8)
VIEWS = [PARENT, PARENT[:, ::2], PARENT[::-1, 1:, 2:5], PARENT.T, PARENT[..., 3],
         PARENT.transpose(1, 2, 0)[::2], PARENT[2, 3, 4:5].reshape(()),
         PARENT[:0]]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: str(view.strides))
@pytest.mark.parametrize("limits", [
    {}, {"max_length": 3}, {"max_count": 1}, {"max_count": 2, "max_length": "8"},
    {"max_stride": 40}], ids=str)
def test_rows_have_each_byte_once(view, limits, kind):
    rows = dray.rows(kind(view), **limits)
    assert rows.dtype == np.int64 and rows.shape[1:] == (4,)
    assert rows.flags.c_contiguous
    assert sorted(offsets(view, rows)) == sorted(wanted(view))
    ordered = dray.rows(kind(view), ordered=True, **limits)
    assert offsets(view, ordered) == wanted(view)


def test_a_frame_of_a_picture_is_one_row(make, kind):
    picture = make(np.zeros((1080, 1920, 3), np.uint8))
    tile = picture[100:580, 64:704]
    assert dray.rows(kind(tile)).tolist() == [
        [tile.ctypes.data, 640 * 3, 1920 * 3, 480]]


def test_a_device_makes_the_columns_of_nixl():
    """(address, length, device, stride, count); its Python API copies such arrays
    as they lie.  NIXL itself is not here: it needs UCX and a second agent."""
    pages = np.zeros((3, 64, 2, 128), np.uint8)
    heads = pages[:, ::4, 0]
    plain, rows = dray.rows(heads), dray.rows(heads, device=7)
    assert rows.shape == (len(plain), 5) and rows.dtype == np.int64
    assert rows.flags.c_contiguous
    assert (rows[:, [0, 1, 3, 4]] == plain).all() and (rows[:, 2] == 7).all()


def test_a_long_list_comes_in_parts():
    view = np.zeros((50, 40), np.uint8)[:, ::2]
    whole = dray.rows(view, max_count=1)
    parts = [dray.rows(view[part:part + 7], max_count=1) for part in range(0, 50, 7)]
    assert (np.concatenate(parts) == whole).all()
    assert (dray.rows(view, max_count=1, first=900) == whole[900:]).all()
    assert dray.rows(view, max_count=1, first=2000, device=0).shape == (0, 5)


def test_repeated_elements_have_one_row_in_memory_and_all_in_order():
    repeated = np.broadcast_to(np.zeros(4, "u1"), (3, 4))
    assert len(dray.rows(repeated)) == 1
    assert dray.rows(repeated, ordered=True)[:, 1].sum() == 12


def test_too_many_rows_are_refused_with_their_number():
    with pytest.raises(OSError, match="1000 rows, the limit is 999"):
        dray.rows(np.zeros(2000, "u1")[::2], max_count=1, max_rows=999)


def test_elements_that_share_bytes_are_refused():
    shared = np.lib.stride_tricks.as_strided(np.zeros(16, "<u4"), (4, 4), (8, 12))
    with pytest.raises(ValueError, match="share bytes"):
        dray.rows(shared)


@pytest.mark.parametrize("options, error, sentence", [
    ({"max_length": -1}, ValueError, "max_length is -1"),
    ({"max_stride": 1.5}, TypeError, "max_stride"),
    ({"max_count": 2**64}, ValueError, "max_count is 18446744073709551616: a number from 0"),
    ({"max_rows": -1}, ValueError, "max_rows is -1: a number from 0"),
    ({"first": "x"}, TypeError, "first"),
    ({"device": "gpu"}, TypeError, "device"),
    ({"device": -1}, ValueError, "device is -1"),
    ({"device": 2**63}, ValueError, "device is 9223372036854775808")])
def test_bad_limits_are_refused(options, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.rows(np.zeros(3), **options)


def test_what_has_no_rows_is_refused():
    with pytest.raises(TypeError, match="a is not a NumPy array or dray.Array but"):
        dray.rows([1, 2])
    with pytest.raises(TypeError, match="references"):
        dray.rows(np.array([None]))


def test_ordered_rows_of_one_piece_are_what_writev_takes(make, tmp_path):
    """os.writev() takes buffers, and the rows name them in one flat buffer."""
    array = make(PARENT)
    view = array[::-1, 1::2, 3:6]
    flat = memoryview(array.reshape(-1).view(np.uint8))
    start = array.ctypes.data
    path = tmp_path / "view"
    with open(path, "wb", buffering=0) as file:
        os.writev(file.fileno(), [
            flat[address - start:address - start + length]
            for address, length, _, _ in dray.rows(view, ordered=True, max_count=1)])
    assert path.read_bytes() == view.tobytes()

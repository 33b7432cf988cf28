# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Files that dray.Array writes are read by NumPy, and the other way round."""
import os
import random

import numpy as np
import pytest

import dray

TYPES = ["?", "u1", "<i4", ">f8", "<c16", "S3", "<U2", ">M8[25s]", "V5", "<f2"]


def some_array(draw):
    shape = [draw.randrange(5) for _ in range(draw.randrange(4))]
    kind = np.dtype(draw.choice(TYPES))
    size = int(np.prod(shape, dtype=int))
    data = draw.randbytes(size * kind.itemsize)
    if kind.kind == "U":  # only characters that there are
        data = np.frombuffer(data, "u1")[::4].astype("<u4").tobytes()
        data = data.ljust(size * kind.itemsize, b"\0")
    array = np.frombuffer(data, kind).reshape(shape) if size else np.zeros(shape, kind)
    if draw.random() < 0.4:
        array = np.asfortranarray(array)
    return array[::-1] if array.ndim and draw.random() < 0.3 else array


@pytest.mark.parametrize("seed", range(40))
def test_files_go_both_ways(tmp_path, seed):
    draw = random.Random(seed)
    path = tmp_path / "a.npy"
    array = some_array(draw)
    dray.Array(array).save(path, page=draw.random() < 0.5)
    read = np.load(path)
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    assert read.tobytes() == array.tobytes()
    np.save(path, array)
    wanted = np.load(path)
    for back in dray.Array.load(path), dray.Array.map(path):
        again = back.__array__()
        assert (again.dtype, again.shape) == (array.dtype, array.shape)
        assert again.tobytes() == array.tobytes()
        assert not array.size or again.strides == wanted.strides


def test_a_header_of_a_page_leaves_the_elements_aligned(tmp_path):
    path = tmp_path / "a.npy"
    dray.Array(np.arange(3)).save(path, page=True)
    assert os.path.getsize(path) == 4096 + 24


def test_a_buffer_takes_the_whole_file(tmp_path):
    path = tmp_path / "a.npy"
    array = np.arange(100_000, dtype="<f4").reshape(100, 1000)
    dray.Array(array).save(path, page=True)
    node = dray.open()
    read = dray.Array.load(path, node=node)
    assert (read.__array__() == array).all()
    with pytest.raises(TypeError):
        dray.Array.load(path, node="host")


def test_a_new_file_replaces_none(tmp_path):
    path = tmp_path / "a.npy"
    array = dray.Array(np.arange(3))
    array.save(path, new=True)
    with pytest.raises(FileExistsError):
        array.save(path, new=True)
    with pytest.raises(FileNotFoundError):
        dray.Array.load(tmp_path / "b.npy")
    assert os.listdir(tmp_path) == ["a.npy"]


def test_what_is_no_array_is_refused(tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"not an array")
    with pytest.raises(ValueError, match="not in .npy format"):
        dray.Array.load(path)
    np.save(path, np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="objects"):
        dray.Array.load(path)


def fields(*names):
    return np.zeros(2, [(name, "i4") for name in names])


# Latin-1; UTF-8 that is Latin-1, too; escaped by repr(); beyond Latin-1; many.
NAMES = [("é",), ("é", "plain", "ÿ"), ("Ã©",), ("\x80", "\xad"), ("ł",), ("日本", "é"), ("😀",),
         tuple(f"é{number}" for number in range(3000)),
         tuple(f"ł{number}" for number in range(3000))]


@pytest.mark.filterwarnings("ignore:Stored array in format")
@pytest.mark.parametrize("names", NAMES, ids=lambda names: ascii(names[0]) + str(len(names)))
def test_names_beyond_ascii_go_both_ways(tmp_path, names):
    ours, theirs = tmp_path / "ours.npy", tmp_path / "theirs.npy"
    dray.Array(fields(*names)).save(ours)
    np.save(theirs, fields(*names))
    assert ours.read_bytes()[:8] == theirs.read_bytes()[:8]
    assert np.load(ours, max_header_size=10**6).dtype.names == names
    for path in ours, theirs:
        assert dray.Array.load(path).dtype.names == names
        assert dray.Array.map(path).dtype.names == names


def test_titles_beyond_ascii_come_back(tmp_path):
    path = tmp_path / "a.npy"
    dtype = [(("Größe", "ñ"), "i4"), (("мера", "b"), "i2")]
    dray.Array(np.zeros(2, dtype)).save(path)
    assert np.load(path).dtype == np.dtype(dtype)
    assert dray.Array.load(path).dtype == np.dtype(dtype)

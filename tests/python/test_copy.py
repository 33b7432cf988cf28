# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Copies and fills against NumPy's own, over many kinds of views."""
import random

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import dray

ENGINES = [None, False]
if dray.open().backend != "host" and dray.open().channels():
    ENGINES.append(True)

TYPES = ["?", "i1", "u1", "<i2", ">i2", "<u4", ">u8", "<f2", "<f4", ">f8",
         "<c8", "<c16", "g", "<m8[ns]", "<M8[D]", "S5", "<U3", "V7",
         [("r", "u1"), ("xy", "<f4", (2,))]]


def pattern(shape, dtype, seed):
    """Bytes that tell one element from another, in any type."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    draw = np.random.default_rng(seed)
    bytes_ = draw.integers(0, 2 if dtype == "?" else 256, size, np.uint8)
    return bytes_.view(dtype).reshape(shape)


def same_bytes(a, b):
    return (np.ascontiguousarray(a).tobytes()
            == np.ascontiguousarray(b).tobytes())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_plain_type_is_copied_byte_for_byte(make, dtype, engine):
    source = make(pattern((6, 5), dtype, 1))
    target = make(pattern((6, 5), dtype, 2))
    dray.copy(target[::-1, 1:4], source[:, 4:1:-1], engine=engine)
    wanted = pattern((6, 5), dtype, 2)
    wanted[::-1, 1:4] = pattern((6, 5), dtype, 1)[:, 4:1:-1]
    assert same_bytes(target, wanted)


def random_view(draw, shape):
    """Steps of basic indexing for an array, and the same for its twin."""
    index = []
    for extent in shape:
        kind = draw.random()
        if kind < 0.15:
            index.append(draw.randrange(extent))
        else:
            start = draw.choice([None, draw.randrange(-extent, extent)])
            stop = draw.choice([None, draw.randrange(-extent, extent)])
            index.append(slice(start, stop, draw.choice([1, 1, 2, 3, -1,
                                                         -2])))
        if draw.random() < 0.1:
            index.append(None)
    if draw.random() < 0.2:
        index = index[:draw.randrange(len(index) + 1)] + [Ellipsis]
    if Ellipsis not in index:
        index.append(Ellipsis)      # else all integers give no array
    return tuple(index), draw.random()


def apply(array, index, axes):
    view = array[index]
    order = list(range(view.ndim))
    random.Random(axes).shuffle(order)
    return view.transpose(order)


@pytest.mark.parametrize("ours, engine", [
    *(("both", engine) for engine in ENGINES), ("source", None), ("target", None)])
@pytest.mark.parametrize("seed", range(25))
def test_random_views_are_copied_as_numpy_does(make, seed, ours, engine):
    """Also from and to NumPy's own memory, by the CPU."""
    draw = random.Random(seed)
    make_source = make if ours != "target" else np.array
    make_target = make if ours != "source" else np.array
    for turn in range(20):
        shape = tuple(draw.randrange(1, 7)
                      for _ in range(draw.randrange(1, 5)))
        dtype = draw.choice(["u1", "<i2", "<f4", "<c16", "V3"])
        index, axes = random_view(draw, shape)
        here = pattern(shape, dtype, seed)
        source = make_source(here)
        view, twin = apply(source, index, axes), apply(here, index, axes)
        # The destination is a view too, of twice the extents.
        wide = tuple(2 * n for n in view.shape) or (1,)
        wanted = pattern(wide, dtype, turn)
        target = make_target(wanted)
        into = tuple(draw.choice([slice(n), slice(None, None, 2),
                                  slice(n, None) if n else slice(0),
                                  slice(None, None, -2)])
                     for n in view.shape)
        if not view.shape:
            into = (0, Ellipsis)
        dray.copy(target[into], view, engine=engine)
        wanted[into] = twin
        assert same_bytes(target, wanted), (
            f"seed {seed} turn {turn}: {shape} {dtype} {index} -> {into}: "
            f"{target} is not {wanted}")


@pytest.mark.parametrize("engine", ENGINES)
def test_bytes_between_the_rows_are_untouched(make, engine):
    picture = make(np.zeros((60, 80, 3), np.uint8))
    frame = make(np.full((64, 96, 3), 0xAA, np.uint8))
    dray.copy(frame[2:62, 8:88], picture, engine=engine)
    wanted = np.full((64, 96, 3), 0xAA, np.uint8)
    wanted[2:62, 8:88] = 0
    assert (frame == wanted).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_scalar_array_is_one_element(make, engine):
    target, source = make(np.zeros(())), make(np.array(2.5))
    dray.copy(target, source, engine=engine)
    assert target == 2.5


def test_a_broadcast_source_repeats(make):
    row = make(np.arange(6, dtype=np.int16))
    target = make(np.zeros((4, 6), np.int16))
    dray.copy(target, np.broadcast_to(row, (4, 6)))
    assert (target == np.arange(6)).all()


def test_arrays_without_elements_are_copied_at_once(make):
    target, source = make(np.ones((3, 4))), make(np.zeros((3, 4)))
    fence = dray.copy(target[:, 4:], source[:, :0])
    assert fence.done
    fence.wait()
    dray.fill(target[3:], 7)
    assert (target == 1).all()
    answer = dray.explain(target[3:], source[3:])
    assert (answer.elements, answer.bytes, answer.engine) == (0, 0, False)
    assert answer.reason == "there is nothing to copy"


def test_an_overlapping_copy_is_as_if_through_a_copy(make):
    for back in (1, -1):
        array = make(np.arange(100, dtype=np.int32))
        wanted = np.arange(100, dtype=np.int32)
        dray.copy(array[10:90][::back], array[5:85])
        wanted[10:90][::back] = wanted[5:85].copy()
        assert (array == wanted).all()


@pytest.mark.kernel
def test_an_overlapping_copy_is_refused_to_the_engine(make):
    array = make(np.arange(100, dtype=np.int32))
    with pytest.raises(ValueError):
        dray.copy(array[10:90], array[5:85], engine=True)
    assert (array == np.arange(100)).all()


FILLS = [("u1", 7), ("<i2", -2), (">i4", 1 << 20), ("<f8", 0.1),
         ("<c16", 1 - 2j), ("?", True), ("S5", b"ab"), ("<U3", "xyz"),
         ("<M8[D]", np.datetime64("2026-11-20")), ("V3", b"abc"),
         ([("r", "u1"), ("xy", "<f4", (2,))], (3, [1, 2]))]


@pytest.mark.parametrize("engine", [None, False])
@pytest.mark.parametrize("dtype, value", FILLS, ids=lambda each: str(each))
def test_a_fill_sets_each_element(make, dtype, value, engine):
    target = make(pattern((6, 5), dtype, 3))
    wanted = pattern((6, 5), dtype, 3)
    dray.fill(target[1:-1, ::-2], value, engine=engine)
    wanted[1:-1, ::-2] = np.array(value, dtype)
    assert same_bytes(target, wanted)


@pytest.mark.kernel
def test_the_engine_fills(make):
    target = make(np.zeros((16, 64), np.uint32))
    dray.fill(target[3:9], 0xDEADBEEF, engine=True)
    wanted = np.zeros((16, 64), np.uint32)
    wanted[3:9] = 0xDEADBEEF
    assert (target == wanted).all()


def test_a_fill_takes_numpys_word_on_what_a_value_is(make):
    target = make(np.zeros(3, np.int32))
    with pytest.raises((ValueError, TypeError)):
        dray.fill(target, "seven")
    assert not target.any()


def test_a_fill_takes_one_element(make):
    target = make(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match=r"value has the shape \(3,\)"):
        dray.fill(target, [1, 2, 3])
    assert not target.any()


def test_a_value_that_moves_the_destination_writes_nowhere_else(make):
    target = make(np.zeros(1 << 16, np.uint8))
    others = []

    class Moves:
        def __array__(self, *_args, **_keywords):
            target.resize((1,), refcheck=False)
            others.append(make(np.zeros(1 << 16, np.uint8)))
            return np.array(7, np.uint8)

    dray.fill(target, Moves())
    assert target.tolist() == [7]
    assert not others[0].any()


def test_a_value_that_changes_the_destinations_type_is_refused(make):
    target = make(np.zeros(8, np.uint8))

    class Changes:
        def __array__(self, *_args, **_keywords):
            target.dtype = np.uint32
            return np.array(7, np.uint8)

    with pytest.raises(RuntimeError, match="dst changed its type"):
        dray.fill(target, Changes())
    assert not target.any()


def test_different_shapes_are_refused(make):
    with pytest.raises(ValueError) as caught:
        dray.copy(make(np.zeros((3, 4))), make(np.zeros((4, 3))))
    assert str(caught.value) == "dst has the shape (3, 4), src (4, 3)"


def test_different_types_are_refused(make):
    with pytest.raises(TypeError, match=r"dst holds dtype\('float32'\), src "
                       r"dtype\('int32'\): a transfer converts nothing"):
        dray.copy(make(np.zeros(3, "f4")), make(np.zeros(3, "i4")))


def test_a_read_only_destination_is_refused(make):
    target, source = make(np.zeros(3)), make(np.ones(3))
    target.flags.writeable = False
    for call in (dray.copy, dray.explain, lambda t, s: dray.fill(t, 1)):
        with pytest.raises(ValueError, match="dst: the array is read-only"):
            call(target, source)
    assert not target.any()


def test_a_read_only_source_is_copied(make):
    target, source = make(np.zeros(3)), make(np.ones(3))
    source.flags.writeable = False
    dray.copy(target, source)
    assert target.all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_destination_whose_elements_share_bytes_is_refused(make, engine):
    target, source = make(np.zeros(8)), make(np.ones(3))
    shared = as_strided(target, (3,), (0,))
    with pytest.raises(ValueError):
        dray.copy(shared, source, engine=engine)
    with pytest.raises(ValueError):
        dray.explain(shared, source, engine=engine)
    assert not target.any()


def test_one_of_both_arrays_may_be_numpys(make):
    ours, foreign = make(np.arange(12).reshape(3, 4)), np.zeros((3, 2), int)
    dray.copy(foreign, ours[:, ::2])
    assert (foreign == ours[:, ::2]).all()
    foreign[:] = 7
    dray.copy(ours[:, 1::2], foreign)
    assert (ours[:, 1::2] == 7).all()
    for pair in [(ours[:, ::2], foreign), (foreign, ours[:, ::2])]:
        assert not dray.explain(*pair).engine
        with pytest.raises((OSError, ValueError)):
            dray.copy(*pair, engine=True)


def test_a_copy_between_two_arrays_of_numpys_is_refused():
    for call in (dray.copy, dray.explain):
        with pytest.raises(ValueError, match="dst and src: the memory of "
                           "neither array is dray's"):
            call(np.zeros(3), np.zeros(3))


def test_a_fill_of_memory_that_is_not_drays_is_refused():
    with pytest.raises(ValueError, match="dst: the array's memory is not"):
        dray.fill(np.zeros(3), 1)


def test_what_is_no_array_is_refused(make):
    array = make(np.zeros(3))
    with pytest.raises(TypeError, match="dst is not a NumPy array or dray.Array but list"):
        dray.copy([0, 0, 0], array)
    with pytest.raises(TypeError, match="src is not a NumPy array or dray.Array but float"):
        dray.copy(array, 1.0)
    with pytest.raises(TypeError, match="dst is not .* but NoneType"):
        dray.fill(None, 1.0)


def test_objects_are_refused():
    with dray.memory():
        array = np.array([None, "a"])
    with pytest.raises(TypeError, match=r"dst: dtype\('O'\) holds references"):
        dray.copy(array, array)


def test_an_engine_is_none_true_or_false(make):
    array = make(np.zeros(3))
    for call in (lambda: dray.copy(array, array, engine=1),
                 lambda: dray.fill(array, 0, engine=1),
                 lambda: dray.explain(array, array, engine=1)):
        with pytest.raises(TypeError, match="engine is 1: None"):
            call()


@pytest.mark.host
def test_the_host_has_no_engine(make):
    target, source = make(np.zeros(3)), make(np.ones(3))
    for call in (lambda: dray.copy(target, source, engine=True),
                 lambda: dray.fill(target, 1, engine=True)):
        with pytest.raises(OSError) as caught:
            call()
        assert caught.value.errno == 95, caught.value  # EOPNOTSUPP
        assert caught.value.strerror == dray.last_error()
    assert not target.any()
    answer = dray.explain(target, source)
    assert not answer.engine and answer.reason


def test_explain_counts_what_a_copy_takes(make):
    source = make(np.zeros((100, 200, 3), np.uint8))
    target = make(np.zeros((40, 50, 3), np.uint8))
    answer = dray.explain(target, source[10:50, 20:70])
    assert isinstance(answer, dray.Explanation)
    assert (answer.elements, answer.bytes) == (6000, 6000)
    assert (answer.run, answer.descriptors, answer.axes) == (150, 40, 1)
    assert answer.threshold >= 1 and answer.reason.strip()
    whole = dray.explain(target, make(np.zeros((40, 50, 3), np.uint8)))
    assert (whole.run, whole.descriptors, whole.axes) == (6000, 1, 0)


@pytest.mark.kernel
def test_the_threshold_sends_a_whole_plane_to_the_cpu(make):
    picture = make(np.zeros((200, 300, 3), np.uint8))
    plane = make(np.ones((200, 300), np.uint8))
    answer = dray.explain(plane, picture[..., 1])
    assert answer.descriptors == 60000 > answer.threshold
    assert answer.engine is False
    dray.copy(plane, picture[..., 1])
    assert not plane.any()
    tile = dray.explain(plane[:16, :16], picture[:16, :16, 1])
    assert tile.engine is True and tile.descriptors == 256


@pytest.mark.kernel
def test_the_engine_counts_the_copies_it_makes(make):
    def moved():
        return sum(channel.bytes for channel in dray.open().channels())
    source, target = make(np.ones((64, 100), "u1")), make(np.zeros((64, 100),
                                                                   "u1"))
    before = moved()
    dray.copy(target[::2], source[::2], engine=True)
    assert moved() == before + 3200
    dray.copy(target, source, engine=False)
    assert moved() == before + 3200 and target.all()

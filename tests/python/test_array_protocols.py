# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Array in other hands: types on their way to NumPy, comparisons, copies."""
import copy
import io
import pickle
import socket
import threading
import weakref

import numpy as np
import pytest

import dray
from dray import Array

try:
    from numpy._core._rational_tests import rational
except ImportError:
    from numpy.core._rational_tests import rational

ARRAY = np.arange(12, dtype="<i4").reshape(3, 4)

# Types that not every protocol has: units, characters, fields.
TYPES = [
    "<M8[D]", ">m8[25s]", "<U3", ">U2", "<f8", "S3", "?",
    [("a", "<i4"), ("b", "<M8[s]")],
    [("a:b", "<f4")],
    {"names": ["x", "y"], "formats": ["<i4", "<i2"], "offsets": [0, 2]},
    {"names": ["x", "y"], "formats": ["<i4", "<i2"], "offsets": [4, 0]},
    {"names": ["x"], "formats": ["<i4"], "itemsize": 12},
    [("a", np.dtype("<f8,i1", align=True), (2,)), ("b", "<i4")],
    np.dtype("<f8,i1", align=True),
    [("n", [("u", "i2"), ("v", "f2")]), ("w", "?")],
    [(("title", "a"), "<i4"), ("b", [(("inner", "c"), "u1")], (2,))],
]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_numpy_takes_the_type_over_whole(dtype):
    there = np.zeros((2, 3), dtype)
    taken = np.asarray(Array(there))
    assert taken.dtype == there.dtype and taken.dtype.fields == there.dtype.fields
    assert np.shares_memory(taken, there)


@pytest.mark.parametrize("dtype", [
    [("n", [("u", "i2"), ("v", "f2")]), ("w", "?")], np.dtype("<f8,i1", align=True),
    [("a", "<i2"), ("b", ">f8", (2,)), ("c", "S3")], np.dtype("u1,<f8"),
    {"names": ["x", "y"], "formats": ["<i4", "<i2"], "offsets": [2, 8], "itemsize": 16}], ids=str)
def test_a_structure_has_a_buffer(dtype):
    there = np.frombuffer(bytes(range(64)) * 3, "u1")[:np.dtype(dtype).itemsize * 3].copy().view(
        dtype)
    a = Array(there)
    for view in (a, a[1:], a[::-1]):
        memory = memoryview(view)
        assert memory.itemsize == there.itemsize and memory.shape == view.shape
        assert np.asarray(memory).dtype == there.dtype
    assert bytes(a) == there.tobytes() and bytes(a[1:]) == there[1:].tobytes()
    kept = memoryview(a).format
    del a
    assert memoryview(Array(there)).format == kept


RECORDS = np.rec.array([(1, 2.0), (3, 4.0)], dtype="i4,f8")


@pytest.mark.parametrize("dtype", [
    RECORDS.dtype, np.dtype([("a", RECORDS.dtype), ("b", "i1")]),
    np.dtype([("a", RECORDS.dtype, (2,))]),
    np.dtype((np.record, np.dtype("u1,f8", align=True))),
    np.dtype((np.record, {"names": ["x", "y"], "formats": ["<i4", "<i2"],
                          "offsets": [4, 0]}))],
    ids=str)
def test_a_record_is_a_structure(dtype):
    there = np.zeros(3, dtype)
    a = Array(there)
    assert a.dtype == dtype and np.asarray(a).dtype == dtype
    assert np.shares_memory(np.asarray(a), there)
    assert Array.zeros(3, dtype).astype(dtype).dtype == Array.empty(2, dtype).dtype == dtype
    a[1] = there[0]
    assert np.asarray(a.view(dtype).copy()).tobytes() == there.tobytes()


def test_records_of_numpy_keep_their_fields():
    a = Array(RECORDS)
    assert a["f1"].tolist() == [2.0, 4.0]
    assert np.asarray(dray.from_arrow(dray.to_arrow(RECORDS))["f0"]).tolist() == [1, 3]
    a["f0"] = 7
    assert RECORDS.f0.tolist() == [7, 7]


def deep(levels):
    dtype = np.dtype("i4")
    for _ in range(levels):
        dtype = np.dtype([("a", dtype)])
    return dtype


@pytest.mark.parametrize("levels, words", [(40, "deep"), (5000, None)])
def test_a_type_that_is_too_deep_is_refused(levels, words):
    with pytest.raises((TypeError, RecursionError), match=words):
        Array.zeros(1, deep(levels))


FOREIGN = np.dtype(rational)


@pytest.mark.parametrize("dtype", [
    FOREIGN, np.dtype([("a", "i4"), ("b", FOREIGN)]), np.dtype([("a", FOREIGN, (2,))]),
    np.dtype((FOREIGN, (2,))), np.dtype([("a", [("b", FOREIGN)])])], ids=str)
@pytest.mark.parametrize("call", [
    lambda dtype: Array(np.zeros(3, dtype)), lambda dtype: Array.zeros(3, dtype),
    lambda dtype: Array.empty(3, dtype), lambda dtype: Array.zeros(3, "i4").astype(dtype),
    lambda dtype: Array.zeros(dtype.itemsize, "u1").view(dtype),
    lambda dtype: dray.to_arrow(np.zeros(3, dtype))])
def test_types_of_other_packages_are_no_raw_bytes(dtype, call):
    with pytest.raises((TypeError, ValueError), match="another package|not a type|subarray"):
        call(dtype)


@pytest.mark.parametrize("call", [
    dray.export_array, lambda array: dray.send(socket.socketpair()[0], array), dray.nditer,
    lambda array: dray.frompyfunc(abs, 1, 1, types=[(array.dtype, array.dtype)]),
    lambda array: dray.ufunc("f", 1, 1).register((array.dtype, "d"), 7),
    lambda array: dray.ufunc("f", signature="(n)->()").register((array.dtype, "d"), 7)])
def test_types_of_other_packages_reach_no_record_and_no_loop(call):
    with dray.memory(shareable=True):
        array = np.zeros(3, FOREIGN)
    with pytest.raises(TypeError, match="another package|not of rational"):
        call(array)


def test_arithmetic_with_types_of_other_packages_is_numpys():
    there = np.array([rational(1, 2), rational(2, 3)])
    for result in (Array(np.arange(2)) + there, np.add(Array(np.arange(2)), there)):
        assert type(result) is np.ndarray and (result == np.arange(2) + there).all()
    a = Array.zeros(2, "f8")
    a[:] = there
    assert a.tolist() == [0.5, 2 / 3]
    with pytest.raises(TypeError, match="another package"):
        dray.add(there, there)


class Structure:
    def __init__(self, dtype):
        self.array = np.zeros(3, dtype)
        self.__array_struct__ = self.array.__array_struct__


@pytest.mark.parametrize("dtype", ["<U3", "<M8[D]"])
def test_a_structure_without_the_type_is_refused(dtype):
    with pytest.raises(TypeError, match="does not describe its type"):
        Array(Structure(dtype))
    with pytest.raises(AttributeError, match="does not describe"):
        Array(np.zeros(3, dtype)).__array_struct__


def test_raw_data_stays_raw_data():
    there = np.array([b"ab", b"cd"]).view("V2")
    here = np.asarray(Array(there))
    assert here.dtype == there.dtype and here.tobytes() == b"abcd"
    with pytest.raises(BufferError, match="does not describe"):
        memoryview(Array(there))


@pytest.mark.parametrize("from_, to", [
    ("<i4", "S"), ("<i4", str), ("<f8", bytes), ("?", "U"), ("<U3", "S"), ("S3", "U"),
    ("<M8[D]", "S"), ("<M8[D]", "M8"), ("<m8[s]", "m8"), ("<i4", "m8[h]"),
    ([("a", "<i4")], "V"),
], ids=str)
def test_a_type_without_a_size_or_a_unit_gets_those_of_the_elements(from_, to):
    there = np.ones(3, from_)
    assert Array(there).astype(to).dtype == there.astype(to).dtype
    assert Array(there).astype(to).tolist() == there.astype(to).tolist()


@pytest.mark.parametrize("dtype", ["S", "U", "V", "S3", "M8"])
def test_a_new_array_of_text_has_a_size(dtype):
    assert Array.zeros(2, dtype).dtype == np.zeros(2, dtype).dtype


def test_a_scalar_of_a_structure_refers_to_the_array():
    here = Array(np.zeros((2, 2), [("x", "<i4"), ("y", "<f8")]))
    here[1, 0]["x"] = 5
    here[1][1]["x"] = 6
    assert here["x"].tolist() == [[0, 0], [5, 6]]


@pytest.mark.parametrize("compare", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("other", [5, ARRAY[1], None, Array(ARRAY[:, :1])], ids=repr)
def test_comparisons_are_those_of_numpy(compare, other):
    there = np.asarray(other) if isinstance(other, Array) else other
    if other is None and compare not in ("eq", "ne"):
        return
    here = getattr(Array(ARRAY), f"__{compare}__")(other)
    assert here.tolist() == getattr(ARRAY, f"__{compare}__")(there).tolist()


def test_an_element_is_found_and_an_array_has_no_hash():
    here = Array(ARRAY)
    assert 5 in here and 99 not in here
    assert here[here > 9].tolist() == [10, 11]
    assert [row.tolist() for row in reversed(here)] == ARRAY[::-1].tolist()
    with pytest.raises(TypeError, match="unhashable"):
        hash(here)


def test_text_has_a_format():
    assert f"{Array(np.array(2.5)):.2f}" == "2.50"
    assert f"{Array(ARRAY)}" == str(ARRAY)
    with pytest.raises(TypeError, match="format"):
        format(Array(ARRAY), "d")


@pytest.mark.parametrize("make", [
    copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a)),
    lambda a: pickle.loads(pickle.dumps(a, 5))], ids=["copy", "deepcopy", "pickle",
                                                      "pickle 5"])
def test_a_copy_of_any_kind_has_memory_of_its_own(make):
    here = Array(ARRAY.copy())[::-1].T
    made = make(here)
    assert isinstance(made, Array) and made.tolist() == here.tolist()
    assert not made.shares_memory(here)
    made[0, 0] = -1
    assert here[0, 0] == 8


@pytest.mark.parametrize("key", [{}, object(), [object()], np.array([None])], ids=lambda value: type(value).__name__)
def test_an_object_is_no_index(key):
    with pytest.raises(IndexError, match="an index is an integer"):
        Array(ARRAY)[key]


@pytest.mark.parametrize("over", [
    lambda array: Array(np.asarray(array)), lambda array: dray.from_arrow(array),
    lambda array: dray.from_dlpack(array.__dlpack__(max_version=(1, 0)))],
    ids=["numpy", "arrow", "dlpack"])
def test_an_array_over_an_array_many_times_ends_on_a_small_stack(over):
    ends = []

    def work():
        first = array = Array.arange(3)
        for _ in range(20000):
            array = over(array)
        ends.append(array.tolist())
        del array
        ends.append(first.tolist())
    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert ends == [[0, 1, 2]] * 2


@pytest.mark.parametrize("scalar", [
    np.datetime64("2001-01-01"), np.datetime64("NaT"), np.timedelta64(3, "25s"), np.float64(1.5),
    np.float16(1.5), np.complex64(1j), np.bool_(True), np.int8(3), np.uint64(7), np.str_("abc"),
    np.bytes_(b"abc"), np.bytes_(b"a\0b"), np.void(b"abcd"), np.zeros(1, "i4,f8")[0]], ids=repr)
def test_a_scalar_of_numpy_keeps_its_type(scalar):
    a, there = Array(scalar), np.asarray(scalar)
    assert (a.dtype, a.shape) == (there.dtype, ())
    assert a.__array__().tobytes() == there.tobytes()
    assert a.flags.writeable == isinstance(scalar[()] if scalar.dtype.names else None, np.void)
    del scalar
    assert a.copy().__array__().tobytes() == there.tobytes()


def test_a_weak_reference_keeps_nothing():
    dropped = []
    a = Array(np.zeros(3))
    views = [a[1:], a.T, a.view("u1")]
    references = [weakref.ref(each, dropped.append) for each in (a, *views)]
    assert [each() for each in references][1] is views[0]
    cache = weakref.WeakValueDictionary({"a": views[0]})
    assert cache["a"] is views[0]
    del a, views
    assert [each() for each in references] == [None] * 4 and len(dropped) == 4 and not cache


def test_nodes_and_fences_have_weak_references():
    node, fence = dray.open(), dray.fill(dray.shared_zeros(3), 1)
    references = weakref.ref(node), weakref.ref(fence)
    assert references[0]() is node and references[1]() is fence
    del node, fence
    assert [each() for each in references] == [None, None]


@pytest.mark.parametrize("mode", [64, -1, "none"])
def test_a_mode_that_does_not_exist_is_a_value_error(mode):
    for call in (Array(ARRAY).put, lambda numbers, _values, mode: Array(ARRAY).take(
            numbers, mode=mode)):
        with pytest.raises((ValueError, TypeError)):
            call([0], [1], mode=mode)


def test_a_format_is_a_text():
    with pytest.raises(TypeError):
        Array(np.array(3)).__format__(1)


BUFFERS = {"C": lambda a: a, "F": lambda a: a.T, "gaps": lambda a: a[:, ::2], "reversed": lambda a: a[::-1, ::-1],
           "middle": lambda a: a[1:, 1:], "of one": lambda a: a[:1, :1], "a row": lambda a: a[1], "none": lambda a: a[:0],
           "new axis": lambda a: a[None], "element": lambda a: a[1, 1, ...]}
NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "q", "Q", "f2", "f4", "f8", "g", "c8", "c16", "G", ">f4", ">i2"]
FACTS = ("format", "itemsize", "nbytes", "ndim", "shape", "strides", "readonly", "c_contiguous", "f_contiguous")


@pytest.mark.parametrize("layout", BUFFERS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_buffer_of_numbers_is_as_numpys(dtype, layout):
    theirs = BUFFERS[layout](np.arange(12).reshape(3, 4).astype(dtype))
    ours = BUFFERS[layout](dray.Array(np.arange(12).reshape(3, 4).astype(dtype)))
    if not isinstance(ours, dray.Array):
        return  # an element without axes
    one, other = memoryview(ours), memoryview(theirs)
    assert [getattr(one, fact) for fact in FACTS] == [getattr(other, fact) for fact in FACTS]
    assert np.array_equal(np.asarray(one), theirs) and np.array_equal(np.asarray(ours), theirs)
    assert not ours.size or np.shares_memory(np.asarray(ours), np.asarray(one))


def test_a_buffer_of_unaligned_numbers_is_as_numpys():
    raw = np.arange(33, dtype="u1")[1:]
    theirs = raw.view("f8")
    one, other = memoryview(dray.Array(theirs)), memoryview(theirs)
    assert [getattr(one, fact) for fact in FACTS] == [getattr(other, fact) for fact in FACTS]


def test_a_buffer_of_a_read_only_array_is_not_written():
    array = dray.Array(np.arange(4.)).broadcast_to((3, 4))
    assert memoryview(array).readonly and memoryview(array).strides == (0, 8)
    with pytest.raises((BufferError, ValueError, TypeError)):
        io.BytesIO(bytes(96)).readinto(array)
    writable = dray.Array(np.zeros(4))
    assert io.BytesIO(np.arange(4.).tobytes()).readinto(writable) == 32
    assert writable.tolist() == [0, 1, 2, 3]


def test_a_buffer_keeps_its_array():
    array = dray.Array(np.arange(4.))
    gone, memory = weakref.ref(array), memoryview(array)
    del array
    assert gone() is not None and memory.tolist() == [0, 1, 2, 3]
    del memory
    assert gone() is None

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Array: the library's array, and the ways into it and out of it.

tests/differential compares its indices, views and copies with NumPy's.
"""
import array
import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import dray
from dray import Array

PICTURE = np.arange(24, dtype="<i4").reshape(4, 6)


def address(array_):
    return np.asarray(array_).__array_interface__["data"][0]


VIEWS = {
    "whole": lambda a: a,
    "rows": lambda a: a[::2],
    "upside down": lambda a: a[::-1],
    "transposed": lambda a: a.T,
    "one element": lambda a: a[1:2, 2:3],
    "no elements": lambda a: a[4:],
    "repeated": lambda a: np.broadcast_to(a[0], (3, 6)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_an_array_of_numpy_comes_in_and_goes_out_without_a_copy(view):
    there = view(PICTURE)
    here = Array(there)
    back = here.__array__()
    assert here.base is there
    for each in here, back:
        assert (each.shape, each.strides, each.dtype) == (
            there.shape, there.strides, there.dtype)
        assert each.flags.writeable == there.flags.writeable
    assert address(back) == address(there)
    assert here.tolist() == there.tolist()


class Interface:
    """An array by one protocol only."""

    def __init__(self, name):
        self.array = PICTURE[:, ::2].copy()
        setattr(self, name, getattr(self.array, name))


SOURCES = {
    "bytes": (lambda: b"abc", "|u1", False),
    "bytearray": (lambda: bytearray(b"abc"), "|u1", True),
    "array.array": (lambda: array.array("d", [1, 2]), "<f8", True),
    "memoryview": (lambda: memoryview(PICTURE)[1:], "<i4", True),
    "__array_interface__": (lambda: Interface("__array_interface__"), "<i4", True),
    "__array_struct__": (lambda: Interface("__array_struct__"), "<i4", True),
    "dray.Array": (lambda: Array(PICTURE)[1], "<i4", True),
}


@pytest.mark.parametrize("make, typestr, writeable", SOURCES.values(), ids=SOURCES)
def test_memory_comes_in_by_each_protocol(make, typestr, writeable):
    source = make()
    # NumPy takes bytes for text.
    expected = np.asarray(memoryview(source) if isinstance(source, bytes) else source)
    here = Array(source)
    assert (here.typestr, here.flags.writeable) == (typestr, writeable)
    assert (here.shape, here.strides) == (expected.shape, expected.strides)
    assert address(here) == address(expected)


@pytest.mark.parametrize("source", [[1, 2], 3, "text", None, object()], ids=lambda value: type(value).__name__)
def test_an_object_without_memory_is_refused(source):
    with pytest.raises(TypeError, match="no memory"):
        Array(source)


@pytest.mark.parametrize("dtype", ["O", [("a", "i4"), ("b", "O")]], ids=str)
def test_references_to_objects_are_refused(dtype):
    with pytest.raises(TypeError, match="not a type of dray.Array"):
        Array(np.empty(2, dtype))
    with pytest.raises(TypeError, match="not a type of dray.Array"):
        Array.empty(2, dtype)


def test_the_buffer_has_shape_strides_and_format():
    buffer = memoryview(Array(PICTURE[::-2, 1:]))
    assert (buffer.shape, buffer.strides, buffer.format) == (
        (2, 5), (-48, 4), "i")
    assert not buffer.readonly


def test_the_buffer_of_a_read_only_array_is_read_only():
    assert memoryview(Array(b"abc")).readonly
    with pytest.raises((BufferError, ValueError, TypeError)):
        Array(b"abc\0").__array__().data.cast("B").__setitem__(0, 1)


@pytest.mark.parametrize("options, converted, same", [
    ({}, "<i4", True),
    ({"copy": None}, "<i4", True),
    ({"copy": True}, "<i4", False),
    ({"copy": False}, "<i4", True),
    ({"dtype": "<f8"}, "<f8", False),
    ({"dtype": "<f8", "copy": True}, "<f8", False),
])
def test_a_copy_is_made_as_asked(options, converted, same):
    here = Array(PICTURE)
    there = here.__array__(**options)
    assert there.dtype == converted and there.tolist() == PICTURE.tolist()
    assert (address(there) == address(here)) == same


def test_a_copy_that_was_forbidden_is_an_error():
    with pytest.raises(ValueError, match="takes a copy"):
        Array(PICTURE).__array__("<f8", copy=False)


def test_the_owner_lives_as_long_as_a_view():
    owner = PICTURE.copy()
    alive = weakref.ref(owner)
    view = Array(owner)[1:]
    del owner
    gc.collect()
    assert alive() is not None
    del view
    assert alive() is None


def test_the_array_lives_as_long_as_its_buffer():
    owner = PICTURE.copy()
    alive = weakref.ref(owner)
    buffer = memoryview(Array(owner))
    back = np.asarray(Array(owner))
    del owner
    buffer.release()
    assert alive() is not None and back[1, 2] == 8
    del back, buffer
    gc.collect()
    assert alive() is None


def test_another_thread_may_drop_the_last_view():
    owner = PICTURE.copy()
    alive = weakref.ref(owner)
    views = [Array(owner)[1:]]
    del owner
    thread = threading.Thread(target=views.clear)
    thread.start()
    thread.join()
    assert alive() is None


@pytest.mark.parametrize("program", [
    "kept = Array(np.zeros(9))[1:]",
    "import builtins; builtins.kept = Array(np.zeros(9))[1:]",
    "kept = Array.zeros(9); kept.copy(); views = [kept, np.asarray(kept)]",
    "import threading; kept = Array(np.zeros(9)); "
    "threading.Thread(target=threading.Event().wait, args=(0.05,)).start()",
])
def test_an_array_may_live_until_the_interpreter_ends(program):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c",
         "import numpy as np; from dray import Array; " + program],
        capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_memory_comes_from_the_handler_of_the_scope(handler):
    with dray.memory():
        here = Array.zeros((4, 4), "f4")
        copy = here.copy()
    assert here.handler_name == copy.handler_name == handler
    assert here.handler_version == 1
    assert dray.handler_name(here) == handler
    assert dray.handler_name(here[1:]) == handler
    assert dray.handler_name(np.asarray(here)) == handler
    dray.copy(np.asarray(here), np.asarray(copy)).wait()


def test_foreign_memory_has_the_handler_of_its_owner(handler, make):
    here = Array(make(PICTURE))
    assert here.handler_name == dray.handler_name(here) == handler
    assert here[1:].handler_name == handler and here.handler_version is None


def test_outside_of_a_scope_memory_is_the_c_librarys():
    assert Array.zeros(3).handler_name == "malloc"


RANGES = {
    "integers": ((5,), {}),
    "with a start": ((2, 5), {}),
    "backwards": ((5, -5, -3), {}),
    "by names": ((), {"start": 1, "stop": 4, "step": 2}),
    "floats": ((0, 1, 0.3), {}),
    "a stop beyond 63 bits": ((2**63, 2**63 + 4096, 2048), {}),
    "numbers of NumPy": ((np.float32(3), np.uint8(6)), {}),
    "halves": ((0, 1, 0.3, "f2"), {}),
    "complex numbers": ((0, 3, 1, ">c8"), {}),
    "bools": ((2,), {"dtype": "?"}),
    "bytes that wrap": ((250, 260, 2, "u1"), {}),
    "none": ((5, 5), {}),
}


@pytest.mark.parametrize("args, names", RANGES.values(), ids=RANGES)
def test_ranges_are_numpys(args, names):
    here, there = Array.arange(*args, **names), np.arange(*args, **names)
    assert (here.dtype, here.tolist()) == (there.dtype, there.tolist())
    assert here.flags.owndata and here.strides == there.strides


def test_a_range_lies_in_memory_of_the_scope(handler):
    with dray.memory():
        assert Array.arange(3).handler_name == handler


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("make", [Array.empty, Array.zeros])
def test_a_new_array_has_the_order_and_owns_its_memory(make, order):
    here, there = make((2, 3), "<u2", order), np.empty((2, 3), "<u2", order)
    assert here.strides == there.strides
    assert here.flags == (order == "C", order == "F", True, True, True, False)
    assert not here[1:].flags.owndata


def test_a_type_is_a_double_if_none_is_named():
    assert Array.zeros(2).dtype == np.float64
    assert Array.zeros(2, None).tolist() == [0.0, 0.0]


WRONG = {
    "a range without a step": (lambda: Array.arange(1, 2, 0), ZeroDivisionError),
    "a range of floats without a step": (lambda: Array.arange(1, 2, 0.0),
                                         ZeroDivisionError),
    "a range of text": (lambda: Array.arange(3, dtype="S1"), TypeError),
    "a range of dates": (lambda: Array.arange(3, dtype="M8[D]"), TypeError),
    "a range to text": (lambda: Array.arange("3"), TypeError),
    "a range to text of integers": (lambda: Array.arange("3", dtype=int), TypeError),
    "a range beyond its type": (lambda: Array.arange(0, 200, 150, "i1"), OverflowError),
    "a range that is too long": (lambda: Array.arange(0, 1e300), ValueError),
    "a range of long integers": (lambda: Array.arange(2**63 - 3, 2**63 + 3, dtype="u8"),
                                 OverflowError),
    "a range without a number": (lambda: Array.arange(0, float("nan")), ValueError),
    "a range of nothing": (lambda: Array.arange(), TypeError),
    "an argument twice": (lambda: Array.arange(1, start=1), TypeError),
    "an unknown argument": (lambda: Array.zeros(1, shapes=2), TypeError),
    "too many arguments": (lambda: Array.zeros(1, "f4", "C", 2), TypeError),
    "a negative extent": (lambda: Array.empty((2, -1)), ValueError),
    "too many bytes": (lambda: Array.empty((2**40, 2**40)), ValueError),
    "no memory": (lambda: Array.empty((2**60,), "i1"), MemoryError),
    "too many axes": (lambda: Array.empty((1,) * 65), ValueError),
    "an extent that is no number": (lambda: Array.empty(("x",)), TypeError),
    "no type": (lambda: Array.empty(2, "nonsense"), TypeError),
    "a read-only destination": (lambda: Array(b"abc").__setitem__(0, 1), ValueError),
    "an index outside": (lambda: Array(PICTURE)[0, 6], IndexError),
    "an index of a hundred digits": (lambda: Array(PICTURE)[10**100], IndexError),
    "too many indices": (lambda: Array(PICTURE)[0, 0, 0], IndexError),
    "two ellipses": (lambda: Array(PICTURE)[..., ...], IndexError),
    "a step of 0": (lambda: Array(PICTURE)[::0], ValueError),
    "a float": (lambda: Array(PICTURE)[1.5], IndexError),
    "a bound that is a float": (lambda: Array(PICTURE)[:1.5], TypeError),
    "a value of another shape": (lambda: Array(PICTURE).__setitem__(0, [1, 2]),
                                 ValueError),
    "a value that does not fit": (lambda: Array.zeros(2, "i1").__setitem__(0, 2**70),
                                  OverflowError),
    "a deletion": (lambda: Array(PICTURE).__delitem__(0), ValueError),
    "an axis named twice": (lambda: Array(PICTURE).transpose(0, 0), ValueError),
    "an axis that is not there": (lambda: Array(PICTURE).transpose(0, 2), ValueError),
    "a fill with an array": (lambda: Array.zeros(2).fill([1, 2]), ValueError),
    "a length without axes": (lambda: len(Array.zeros(())), TypeError),
    "steps over no axes": (lambda: iter(Array.zeros(())), TypeError),
}


@pytest.mark.parametrize("call, error", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_raises_as_numpy_does(call, error):
    with pytest.raises(error):
        call()


def test_an_element_is_a_scalar_of_numpy():
    here = Array(PICTURE)
    assert type(here[1, 2]) is np.int32 and here[1, 2] == 8
    assert here.item(1, 2) == 8 and type(here.item(8)) is int
    assert [row.tolist() for row in here] == PICTURE.tolist()
    assert len(here) == 4
    assert isinstance(here[1, 2, ...], Array)


def test_text_is_that_of_numpy():
    here = Array(PICTURE)
    assert str(here) == str(PICTURE)
    assert repr(here) == "A" + repr(PICTURE)[1:]


def test_overlapping_parts_are_assigned_as_if_copied_first():
    here, there = Array(np.arange(6)), np.arange(6)
    here[1:] = here[:-1]
    there[1:] = there[:-1].copy()
    assert here.tolist() == there.tolist()


@pytest.mark.parametrize("key, value", [((0, ...), [1]), (slice(0, 2), [[1, 2]]),
                                        (0, [[1, 2, 3]]), (slice(None), [[[1], [2], [3]]])],
                         ids=str)
def test_a_list_has_no_more_axes_than_what_it_fills(key, value):
    for a in (np.arange(3), Array(np.arange(3))):
        with pytest.raises((TypeError, ValueError)):
            a[key] = value
        if key != 0:
            a[key] = np.ones(np.shape(a[key]), int)[None]  # arrays are repeated
            assert np.asarray(a[key]).max() == 1


STRUCTURES = [
    [("a", "i1"), ("b", "<f8")],
    {"names": ["x"], "formats": ["<i4"], "offsets": [4], "itemsize": 12},
    np.dtype([("a", "i1"), ("b", "<i4", (2, 3))], align=True),
]


@pytest.mark.parametrize("dtype", STRUCTURES, ids=str)
def test_structures_come_in_and_are_copied(dtype):
    there = np.frombuffer(bytes(range(168)), "u1")[:6 * np.dtype(dtype).itemsize].view(
        dtype).reshape(2, 3)
    here = Array(there)
    assert here.dtype == there.dtype and here.itemsize == there.dtype.itemsize
    copy = here[1:].copy().__array__()
    assert [copy[name].tobytes() for name in copy.dtype.names] == [
        there[1:][name].tobytes() for name in there.dtype.names]


def test_arrays_and_lists_pick_elements():
    here, mask = Array(PICTURE.copy()), PICTURE % 5 == 0
    assert here[[0, 2], [1, 3]].tolist() == PICTURE[[0, 2], [1, 3]].tolist()
    assert here[Array(mask)].tolist() == PICTURE[mask].tolist()
    assert not here[[0]].shares_memory(here)
    here[mask] = -1
    assert here.tolist() == np.where(mask, -1, PICTURE).tolist()


def test_elements_that_are_picked_come_from_the_handler_of_the_scope(handler):
    with dray.memory():
        assert Array(PICTURE)[[1, 2]].handler_name == handler
        assert Array(PICTURE).astype("<f4").handler_name == handler


def test_values_are_converted():
    here = Array.zeros(3, "<f8")
    here[:] = Array(np.array([b"1", b"2", b"30"]))
    assert here.tolist() == [1.0, 2.0, 30.0]
    assert here.astype("U4").tolist() == ["1.0", "2.0", "30.0"]
    assert here.astype("<f8", copy=False) is here
    with pytest.raises(TypeError, match="same_kind"):
        here.astype("<i8", casting="same_kind")


def test_an_array_of_one_element_is_a_number():
    one = Array(np.array(3))
    assert (int(one), float(one), bool(one)) == (3, 3.0, True)
    assert [10, 11, 12][Array(np.array(1))] == 11
    with pytest.raises(ValueError, match="ambiguous"):
        bool(Array(PICTURE))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where arrays lie: handler names, addresses, segments, sync."""
import errno

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import dray


def test_a_view_has_the_name_of_its_base(make, handler):
    array = make(np.arange(24).reshape(2, 3, 4))
    for view in (array[1], array[::-1, 1:], array.T, array[None, ..., 2],
                 array.view(np.uint8), array.reshape(-1)[3:], array.real,
                 as_strided(array, (2,), (8,)), np.asarray(memoryview(array)),
                 np.frombuffer(array, np.uint8)):
        assert dray.handler_name(view) == handler


def test_a_copy_outside_the_scope_has_numpys_name(make):
    assert dray.handler_name(make(np.ones(3)).copy()) == "default_allocator"


def test_memory_of_no_handler_has_no_name():
    assert dray.handler_name(np.frombuffer(b"abcd", np.uint8)) is None


def test_a_base_that_leads_in_a_circle_ends():
    class Circle:
        keep = np.zeros(3)
        __array_interface__ = keep.__array_interface__

        @property
        def base(self):
            return self
    assert dray.handler_name(np.asarray(Circle())) is None


def test_a_base_that_cannot_be_had_is_its_own_error():
    class Broken:
        keep = np.zeros(3)
        __array_interface__ = keep.__array_interface__

        @property
        def base(self):
            raise LookupError("no base today")
    with pytest.raises(LookupError, match="no base today"):
        dray.handler_name(np.asarray(Broken()))


def test_the_name_of_what_is_no_array_is_a_type_error():
    with pytest.raises(TypeError, match="a is not .*: it is list"):
        dray.handler_name([1])
    with pytest.raises(TypeError, match="at most 1 argument, not 2"):
        dray._dray.handler_name(1, 2)


def questions():
    return [dray.address, dray.segments, dray.sync_for_device,
            dray.sync_for_cpu]


@pytest.mark.parametrize("ask", questions())
def test_memory_that_is_not_drays_is_refused(ask):
    with pytest.raises(ValueError) as caught:
        ask(np.zeros(3))
    assert str(caught.value) == ("a: the array's memory is not dray's: make "
                                 "it inside `with dray.memory():`")


@pytest.mark.parametrize("ask", questions())
def test_what_is_no_array_is_refused(ask):
    with pytest.raises(TypeError, match="a is not a NumPy array or dray.Array but bytes"):
        ask(b"abc")


@pytest.mark.parametrize("ask", questions())
def test_objects_are_refused(ask):
    with dray.memory():
        array = np.array([None, "a"])
    with pytest.raises(TypeError, match=r"a: dtype\('O'\) holds references"):
        ask(array)


@pytest.mark.parametrize("ask", questions())
def test_a_structure_with_an_object_in_it_is_refused(ask):
    with dray.memory():
        array = np.zeros(3, [("a", "i4"), ("b", "O")])
    with pytest.raises(TypeError, match="holds references to objects"):
        ask(array)


@pytest.mark.parametrize("ask", questions())
def test_a_view_that_reaches_out_of_its_block_is_refused(ask, make):
    array = make(np.zeros(1024, np.uint8))
    with pytest.raises(ValueError, match="beyond its block of [0-9]+ bytes"):
        ask(as_strided(array, (1 << 20,), (1,)))


@pytest.mark.parametrize("ask", questions())
def test_a_view_that_spans_more_than_63_bits_is_an_overflow(ask, make):
    array = make(np.zeros(1024, np.uint8))
    with pytest.raises(OverflowError):
        ask(as_strided(array, (1 << 40, 1), (1 << 40, 1)))


@pytest.mark.parametrize("ask", [dray.address, dray.segments])
def test_an_array_without_elements_lies_nowhere(ask, make):
    array = make(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="a: an array without elements"):
        ask(array[:, 4:])


def test_an_array_without_elements_needs_no_sync(make):
    dray.sync_for_device(make(np.zeros((3, 4)))[3:])


@pytest.mark.parametrize("direction", ["to_device", "from_device", "both"])
def test_sync_keeps_what_is_in_memory(make, direction):
    array = make(np.arange(5000, dtype=np.int32).reshape(50, 100))
    view = array[10:20, 90:40:-5]
    dray.sync_for_device(view, direction)
    dray.sync_for_cpu(view, direction)
    assert (array == np.arange(5000).reshape(50, 100)).all()


def test_an_unknown_direction_is_a_value_error(make):
    with pytest.raises(ValueError, match="direction is 'up': 'to_device'"):
        dray.sync_for_device(make(np.ones(3)), "up")
    with pytest.raises(ValueError, match="direction is 'up': 'to_device'"):
        dray.sync_for_cpu(make(np.ones(3)), direction="up")


@pytest.mark.host
@pytest.mark.parametrize("ask", [dray.address, dray.segments])
def test_the_host_has_no_addresses(ask, make):
    with pytest.raises(OSError) as caught:
        ask(make(np.zeros(3)))
    assert caught.value.errno == errno.EOPNOTSUPP
    assert caught.value.strerror == dray.last_error() != ""


@pytest.mark.kernel
def test_an_address_moves_with_the_view(make):
    array = make(np.zeros((100, 100), np.int32))
    start = dray.address(array)
    assert start > 0
    assert dray.address(array[3:, 5:]) == start + 4 * 305
    assert dray.address(array[::-1]) == start + 4 * 9900
    assert dray.address(array.T[1:]) == start + 4


@pytest.mark.kernel
def test_segments_cover_the_span_of_a_view(make):
    array = make(np.zeros((100, 100), np.int32))
    for view in (array, array[2:5, 7:9], array[::-1, ::-1], array[:1, 3:4]):
        reach = [(n - 1) * step for n, step in zip(view.shape, view.strides)]
        low = sum(step for step in reach if step < 0)
        high = sum(step for step in reach if step > 0) + view.itemsize
        pieces = dray.segments(view)
        assert sum(piece.length for piece in pieces) == high - low
        assert pieces[0].address == dray.address(view) + low

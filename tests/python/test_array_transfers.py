# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Transfers and questions take a dray.Array as they take NumPy's array."""
import gc
import socket
import weakref

import numpy as np
import pytest

import dray


def as_array(array):
    return dray.Array(array)


def as_own(array):
    """An Array with memory of its own, not NumPy's."""
    with dray.memory():
        made = dray.Array.empty(array.shape, array.dtype)
    made[...] = array
    return made


def as_view(array):
    """A view, which has no array of the library of its own."""
    return dray.Array(array[None])[0]


@pytest.fixture(params=[as_array, as_own, as_view])
def of_library(request, make):
    return lambda array: request.param(make(array))


NUMBERS = np.arange(24, dtype="<i4").reshape(4, 6)
CUTS = {"all": np.s_[:], "columns": np.s_[:, ::2], "backwards": np.s_[::-1, 1:]}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS.keys())
def test_an_array_is_copied_to_numpys_and_back(of_library, make, cut):
    source, target = of_library(NUMBERS), make(np.zeros((4, 6), "<i4"))
    dray.copy(target[cut], source[cut])
    assert (target[cut] == NUMBERS[cut]).all()
    back = of_library(np.zeros((4, 6), "<i4"))
    dray.copy(back[cut], target[cut])
    wanted = np.zeros((4, 6), "<i4")
    wanted[cut] = NUMBERS[cut]
    assert back.tolist() == wanted.tolist()


def test_foreign_memory_is_copied_by_the_cpu(make):
    target = make(np.zeros((4, 6), "<i4"))
    dray.copy(target, dray.Array(NUMBERS.copy()))
    assert (target == NUMBERS).all()


def test_structures_are_copied_and_filled(of_library):
    dtype = np.dtype([("x", "u1"), ("y", "<f4")])
    values = np.array([(1, 2), (3, 4), (5, 6)], dtype)
    source, target = of_library(values), of_library(np.zeros(3, dtype))
    dray.copy(target, source)
    assert target.tolist() == values.tolist()
    dray.fill(target, (7, 8))
    assert target.tolist() == [(7, 8)] * 3


def test_an_array_is_filled(of_library):
    array = of_library(NUMBERS)
    dray.fill(array[:, 1], 7)
    assert array[:, 1].tolist() == [7] * 4 and array[0, 0] == 0


def test_explain_tells_of_arrays(of_library, make):
    told = dray.explain(of_library(NUMBERS)[:, :3], make(NUMBERS)[:, :3])
    assert (told.elements, told.bytes, told.run) == (12, 48, 12)


def test_a_fence_keeps_arrays_until_the_end(make):
    """The memory of the source is NumPy's, so that its end is seen."""
    owner = np.ones(3)
    gone = weakref.ref(owner)
    fence = dray.copy(make(np.zeros(3)), dray.Array(owner), wait=False)
    del owner
    fence.wait()
    gc.collect()
    assert gone() is None


@pytest.mark.host  # other nodes have no loop
def test_an_array_goes_through_a_stream_and_is_kept_until_its_end(make):
    owner = make(np.zeros((4, 6), "<i4"))
    gone = weakref.ref(owner)
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        event = rx.recv(dray.Array(owner), wait=False)
        del owner
        gc.collect()
        assert gone() is not None
        assert tx.explain(dray.Array(make(NUMBERS))).bytes == 96
        assert tx.send(dray.Array(make(NUMBERS))) == 24
        assert event.wait() == 24
        gc.collect()
        assert gone() is None


@pytest.mark.host
def test_a_stream_moves_rows_of_an_array(of_library):
    source, target = of_library(NUMBERS), of_library(np.zeros((4, 6), "<i4"))
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        event = rx.recv(target[:, 3:], wait=False)
        tx.send(source[::-1, :3])
        assert event.wait() == 12
    assert target[:, 3:].tolist() == NUMBERS[::-1, :3].tolist()


def test_syncs_and_waits_take_arrays(of_library):
    array = of_library(NUMBERS)
    dray.sync_for_device(array)
    dray.sync_for_cpu(array[:, ::2])
    dray.wait(array, write=True, timeout=1)
    assert array.tolist() == NUMBERS.tolist()


@pytest.mark.kernel
def test_addresses_are_those_of_numpys_array(make):
    array = make(NUMBERS)
    if not dray.open().info().addresses:
        pytest.skip("this process may not see addresses")
    assert dray.address(dray.Array(array)[1:]) == dray.address(array[1:])
    assert dray.segments(dray.Array(array)) == dray.segments(array)


@pytest.mark.host
def test_the_host_has_no_addresses_of_arrays_either(of_library):
    with pytest.raises(OSError, match="95"):
        dray.address(of_library(NUMBERS))


def test_the_name_of_the_handler_is_told(of_library, handler):
    assert dray.handler_name(of_library(NUMBERS)) == handler


def test_an_array_is_sent_and_exported(shared):
    array = dray.Array(shared(NUMBERS))[:, 1::2]
    left, right = socket.socketpair()
    with left, right:
        dray.send(left, array)
        assert (dray.receive(right) == NUMBERS[:, 1::2]).all()
    record = dray.export_array(array)
    assert (dray.open_array(record) == NUMBERS[:, 1::2]).all()
    dray.revoke_array(record)


# A read-only destination, another shape, another type, memory of neither.
REFUSED = [
    (lambda make: (as_array(make(NUMBERS)).broadcast_to((4, 6)), make(NUMBERS)),
     ValueError, "dst: the array is read-only"),
    (lambda make: (as_array(make(NUMBERS))[1:], make(NUMBERS)),
     ValueError, r"dst has the shape \(3, 6\), src \(4, 6\)"),
    (lambda make: (as_array(make(NUMBERS)), make(NUMBERS.view("u4"))),
     TypeError, "a transfer converts nothing"),
    (lambda make: (as_array(NUMBERS.copy()), as_array(NUMBERS)),
     ValueError, "the memory of neither array is dray's"),
]


@pytest.mark.parametrize("pair, error, sentence", REFUSED)
def test_bad_pairs_are_refused(make, pair, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.copy(*pair(make))


@pytest.mark.host
def test_a_receive_into_a_read_only_array_is_refused(make):
    array = as_array(make(NUMBERS)).broadcast_to((4, 6))
    with dray.stream("rx0") as rx:
        with pytest.raises(ValueError, match="a: the array is read-only"):
            rx.recv(array, timeout=0)

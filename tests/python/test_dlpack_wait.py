# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that a transfer has, on their way out by DLPack and in; and threads."""
import ctypes
import threading

import numpy as np
import pytest

import dray
import tensors
from dray import Array, from_dlpack
from test_dlpack import LATEST, address
from test_threads import at_once

on_the_host = pytest.mark.host  # other nodes have no loop


@pytest.fixture
def loop():
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        yield tx, rx


def receiving(loop, make):
    """An array that a packet is to fill, and a function that sends it."""
    tx, rx = loop
    target, source = make(np.zeros(8, "u2")), make(np.arange(8, dtype="u2"))
    rx.recv(target, wait=False)
    return Array(target), lambda: tx.send(source)


def table():
    return tensors.Table.from_address(getattr(Array, "__c_dlpack_exchange_api__"))


def by_table(array):
    out = ctypes.c_void_p()
    table().from_object(array, ctypes.byref(out))
    managed = tensors.Versioned.from_address(out.value)
    tensors.Deleter(managed.deleter)(out.value)


def borrowed(array):
    table().borrow(array, ctypes.byref(tensors.Tensor()))


class Unaware:
    """A producer that knows nothing of transfers: NumPy, for memory of dray."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__(stream=-1, max_version=LATEST)


ways = pytest.mark.parametrize("take", [
    np.from_dlpack, Array.__dlpack__, lambda array: array.__dlpack__(copy=True),
    from_dlpack, lambda array: from_dlpack(array, copy=True),
    lambda array: from_dlpack(Unaware(array)), by_table, borrowed,
], ids=["numpy", "capsule", "copied capsule", "array", "copied array", "unaware", "table",
        "borrowed"])


@on_the_host
@ways
def test_a_consumer_gets_memory_that_no_transfer_has(loop, make, take, alarm):
    array, send = receiving(loop, make)
    with alarm, pytest.raises(alarm.raised):
        take(array)
    send()
    take(array)
    assert array.tolist() == list(range(8))


@on_the_host
def test_a_consumer_gets_the_elements_that_were_in_flight(loop, make):
    array, send = receiving(loop, make)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(np.from_dlpack(array).sum()))
    thread.start()
    send()
    thread.join()
    assert seen == [28]


@on_the_host
def test_a_consumer_that_waits_itself_gets_memory_at_once(loop, make):
    array, send = receiving(loop, make)
    capsule = array.__dlpack__(stream=-1, max_version=LATEST)
    assert tensors.inside(capsule).tensor.data == address(array)
    assert tensors.name_of(array.__dlpack__(stream=-1, copy=True)) == tensors.LEGACY
    send()


@on_the_host
def test_a_reader_does_not_wait_for_a_packet_that_is_sent(loop, make, alarm):
    tx, rx = loop
    source = make(np.arange(8, dtype="u2"))
    event = tx.send(source, wait=False)
    Array(np.broadcast_to(source, (1, 8))).__dlpack__(max_version=LATEST)
    with alarm, pytest.raises(alarm.raised):
        Array(source).__dlpack__()
    event.cancel()
    Array(source).__dlpack__()


def test_numpys_array_of_dray_memory_comes_in_as_it_is(make):
    there = make(np.arange(6.0))
    array = from_dlpack(there)
    assert address(array) == address(there)
    assert array.flags.writeable


def test_threads_pass_one_array_on():
    array = Array.arange(12).reshape(3, 4)
    copied = np.asarray(array).copy()

    def work(number):
        seen = from_dlpack(array.__dlpack__(max_version=LATEST))
        again = Array(np.from_dlpack(seen))
        assert (np.asarray(again) == copied).all()
        if number % 2:
            del seen
        assert again.shares_memory(array)
    at_once(work)


def test_of_many_threads_one_takes_a_tensor():
    array, taken = Array.arange(3), []
    capsules = [array.__dlpack__() for _ in range(200)]

    def work(_):
        for number, capsule in enumerate(capsules):
            try:
                from_dlpack(capsule)
                taken.append(number)
            except ValueError:
                pass
    at_once(work, rounds=1)
    assert sorted(taken) == list(range(200))

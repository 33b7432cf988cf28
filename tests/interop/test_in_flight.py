# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Transfers in flight: a consumer gets memory in which nothing is in flight.

A receive into the memory is pending when a thread exports it; this thread then sends
the packet that ends it.
"""
import threading

import numpy as np
import pytest

import dray
from conftest import DEADLINE, Helper
from consumers import DOORS

TAKING = [name for name, door in DOORS.items() if door.take]
SENT = np.arange(1, 33, dtype="f4")


class Pending:
    """An array with a receive into it."""

    def __init__(self, tx, rx):
        self.tx = tx
        with dray.memory():
            self.source = np.array(SENT)
            self.array = dray.Array.zeros(SENT.shape, "f4")
        self.event = rx.recv(np.asarray(self.array), wait=False)

    def end(self):
        self.tx.send(self.source)

    def while_it_ends(self, function):
        """Runs the function on the array in a thread, and ends the receive meanwhile.
        It has ended when the function returns."""
        begins = threading.Event()

        def run():
            begins.set()
            result = function(self.array)
            assert self.event.done
            return result
        helper = Helper(run)
        assert begins.wait(DEADLINE)
        self.end()
        return helper.value()


@pytest.fixture
def pending():
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        receive = Pending(tx, rx)
        yield receive
        if not receive.event.done:
            receive.event.cancel()
        vars(receive).clear()  # pytest keeps the object longer


@pytest.mark.parametrize("version", [None, (1, 3)], ids=str)
def test_a_capsule_is_made_when_the_receive_has_ended(pending, version):
    capsule = pending.while_it_ends(
        lambda array: array.__dlpack__(max_version=version))
    assert "dltensor" in repr(capsule)


@pytest.mark.parametrize("name", TAKING)
def test_a_consumer_sees_the_received_elements(pending, name):
    """By the table too, of which the consumer here gets no stream to wait on."""
    held = pending.while_it_ends(DOORS[name].take)
    assert np.array_equal(DOORS[name].values(held), SENT)


def test_dray_waits_for_its_own_memory_in_the_hands_of_others(pending):
    """NumPy knows nothing of transfers."""
    held = pending.while_it_ends(lambda array: dray.from_dlpack(np.asarray(array)))
    assert np.array_equal(np.asarray(held), SENT)


def test_stream_minus_1_does_not_wait(pending):
    capsule = pending.array.__dlpack__(stream=-1)
    assert not pending.event.done
    assert "dltensor" in repr(capsule)
    pending.end()


def test_any_other_stream_is_refused(pending):
    with pytest.raises(ValueError, match="stream is 1"):
        pending.array.__dlpack__(stream=1)
    pending.end()

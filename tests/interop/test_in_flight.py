# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Transfers in flight: a consumer gets memory in which nothing is in flight.

A receive into the memory is pending when a thread exports it; this thread then sends
the packet that ends it.
"""
import numpy as np
import pytest

import dray
from conftest import SENT
from consumers import DOORS

TAKING = [name for name, door in DOORS.items() if door.take]

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

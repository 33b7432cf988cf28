# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Registers and interrupts: the refusals of a node that offers none.  tests/streams has
the board's."""

import errno

import pytest

import dray


@pytest.fixture
def node():
    return dray.open("host")


def test_a_node_of_the_host_has_no_registers(node):
    assert node.register_areas == []
    assert node.interrupts == []


@pytest.mark.parametrize("name", [None, "control"])
@pytest.mark.parametrize("method, subject", [("registers", "registers"), ("interrupt", "interrupts")])
def test_the_refusal_says_how_to_offer_them(node, method, subject, name):
    with pytest.raises(OSError, match=f"offers no {subject}; .*dray,registers") as caught:
        getattr(node, method)(name)
    assert caught.value.errno == errno.EOPNOTSUPP


@pytest.mark.parametrize("kind", [dray.Registers, dray.Interrupt])
def test_an_object_comes_from_a_node(kind):
    with pytest.raises(TypeError):
        kind()


def test_a_name_is_a_str(node):
    with pytest.raises(TypeError):
        node.registers(1)

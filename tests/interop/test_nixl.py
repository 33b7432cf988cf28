# SPDX-License-Identifier: Apache-2.0 OR MIT
"""NIXL moves views by dray.rows(view, device=0), as they are; it holds no memory, a loan
does.  Two agents of this process; suite interop installs NIXL without its needs, CUDA's
torch among them."""
import os

# NIXL's parts for InfiniBand crash at the end of a process that has Debian's, too.
os.environ.update(UCX_NET_DEVICES="lo", UCX_MODULES="^ib", NIXL_LOG_LEVEL="ERROR")

import dray
import numpy as np
import pytest
from nixl_cu12 import _api as nixl

SHAPE = 108, 192
TILE = np.s_[10:74, 20:84]


@pytest.fixture(scope="module")
def agents():
    config = nixl.nixl_agent_config(backends=["UCX"])
    return [nixl.nixl_agent(name, config) for name in ("reader", "owner")]


def registered(agent, a):
    """Registers an array's bytes, which NIXL only notes by address."""
    agent.register_memory([(a.__array_interface__["data"][0], a.nbytes, 0, "")], "DRAM")
    return a


def frames(agents):
    mine, theirs = (registered(agent, dray.shared_zeros(SHAPE, "f4")) for agent in agents)
    theirs[:] = np.arange(theirs.size).reshape(SHAPE)
    return mine, theirs


def moved(agents, operation, mine, theirs):
    """Moves all elements between two lists of rows."""
    reader, owner = agents
    peer = reader.add_remote_agent(owner.get_agent_metadata())
    here = reader.prep_xfer_dlist("NIXL_INIT_AGENT", mine, "DRAM")
    there = reader.prep_xfer_dlist(peer, theirs, "DRAM")
    numbers = np.arange(int(mine[:, 4].sum()), dtype=np.int32)
    handle = reader.make_prepped_xfer(operation, here, numbers, there, numbers)
    state = reader.transfer(handle)
    while state == "PROC":
        state = reader.check_xfer_state(handle)
    for used in here, there:
        reader.release_dlist_handle(used)
    reader.release_xfer_handle(handle)
    return state


@pytest.mark.parametrize("operation", ["READ", "WRITE"])
def test_rows_of_views_are_moved_and_nothing_beside_them(agents, operation):
    mine, theirs = frames(agents)
    at = np.s_[30:94, 100:164]
    mine[at] = -np.arange(64 * 64).reshape(64, 64)
    whole, changed = (mine, at) if operation == "READ" else (theirs, TILE)
    wanted = whole.copy()
    wanted[changed] = theirs[TILE] if operation == "READ" else mine[at]
    rows = dray.rows(mine[at], device=0), dray.rows(theirs[TILE], device=0)
    assert rows[0].shape == (1, 5) and rows[0].dtype == np.int64
    assert moved(agents, operation, *rows) == "DONE"
    assert (whole == wanted).all()


@pytest.mark.parametrize("options, arrives", [({}, False), ({"ordered": True}, True)])
@pytest.mark.parametrize("turn", [np.transpose, np.flipud, np.fliplr])
def test_only_ordered_rows_move_elements_to_another_order(agents, turn, options, arrives):
    """The page says so: NIXL reports no error."""
    mine, theirs = frames(agents)
    view = turn(mine[TILE])
    short = {**options, "max_length": 4}
    rows = (dray.rows(each, device=0, **short) for each in (view, theirs[TILE]))
    assert moved(agents, "READ", *rows) == "DONE"
    assert np.array_equal(view, theirs[TILE]) == arrives


def test_a_row_outside_of_registered_memory_is_refused(agents):
    mine, _ = frames(agents)
    rows = dray.rows(mine[TILE], device=0)
    rows[0, 4] = 100000
    with pytest.raises(Exception):
        agents[0].prep_xfer_dlist("NIXL_INIT_AGENT", rows, "DRAM")


def test_a_loan_keeps_a_block_that_nixl_writes(agents):
    mine, theirs = frames(agents)
    with dray.memory(shareable=True):
        a = registered(agents[0], np.zeros(SHAPE, "f4"))
    rows, loan = dray.rows(a, device=0), dray.lend(a, "w", to="NIXL")
    where = a.__array_interface__["data"][0]
    del a
    with dray.memory(shareable=True):
        others = [np.zeros(SHAPE, "f4") for _ in range(8)]
    assert where not in [other.__array_interface__["data"][0] for other in others]
    assert moved(agents, "READ", rows, dray.rows(theirs, device=0)) == "DONE"
    assert not any(other.any() for other in others)
    loan.end()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Messages of dray.mpi of more than 2^31 bytes; each of two ranks needs 2 GiB and a bit."""
import numpy as np
from ranks import run, world

import dray.mpi

SHAPE = 2 ** 15 + 1, 2 ** 16


def fact_more_elements_than_an_int_counts_arrive():
    a = np.zeros(SHAPE, "u1")
    if world.rank == 0:
        a[0, 5], a[-1, -1] = 3, 7
        dray.mpi.send(a, 1)
        dray.mpi.send(np.broadcast_to(a[:1], SHAPE), 1, how="type")
    elif world.rank == 1:
        dray.mpi.recv(a, 0)
        assert a[0, 5] == 3 and a[-1, -1] == 7 and np.count_nonzero(a) == 2
        dray.mpi.recv(a, 0)
        assert (a[:, 5] == 3).all() and np.count_nonzero(a) == SHAPE[0]


run(dict(globals()))

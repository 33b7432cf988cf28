# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rank 1 is killed while rank 0 receives from it: with ULFM that is a
ConnectionResetError, and the memory is lent no longer."""
import os
import signal
import time

import numpy as np
from mpi4py import MPI

import dray
import dray.mpi

if MPI.COMM_WORLD.rank:
    time.sleep(.3)
    os.kill(os.getpid(), signal.SIGKILL)
a = np.zeros((4, 6))
for number, timeout in enumerate((None, 20), 1):
    try:
        dray.mpi.recv(a.T, 1, timeout=timeout)
        print("not ", end="")
    except ConnectionResetError:
        pass
    print(f"ok {number} - a_receive_from_a_dead_rank_is_a_reset_{number}")
dray.lend(a, timeout=0).end()
print("ok 3 - its_memory_is_lent_no_longer\n1..3", flush=True)
os._exit(0)     # MPI's end would wait for the dead

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times messages of dray.mpi between two ranks and prints samples for tools/bench.

usage: mpiexec -n 2 mpi_rows.py MPI TRANSPORT

Rows are those of tests/bench/mpi_times.c: arrays of eight layouts beside
np.ascontiguousarray() and Comm.Send(), and small messages to the rank itself.
"""
import sys
import time

import numpy as np
from mpi4py import MPI

import dray
import dray.mpi

ROUNDS, LOOPS = 15, 200
world, itself = MPI.COMM_WORLD, MPI.COMM_SELF
NAMES = ", ".join(sys.argv[1:3])


def say(*words):
    if world.rank == 0:
        print(*words, sep="\t", flush=True)


def layouts():
    memory = dray.zeros(4 << 20, "f4")
    memory[...] = 1
    lines = memory.reshape(-1, 2048)
    yield "runs of 4 bytes", memory[:1 << 19:2]
    for name, run in (("16 bytes", 4), ("64 bytes", 16), ("1 KiB", 256), ("16 KiB", 4096)):
        yield f"runs of {name}", memory[:1 << 19].reshape(-1, 2 * run)[:, :run]
    yield "mirrored lines", lines[:256, 1023::-1]
    yield "axes exchanged", memory[:1 << 18].reshape(64, 64, 64).transpose(2, 0, 1)
    yield "transpose", memory[:1 << 20].reshape(1024, 1024).T


def passed(send, a, flat):
    """Microseconds of a message to rank 1, and of its answer."""
    answer = bytearray(1)
    world.Barrier()
    began = time.perf_counter()
    if world.rank:
        world.Recv(flat, 0)
        world.Send(answer, 0)
    else:
        send(a)
        world.Recv(answer, 1)
    return (time.perf_counter() - began) * 1e6


def itself_passed(send, a, flat):
    began = time.perf_counter()
    for _ in range(LOOPS):
        request = itself.Irecv(flat, 0)
        send(a)
        request.Wait()
    return (time.perf_counter() - began) * 1e6 / LOOPS


WAYS = {"dray": lambda a: dray.mpi.send(a, 1),
        "ascontiguousarray and Send": lambda a: world.Send(np.ascontiguousarray(a), 1)}
for layout, array in layouts():
    row = f"{layout}, Python, {NAMES}"
    received = np.empty(array.shape, "f4")
    say("row", row, "us", "lower", "ascontiguousarray and Send", 1.3)
    for number in range(ROUNDS + 1):
        for contender in sorted(WAYS, reverse=number % 2):
            took = passed(WAYS[contender], array, received)
            if number:  # the first call of each
                say("sample", row, contender, took)
if sys.argv[2] != "TCP" and world.rank == 0:
    small, received = dray.zeros(256, "f4"), np.empty(256, "f4")
    row = f"1 KiB: more than Comm.Send in Python, {NAMES}"
    say("row", row, "us", "lower", "-", 3)
    for _ in range(ROUNDS):
        ours = itself_passed(lambda a: dray.mpi.send(a, 0, 0, itself), small, received)
        say("sample", row, "dray", ours - itself_passed(lambda a: itself.Send(a, 0), small, received))

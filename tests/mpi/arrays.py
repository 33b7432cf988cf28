# SPDX-License-Identifier: Apache-2.0 OR MIT
"""mpiexec -n 2 python3 arrays.py: dray.mpi between real ranks."""
import gc
import os
import tempfile
import threading
import time

import numpy as np
from mpi4py import MPI
from ranks import raises, run, world

import dray
import dray.mpi

rank, ranks = world.rank, world.size
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16",
         "S5", "V12", "U3", "M8[25s]", "m8[D]", ">f4", ">i8", [("x", "f4"), ("id", "i8")]]


def picked(draw, shape, dtype):
    """A view of that shape of new memory: any order, steps and directions."""
    order = draw.permutation(len(shape))
    steps = draw.integers(1, 3, len(shape))
    turned = draw.integers(0, 2, len(shape))
    block = dray.zeros([max(1, shape[k]) * steps[k] for k in order], dtype)
    view = block.transpose(np.argsort(order))
    view = view[(*(slice(None, None, step) for step in steps), ...)]
    view = view[(*(slice(0, count) for count in shape), ...)]
    return block, view[(*(slice(None, None, -1 if turn else 1) for turn in turned), ...)]


def fact_arrays_of_random_layouts_arrive():
    if rank > 1:
        return
    both, mine = np.random.default_rng(5), np.random.default_rng(rank)
    for number in range(220):
        dtype = np.dtype(TYPES[number % len(TYPES)])
        shape = tuple(both.integers(0 if number % 9 == 0 else 1, 6, both.integers(0, 6)))
        count = int(np.prod(shape, dtype=int))
        values = both.integers(0, 2 if dtype == "?" else 256, count * dtype.itemsize, "u1")
        values = values.view(dtype).reshape(shape)
        block, view = picked(mine, shape, dtype)
        how = [None, "type", "gather"][mine.integers(3)]
        if rank == 0:
            view[...] = values
            dray.mpi.send(view, 1, number, how=how)
            continue
        dray.mpi.recv(view, 0, number, how=how, timeout=20 if number % 2 else None)
        expected = np.zeros_like(block)
        twin = np.ndarray(view.shape, dtype, expected,
                          view.__array_interface__["data"][0] - block.__array_interface__["data"][0],
                          view.strides)
        twin[...] = values
        assert block.tobytes() == expected.tobytes(), (number, dtype, shape, view.strides, how)


def fact_mpi4py_alone_sends_a_transpose_in_the_order_of_memory():
    """The reason for message()."""
    a = dray.zeros((3, 4), "f4")
    flat = np.empty(12, "f4")
    if rank == 0:
        a[...] = np.arange(12).reshape(3, 4)
        world.Send(a.T, 1)
        world.Send(dray.mpi.message(a.T), 1)
    elif rank == 1:
        world.Recv(flat, 0)
        assert np.array_equal(flat, np.arange(12)), flat
        world.Recv(flat, 0)
        assert np.array_equal(flat, np.arange(12).reshape(3, 4).T.ravel()), flat


def fact_a_request_of_mpi4py_keeps_the_array_of_a_message():
    if rank == 1:
        before = dray.stats().blocks
        a = dray.zeros((4, 1 << 16), "i4")
        request = world.Irecv(dray.mpi.message(a.T[::-1]), 0)
        del a
        gc.collect()
        assert dray.stats().blocks == before + 1
        world.Send(b"", 0)
        request.Wait()
        del request
        gc.collect()
        assert dray.stats().blocks == before
    elif rank == 0:
        world.Recv(bytearray(1), 1)
        dray.mpi.send(np.ones((1 << 16, 4), "i4"), 1)
    fixed = np.arange(6).astype("M8[s]").reshape(2, 3).T
    fixed.flags.writeable = False
    for view in fixed, fixed[:0], fixed[1, 1:].reshape(()), np.broadcast_to(fixed[0], (3, 2)):
        got = np.zeros(view.shape, view.dtype)
        request = MPI.COMM_SELF.Isend(dray.mpi.message(view), 0)
        MPI.COMM_SELF.Recv(dray.mpi.message(got), 0)
        request.Wait()
        assert np.array_equal(got, view), got
    raises((BufferError, TypeError, ValueError), "", MPI.COMM_SELF.Irecv, dray.mpi.message(fixed),
           0)


def fact_an_array_of_the_library_is_a_message():
    if rank == 0:
        dray.mpi.send(dray.Array.arange(12).reshape(3, 4)[:, ::2], 1)
    elif rank == 1:
        got = dray.Array.zeros((3, 2), "i8")
        assert dray.mpi.recv(got, 0).Get_source() == 0
        assert got.tolist() == [[0, 2], [4, 6], [8, 10]], got


def fact_a_send_waits_for_a_transfer_in_flight():
    if rank == 1:
        got = np.zeros((8, 4), "f4")
        dray.mpi.recv(got, 0)
        assert np.array_equal(got, np.arange(32, dtype="f4").reshape(4, 8).T), got
    if rank:
        return
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        a = dray.zeros((4, 8), "f4")
        source = dray.empty(32, "f4")
        source[...] = np.arange(32)
        event = rx.recv(a, wait=False)
        late = threading.Timer(.1, tx.send, [source])
        late.start()
        began = time.monotonic()
        dray.mpi.send(a.T, 1)
        assert time.monotonic() - began > .08 and event.done
        late.join()


def lent(a):
    try:
        dray.lend(a, timeout=0).end()
    except TimeoutError:
        return True
    return False


def fact_memory_is_lent_until_the_message_is_complete():
    a = dray.zeros((6, 4), "i4")
    if rank == 1:
        request = dray.mpi.irecv(a.T, 0)
        assert lent(a) and not request.test()
        world.Send(b"", 0)
        status = dray.mpi.wait(request, 20)
        assert status.Get_source() == 0 and not lent(a) and dray.mpi.test(request)
        assert np.array_equal(a, np.arange(24).reshape(6, 4))
    elif rank == 0:
        a[...] = np.arange(24).reshape(6, 4)
        world.Recv(bytearray(1), 1)
        dray.mpi.isend(a.T, 1).wait()
        assert not lent(a)


def fact_a_request_that_is_dropped_keeps_its_memory():
    if rank == 1:
        before = dray.stats().blocks
        a = dray.zeros(1 << 16, "u1")
        dray.mpi.irecv(a, 0)
        del a
        gc.collect()
        assert dray.stats().blocks == before + 1
        world.Send(b"", 0)
        other = np.zeros(1)
        while dray.mpi._dropped:
            dray.mpi.send(other, MPI.PROC_NULL)
        gc.collect()
        assert dray.stats().blocks == before
    elif rank == 0:
        world.Recv(bytearray(1), 1)
        dray.mpi.send(np.ones(1 << 16, "u1"), 1)


def fact_a_timeout_cancels_a_receive_first():
    a = dray.zeros((6, 4), "i4")
    for how in "type", "gather":
        if rank == 1:
            began = time.monotonic()
            raises(TimeoutError, "after 0.05 s; the receive is cancelled", dray.mpi.recv, a.T, 0,
                   timeout=.05, how=how)
            assert .04 < time.monotonic() - began < 5 and not lent(a)
        world.Barrier()
        if rank == 0:
            dray.mpi.send(np.ones((4, 6), "i4"), 1)
        elif rank == 1:
            a[...] = 0
            dray.mpi.recv(a.T, 0, timeout=20, how=how)
            assert (a == 1).all()


def fact_a_send_stays_under_way_after_its_timeout():
    """The ranks meet at a pipe: in a call of MPI, rank 1 would receive the message."""
    if rank > 1:
        return
    a = dray.zeros(32 << 20, "u1")  # more than the buffers of a socket
    if rank == 0:
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            world.send(pipe, 1)
            request = dray.mpi.isend(a, 1)
            raises(TimeoutError, "stays lent", request.wait, .03)
            assert lent(a)
            with open(pipe, "w", encoding="ascii"):
                pass
            request.wait(20)
        assert not lent(a)
    else:
        with open(world.recv(source=0), encoding="ascii"):
            pass
        dray.mpi.recv(a, 0, timeout=20)


def fact_a_message_of_another_length_is_an_error():
    for how in "type", "gather":
        a = dray.zeros((6, 4), "i4")
        if rank == 0:
            for count in 10, 30, 24:
                world.Send(np.arange(1, count + 1, dtype="i4"), 1)
        elif rank == 1:
            raises(OSError, "40 bytes and the array 96", dray.mpi.recv, a.T, 0, how=how)
            assert a.T.ravel().tolist() == [*range(1, 11), *[0] * 14], a
            raises(OSError, "longer than the array", dray.mpi.recv, a.T, 0, how=how)
            dray.mpi.recv(a.T, 0, how=how)
            assert a.T.ravel().tolist() == [*range(1, 25)] and not lent(a)


def fact_bad_input_is_refused():
    a = dray.zeros((6, 4), "i4")
    fixed = a.view()
    fixed.flags.writeable = False
    raises(ValueError, f"rank {ranks} is out of range", dray.mpi.send, a, ranks)
    raises(ValueError, "rank -9", dray.mpi.recv, a, -9)
    raises(TypeError, "not a communicator of mpi4py", dray.mpi.send, a, 0, 0, 0x44000000)
    raises(TypeError, "objects", dray.mpi.send, np.array([None]), 0)
    raises(ValueError, "one address", dray.mpi.recv,
           np.lib.stride_tricks.as_strided(a, (6, 4), (0, 4)), 0, timeout=0)
    raises(PermissionError, "", dray.mpi.recv, fixed, 0, timeout=0)
    raises(ValueError, 'how is "x"'.replace('"', "'"), dray.mpi.send, a[::2], 0, how="x")
    raises(ValueError, "rank 77", dray.mpi.explain, a, 77)
    raises(TypeError, "rank '1'", dray.mpi.send, a, "1")
    raises(ValueError, "null communicator", dray.mpi.send, a, 0, 0, MPI.COMM_NULL)
    raises(TypeError, "objects", dray.mpi.type, np.array([None]))
    raises(TypeError, "list is not an array", dray.mpi.recv, [1, 2], 0, timeout=0)
    raises(TypeError, "timeout is '1'", dray.mpi.recv, a, 0, timeout="1")
    request = dray.mpi.irecv(a, 0, 99)
    for timeout in -1, float("nan"):
        raises(ValueError, "0 or more", request.wait, timeout)
    raises(TimeoutError, "cancelled", request.wait, 0)
    assert not lent(a) and not dray.mpi._dropped
    dray.mpi.send(a, MPI.PROC_NULL)
    dray.mpi.recv(a.T, MPI.PROC_NULL)


def fact_a_type_counts_more_than_an_int():
    most = 2 ** 31 + 5
    for stride in 0, 1, 2, -1:
        a = np.lib.stride_tricks.as_strided(np.zeros(1, "u1"), (most,), (stride,))
        made = dray.mpi.type(a)
        assert made.Get_size() == most and made.Get_true_extent()[1] == abs(stride) * (most - 1) + 1
        made.Free()


def fact_a_plan_fits_the_layout():
    a = dray.zeros((8, 2048), "f4")
    plans = [dray.mpi.explain(view, 0) for view in (a, a[:, :1024], a.T)]
    assert [plan.way for plan in plans] == ["contiguous", "datatype", "staged"], plans
    assert plans[1].run == 4096 and plans[1].axes == 1 and plans[1].bytes == 32768
    assert dray.mpi.explain(a[:, :1024], 0, how="gather").way == "staged"
    assert not plans[2].engine and plans[2].reason
    near = dray.mpi._IS_NEAR
    assert dray.mpi.explain(a[:, ::2], 0).way == ("datatype" if near else "staged")


def fact_a_window_is_written_and_read():
    mine = dray.zeros((16, 16), "i4")
    win = MPI.Win.Create(mine, 1, comm=world)
    there = mine[2:10, 3:15:2]
    for how in None, "type", "gather":
        win.Lock_all()
        if rank == 0:
            a = np.arange(48, dtype="i4").reshape(6, 8).T
            dray.mpi.put(a, 1, win, there, how=how)
            back = dray.zeros((6, 8), "i4")
            dray.mpi.get(back.T, 1, win, there, how=how)
            assert np.array_equal(back.T, a), back
            raises(ValueError, "out of range", dray.mpi.put, a, ranks, win, there)
            raises(ValueError, "describe the target", dray.mpi.put, a, 1, win, there[1:])
            raises(ValueError, "not in this rank's window", dray.mpi.put, a, 1, win, a)
            raises(ValueError, "share bytes", dray.mpi.put, a, 1, win,
                   np.broadcast_to(there[0], a.shape))
            raises(TypeError, "list is not an array", dray.mpi.get, [1], 1, win,
                   np.zeros(1, "i8"), offset=0)
        win.Unlock_all()
        world.Barrier()
        if rank == 1:
            assert np.array_equal(there, np.arange(48).reshape(6, 8).T)
            assert mine.sum() == there.sum()
            mine[...] = 0
        world.Barrier()
    win.Free()
    win = MPI.Win.Create(mine, 4, comm=world)
    raises(ValueError, "unit of 4", dray.mpi.put, there, 0, win, there)
    win.Free()


def fact_ranks_of_a_host_share_arrays():
    host = world.Split_type(MPI.COMM_TYPE_SHARED)
    a = dray.shared_zeros((4, ranks), "i4")
    arrays = dray.mpi.share(a.T)
    assert sum(each is not None for each in arrays) == host.size
    for each in arrays:
        if each is not None:
            each[rank] = rank + 1
    world.Barrier()
    seen = range(ranks) if host.size == ranks else [rank]
    assert all((a[:, k] == (k + 1 if k in seen else 0)).all() for k in range(ranks)), a
    world.Barrier()
    host.Free()
    for dtype in "M8[25s]", [("id", "i4"), ("at", "m8[ns]")]:
        for each in dray.mpi.share(dray.shared_zeros(3, dtype)):
            assert each is None or each.dtype == dtype, each.dtype
        world.Barrier()
    raises(OSError, "" if rank == 0 else "rank 0: ", dray.mpi.share,
           dray.zeros(3) if rank == 0 else dray.shared_zeros(3))


def fact_rows_become_columns():
    whole = np.arange(11 * 7 * 3, dtype="f8").reshape(11, 7, 3)

    def split(count, k=rank):
        return slice(count * k // ranks, count * (k + 1) // ranks)
    rows = dray.empty((3, 7, whole[split(11)].shape[0]), "f8").T  # another layout
    rows = rows.transpose(0, 1, 2)
    rows[...] = whole[split(11)]
    columns = dray.mpi.resplit(rows, 0, 1)
    assert np.array_equal(columns, whole[:, split(7)])
    out = np.zeros((columns.shape[1], 11, 3))
    back = dray.mpi.resplit(columns, 1, 0, out=np.zeros((3, 7, len(rows))).T)
    assert np.array_equal(back, whole[split(11)])
    assert dray.mpi.resplit(rows, 0, 1, out=out.transpose(1, 0, 2)) is not None
    assert np.array_equal(out.transpose(1, 0, 2), whole[:, split(7)])
    raises(ValueError, "two axes", dray.mpi.resplit, rows, 1, 1)
    raises(OSError if rank else ValueError, "", dray.mpi.resplit, rows, 0, 1 if rank else 9)
    raises(Exception, "", dray.mpi.resplit, rows, 0, 1,
           out=np.zeros((11, columns.shape[1] + (rank == 0), 3)))
    first = rank == 0
    for part in (np.zeros((2, 8), "f4" if first else "f8"), np.zeros((2, 8, 2 + first)),
                 np.zeros((2, 8 + 2 * first))):
        raises(ValueError, "of the same array", dray.mpi.resplit, part, 0, 1)
    raises(ValueError, "of the same array", dray.mpi.resplit, part, first, 1 - first)
    square = dray.zeros((ranks, ranks))
    raises(ValueError, "other memory", dray.mpi.resplit, square[:1], 0, 1, out=square[:, :1])
    assert not lent(rows)


def fact_nothing_is_left():
    gc.collect()
    assert not dray.mpi._dropped


run(dict(globals()))

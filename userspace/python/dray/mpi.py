# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays of any layout as messages of MPI, over mpi4py's calls.

    import dray.mpi
    dray.mpi.send(picture[::2], 1)                      # to rank 1 of MPI.COMM_WORLD
    dray.mpi.recv(tile.T, 0, timeout=2)                 # from rank 0
    request = dray.mpi.irecv(tile, 0); request.wait()
    arrays = dray.mpi.share(picture)                    # of all ranks of this host
    columns = dray.mpi.resplit(rows, 0, 1)              # rows here become columns there
    MPI.COMM_WORLD.Send(dray.mpi.message(tile.T), 1)    # mpi4py's own call

An array is a single message with its elements in C order, so that any program of MPI can be the
peer, and the layouts of the two sides may differ.  mpi4py alone refuses strided arrays, and
sends a transpose in the order of memory: the peer receives the wrong elements.

Each call lends the array's memory (dray.lend()) until its message is complete.  It waits
for transfers in flight, and later transfers wait for it.

The plan of a message, which explain() returns:

    contiguous  MPI reads or writes the array
    datatype    MPI does, if the axes are in the order of memory and runs are 4 KiB or longer;
                Open MPI with all ranks on a host: runs of any length,
                of messages above 4 KiB
    staged      through a contiguous block, which stays with the communicator

`how` overrides it: "type" or "gather".  dray/mpi.h is the same for C.

Errors: TimeoutError after a timeout, ConnectionResetError if a process failed and the MPI
can tell (ULFM), OSError (EMSGSIZE) for a message of another length; others are as of
dray.lend() and mpi4py.  An MPI without ULFM ends the whole program if a rank dies.
"""

from __future__ import annotations

import contextlib
import errno
import numbers
import operator
import os
import time
from typing import Any, Callable, NamedTuple, Optional

import numpy
try:
    import mpi4py  # pyright: ignore[reportMissingImports]
    from mpi4py import MPI  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"dray.mpi needs mpi4py 4 or later, and lacks {error.name}: "
                              "install it", name=error.name) from error

import dray
from . import _dray, _functions

__all__ = ["Plan", "Request", "explain", "get", "irecv", "isend", "message", "put", "recv",
           "resplit", "send", "share", "test", "type", "wait"]

if not hasattr(MPI, "buffer"):
    raise ImportError(f"dray.mpi needs mpi4py 4 or later, this is {mpi4py.__version__}")

_MOST = 2 ** 31 - 1     # counts of MPI 3
_LONG_RUN = 4096    # bytes, from which on a datatype is as fast as a copy
_FAILED = {getattr(MPI, name) for name in ("ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING",
                                           "ERR_REVOKED") if hasattr(MPI, name)}
_UNITS = {code: MPI.Datatype.fromcode(code) for code in "?bBhHiIlLqQfdgFDG"}
_dropped: set[Request] = set()  # under way, and MPI uses their memory


class Plan(NamedTuple):
    """How an array becomes a message."""

    way: str
    """"contiguous", "datatype" or "staged"."""
    bytes: int
    """Of the message."""
    run: int
    """Bytes without a gap."""
    axes: int
    """Axes left, beside the run."""
    engine: bool
    """Whether a DMA engine gathers."""
    reason: str
    """A sentence."""


def _near() -> bool:
    """Whether Open MPI's ranks are all on this host and share memory: only then the
    peer's place is known without a message."""
    ways = os.environ.get("OMPI_MCA_btl", "")
    here = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE")
    return (MPI.Get_library_version().startswith("Open MPI") and here is not None
            and here == os.environ.get("OMPI_COMM_WORLD_SIZE")
            and (not ways or ways[0] == "^" or "sm" in ways))


_IS_NEAR = _near()


def _axes(a: numpy.ndarray) -> tuple[int, list[tuple[int, int]], bool]:
    """Returns the run in bytes, the axes beside it from the innermost, as count and
    stride, and whether they are in the order of memory."""
    run, in_order = a.itemsize, True
    axes: list[tuple[int, int]] = []
    for count, stride in zip(reversed(a.shape), reversed(a.strides)):
        if count == 1:
            continue
        if not axes and stride == run:
            run *= count
        elif axes and stride == axes[-1][0] * axes[-1][1]:
            axes[-1] = axes[-1][0] * count, axes[-1][1]
        else:
            in_order &= not axes or abs(stride) >= abs(axes[-1][1])
            axes.append((count, stride))
    return run, axes, in_order


def _unit(dtype: numpy.dtype[Any]) -> Any:
    """Returns MPI's basic type of numbers in the machine's byte order, else BYTE."""
    return _UNITS.get(dtype.char, MPI.BYTE) if dtype.isnative else MPI.BYTE


def _repeat(of: Any, count: int, stride: int) -> Any:
    """Returns a type of `count` times `of`, `stride` bytes apart."""
    if count <= _MOST and stride == -1:     # Open MPI 5.0 mistakes it for 1 in Create_hvector()
        inner = of.Create_resized(0, stride)
        made = inner.Create_contiguous(count)
        inner.Free()
        return made
    if count <= _MOST:
        return of.Create_hvector(count, 1, stride)
    some = 1 << 30
    whole, rest = divmod(count, some)
    parts = [_repeat(of, some, stride), _repeat(of, rest, stride)]
    parts[:1] = [_repeat(parts[0], whole, some * stride), parts[0]]
    made = MPI.Datatype.Create_struct([1, 1], [0, whole * some * stride], [parts[0], parts[2]])
    for part in parts:
        part.Free()
    return made


def _dense(unit: Any, count: int) -> Any:
    return unit.Create_contiguous(count) if count <= _MOST else _repeat(unit, count, unit.size)


def _datatype(a: numpy.ndarray, run: int, axes: list[tuple[int, int]]) -> Any:
    unit = _unit(a.dtype)
    made = _dense(unit, run // unit.size if a.size else 0)
    for count, stride in axes if a.size else ():
        outer = _repeat(made, count, stride)
        made.Free()
        made = outer
    return made.Commit()


def _bytes_of(a: numpy.ndarray) -> Any:
    """Returns the memory from the array's first element for mpi4py, which checks no
    bounds of a message with a datatype."""
    return MPI.buffer.fromaddress(a.__array_interface__["data"][0], 0)


def _array(a: Any, access: int = _dray.ACCESS_READ) -> numpy.ndarray:
    if isinstance(a, numpy.ndarray):
        return a
    array = numpy.asarray(a)
    if access == _dray.ACCESS_WRITE and array.flags.owndata:    # a copy
        raise TypeError(f"{a.__class__.__name__} is not an array to write into: "
                        "make it by dray.empty()")
    return array


def _seconds(timeout: Optional[float]) -> Optional[float]:
    """Checks a timeout as dray.lend() does."""
    if timeout is not None and not isinstance(timeout, numbers.Real):
        raise TypeError(f"timeout is {timeout!r}, not seconds, nor None for ever")
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"a timeout of {timeout!r} seconds: 0 or more, or None for ever")
    return timeout


def _is_unique(a: numpy.ndarray) -> bool:
    """Whether no elements share bytes."""
    span = a.itemsize
    axes = sorted((abs(stride), count) for count, stride in zip(a.shape, a.strides) if count != 1)
    for stride, count in axes:
        if stride < span:
            break
        span += stride * (count - 1)
    else:
        return True
    places = numpy.zeros(1, "i8")
    for stride, count in axes:
        places = numpy.add.outer(places, stride * numpy.arange(count)).reshape(-1)
    return bool((numpy.diff(numpy.sort(places)) >= a.itemsize).all())


def _is_plain(a: numpy.ndarray) -> bool:
    """Whether mpi4py sends the array as it is."""
    dtype = a.dtype
    return (a.flags.c_contiguous and dtype.isnative and dtype.char in "bBhHiIlLqQfdFD?"
            and a.size <= _MOST)


def _communicator(comm: Any) -> Any:
    if comm is None:
        return MPI.COMM_WORLD
    if not isinstance(comm, MPI.Comm):
        runs_on = MPI.Get_library_version().splitlines()[0].split(",")[0]
        raise TypeError(f"comm is {comm!r}, not a communicator of mpi4py, which runs on "
                        f"{' '.join(runs_on.split())}")
    if not comm:
        raise ValueError("comm is the null communicator, or was freed: use another")
    return comm


def _check_rank(rank: int, comm: Any, also: int = MPI.PROC_NULL) -> None:
    try:
        operator.index(rank)
    except TypeError:
        raise TypeError(f"rank {rank!r} is not an integer") from None
    ranks = comm.Get_remote_size() if comm.is_inter else comm.Get_size()
    if not 0 <= rank < ranks and rank not in (also, MPI.PROC_NULL):
        raise ValueError(f"rank {rank} is out of range: the communicator has {ranks}, from 0")


def _way(a: numpy.ndarray, how: Optional[str]) -> tuple[str, int, list[tuple[int, int]]]:
    if how not in (None, "type", "gather"):
        raise ValueError(f'how is {how!r}, not "type", "gather" or None')
    run, axes, in_order = _axes(a)
    if not axes or not a.size:
        return "contiguous", run, axes
    if how is None:
        typed = in_order and a.nbytes > _LONG_RUN and (run >= _LONG_RUN or _IS_NEAR)
        how = "type" if typed else "gather"
    return "datatype" if how == "type" else "staged", run, axes


# The attribute of a communicator: a list with its block, or none if it is in use.
_stages = None


def _stage(comm: Any) -> list[numpy.ndarray]:
    global _stages
    if _stages is None:
        _stages = MPI.Comm.Create_keyval()
    kept: Optional[list[numpy.ndarray]] = comm.Get_attr(_stages)
    if kept is None:
        kept = []
        comm.Set_attr(_stages, kept)
    return kept


def _errors(error: Any) -> Exception:
    """Returns dray's exception for an exception of mpi4py."""
    kind = error.Get_error_class()
    if kind == MPI.ERR_TRUNCATE:
        return OSError(errno.EMSGSIZE, "the message is longer than the array and was cut: "
                       "receive into a larger array, or ask comm.Probe() first")
    if kind in _FAILED:
        return ConnectionResetError(errno.ECONNRESET, f"{error.Get_error_string()}; the "
                                    "others may go on after comm.Shrink()")
    kept: Exception = error
    return kept


class _Lent:
    """An array that is lent to MPI, and what MPI reads or writes for it."""

    __slots__ = ("array", "loan", "datatype", "dense", "stage", "message")

    def __init__(self, a: Any, access: int, comm: Any, how: Optional[str],
                 timeout: Optional[float] = None) -> None:
        if _dropped:
            _end_dropped()
        self.array = array = _array(a, access)
        self.datatype = self.dense = self.stage = None
        self.loan: Any = _dray.lend(array, access, "MPI", timeout)
        try:
            if how is None and _is_plain(array):
                self.message: Any = array
                return
            way, run, axes = _way(array, how)
            if way == "contiguous":
                self.message = self._bytes(array)
            elif way == "datatype":
                self.datatype = _datatype(array, run, axes)
                self.message = [_bytes_of(array), 1, self.datatype]
            else:
                self.stage = _stage(comm)
                self.dense = self._take(array.nbytes)
                dense = self.dense[:array.nbytes].view(array.dtype).reshape(array.shape)
                self.message = self._bytes(dense)
                if access == _dray.ACCESS_READ:     # last, as it empties the caches
                    dray.copy(dense, array)
        except BaseException:
            self.drop()
            raise

    def _bytes(self, dense: numpy.ndarray) -> list[Any]:
        unit = _unit(dense.dtype)
        count = dense.nbytes // unit.size
        if count <= _MOST:
            return [_bytes_of(dense), count, unit]
        self.datatype = _dense(unit, count).Commit()
        return [_bytes_of(dense), 1, self.datatype]

    def _take(self, size: int) -> numpy.ndarray:
        """Returns the communicator's block, or another if it is in use."""
        assert self.stage is not None
        try:
            block = self.stage.pop()
            if block.nbytes >= size:
                return block
        except IndexError:
            pass
        return _dray.bytes_in(_functions.pool(), size)

    def received(self, status: Any) -> None:
        """Scatters what came, and checks that it is all."""
        array, size = self.array, self.array.nbytes
        if status.Get_source() == MPI.PROC_NULL:
            return
        got = status.Get_elements(MPI.BYTE)
        if self.dense is not None:
            dense = self.dense[:size].view(array.dtype).reshape(array.shape)
            if got != size:
                before = numpy.ascontiguousarray(array).reshape(-1).view("u1")
                self.dense[got:size] = before[got:]
            # An assignment of dray.Array waits for no loan, and turns axes in tiles.
            dray.Array(array)[...] = dense
        if got != size:
            raise OSError(errno.EMSGSIZE, f"the message of rank {status.Get_source()} has {got} "
                          f"bytes and the array {size}; its elements are the array's first: "
                          "receive into a part of the array")

    def drop(self) -> None:
        if self.datatype is not None:
            self.datatype.Free()
        if self.dense is not None and not self.stage:
            self.stage.append(self.dense)  # type: ignore[union-attr]
        _dray.end_loan(self.loan)
        self.datatype = self.dense = None


def _run(lent: _Lent, call: Callable[[], Any]) -> Any:
    """Makes a call of MPI for a lent array, which is dropped if the call fails."""
    try:
        return call()
    except MPI.Exception as error:
        lent.drop()
        raise _errors(error) from error
    except BaseException:
        lent.drop()
        raise


class Request:
    """A message that is under way, of isend() or irecv().  Its array stays lent until
    wait() or test() has ended it.  If the request is dropped, a later call of this module
    ends it, once the message is complete."""

    __slots__ = ("_lent", "_request", "_status")

    def __init__(self, lent: _Lent, request: Any, status: Any) -> None:
        self._lent: Optional[_Lent] = lent
        self._request, self._status = request, status

    def __del__(self) -> None:
        if self._lent is not None and not MPI.Is_finalized():
            _dropped.add(self)

    def _end(self) -> None:
        lent, self._lent = self._lent, None
        assert lent is not None
        try:
            if self._status is not None:
                lent.received(self._status)
        finally:
            lent.drop()

    def _fail(self, error: Any) -> Exception:
        lent, self._lent = self._lent, None
        if self._request:   # failed, but not over
            self._request.Cancel()
            self._request.Wait()
        assert lent is not None
        lent.drop()
        return _errors(error)

    def _cancel(self) -> bool:
        """Cancels a receive; returns whether its message came in this moment."""
        status = MPI.Status()
        self._request.Cancel()
        self._request.Wait(status)
        if not status.Is_cancelled():
            self._status = status
            return True
        lent, self._lent = self._lent, None
        assert lent is not None
        lent.drop()
        return False

    def test(self) -> bool:
        """Whether the message is complete; then its array is lent no longer."""
        if self._lent is None:
            return True
        try:
            if not self._request.Test(self._status):
                return False
        except MPI.Exception as error:
            raise self._fail(error) from error
        self._end()
        return True

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Waits until the message is complete, and returns the status of a receive.

        `timeout`: seconds, then TimeoutError.  A receive is cancelled then and has ended.  A
        send cannot be cancelled: it is under way still."""
        timeout = _seconds(timeout)
        if self._lent is None:
            return self._status
        if timeout is None:
            try:
                self._request.Wait(self._status)
            except MPI.Exception as error:
                raise self._fail(error) from error
            self._end()
            return self._status
        return self._wait(timeout, time.monotonic() + timeout)

    def _wait(self, timeout: float, end: float) -> Any:
        """Waits until `end` at most; `timeout` is for errors."""
        while not self.test():
            if time.monotonic() < end:
                os.sched_yield()
            elif self._status is None:
                raise TimeoutError(errno.ETIME, f"the send is not complete after {timeout} s and "
                                   "its memory stays lent: wait again")
            elif not self._cancel():
                raise TimeoutError(errno.ETIME, f"no message after {timeout} s; the receive is "
                                   "cancelled")
            else:
                self._end()
                break
        return self._status


def _end_dropped() -> None:
    """Ends dropped requests with a complete message."""
    for _ in range(len(_dropped)):
        request = _dropped.pop()
        with contextlib.suppress(Exception):    # of a dropped message
            if not request.test():
                _dropped.add(request)


def type(a: Any) -> Any:
    """Returns the datatype of the array's elements in C order, from its first element's
    address; the caller frees it by Free()."""
    array = _array(a)
    if array.dtype.hasobject:
        raise TypeError(f"a: {array.dtype!r} holds references to objects, which mean nothing "
                        "outside of this process")
    return _datatype(array, *_axes(array)[:2])


class _Message(list):  # type: ignore[type-arg]
    """A message of mpi4py that frees its datatype."""

    def __del__(self) -> None:
        if not MPI.Is_finalized():
            self[2].Free()


def message(a: Any) -> list[Any]:
    """Returns the array for calls of mpi4py: MPI.COMM_WORLD.Send(message(a.T), 1).

    It waits until no transfer uses the array, and lends nothing: dray.lend() does.
    Requests of mpi4py keep the array."""
    array = _array(a)
    dray.wait(array)
    # A view keeps the array in mpi4py's requests, and is read-only if the array is.
    start: Any = (..., *[slice(1)] * array.ndim)
    first = (array[start].reshape(-1).view("u1") if array.nbytes
             else numpy.empty(0, "u1"))
    return _Message([first, 1, type(array)])


def send(a: Any, dest: int, tag: int = 0, comm: Any = None, *, how: Optional[str] = None) -> None:
    """Sends an array as a message, and waits until its memory may be written again.

    `comm`: a communicator of mpi4py, by default MPI.COMM_WORLD.
    `how`: "type" or "gather" instead of the plan."""
    comm = _communicator(comm)
    _check_rank(dest, comm)
    if how is None and isinstance(a, numpy.ndarray) and _is_plain(a):   # the short way
        if _dropped:
            _end_dropped()
        loan = _dray.lend(a, _dray.ACCESS_READ, "MPI", None)
        try:
            comm.Send(a, dest, tag)
        except MPI.Exception as error:
            raise _errors(error) from error
        finally:
            _dray.end_loan(loan)
        return
    lent = _Lent(a, _dray.ACCESS_READ, comm, how)
    try:
        comm.Send(lent.message, dest, tag)
    except MPI.Exception as error:
        raise _errors(error) from error
    finally:
        lent.drop()


def isend(a: Any, dest: int, tag: int = 0, comm: Any = None, *,
          how: Optional[str] = None) -> Request:
    """Begins to send an array; otherwise as send()."""
    comm = _communicator(comm)
    _check_rank(dest, comm)
    lent = _Lent(a, _dray.ACCESS_READ, comm, how)
    return Request(lent, _run(lent, lambda: comm.Isend(lent.message, dest, tag)), None)


def irecv(a: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, comm: Any = None, *,
          how: Optional[str] = None, timeout: Optional[float] = None) -> Request:
    """Begins to receive into an array; otherwise as recv().  `timeout` is the
    loan's: TimeoutError if a transfer or another loan uses the array for longer."""
    comm = _communicator(comm)
    _check_rank(source, comm, MPI.ANY_SOURCE)
    lent = _Lent(a, _dray.ACCESS_WRITE, comm, how, timeout)
    return Request(lent, _run(lent, lambda: comm.Irecv(lent.message, source, tag)), MPI.Status())


def recv(a: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, comm: Any = None, *,
         timeout: Optional[float] = None, how: Optional[str] = None) -> Any:
    """Receives a message into an array, and returns its status, of mpi4py.

    `timeout`: seconds for the loan and the message together.  The receive is cancelled
    before TimeoutError is raised."""
    if _seconds(timeout) is None:
        return irecv(a, source, tag, comm, how=how).wait()
    assert timeout is not None
    end = time.monotonic() + timeout
    return irecv(a, source, tag, comm, how=how, timeout=timeout)._wait(timeout, end)


def wait(request: Request, timeout: Optional[float] = None) -> Any:
    """request.wait(timeout)"""
    return request.wait(timeout)


def test(request: Request) -> bool:
    """request.test()"""
    return request.test()


def _move(a: Any, access: int, rank: int, win: Any, there: Any, offset: Optional[int],
          how: Optional[str]) -> None:
    there, array = _array(there), _array(a, access)
    if there.shape != array.shape or there.dtype != array.dtype:
        raise ValueError(f"the target is {there.dtype} of shape {there.shape} and the array "
                         f"{array.dtype} of {array.shape}: describe the target with the same")
    unit = win.Get_attr(MPI.WIN_DISP_UNIT)
    if unit != 1:
        raise ValueError(f"the window has a displacement unit of {unit} bytes: make it with 1")
    group = win.Get_group()
    ranks = group.Get_size()
    group.Free()
    if not 0 <= rank < ranks:
        raise ValueError(f"rank {rank} is out of range: the window has {ranks}, from 0")
    if access == _dray.ACCESS_READ and not _is_unique(there):
        raise ValueError("elements of the target share bytes: put into a target without overlap")
    if offset is None:
        base: Any = win.Get_attr(MPI.WIN_BASE)
        size: Any = win.Get_attr(MPI.WIN_SIZE)
        offset = int(there.__array_interface__["data"][0] - base)
        steps = [(count - 1) * stride for count, stride in zip(there.shape, there.strides)]
        low, high = (offset + sum(bound(0, step) for step in steps) for bound in (min, max))
        if there.size and not 0 <= low <= high <= size - there.itemsize:
            raise ValueError(f"the target is not in this rank's window of {size} bytes: say its "
                             "offset")
    target = type(there)
    lent = _Lent(array, access, MPI.COMM_SELF, how)
    try:
        call = win.Put if access == _dray.ACCESS_READ else win.Get
        call(lent.message, rank, (offset, 1, target))
        win.Flush(rank)
        if lent.dense is not None and access == _dray.ACCESS_WRITE:
            dense = lent.dense[:array.nbytes].view(array.dtype).reshape(array.shape)
            dray.Array(array)[...] = dense
    except MPI.Exception as error:
        raise _errors(error) from error
    finally:
        lent.drop()
        target.Free()


def put(a: Any, rank: int, win: Any, there: Any, *, offset: Optional[int] = None,
        how: Optional[str] = None) -> None:
    """Writes an array into the window of `rank`, and waits until it is there.

    `win`: a window of mpi4py with a displacement unit of 1, in a passive epoch, as of
    win.Lock_all().
    `there`: an array of this shape and type in this rank's memory of the window: the same
    place is written there.
    `offset`: bytes from the window's start instead; `there` is then only a description.
    CAUTION: the MPI does not check that all of it is in the window."""
    _move(a, _dray.ACCESS_READ, rank, win, there, offset, how)


def get(a: Any, rank: int, win: Any, there: Any, *, offset: Optional[int] = None,
        how: Optional[str] = None) -> None:
    """Reads from the window of `rank` into an array; otherwise as put()."""
    _move(a, _dray.ACCESS_WRITE, rank, win, there, offset, how)


def _agree(comm: Any, call: Callable[[], Any]) -> list[Any]:
    """Makes a call on all ranks; returns its results, or raises on all."""
    try:
        mine, error = call(), None
    except Exception as raised:
        mine, error = None, raised
    results: list[Any] = comm.allgather((mine, error and str(error)))
    if error is not None:
        raise error
    failed = [f"rank {rank}: {said}" for rank, (_, said) in enumerate(results) if said]
    if failed:
        raise OSError(errno.EREMOTEIO, f"other ranks failed, so this did too: {'; '.join(failed)}")
    return [result for result, _ in results]


def share(a: Any, comm: Any = None) -> list[Optional[numpy.ndarray]]:
    """Shares an array of each rank with the ranks of the same host, by records: all see
    the same memory.  Returns the array of each rank; None for other hosts.

    `a`: in memory that can be shared, as of dray.shared_zeros().

    All ranks call it.  If a rank fails, it raises on all."""
    comm = _communicator(comm)
    array = _array(a)
    host = comm.Split_type(MPI.COMM_TYPE_SHARED, comm.rank)
    try:
        offers = _agree(comm, lambda: (dray.export_array(array), array.dtype))
        ranks = host.allgather(comm.rank)
    finally:
        host.Free()
    arrays: list[Optional[numpy.ndarray]] = [None] * comm.size

    def open_all() -> None:
        for rank in ranks:
            if rank == comm.rank:
                arrays[rank] = array
                continue
            record, dtype = offers[rank]
            opened = dray.open_array(record)
            # Dates and structures come as plain bytes.
            arrays[rank] = opened if opened.dtype == dtype else opened.view(dtype)
    _agree(comm, open_all)
    return arrays


def resplit(a: Any, axis: int, other: int, comm: Any = None, *, out: Any = None) -> numpy.ndarray:
    """Splits an array that is split along `axis`, in the order of the ranks, along the axis
    `other`, by an Alltoallw with datatypes: rows here become columns there.  Returns this
    rank's part.

    `out`: the part to write; by default the axis is split evenly, and memory is dray's.

    All ranks call it.  If a rank fails, it raises on all."""
    comm = _communicator(comm)
    lent: list[_Lent] = []
    made: list[Any] = []

    def extents() -> tuple[Any, ...]:
        nonlocal a, out
        a = _array(a)
        if axis == other or not (0 <= axis < a.ndim and 0 <= other < a.ndim):
            raise ValueError(f"axes {axis} and {other} are not two axes of {a.ndim}, from 0")
        out = None if out is None else _array(out, _dray.ACCESS_WRITE)
        if out is not None and numpy.may_share_memory(a, out):
            raise ValueError("out lies between the elements of the array: split into other memory")
        return (a.shape[axis], -1 if out is None else out.shape[other],
                (a.dtype, axis, other, a.shape[:axis] + a.shape[axis + 1:]))

    def prepare() -> None:
        nonlocal out
        for rank, part in enumerate(parts):
            if part[2] != parts[0][2]:
                raise ValueError("type, axis, other axis and lengths beside the axis are "
                                 f"{parts[0][2]} on rank 0 and {part[2]} on rank {rank}: split "
                                 "parts of the same array")
        total, size, rank = sum(here), comm.size, comm.rank
        shape = list(a.shape)
        shape[axis] = total
        if any(count < 0 for count in there):
            there[:] = [a.shape[other] * (k + 1) // size - a.shape[other] * k // size
                        for k in range(size)]
        shape[other] = there[rank]
        if out is None:
            out = dray.empty(tuple(shape), a.dtype)
        if out.dtype != a.dtype or out.shape != tuple(shape) or sum(there) != a.shape[other]:
            raise ValueError(f"out is {out.dtype} of shape {out.shape}, not {a.dtype} of "
                             f"{tuple(shape)}, or the parts of all ranks are not the whole")
        for array, access, counts, split in ((a, _dray.ACCESS_READ, there, other),
                                             (out, _dray.ACCESS_WRITE, here, axis)):
            lent.append(_Lent(array, access, comm, "type"))
            first = 0
            for count in counts:
                part = array[(slice(None),) * split + (slice(first, first + count),)]
                inner = type(part)
                made.append(MPI.Datatype.Create_struct([1], [first * array.strides[split]], [inner])
                            .Commit())
                inner.Free()
                first += count

    try:
        parts = _agree(comm, extents)
        here, there = [part[0] for part in parts], [part[1] for part in parts]
        _agree(comm, prepare)
        counts, zeros = [1] * comm.size, [0] * comm.size
        comm.Alltoallw([_bytes_of(a), (counts, zeros), made[:comm.size]],
                       [_bytes_of(out), (counts, zeros), made[comm.size:]])
    except MPI.Exception as error:
        raise _errors(error) from error
    finally:
        for datatype in made:
            datatype.Free()
        for each in lent:
            each.drop()
    whole: numpy.ndarray = out
    return whole


def explain(a: Any, peer: int, comm: Any = None, *, how: Optional[str] = None) -> Plan:
    """Returns the plan of a message to or from the rank `peer`; moves nothing."""
    comm = _communicator(comm)
    _check_rank(peer, comm)
    array = _array(a)
    way, run, axes = _way(array, how)
    if way == "staged":
        dense = _dray.bytes_in(_functions.pool(), array.nbytes).view(array.dtype)
        copy = dray.explain(dense.reshape(array.shape), array)
        return Plan(way, array.nbytes, run, len(axes), copy.engine, copy.reason)
    return Plan(way, array.nbytes, run, len(axes), False,
                "MPI moves the array as a datatype" if axes else "the array is contiguous")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""NumPy arrays in memory that DMA engines reach.

    import dray, numpy as np

    with dray.memory():
        picture = np.zeros((1080, 1920, 3), np.uint8)
        top = np.empty((540, 1920, 3), np.uint8)
    dray.copy(top, picture[:540])

Arrays made inside the scope lie in buffers of dray: of the kernel module
where one is loaded, else of the host, where everything works but engines and
addresses.  DRAY_BACKEND in the environment chooses ("kernel",
"kernel:dray1", "host", "host:shareable", "shareable").  An array stays what it is outside
the scope, and so do its views; only new arrays go elsewhere.

DRAY_HANDLER=check in the environment finds, for debugging, writes next to
arrays and after their end, wrong frees and leaks, and says them on standard
error.

Arrays in memory that can be shared (dray.memory(shareable=True), and all memory
of the kernel module) go to other processes without a copy.  From the first
request for such memory on, or from share_arrays(), multiprocessing passes arrays
of 32 KiB and more that way: both processes then have the same array.  The
receiver can also read and write the rest of the pool's buffer around it; an array
of shared_zeros() has a buffer of its own.  Ordinary pickles are copies.

CAUTION: fork() does not copy such memory.  A forked child, a worker of
multiprocessing for one, that writes to an array of its parent changes the
parent's array, although nothing was sent.

An array that was sent and not received keeps its memory: waiting_arrays() and
revoke_waiting().  If it cannot be opened where it arrives, it is a LostArray
there, which raises the error when it is used.  A process that multiprocessing has
started waits up to 5 seconds, when it ends, until its arrays are received; so a
queue is read before its writer is joined.  It does not wait for a queue whose
cancel_join_thread() it has called.  The program itself does not wait: what it has
sent and nobody has received is lost at its end; waiting_arrays() has what would
be.  Each array that is open in another process takes a descriptor of both; when
three quarters of a process's descriptors are in use, arrays are copied.

No array can be opened on another machine.  A process that sends arrays through
connections or managers of TCP ("AF_INET") calls share_arrays(False) before.

Errors are ordinary exceptions: ValueError and TypeError for arguments,
MemoryError, PermissionError, TimeoutError, and OSError with its errno for
the rest.  Each carries the library's sentence.
"""

from __future__ import annotations

import errno
import math
import operator
import os
import sys
import threading
import weakref
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy

from . import _dray, _pickle
from ._dray import Fence, Node, Pool, Scope
from ._lost import LostArray
from ._records import (ChannelInfo, Explanation, HeapInfo, NodeInfo, PoolStats,
                       Segment)

__all__ = [
    "ChannelInfo", "Explanation", "Fence", "HeapInfo", "LostArray", "Node",
    "NodeInfo", "Pool", "PoolStats", "Scope", "Segment", "Versions",
    "WaitingArray",
    "address", "array", "copy", "empty", "explain", "export_array", "fill", "handler_name",
    "install", "last_error", "memory", "nodes", "open_array",
    "pool", "receive", "revoke_array", "revoke_waiting", "segments", "send",
    "share_arrays", "shared_zeros", "stats", "sync_for_cpu", "sync_for_device", "uninstall",
    "versions", "waiting_arrays", "zeros",
]

__version__: str = _dray.version


class Versions(NamedTuple):
    """Who is here, as "major.minor.patch"."""

    package: str
    """This package; also dray.__version__."""
    library: str
    """The libdray that it found when it was imported."""

    @property
    def match(self) -> bool:
        """Whether both are the same."""
        return self.package == self.library


def versions() -> Versions:
    """The versions of this package and of the library under it.  They differ
    where one of them was updated alone, or LD_LIBRARY_PATH finds another
    library.  That of the kernel module is in Node.info()."""
    return Versions(_dray.version, _dray.library_version)


# What memory() and its likes make on first use and keep for the process.
_made: dict[Any, Any] = {}
# Taken to make something, never to look it up; by one thread twice, because a
# signal handler or a finalizer may run in the middle, and ask for memory too.
_lock = threading.RLock()


def _new_lock() -> None:
    """A thread of the parent may have held the lock when it forked."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


def _once(key: Any, make: Callable[[], Any]) -> Any:
    """What is kept under `key`, made by the first call."""
    if key not in _made:
        with _lock:
            if key not in _made:
                made = make()
                # What came in the middle may have made one, and used it.
                _made.setdefault(key, made)
    return _made[key]


def open(spec: Optional[str] = None) -> Node:
    """Opens a node: None (what is there), "kernel", "kernel:dray1", "host",
    "host:shareable" (host memory that other processes can receive), or
    "shareable" (the module, else "host:shareable")."""
    node = _dray.open(spec)
    if node.shareable and node.backend == "host":
        _pickle.asked()
    return node


def nodes() -> list[str]:
    """The names of the kernel module's nodes; [] where it is not loaded."""
    return _dray.nodes()


def _node(shareable: bool) -> Node:
    """The node that all defaults use."""
    node = _once(None, lambda: open(None))
    if shareable:
        _pickle.asked()
        if not node.shareable:
            node = _once("shareable", lambda: open("host:shareable"))
    return node


def pool(heap: Optional[str] = None, *, shareable: bool = False) -> Pool:
    """The pool that memory() uses with the same arguments.

    There is one for each heap, made by the first call.  With `shareable` its
    arrays can be sent to other processes; on the kernel back end all can,
    private host memory cannot.  See memory() for what fork() does to them.
    """
    node = _node(shareable)
    made = _once((node, heap), lambda: node.pool(heap=heap))
    if made.closed:
        _made.pop((node, heap), None)
        return pool(heap, shareable=shareable)
    return made


# What memory() or install() has chosen last.
_chosen: Callable[[], Optional[Pool]] = lambda: None


def _choose(chosen: Optional[Pool], heap: Optional[str],
            shareable: bool) -> Pool:
    global _chosen
    if chosen is None:
        chosen = pool(heap, shareable=shareable)
    elif heap is not None or shareable:
        raise TypeError("a pool has its heap and its node already: pass the "
                        "pool, or heap= and shareable=")
    if isinstance(chosen, Pool):
        _chosen = weakref.ref(chosen)
    return chosen


def memory(pool: Optional[Pool] = None, *, heap: Optional[str] = None,
           shareable: bool = False, min_bytes: Union[int, str] = 0) -> Scope:
    """A scope in which new arrays lie in dray memory.

        with dray.memory(): ...
        with dray.memory(heap="cma"): ...
        with dray.memory(min_bytes="4K"): ...
        with dray.memory(dray.open("kernel:dray1").pool()) as pool: ...

        @dray.memory()
        def load(path): ...

    `with pool:` is the same as `with dray.memory(pool):`.

    New arrays only: an expression after the scope, as `picture + 1`,
    numpy.zeros_like(picture) or picture.copy(), makes an array in NumPy's own
    memory, although `picture` is in dray's.

    Holds for the thread (or the asyncio task) that enters it, as NumPy keeps
    its handler; new threads start without.  Threads of a ThreadPoolExecutor, of
    loop.run_in_executor() and of joblib thus use NumPy's own memory, whatever
    the thread that made them does: give the executor initializer=dray.install.
    Scopes nest, and one may be entered again while it is open.

    From Python 3.11 on, NumPy's MemoryError has a note with dray's reason when
    it leaves the scope.

    With `shareable`, other processes can have the same array; multiprocessing
    then passes arrays of 32 KiB and more without a copy, see share_arrays().
    CAUTION: fork() does not copy such arrays.  If a forked child, as a worker
    of multiprocessing or of PyTorch's DataLoader, writes to an array of its
    parent, the parent's array changes.  So it is with all memory of the kernel
    module.  Copy before you write there, or start workers by "spawn".

    Arrays smaller than `min_bytes` stay with the handler that was there when
    the scope was entered, NumPy's own or that of a scope around it.  One that
    is resized across the limit moves; handler_name() tells where it is.
    """
    return _dray.scope(_choose(pool, heap, shareable), min_bytes)


def install(pool: Optional[Pool] = None, *, heap: Optional[str] = None,
            shareable: bool = False, min_bytes: Union[int, str] = 0) -> Scope:
    """As memory(), without an end: for this thread or task, until
    uninstall() or the end of a scope around it.  The result has its `pool`; if
    it is used in `with`, the end of that goes back to what was there before:

        dray.install()
        with dray.install(shareable=True) as pool: ...
        ThreadPoolExecutor(initializer=dray.install)

    With `min_bytes` it takes the
    place of an earlier one with such a limit: smaller arrays stay where they
    were before both.

    CAUTION, with `shareable` and on the kernel module: fork() does not copy
    such arrays.  A forked child that writes to one changes its parent's, as
    memory() says; after install() that is true of all new arrays."""
    return _dray.set_handler(_choose(pool, heap, shareable), min_bytes)


def uninstall() -> None:
    """Lets new arrays of this thread or task use NumPy's own memory."""
    _dray.set_handler(None)


def empty(shape: Any, dtype: Any = float, order: Any = "C", *,
          pool: Optional[Pool] = None, heap: Optional[str] = None,
          shareable: bool = False) -> numpy.ndarray:
    """numpy.empty() in the memory that memory() has with the same arguments."""
    with memory(pool, heap=heap, shareable=shareable):
        return numpy.empty(shape, dtype, order)


def zeros(shape: Any, dtype: Any = float, order: Any = "C", *,
          pool: Optional[Pool] = None, heap: Optional[str] = None,
          shareable: bool = False) -> numpy.ndarray:
    """numpy.zeros(), as empty()."""
    with memory(pool, heap=heap, shareable=shareable):
        return numpy.zeros(shape, dtype, order)


def array(values: Any, dtype: Any = None, *, pool: Optional[Pool] = None,
          heap: Optional[str] = None,
          shareable: bool = False) -> numpy.ndarray:
    """A new array of `values`, as numpy.array(), in memory as empty()'s."""
    with memory(pool, heap=heap, shareable=shareable):
        return numpy.array(values, dtype)


def handler_name(a: Any = None) -> Optional[str]:
    """The name of the handler that allocated `a`, or what `a` is a view of:
    "dray kernel", "dray host" (private), "dray host:shareable",
    "default_allocator".  None where no handler did: received arrays, foreign
    memory.  `a` may give its array by __array__(), as a Series of pandas does.
    Without `a`: of the handler that
    the next new array uses, "dray host from 4096 bytes" where a least size
    chooses between two."""
    return _dray.handler_name(a)


def address(a: numpy.ndarray) -> int:
    """The DMA address of the element a[0, 0, ...], for the array's node.

    PermissionError where this process may not see addresses; OSError
    (EOPNOTSUPP) on the host, which has none.
    """
    return _dray.address(a)


def segments(a: numpy.ndarray) -> list[Segment]:
    """The pieces (address, length) that hold all bytes from the lowest to
    the highest one of `a`, the gaps of a view included.  Errors: as
    address()."""
    return _dray.segments(a)


def sync_for_device(a: numpy.ndarray, direction: str = "both") -> None:
    """Makes what the CPU wrote to `a` visible to the device: exactly its
    rows.  `direction` is what the device does with it: "to_device" (it
    reads), "from_device" (it writes) or "both".  Transfers of dray's own
    need no such call."""
    _dray.sync(a, direction, _dray.FOR_DEVICE)


def sync_for_cpu(a: numpy.ndarray, direction: str = "both") -> None:
    """Makes what the device wrote to `a` visible to the CPU.  Bytes that the
    CPU wrote there meanwhile are lost."""
    _dray.sync(a, direction, _dray.FOR_CPU)


def copy(dst: numpy.ndarray, src: numpy.ndarray, *,
         engine: Optional[bool] = None, wait: bool = True) -> Fence:
    """Copies src to dst: arrays or views of one shape and type.  One of both
    at least is in dray's memory; with another array the CPU copies.  Bytes
    between the elements of dst are not touched.

    `engine`: None lets a threshold decide (explain() tells), True is the DMA
    engine or an OSError, False the CPU.  With wait=False it returns while the
    engine works; the fence keeps both arrays alive until then.
    """
    return _dray.copy(dst, src, engine=engine, wait=wait)


def fill(dst: numpy.ndarray, value: Any, *, engine: Optional[bool] = None,
         wait: bool = True) -> Fence:
    """Sets every element of dst to `value`, which NumPy converts to its
    type.  Otherwise as copy()."""
    return _dray.fill(dst, value, engine=engine, wait=wait)


def explain(dst: numpy.ndarray, src: numpy.ndarray, *,
            engine: Optional[bool] = None) -> Explanation:
    """What copy() would do with the same arguments, and why; copies
    nothing."""
    return _dray.explain(dst, src, engine=engine)


def send(sock: Any, array: numpy.ndarray) -> None:
    """Passes an array to the process at the other end of `sock`, a connected
    blocking Unix socket or its descriptor.

    Nothing is copied: both processes then see the same memory, the whole
    buffer that the array lies in.  Keep the array until the receiver is done:
    once its memory is freed here, other data come into it, which the receiver
    then sees (a record, of export_array(), holds it instead).  Dates lose
    their unit and structures their fields: the receiver knows what to view()
    them as.

    Blocks as the socket does, other threads go on.  ValueError for an array
    that is not in dray's memory, OSError (EOPNOTSUPP) for one in private host
    memory: memory(shareable=True) makes others.
    """
    _dray.send(sock, array)


def receive(sock: Any, node: Optional[Node] = None) -> numpy.ndarray:
    """The array that the other end sends; waits until there is one, other
    threads go on.  Its memory stays mapped as long as the array or a view of
    it lives.  With `node` the memory is mapped for that one, otherwise for
    the node that it is of.

    ConnectionResetError where the sender has closed the socket, OSError
    (EBADMSG) for what is no array.
    """
    return _dray.receive(sock, node)


def _extents(shape: Any) -> tuple[int, ...]:
    """A shape as numpy.zeros() takes it."""
    try:
        extents = (operator.index(shape),)
    except TypeError:
        extents = tuple(operator.index(extent) for extent in shape)
    for extent in extents:
        if extent < 0:
            raise ValueError(f"shape is {shape!r}: an extent of {extent}, 0 is "
                             "the least")
    return extents


def shared_zeros(shape: Any, dtype: Any = float) -> numpy.ndarray:
    """An array of zeros in a buffer of its own, so that a process that it is
    sent or exported to reaches nothing else.  It takes whole pages of the
    default node, and at least one.

    TypeError for a type with objects, ValueError for elements without bytes
    and for a shape that no array can have, MemoryError where there is no room.
    """
    # What a type leaves open is as in numpy.zeros(): "U" is one character.
    element = numpy.empty((), dtype)
    kind = element.dtype
    if kind.hasobject:
        raise TypeError(f"an array of {kind} cannot be shared: it holds "
                        "references to objects")
    if not kind.itemsize:
        raise ValueError(f"an array of {kind!r} cannot be shared: its "
                         "elements have no bytes")
    extents = _extents(shape) + element.shape
    size = math.prod(extents) * kind.itemsize
    if size > sys.maxsize:
        raise ValueError(f"an array of shape {extents} and type {kind} has "
                         f"{size} bytes: {sys.maxsize} are the most")
    return _dray.bytes_alone(_node(True), size).view(kind).reshape(extents)


def export_array(array: numpy.ndarray, *, read_only: bool = False,
                 any_user: bool = False) -> bytes:
    """A record of `array`: bytes that lead another process on this machine
    to it, by open_array().

    They hold no pointer and no descriptor, but a secret and the name of a
    socket where a thread of this process answers: with `any_user` to whoever
    has the record, otherwise to processes of its own user only.  With
    `read_only` others can never write the memory; on the host it has to be
    from shared_zeros() then.  Otherwise they can write, and read, the whole
    buffer that the array lies in.

    The record ends when the array's memory is freed, which whoever has it
    open by then keeps, when revoke_array() has undone each export of it, and
    with this process.  The same array has the same record; nothing has to be
    given back.

    ValueError for an array that is not in dray's memory or has no elements,
    OSError (EOPNOTSUPP) for private host memory: memory(shareable=True) and
    shared_zeros() make others.  PermissionError for memory that this process
    may only read, or has exported with `read_only` before, without it.
    """
    flags = _dray.READ_ONLY * bool(read_only) | _dray.ANY_USER * bool(any_user)
    return _dray.export(array, flags)


def open_array(record: bytes, node: Optional[Node] = None) -> numpy.ndarray:
    """The array that `record` leads to: the same memory, nothing is copied.
    It stays as long as the array or a view of it lives, and the exporter does
    not use it for anything else until then.  With `node` the memory is mapped
    for that one, otherwise for the node that it is of.  Dates and structures
    arrive as from receive().

    Asks the exporter, unless the record is open here already, and waits for
    ten seconds at most; other threads go on.

    ConnectionRefusedError where the exporter is gone or exports nothing any
    more, PermissionError for another user's or a wrong secret, OSError
    (ESTALE) where the memory was freed, OSError (EBADMSG) for what is no
    record, TimeoutError where the exporter does not answer.
    """
    return _dray.open_record(record, node)


def revoke_array(record: bytes) -> None:
    """Undoes one export_array(), or ends a record of waiting_arrays().  With
    the last export the record ends: nobody can open it from now on, and
    processes that have it open keep the array.

    OSError (ESTALE) where it has ended already or is another process's,
    OSError (EBADMSG) for what is no record, ValueError for fewer bytes than
    any has.
    """
    _dray.revoke(record)


def share_arrays(on: bool = True, *,
                 min_bytes: int = _pickle.MIN_BYTES) -> bool:
    """Lets multiprocessing pass arrays in memory that can be shared as what
    they are, or with on=False as copies; returns what it did before.

    The first call with shareable=True, of shared_zeros() or for a node
    "host:shareable" does the same, and so does receiving such an array, unless
    this was called before.  Until then multiprocessing copies all arrays.

    Arrays of less than `min_bytes` are copied, which is faster than to share
    them: a write to such a copy is not seen by others.  Small arrays of
    shared_zeros() are never copied.

    With on=False, what this process sends can be received on other machines.
    Holds for all threads, since queues pickle in threads of their own, and for
    children that are forked from now on; those that are spawned, and managers,
    decide for what they send themselves.
    """
    return _pickle.share(on, min_bytes)


class WaitingArray(NamedTuple):
    """An array that multiprocessing has sent and nobody has received."""

    record: bytes
    """What revoke_array() takes; of the memory, so nothing to open_array()."""
    nbytes: int
    """Bytes of memory that it keeps, from the first to the last one."""
    seconds: float
    """Since it was pickled."""


def waiting_arrays() -> list[WaitingArray]:
    """The arrays of this process that multiprocessing has pickled and that no
    process has received yet.

    Each keeps its memory, forgotten here or not (stats() counts it as
    parked), since whoever puts an array into a queue may forget it at once.
    One whose receiver has died, or whose queue was thrown away, does so until
    it is revoked or this process ends.
    """
    return [WaitingArray(*entry) for entry in _dray.waiting()]


def revoke_waiting(older_than: float = 0.0) -> int:
    """Revokes the arrays of waiting_arrays() that were pickled so many seconds
    ago, or earlier; how many they were.  What has been received by then is
    left alone.

    A revoked array's memory is free again where no array of this process has
    it, and the array is lost to a receiver that comes later: multiprocessing
    gives that a LostArray, which raises OSError (ESTALE), or
    ConnectionRefusedError where this process exports nothing else.  A message
    that is still on its way cannot be told from one that nobody will read:
    `older_than` is longer than the slowest receiver takes.
    """
    count = 0
    for waiting in waiting_arrays():
        if waiting.seconds < older_than:
            continue
        try:
            _dray.revoke(waiting.record)
        except OSError as error:
            # It was received meanwhile, and let go again.
            if error.errno != errno.ESTALE:
                raise
        else:
            count += 1
    return count


def stats(pool: Optional[Pool] = None) -> PoolStats:
    """Counters of a pool.  Without one: of the pool of the innermost scope of
    this thread or task, else of the one that memory() or install() has chosen
    last, else of the default one."""
    used = pool or _dray.current_pool() or _chosen()
    if used is None or pool is None and used.closed:
        used = _choose(None, None, False)
    return used.stats()


def last_error() -> str:
    """Why the last call of this thread to libdray failed.  NumPy's
    MemoryError says it only as a note, when it leaves a scope."""
    return _dray.last_error()



# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The functions that users call, and the nodes and pools that they keep."""

from __future__ import annotations

import errno
import math
import operator
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, TypeVar, Union, overload

import numpy

from . import _dray, _pickle, _sycl
from ._dray import Array, Pool, Scope
from ._fence import Fence
from ._node import Node
from ._records import Explanation, HeapInfo, PoolStats, Segment
from ._stream import Stream
from ._sycl import SyclArray
from ._types import filled, made_of, user_type

if TYPE_CHECKING:  # its import lasts a tenth as long as NumPy 1.24's
    from numpy.typing import NDArray

    from .mr import MemoryResource

# NumPy's array, or the library's.
_AnyArray = Union[numpy.ndarray, Array]
# Of the array that a type such as numpy.uint8, or numpy.dtype("u1"), leads to.
_Scalar = TypeVar("_Scalar", bound=numpy.generic)
_Element = Union[type[_Scalar], numpy.dtype[_Scalar]]


class Versions(NamedTuple):
    """Versions, as "major.minor.patch"."""

    package: str
    """This package; also dray.__version__."""
    library: str
    """The libdray that the package loaded."""

    @property
    def match(self) -> bool:
        """Whether both are the same."""
        return self.package == self.library


def versions() -> Versions:
    """The versions of this package and of the library under it.  They differ
    if a single package was updated, or if LD_LIBRARY_PATH finds another
    library.  Node.info() returns the version of the kernel module."""
    return Versions(_dray.version, _dray.library_version)


# Nodes and pools that memory() and the like make on first use and keep.
_made: dict[Any, Any] = {}
# Held to make an entry, never to look for an entry.  A thread may hold it twice: a
# signal handler or a finalizer may run in the middle, and ask for memory too.
_lock = threading.RLock()


def _new_lock() -> None:
    """Renews the lock, which a thread of the parent perhaps held at fork()."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


def _once(key: Any, make: Callable[[], Any]) -> Any:
    """Returns the entry of `key`, made by the first call."""
    if key not in _made:
        with _lock:
            if key not in _made:
                made = make()
                # A handler that ran in the middle may add the entry, too.
                _made.setdefault(key, made)
    return _made[key]


def open(spec: Optional[str] = None) -> Node:
    """Opens a node: None (the module if loaded, else the host), "kernel",
    "kernel:dray1", "host", "host:shareable" (host memory that other processes
    can receive), or "shareable" (the module, else "host:shareable")."""
    node = _dray.open(spec)
    if node.shareable and node.backend == "host":
        _pickle.asked()
    return node


def nodes() -> list[str]:
    """The names of the kernel module's nodes; [] if it is not loaded."""
    return _dray.nodes()


def _node(shareable: bool) -> Node:
    """Returns the node that all defaults use."""
    if not isinstance(shareable, (int, numpy.bool_)):
        raise TypeError(f"shareable is {shareable!r}: True or False")
    node: Node = _once(None, lambda: open(None))
    if shareable:
        _pickle.asked()
        if not node.shareable:
            node = _once("shareable", lambda: open("host:shareable"))
    return node


def pool(heap: Optional[str] = None, *, shareable: bool = False) -> Pool:
    """The pool that memory() uses with the same arguments.

    The first call makes the pool of a heap.  With `shareable` its arrays can
    be sent to other processes; on the kernel back end all can, private host
    memory cannot.  memory() describes such arrays and fork().
    """
    node = _node(shareable)
    made: Pool = _once((node, heap), lambda: node.pool(heap=heap))
    if made.closed:
        _made.pop((node, heap), None)
        return pool(heap, shareable=shareable)
    return made


# The pool that memory() or install() chose last.
_chosen: Callable[[], Optional[Pool]] = lambda: None


def _choose(chosen: Union[Pool, MemoryResource, None], heap: Optional[str],
            shareable: bool) -> Union[Pool, MemoryResource]:
    global _chosen
    if chosen is None:
        chosen = pool(heap, shareable=shareable)
    elif heap is not None or shareable:
        raise TypeError("a pool has its heap and its node already: pass the "
                        "pool, or heap= and shareable=")
    if isinstance(chosen, Pool):
        _chosen = weakref.ref(chosen)
    return chosen


def memory(pool: Union[Pool, MemoryResource, None] = None, *, heap: Optional[str] = None,
           shareable: bool = False, min_bytes: Union[int, str] = 0) -> Scope:
    """A scope in which new arrays lie in dray memory.

        with dray.memory(): ...
        with dray.memory(heap="cma"): ...
        with dray.memory(min_bytes="4K"): ...
        with dray.memory(dray.open("kernel:dray1").pool()) as pool: ...
        with dray.memory(dray.mr.LimitingResourceAdaptor(dray.mr.PoolMemoryResource(), "1G")): ...

        @dray.memory()
        def load(path): ...

    `with pool:` is the same as `with dray.memory(pool):`.

    Only new arrays lie there.  An expression after the scope, such as
    `picture + 1`, numpy.zeros_like(picture) or picture.copy(), makes an array in
    NumPy's own memory, even if `picture` is in dray's.

    The scope holds for the thread (or the asyncio task) that enters it, as
    NumPy's handler does; new threads start without it.  Threads of a
    ThreadPoolExecutor, of loop.run_in_executor() and of joblib thus use NumPy's
    own memory: pass initializer=dray.install to the executor.  Scopes nest, and a scope
    may be entered again while it is open.

    From Python 3.11 on, NumPy's MemoryError gets a note with dray's reason when
    it leaves the scope.

    With `shareable`, other processes can open the same array; multiprocessing
    then passes arrays of 32 KiB and more without a copy, see share_arrays().
    CAUTION: fork() does not copy such arrays.  If a forked child, such as a
    worker of multiprocessing or of PyTorch's DataLoader, writes to an array of
    its parent, the parent's array changes.  If the parent drops or resizes an array,
    the child's becomes zero or shows the parent's next array.  This is also true
    of all memory of the kernel module.  Copy before you write there, or start workers by "spawn".

    CAUTION: never make arrays of Python objects (dtype=object, columns of text in
    pandas) in a scope of such memory.  Counts and frees of objects in a child would
    change those of its parent: either may crash or read wrong objects.  dray.empty(),
    zeros() and array() refuse them; the scope cannot, since it sees sizes only.

    Arrays smaller than `min_bytes` stay with the handler that was active when
    the scope was entered, NumPy's own or an outer scope's.  An array that is resized
    across the limit moves; handler_name() names the handler then.
    """
    return _dray.scope(_choose(pool, heap, shareable), min_bytes)


def install(pool: Union[Pool, MemoryResource, None] = None, *, heap: Optional[str] = None,
            shareable: bool = False, min_bytes: Union[int, str] = 0) -> Scope:
    """As memory(), without an end: for this thread or task, until
    uninstall() or the end of a scope around it.  The result is a scope with its `pool`.  If
    `with` uses the result, its end restores the previous handler:

        dray.install()
        with dray.install(shareable=True) as pool: ...
        ThreadPoolExecutor(initializer=dray.install)

    With `min_bytes` it replaces an earlier install() with such a limit: smaller
    arrays stay where they were before both.

    CAUTION, with `shareable` and on the kernel module: fork() does not copy
    such arrays.  If a forked child writes to an array, its parent's array changes; if
    the parent drops an array, the child's changes, and arrays of Python objects may crash
    either, as memory() says; after install() this is true of all new arrays."""
    return _dray.set_handler(_choose(pool, heap, shareable), min_bytes)


def uninstall() -> None:
    """Lets new arrays of this thread or task use NumPy's own memory."""
    _dray.set_handler(None)


_AnArray = TypeVar("_AnArray", bound="NDArray[Any]")


def _without_objects(made: _AnArray) -> _AnArray:
    """Refuses references in memory that other processes and devices may use."""
    if made.dtype.hasobject:
        raise TypeError(f"an array of {made.dtype} cannot lie in dray's memory: it holds "
                        "references to objects of this process; make it by NumPy, outside "
                        "of dray.memory()")
    return made


@overload
def empty(shape: Any, dtype: None = None, order: Any = "C", *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[numpy.float64]: ...
@overload
def empty(shape: Any, dtype: _Element[_Scalar], order: Any = "C", *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[_Scalar]: ...
@overload
def empty(shape: Any, dtype: Any, order: Any = "C", *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[Any]: ...


def empty(shape: Any, dtype: Any = None, order: Any = "C", *,
          pool: Optional[Pool] = None, heap: Optional[str] = None,
          shareable: bool = False) -> NDArray[Any]:
    """numpy.empty() in the memory of memory() with the same arguments.

    TypeError for a type of Python objects, which other processes and devices cannot
    use."""
    with memory(pool, heap=heap, shareable=shareable):
        return _without_objects(numpy.empty(shape, dtype, order))


@overload
def zeros(shape: Any, dtype: None = None, order: Any = "C", *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[numpy.float64]: ...
@overload
def zeros(shape: Any, dtype: _Element[_Scalar], order: Any = "C", *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[_Scalar]: ...
@overload
def zeros(shape: Any, dtype: Any, order: Any = "C", *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[Any]: ...


def zeros(shape: Any, dtype: Any = None, order: Any = "C", *,
          pool: Optional[Pool] = None, heap: Optional[str] = None,
          shareable: bool = False) -> NDArray[Any]:
    """numpy.zeros(), as empty()."""
    with memory(pool, heap=heap, shareable=shareable):
        return _without_objects(numpy.zeros(shape, dtype, order))


@overload
def array(values: NDArray[_Scalar], dtype: None = None, *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[_Scalar]: ...
@overload
def array(values: Any, dtype: _Element[_Scalar], *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[_Scalar]: ...
@overload
def array(values: Any, dtype: Any = None, *, pool: Optional[Pool] = None,
          heap: Optional[str] = None, shareable: bool = False) -> NDArray[Any]: ...


def array(values: Any, dtype: Any = None, *, pool: Optional[Pool] = None,
          heap: Optional[str] = None,
          shareable: bool = False) -> NDArray[Any]:
    """A new array of `values`, as numpy.array(), in memory as empty(), with its errors."""
    with memory(pool, heap=heap, shareable=shareable):
        users = user_type(dtype)
        return made_of(values, users) if users else _without_objects(numpy.array(values, dtype))


@overload
def ones(shape: Any, dtype: None = None, order: Any = "C", *, pool: Optional[Pool] = None,
         heap: Optional[str] = None, shareable: bool = False) -> NDArray[numpy.float64]: ...
@overload
def ones(shape: Any, dtype: _Element[_Scalar], order: Any = "C", *, pool: Optional[Pool] = None,
         heap: Optional[str] = None, shareable: bool = False) -> NDArray[_Scalar]: ...
@overload
def ones(shape: Any, dtype: Any, order: Any = "C", *, pool: Optional[Pool] = None,
         heap: Optional[str] = None, shareable: bool = False) -> NDArray[Any]: ...


def ones(shape: Any, dtype: Any = None, order: Any = "C", *,
         pool: Optional[Pool] = None, heap: Optional[str] = None,
         shareable: bool = False) -> NDArray[Any]:
    """numpy.ones(), as empty()."""
    with memory(pool, heap=heap, shareable=shareable):
        if user_type(dtype):
            return filled(numpy.empty(shape, dtype, order), 1)
        return _without_objects(numpy.ones(shape, dtype, order))


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *,
         pool: Optional[Pool] = None, heap: Optional[str] = None,
         shareable: bool = False) -> NDArray[Any]:
    """numpy.full(), as empty()."""
    with memory(pool, heap=heap, shareable=shareable):
        if user_type(dtype):
            return filled(numpy.empty(shape, dtype, order), fill_value)
        return _without_objects(numpy.full(shape, fill_value, dtype, order))


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *,
           pool: Optional[Pool] = None, heap: Optional[str] = None,
           shareable: bool = False) -> NDArray[Any]:
    """numpy.arange(), as empty(): from 0 if `start` is alone."""
    first, end = (0, start) if stop is None else (start, stop)
    with memory(pool, heap=heap, shareable=shareable):
        return _without_objects(numpy.arange(first, end, 1 if step is None else step,  # type: ignore[call-overload]
                                             dtype))


def asarray(values: Any, dtype: Any = None, *, pool: Optional[Pool] = None,
            heap: Optional[str] = None, shareable: bool = False) -> NDArray[Any]:
    """As array(), but without a copy of an array of that type that lies in dray's memory already,
    if no pool, heap or shareable memory is asked for."""
    if isinstance(values, (numpy.ndarray, Array)) and not (pool or heap or shareable):
        there = numpy.asarray(values)
        same = dtype is None or (there.dtype == dtype
                                 and user_type(there.dtype) is user_type(dtype))
        if same and memory_kind(values) != "unknown":
            return there
    return array(numpy.asarray(values), dtype, pool=pool, heap=heap, shareable=shareable)


def empty_like(prototype: Any, dtype: Any = None, order: Any = "K", *, shape: Any = None,
               pool: Optional[Pool] = None, heap: Optional[str] = None,
               shareable: bool = False) -> NDArray[Any]:
    """numpy.empty_like(), as empty(); an array of NumPy for a dray.Array, too."""
    with memory(pool, heap=heap, shareable=shareable):
        return _without_objects(numpy.empty_like(numpy.asarray(prototype), dtype, order, False, shape))


def full_like(prototype: Any, fill_value: Any, dtype: Any = None, order: Any = "K", *,
              shape: Any = None, pool: Optional[Pool] = None, heap: Optional[str] = None,
              shareable: bool = False) -> NDArray[Any]:
    """numpy.full_like(), as empty_like()."""
    made = empty_like(prototype, dtype, order, shape=shape, pool=pool, heap=heap, shareable=shareable)
    return filled(made, fill_value)


def ones_like(prototype: Any, dtype: Any = None, order: Any = "K", *, shape: Any = None,
              pool: Optional[Pool] = None, heap: Optional[str] = None,
              shareable: bool = False) -> NDArray[Any]:
    """numpy.ones_like(), as empty_like()."""
    return full_like(prototype, 1, dtype, order, shape=shape, pool=pool, heap=heap, shareable=shareable)


def zeros_like(prototype: Any, dtype: Any = None, order: Any = "K", *, shape: Any = None,
               pool: Optional[Pool] = None, heap: Optional[str] = None,
               shareable: bool = False) -> NDArray[Any]:
    """numpy.zeros_like(), as empty_like()."""
    with memory(pool, heap=heap, shareable=shareable):
        return _without_objects(numpy.zeros_like(numpy.asarray(prototype), dtype, order, False, shape))


def handler_name(a: Any = None) -> Optional[str]:
    """The name of the handler that allocated `a`, or the array that `a` is a
    view of: "dray kernel", "dray host" (private), "dray host:shareable",
    "default_allocator".  None if no handler did: received arrays, foreign
    memory.  `a` may convert itself by __array__(), as a Series of pandas does.
    Without `a`, the name of the handler for the next new array: "dray host from
    4096 bytes" if a least size chooses between two."""
    return _dray.handler_name(a)


def address(a: _AnyArray) -> int:
    """The DMA address of the element a[0, 0, ...], for the array's node.

    PermissionError if this process may not see addresses; OSError (EOPNOTSUPP)
    on the host, which knows no addresses.
    """
    return _dray.address(a)


def segments(a: _AnyArray) -> list[Segment]:
    """The pieces (address, length) that hold all bytes from the lowest to
    the highest byte of `a`, the gaps of a view included.  Errors: as
    address()."""
    return _dray.segments(a)


def sync_for_device(a: _AnyArray, direction: str = "both") -> None:
    """Makes the CPU's writes to `a` visible to the device: exactly its rows.
    `direction` is the device's next access: "to_device" (it reads),
    "from_device" (it writes) or "both".  Transfers of dray need no such
    call."""
    _dray.sync(a, direction, _dray.FOR_DEVICE)


def sync_for_cpu(a: _AnyArray, direction: str = "both") -> None:
    """Makes the device's writes to `a` visible to the CPU.  If the CPU wrote
    there meanwhile, its bytes are lost."""
    _dray.sync(a, direction, _dray.FOR_CPU)


def wait(a: _AnyArray, *, write: bool = False,
         timeout: Optional[float] = None) -> None:
    """Waits until the CPU may read `a`: until no copy and no packet of this process
    is written to its memory.  With write=True, until none is read from there
    either.  Their fences and events report errors.

    `timeout`: seconds, then TimeoutError; None waits for ever.  OSError (EBUSY) for
    a frame that is not the program's."""
    _dray.wait_array(a, write, timeout)


def copy(dst: _AnyArray, src: _AnyArray, *,
         engine: Optional[bool] = None, wait: bool = True) -> Fence:
    """Copies src to dst: arrays or views of the same shape and type.  Either
    must be in dray's memory; if the other is not, the CPU copies.  Bytes between
    the elements of dst are not touched.

    `engine`: None lets a threshold decide (see explain()), True is the DMA
    engine or an OSError, False the CPU.  With wait=False it returns while the
    engine works; the fence keeps both arrays alive until then.
    """
    return _dray.copy(dst, src, engine=engine, wait=wait)


def fill(dst: _AnyArray, value: Any, *, engine: Optional[bool] = None,
         wait: bool = True) -> Fence:
    """Sets every element of dst to `value`, which NumPy converts to its
    type.  Otherwise as copy()."""
    return _dray.fill(dst, value, engine=engine, wait=wait)


def explain(dst: _AnyArray, src: _AnyArray, *,
            engine: Optional[bool] = None) -> Explanation:
    """Explains how copy() would copy, and copies nothing."""
    return _dray.explain(dst, src, engine=engine)


def stream(name: str, *, node: Optional[Node] = None, points: int = 0,
           batch: int = 0) -> Stream:
    """Opens a stream, a channel of `node` between memory and an accelerator:
    "tx0" sends packets from memory, "rx0" receives them.

        with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
            event = rx.recv(result, wait=False)
            tx.send(picture[::2])
            count = event.wait()

    A receive that waits before the send loses nothing.  A stream may be silent
    for ever, so pass a timeout or a deadline to its calls.

    `node`: by default the node of memory(); for memory(shareable=True) on the host,
    dray.open("host:shareable").  On the host, streams are loops: what
    is sent to "tx0" is received from "rx0", and "tx1" leads to "rx1".
    `points`: ends that are kept for programs that are slow to look; 0 is 1024.
    A packet waits for room while a packet in flight is that many before it.
    `batch`: packets that the engine may begin at once, at most 64; a larger
    batch leaves fewer gaps between packets, a smaller batch less delay; 0 is 1.

    ValueError if the node knows no stream of that name, OSError (EBUSY) if it is
    open already, here or in another process.
    """
    chosen = _node(False) if node is None else node
    return chosen.stream(name, points=points, batch=batch)


def memory_kind(a: Any, node: Optional[Node] = None) -> str:
    """The kind of the memory of an array, or at an address (an int):

    "shared"   dray's memory that the CPU and the engines of its node reach
    "device"   dray's memory that only engines reach: an access by the CPU ends the
               process, and so dray.Array refuses it; copy() moves it
    "host"     dray's memory on the host, without a device
    "unknown"  memory that is not dray's, that was freed, or of another node than
               `node`

    An array of from_sycl() is of the kind that dpctl reports, for its own devices.
    """
    return _dray.kind(a, node)


def device_empty(shape: Any, dtype: Any = float, *, heap: Optional[str] = None,
                 node: Optional[Node] = None) -> Array:
    """A dray.Array in memory that only engines reach, of a heap
    `carveout`.  Its views are such arrays too.  copy(), fill(), send() and recv()
    move its elements, and all that would let the CPU read them is a ValueError.

    On the host it is ordinary memory.  Uses whole pages of `node`, by default the node
    of memory().

    ValueError for no bytes, OSError (EOPNOTSUPP) without such a heap, MemoryError
    if there is no room.
    """
    chosen = _node(False) if node is None else node
    return _dray.device_empty(chosen, shape, numpy.dtype(dtype), heap)


def debug_repr(a: Any) -> str:
    """The parts of an array in memory, as text: address and count of references of the
    library's array, its flags, its type, size and stride of each axis, the address of the
    first element, and the block that holds the elements.  The text may change.

        >>> print(dray.debug_repr(dray.Array.zeros((3, 4))[::2]))

    A view, or an array of NumPy, has no array of the library: it is made for the text.
    """
    return (a if isinstance(a, Array) else Array(a)).__debug_repr__()


def rows(a: _AnyArray, *, ordered: bool = False, max_length: Union[int, str] = 0,
         max_stride: Union[int, str] = 0, max_count: int = 0, max_rows: int = 0,
         first: int = 0, device: Optional[int] = None) -> NDArray[numpy.int64]:
    """The memory of `a` as rows, the fewest that cover it: an array of int64 with the
    columns address, length, stride and count.  A row is `count` pieces of `length`
    bytes, whose starts are `stride` bytes apart.

    With `device`, a number, the columns are as in NIXL's strided descriptors:
    address, length, device, stride, count.

    Rows are in any order, and contain each byte once.  With `ordered` they contain the
    elements in C order, for streams and files; repeated elements, too.

    `max_length` cuts longer pieces, `max_stride` and `max_count` bound a row, 0: they
    do not.  With max_count=1 a row is a single piece, as verbs and writev() need it.
    `first` leaves out that many rows, for lists in parts.

    The result is addresses only: the caller keeps the array, and waits for transfers by
    wait().  ValueError if elements share bytes, OSError (E2BIG) if there are more
    rows than `max_rows`.
    """
    return _dray.rows(a, (max_length, max_stride, max_count, max_rows, first),
                      _dray.ROWS_ORDERED * bool(ordered), device)


def from_sycl(obj: Any, *, strides_in_bytes: Optional[bool] = None, wait: bool = True) -> Array:
    """A dray.Array over the memory of an object with __sycl_usm_array_interface__,
    without a copy; it keeps the object.

    dpctl reports the kind of the memory, if it is imported: memory_kind().  Arrays
    in memory of a device, or of no known kind, can be sliced, and copied by
    copy_from_sycl() and copy_to_sycl(), but not read.  Memory of no known kind can be
    read if the object also exports a buffer.

    Strides and `offset` count elements, as dpctl's do; with `strides_in_bytes`
    they count bytes.  Without it, strides of two axes and more that fit C order
    in bytes only are a ValueError.  With `wait` it waits for the object's queue first, if
    the queue is dpctl's.

    TypeError and ValueError for a wrong field, BufferError without an address and a
    buffer.
    """
    return _sycl.read(obj, strides_in_bytes, wait)


def to_sycl(a: _AnyArray) -> SyclArray:
    """An object with __sycl_usm_array_interface__ over an array in dray's memory; it
    keeps the array.  Its `syclobj` is a SyclQueue, of dray.

    dray.Array lacks such an attribute, because dpctl and dpnp would look at it first,
    and they refuse all memory but their own.  docs/sycl.md lists the packages that accept it.

    ValueError if the memory is not dray's, or if a stride is not a multiple of the
    bytes of an element.
    """
    return _sycl.offer(a)


def copy_from_sycl(dst: _AnyArray, src: Any, *, strides_in_bytes: Optional[bool] = None) -> None:
    """Copies memory of SYCL, of any kind, to an array of the same shape and type.

    `src`: an object with __sycl_usm_array_interface__, or an array of from_sycl().
    dpctl copies a device's memory.  Waits for the object's queue.
    """
    _sycl.copy_from(dst, src, strides_in_bytes)


def copy_to_sycl(dst: Any, src: _AnyArray, *, strides_in_bytes: Optional[bool] = None) -> None:
    """Copies an array to memory of SYCL, of any kind, as copy_from_sycl().

    In a device's memory, bytes between the elements are written back as they were.
    """
    _sycl.copy_to(dst, src, strides_in_bytes)


def send(sock: Any, array: _AnyArray) -> None:
    """Passes an array to the process at the other end of `sock`, a connected
    blocking Unix socket or its file descriptor.

    Nothing is copied: both processes then see the same memory, the whole
    buffer around the array.  Keep the array until the receiver is done.  When
    its memory is freed here, it is used for other data, which the receiver then
    sees; a record, of export_array(), holds the memory instead.  Dates lose
    their unit and structures their fields: the receiver has to view() them.

    Blocks as the socket does, while other threads continue.  ValueError if the
    array is not in dray's memory, OSError (EOPNOTSUPP) if it is in private host
    memory: use memory(shareable=True).
    """
    _dray.send(sock, array)


def receive(sock: Any, node: Optional[Node] = None) -> Any:
    """The array that the other end sends; waits for it, while other threads
    continue.  Its memory stays mapped as long as the array or a view of it lives.
    `node` is the node to map it for, by default the node of the memory.

    If only engines reach the memory, it is a dray.Array: memory_kind().

    ConnectionResetError if the sender closed the socket, OSError (EBADMSG)
    if it sent anything but an array.
    """
    return _dray.receive(sock, node)


def _extents(shape: Any) -> tuple[int, ...]:
    """Converts a shape as numpy.zeros() does."""
    extents: tuple[int, ...]
    try:
        extents = (operator.index(shape),)
    except TypeError:
        extents = tuple(operator.index(extent) for extent in shape)
    for extent in extents:
        if extent < 0:
            raise ValueError(f"shape is {shape!r}: an extent of {extent}, 0 is "
                             "the least")
    return extents


@overload
def shared_zeros(shape: Any, dtype: None = None) -> NDArray[numpy.float64]: ...
@overload
def shared_zeros(shape: Any, dtype: _Element[_Scalar]) -> NDArray[_Scalar]: ...
@overload
def shared_zeros(shape: Any, dtype: Any) -> NDArray[Any]: ...


def shared_zeros(shape: Any, dtype: Any = None) -> NDArray[Any]:
    """An array of zeros in a buffer of its own: another process that gets it
    reaches no other memory.  It uses whole pages of the default node, at least
    a page.

    TypeError for a type of objects, ValueError if its elements are 0 bytes long
    or the shape is impossible, MemoryError if there is no room.
    """
    # An open type is completed as in numpy.zeros(): "U" is one character.
    element = numpy.empty((), dtype)
    kind = element.dtype
    if kind.hasobject:
        raise TypeError(f"an array of {kind} cannot be shared: it holds "
                        "references to objects")
    if not kind.itemsize:
        raise ValueError(f"an array of {kind!r} cannot be shared: its "
                         "elements are 0 bytes long")
    extents = _extents(shape) + element.shape
    size = math.prod(extents) * kind.itemsize
    if size > sys.maxsize:
        raise ValueError(f"an array of shape {extents} and type {kind} has "
                         f"{size} bytes: {sys.maxsize} are the most")
    return _dray.bytes_alone(_node(True), size).view(kind).reshape(extents)


def export_array(array: _AnyArray, *, read_only: bool = False,
                 any_user: bool = False) -> bytes:
    """A record of `array`: bytes that lead another process on this machine
    to it, by open_array().

    The bytes are a secret and the name of a socket, without a pointer or a
    file descriptor.  A thread of this process answers there: to processes of its
    own user, or with `any_user` to any process with the record.  With
    `read_only` others can never write the memory; on the host it must be from
    shared_zeros() then.  Otherwise they can write, and read, the whole buffer
    around the array.

    The record ends with this process, when the array's memory is freed, or when
    revoke_array() undid each export of it.  Processes that opened the array
    keep it.  The same array always leads to the same record, and records need no
    freeing.

    ValueError if the array is not in dray's memory or is empty, OSError
    (EOPNOTSUPP) if it is in private host memory: use memory(shareable=True) or
    shared_zeros().  PermissionError without `read_only`, if this process may
    only read the memory, or exported it with `read_only` before.
    """
    flags = _dray.READ_ONLY * bool(read_only) | _dray.ANY_USER * bool(any_user)
    return _dray.export(array, flags)


def open_array(record: bytes, node: Optional[Node] = None) -> Any:
    """The array that `record` leads to: the same memory, nothing is copied.
    It stays as long as the array or a view of it lives, and the exporter does
    not use it for anything else until then.  `node` is the node to map it for,
    by default the node of the memory.  Dates and structures arrive as from
    receive().

    If the record is not open here already, this asks the exporter, and waits
    for at most ten seconds, while other threads continue.

    ConnectionRefusedError if the exporter is gone or exports nothing any more,
    PermissionError if the exporter belongs to another user or the secret is
    wrong, OSError (ESTALE) if the memory was freed, OSError (EBADMSG) if
    `record` is not a record, TimeoutError if the exporter does not answer.
    """
    return _dray.open_record(record, node)


def revoke_array(record: bytes) -> None:
    """Undoes one export_array(), or ends a record of waiting_arrays().  With
    the last export the record ends: it cannot be opened from now on, and
    processes that opened it keep the array.

    OSError (ESTALE) if it ended already or is another process's, OSError
    (EBADMSG) if `record` is not a record, ValueError if it is too short.
    """
    _dray.revoke(record)


def share_arrays(on: bool = True, *,
                 min_bytes: int = _pickle.MIN_BYTES) -> bool:
    """Makes multiprocessing share arrays in memory that can be shared, or with
    on=False copy them; returns the previous setting.

    multiprocessing copies all arrays until sharing starts: with this call, the
    first with shareable=True, of shared_zeros() or for a node "host:shareable",
    or when such an array is received.  A setting by this function stays.

    Arrays of less than `min_bytes` are copied, because sharing is slower:
    other processes do not see a write to such a copy.  Small arrays of
    shared_zeros() are never copied.

    With on=False, arrays of this process can be received on other machines.
    The setting holds for all threads, because queues pickle in threads of their
    own, and for children forked from now on.  Spawned children and managers
    decide for themselves.
    """
    return _pickle.share(on, min_bytes)


class WaitingArray(NamedTuple):
    """An array that multiprocessing sent and that was not received yet."""

    record: bytes
    """For revoke_array().  It names the memory, so open_array() refuses it."""
    nbytes: int
    """Bytes of memory that it keeps, from the first to the last."""
    seconds: float
    """Since it was pickled."""


def waiting_arrays() -> list[WaitingArray]:
    """The arrays of this process that multiprocessing pickled and that no
    process received yet.

    Each keeps its memory even if the program drops it, as programs often do
    after they put an array into a queue; stats() counts it as parked.  If its
    receiver died, or its queue is gone, it does so until it is revoked or
    this process ends.
    """
    return [WaitingArray(*entry) for entry in _dray.waiting()]


def revoke_waiting(older_than: float = 0.0) -> int:
    """Revokes the arrays of waiting_arrays() that were pickled so many seconds
    ago, or earlier; returns their number.  Arrays that are received meanwhile
    are not revoked.

    A revoked array's memory is free if no array of this process uses it.  A
    late receiver gets a LostArray, which raises OSError (ESTALE), or
    ConnectionRefusedError if this process exports nothing else.  A message on its
    way looks like a message that will never be read, so `older_than` must be longer
    than the slowest receiver needs.
    """
    count = 0
    for waiting in waiting_arrays():
        if waiting.seconds < older_than:
            continue
        try:
            _dray.revoke(waiting.record)
        except OSError as error:
            # It was received meanwhile, and closed again.
            if error.errno != errno.ESTALE:
                raise
        else:
            count += 1
    return count


def _usual() -> Pool:
    """The default pool, chosen."""
    usual = pool()
    _choose(usual, None, False)
    return usual


def stats(pool: Optional[Pool] = None) -> PoolStats:
    """Counters of a pool.  By default, of the pool of this thread's or task's
    innermost scope, else of the last pool of memory() or install(), else of the
    default pool."""
    current = _dray.current_pool()
    used = pool or (current if isinstance(current, Pool) else None) or _chosen()
    if used is None or pool is None and used.closed:
        used = _usual()
    return used.stats()


def heaps(node: Optional[Node] = None) -> list[HeapInfo]:
    """The sources of memory of a node, by default that of dray.memory(), as a list of
    HeapInfo in the order in which they are tried."""
    return (_node(False) if node is None else node).heaps()


def owns(a: _AnyArray) -> bool:
    """Whether the memory of an array of NumPy or a dray.Array, or of the array behind a
    view, is dray's: its devices reach it."""
    return _dray.owns(a)


def last_error() -> str:
    """The reason why the last call of this thread to libdray failed.  NumPy's
    MemoryError gets it only as a note, when it leaves a scope."""
    return _dray.last_error()



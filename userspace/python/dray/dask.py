# SPDX-License-Identifier: Apache-2.0 OR MIT
# pyright: reportMissingImports=false
"""Workers of Dask that pass arrays in dray memory to each other without a copy.

    client.register_plugin(dray.dask.plugin())      # each worker, now and later
    dask worker tcp://... --preload dray.dask       # this worker

Workers of a machine pass a record of the array, of about 100 bytes, and then share its
memory.  They compare a token of boot, namespaces and user, not addresses.  Other workers
get the elements, gathered once, and receive them into dray memory.  The scheduler, clients,
spilled files and workers without the plugin get bytes, as before.

Only arrays in memory that can be shared have records: tasks make them in
dray.memory(shareable=True), or by dray.shared_zeros().  Arrays that came by a record are
read-only, since the worker that made them has the same memory.

A reply waits until engines have written its arrays, without blocking the event loop, and
lends the arrays until the receiver has them.  If the receiver dies first, their records are
revoked; receivers keep the memory of a worker that dies.  If a record cannot be opened, Dask
asks again, and after three failures in a row this worker gets bytes from then on.

The plugin replaces parts of distributed that are internal.  If a version lacks a part, dray
warns once, and distributed works as without the plugin.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import errno
import functools
import inspect
import os
import pickle
import threading
import traceback
import warnings
import weakref
from typing import Any, Awaitable, Callable, Iterator, NamedTuple, Optional, Union

try:
    import distributed
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"dray.dask needs distributed 2022.12.1 or later, and lacks "
                              f"{error.name}: install it", name=error.name) from error
import distributed.comm.tcp
import distributed.protocol.utils
import numpy
from dask.sizeof import sizeof
from distributed import WorkerPlugin
from distributed.comm import connect
from distributed.protocol import dask_deserialize, dask_serialize
from tornado.ioloop import PeriodicCallback

import dray

from . import _dray, _pickle
from ._functions import _node
from ._loan import Loan, lend

# The key of the token in a handshake, and of a record in the header of an array.
_KEY = "dray"

# Failures to open records, in a row, after which a worker asks for bytes.
_PATIENCE = 3

# Time without a frame from elsewhere, after which their free memory is returned.
_IDLE_MS = 10000

_OURS = (numpy.ndarray, dray.Array)


class Counts(NamedTuple):
    """Counters of this process; counts() returns them.

    records: arrays passed on as records
    opened: arrays that came as records, also those copied because few file
        descriptors were left
    refused: records that could not be opened
    received: frames that were read into dray memory
    """

    records: int = 0
    opened: int = 0
    refused: int = 0
    received: int = 0


class Plugin(WorkerPlugin):
    """Lets a worker pass arrays in dray memory without a copy; made by plugin()."""

    name = "dray"

    def __init__(self, min_bytes: int = _pickle.MIN_BYTES, receive: bool = True,
                 writable: bool = False) -> None:
        self.min_bytes, self.receive, self.writable = min_bytes, receive, writable

    def setup(self, worker: Any) -> None:
        """Runs in each worker, when it starts or the plugin is registered."""
        try:
            get_data, _ = worker.handlers["get_data"], worker.rpc.connection_args
            if "handshake_overrides" not in inspect.signature(connect).parameters:
                raise AttributeError("handshake_overrides")
        except (AttributeError, KeyError) as error:
            _hooks.warn(f"dray: distributed {distributed.__version__} lacks {error}, so arrays "
                        "are copied as without the plugin")
            return
        _hooks.settings, _hooks.failures = self, 0
        _replace_serializers()
        if self.receive:
            _replace_host_array()
        worker.handlers["get_data"] = _with_records(get_data)
        _offer(worker, _token())
        _hooks.workers.add(worker)
        trim = PeriodicCallback(_trim, _IDLE_MS)
        worker.periodic_callbacks["dray"] = trim
        trim.start()

    def teardown(self, worker: Any) -> None:
        """Runs when the worker ends or the plugin is removed; arrays are copied from now
        on."""
        if worker in _hooks.workers:
            _hooks.workers.discard(worker)
            _offer(worker, None)
            worker.handlers["get_data"] = worker.handlers["get_data"].__wrapped__
            worker.periodic_callbacks.pop("dray").stop()


def plugin(*, min_bytes: Union[int, str] = _pickle.MIN_BYTES, receive: bool = True,
           writable: bool = False) -> Plugin:
    """The plugin for client.register_plugin().

    `min_bytes`: smaller arrays, and frames, are copied as before.
    `receive`: frames from other machines are read into dray memory.
    `writable`: arrays that came by a record may be written.  CAUTION: the worker that
    made them, and all that have them, then see the changes."""
    return Plugin(_dray.size(min_bytes, "min_bytes"), bool(receive), bool(writable))


async def dask_setup(worker: Any) -> None:
    """Runs for `dask worker --preload dray.dask`."""
    await worker.plugin_add(plugin())


class _Hooks:
    """The state of this process, which all its workers share."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.counts = dict.fromkeys(Counts._fields, 0)
        self.workers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.settings = Plugin()
        self.failures = 0
        self.warned: set[str] = set()
        self.pool: Optional[dray.Pool] = None
        self.trimmed_at = 0
        # distributed's own functions, once they are replaced
        self.dumps: Optional[Callable[..., Any]] = None
        self.loads: Callable[..., Any]
        self.host_array: Optional[Callable[[int], memoryview]] = None

    def count(self, name: str) -> None:
        with self.lock:
            self.counts[name] += 1

    def warn(self, text: str) -> None:
        """Warns once of each text."""
        if text not in self.warned:
            self.warned.add(text)
            warnings.warn(text, RuntimeWarning, stacklevel=2)


_hooks = _Hooks()


def counts() -> Counts:
    """The counters of this process."""
    return Counts(**_hooks.counts)


@functools.lru_cache(maxsize=None)
def _token() -> str:
    """Names the boot, the namespaces and the user; "" if the system hides them."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        spaces = [os.stat(f"/proc/self/ns/{name}").st_ino for name in ("net", "user")]
    except OSError:
        return ""
    return ":".join(map(str, [boot, *spaces, os.geteuid()]))


class _Reply:
    """A comm over which arrays go to a worker; counts and keeps its records and loans."""

    def __init__(self, comm: Any, peer: Optional[str]) -> None:
        self._comm = comm
        self.knows = peer is not None
        self.near = bool(peer) and peer == _token()
        self.records: list[bytes] = []
        self.loans = contextlib.ExitStack()
        self._led = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    async def write(self, msg: Any, *args: Any, **named: Any) -> Any:
        for array in _arrays_in(msg):
            loan = await _lend(array)
            if loan is not None:
                self.loans.enter_context(loan)
        before = _reply.set(self)
        try:
            return await self._comm.write(msg, *args, **named)
        finally:
            _reply.reset(before)

    def record(self, array: Any) -> Optional[bytes]:
        """A record of an array, which keeps it until the worker has opened it; None if
        the worker gets its elements."""
        if not self.near:
            return None
        record = _dray.handover(array, _hooks.settings.min_bytes)
        if record is not None:
            self.records.append(record)
            _hooks.count("records")
        return record

    def lead(self, nbytes: int) -> bool:
        """Whether an array is the first that goes to a plugin's memory."""
        if self._led or not self.knows or nbytes < _hooks.settings.min_bytes:
            return False
        self._led = True
        return True

    def revoke(self) -> None:
        """Ends the records that the worker did not open."""
        for record in self.records:
            with contextlib.suppress(OSError):
                _dray.revoke(record)


# The reply that is written; distributed's threads for large messages have it too.
_reply: contextvars.ContextVar[Optional[_Reply]] = contextvars.ContextVar("reply", default=None)


def _arrays_in(value: Any) -> Iterator[Union[numpy.ndarray, dray.Array]]:
    """The arrays in a message, also those in tuples, lists, sets and dictionaries."""
    value = getattr(value, "data", value) if type(value).__name__ == "Serialize" else value
    if isinstance(value, (numpy.ndarray, dray.Array)):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays_in(item)
    elif isinstance(value, (tuple, list, set)):
        for item in value:
            yield from _arrays_in(item)


async def _lend(array: Any) -> Optional[Loan]:
    """Lends an array to be read once engines do not write it any more; None if dray does
    not know its memory."""
    call = functools.partial(lend, array, "r", to="Dask")
    try:
        try:
            return call(timeout=0)
        except TimeoutError:
            # A thread waits, since only some of these ends have a file descriptor.
            return await asyncio.get_running_loop().run_in_executor(None, call)
    except (TypeError, ValueError, OSError):
        return None


def _gathered(array: numpy.ndarray) -> numpy.ndarray:
    """The array, or a contiguous copy of a view with gaps in dray memory."""
    flags = array.flags
    if (flags.c_contiguous or flags.f_contiguous or 0 in array.strides
            or _dray.kind(array, None) == "unknown"):
        return array
    try:
        with dray.memory():
            copy = numpy.empty(array.shape, array.dtype)
        dray.copy(copy, array)
    except (MemoryError, OSError, TypeError, ValueError):
        return array  # distributed copies it
    return copy


def _dumps(array: Any, context: Any = None) -> Any:
    """Serializes an array of NumPy, or of dray for a worker with the plugin."""
    reply = _reply.get()
    ours = isinstance(array, dray.Array)
    if ours and (reply is None or not reply.knows):
        raise NotImplementedError("for pickle")
    record = reply.record(array) if reply is not None and type(array) in _OURS else None
    if record is not None:
        kind = pickle.dumps(numpy.dtype(array.dtype))
        return {_KEY: record, "dtype": kind, "array": ours}, []
    assert _hooks.dumps is not None
    plain = numpy.asarray(array) if ours else array
    header, frames = _hooks.dumps(_gathered(plain) if reply is not None else plain, context)
    header["array"] = ours
    if reply is not None and reply.lead(plain.nbytes):
        # Receivers read the first frame behind the headers, and others into memory of
        # their own, which is aligned.
        header["lead"], frames = True, [bytearray(1), *frames]
    return header, frames


def _loads(header: Any, frames: Any) -> Any:
    if _KEY in header:
        array = _open(header[_KEY], header["dtype"])
    else:
        array = _hooks.loads(header, frames[1:] if header.get("lead") else frames)
    if header.get("array") and not isinstance(array, dray.Array):
        return dray.Array(array)
    return array


def _open(record: bytes, kind: bytes) -> Any:
    """Opens the array of a record.  distributed asks again after an OSError, and hangs
    after other errors."""
    try:
        array = _pickle.open_or_fetch(record)
        if isinstance(array, numpy.ndarray):
            dtype = pickle.loads(kind)
            array = array if array.dtype == dtype else array.view(dtype)
            if not _hooks.settings.writable:
                array.flags.writeable = False
    except Exception as error:
        _refused(error)
        if isinstance(error, OSError):
            raise
        raise OSError(errno.EBADMSG, str(error)) from error
    _hooks.failures = 0
    _hooks.count("opened")
    return array


def _refused(error: Exception) -> None:
    _hooks.count("refused")
    _hooks.failures += 1
    if _hooks.failures >= _PATIENCE:
        for worker in list(_hooks.workers):
            # This may be a thread without the loop.
            worker.loop.add_callback(_offer, worker, None)
        _hooks.warn(f"dray: {_PATIENCE} records in a row could not be opened, so this worker "
                    f"gets copies from now on: {error}")


def _host_array(size: int) -> memoryview:
    """Memory for a frame from elsewhere, which an engine reaches."""
    settings = _hooks.settings
    if _hooks.workers and settings.receive and size >= settings.min_bytes:
        try:
            if _hooks.pool is None:
                # Keeps its pages, since new ones take longer than the frame.
                _hooks.pool = _node(True).pool(name="dask", prefault=True)
            frame = _dray.bytes_in(_hooks.pool, size).data
        except (MemoryError, OSError):
            pass
        else:
            _hooks.count("received")
            return frame
    assert _hooks.host_array is not None
    return _hooks.host_array(size)


def _trim() -> None:
    """Returns the memory of old frames if no new frame came."""
    received = _hooks.counts["received"]
    if _hooks.pool is not None and received == _hooks.trimmed_at:
        _hooks.pool.trim()
    _hooks.trimmed_at = received


def _with_records(get_data: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The handler of requests for data, with records in its replies to near workers."""
    @functools.wraps(get_data)
    async def handler(comm: Any, *args: Any, **named: Any) -> Any:
        reply = _Reply(comm, getattr(comm, "remote_info", {}).get(_KEY))
        with reply.loans:
            try:
                return await get_data(reply, *args, **named)
            except BaseException as error:
                reply.revoke()
                # distributed's log keeps the error, whose frames have the arrays.
                traceback.clear_frames(error.__traceback__)
                raise
    return handler


def _offer(worker: Any, token: Optional[str]) -> None:
    """Lets a worker's requests carry a token, or none.  Connections without it are closed
    once they are idle."""
    named = dict(worker.rpc.connection_args)
    named["handshake_overrides"] = dict(named.get("handshake_overrides") or {})
    named["handshake_overrides"][_KEY] = token
    worker.rpc.connection_args = named
    worker.rpc.collect()


def _replace_serializers() -> None:
    """Registers the serializers once, over distributed's, which it registers at the first
    use."""
    if _hooks.dumps is None:
        _hooks.dumps = dask_serialize.dispatch(numpy.ndarray)
        _hooks.loads = dask_deserialize.dispatch(numpy.ndarray)
        for kind in _OURS:
            dask_serialize.register(kind)(_dumps)
            dask_deserialize.register(kind)(_loads)
        sizeof.register(dray.Array)(lambda array: int(array.nbytes))


def _replace_host_array() -> None:
    """Lets distributed read frames into memory of dray."""
    tcp = distributed.comm.tcp
    if not hasattr(tcp, "host_array"):
        _hooks.warn(f"dray: distributed {distributed.__version__} lacks host_array(), so frames "
                    "are received into other memory")
    elif _hooks.host_array is None:
        _hooks.host_array = tcp.host_array
        # Merges frames of long arrays, in newer versions.
        for place in tcp, distributed.protocol.utils:
            if hasattr(place, "host_array"):
                place.host_array = _host_array

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory resources that stack, with the names of RMM's rmm.mr.

    import dray, dray.mr, numpy as np

    limited = dray.mr.LimitingResourceAdaptor(dray.mr.PoolMemoryResource(), 1 << 30)
    counted = dray.mr.StatisticsResourceAdaptor(limited)
    with dray.memory(counted):
        picture = np.zeros((1080, 1920, 3), np.uint8)
    print(counted.allocation_counts)

A resource stands on another, its upstream, and adds a single thing to it.  It stays as
long as an array in its memory.  A resize of an array is a new block and a copy.
"""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple, Optional, Union, final

from . import _dray
from ._dray import Pool, size

__all__ = [
    "AllocationCounts", "CallbackMemoryResource", "FailureCallbackResourceAdaptor",
    "LimitingResourceAdaptor", "LoggingResourceAdaptor", "MallocMemoryResource",
    "MemoryResource", "PoolMemoryResource", "PrefetchResourceAdaptor",
    "StatisticsResourceAdaptor", "TrackingResourceAdaptor", "UpstreamResourceAdaptor",
]

_MOST_SITES = 32


class MemoryResource(_dray.Handle):
    """The base of all resources."""

    __slots__ = ()

    def allocate(self, nbytes: int, stream: int = 0) -> int:
        """The address of a new block of at least `nbytes`.  `stream` is noted in logs.

        MemoryError if there is none."""
        return _dray.resource_allocate(self, _bytes(nbytes), _dray.whole(stream, "stream"))

    def deallocate(self, ptr: int, nbytes: int, stream: int = 0) -> None:
        """Frees a block of this resource.

        ValueError if it is not such a block, as far as the resource knows; the
        C library's heap does not."""
        _dray.resource_deallocate(self, _dray.whole(ptr, "ptr"), _bytes(nbytes),
                                  _dray.whole(stream, "stream"))

    def capacity(self) -> tuple[int, int]:
        """Bytes that are free, and in all.  OSError if they are not known."""
        free, total = _dray.resource_numbers(self, "capacity")
        return free, total

    def __repr__(self) -> str:
        return f"<dray.mr.{type(self).__name__}>"


def _bytes(nbytes: int) -> int:
    number: int = _dray.whole(nbytes, "nbytes")
    if number >= 2**63:
        raise MemoryError(f"a block of {number} bytes, at most {2**63 - 1} are possible")
    return number


@final
class PoolMemoryResource(MemoryResource):
    """Blocks of a pool: by default, of the pool of dray.memory()."""

    __slots__ = ()

    def __new__(cls, pool: Optional[Pool] = None) -> PoolMemoryResource:
        if pool is None:
            from ._functions import pool as usual_pool
            pool = usual_pool()
        return _dray.resource_over_pool(cls, pool)


@final
class MallocMemoryResource(MemoryResource):
    """Blocks of the C library's heap, which devices do not reach."""

    __slots__ = ()

    def __new__(cls) -> MallocMemoryResource:
        return _dray.resource_of_heap(cls)


@final
class CallbackMemoryResource(MemoryResource):
    """Blocks of functions: allocate_func(nbytes, stream) returns an address,
    deallocate_func(ptr, nbytes, stream) frees it.

    A MemoryError, 0, or any other exception, which goes to sys.unraisablehook, is a
    failure.  The functions run in the thread of the allocation."""

    __slots__ = ()

    def __new__(cls, allocate_func: Callable[[int, int], int],
                deallocate_func: Callable[[int, int, int], object]) -> CallbackMemoryResource:
        for function in (allocate_func, deallocate_func):
            _check_callable(function)
        return _dray.resource_of_callbacks(cls, allocate_func, deallocate_func)


def _check_callable(function: Any) -> None:
    if not callable(function):
        raise TypeError(f"a function is needed, not {function!r}")


class UpstreamResourceAdaptor(MemoryResource):
    """The base of resources that stand on another."""

    __slots__ = ("_upstream",)
    _upstream: MemoryResource

    @classmethod
    def _over(cls, upstream: MemoryResource, kind: str, argument: Any = None) -> Any:
        made = _dray.resource_over(cls, kind, upstream, argument)
        made._upstream = upstream
        return made

    @property
    def upstream_mr(self) -> MemoryResource:
        """The resource below."""
        return self._upstream

    def get_upstream(self) -> MemoryResource:
        """The resource below."""
        return self._upstream


class AllocationCounts(NamedTuple):
    """Counters of StatisticsResourceAdaptor, of sizes as they were asked for."""

    current_bytes: int
    current_count: int
    peak_bytes: int
    peak_count: int
    total_bytes: int
    total_count: int


@final
class StatisticsResourceAdaptor(UpstreamResourceAdaptor):
    """Counts allocations and frees, in scopes that nest."""

    __slots__ = ()

    def __new__(cls, upstream: MemoryResource) -> StatisticsResourceAdaptor:
        made: StatisticsResourceAdaptor = cls._over(upstream, "statistics")
        return made

    @property
    def allocation_counts(self) -> AllocationCounts:
        """The counters of the innermost scope."""
        return AllocationCounts(*_dray.resource_numbers(self, "statistics"))

    def push_counters(self) -> AllocationCounts:
        """Begins a scope of counters from 0; returns those so far."""
        return AllocationCounts(*_dray.resource_numbers(self, "push"))

    def pop_counters(self) -> AllocationCounts:
        """Ends a scope, and returns its counters, which are added to the scope around it.

        ValueError if none began."""
        return AllocationCounts(*_dray.resource_numbers(self, "pop"))


@final
class LimitingResourceAdaptor(UpstreamResourceAdaptor):
    """Allows at most `allocation_limit` bytes at a time, also as "1G"."""

    __slots__ = ("_counted", "_limit")
    _counted: StatisticsResourceAdaptor
    _limit: int

    def __new__(cls, upstream: MemoryResource,
                allocation_limit: Union[int, str]) -> LimitingResourceAdaptor:
        limit: int = size(allocation_limit, "allocation_limit")
        counted = StatisticsResourceAdaptor(upstream)
        made: LimitingResourceAdaptor = cls._over(counted, "limit", limit)
        made._upstream = upstream
        made._counted, made._limit = counted, limit
        return made

    def get_allocated_bytes(self) -> int:
        """Bytes that are allocated now."""
        return self._counted.allocation_counts.current_bytes

    def get_allocation_limit(self) -> int:
        """The limit."""
        return self._limit


@final
class LoggingResourceAdaptor(UpstreamResourceAdaptor):
    """Writes a line for each call to a file that is made or emptied, in the columns of
    RMM's log, which dray-replay reads.  A child of fork() writes nothing."""

    __slots__ = ("_path",)
    _path: str

    def __new__(cls, upstream: MemoryResource,
                log_file_name: Union[str, os.PathLike[str]]) -> LoggingResourceAdaptor:
        made: LoggingResourceAdaptor = cls._over(upstream, "log", log_file_name)
        made._path = os.fspath(log_file_name)
        return made

    def flush(self) -> None:
        """Raises OSError if a line could not be written; all others are in the file."""
        _dray.resource_numbers(self, "log")

    def get_file_name(self) -> str:
        """The path of the log."""
        return self._path


@final
class TrackingResourceAdaptor(UpstreamResourceAdaptor):
    """Remembers the blocks that are not freed, with `capture_stacks` also their
    callers in C."""

    __slots__ = ()

    def __new__(cls, upstream: MemoryResource,
                capture_stacks: bool = False) -> TrackingResourceAdaptor:
        made: TrackingResourceAdaptor = cls._over(upstream, "tracking",
                                                  _MOST_SITES if capture_stacks else 0)
        return made

    def get_allocated_bytes(self) -> int:
        """Bytes that are allocated now."""
        return int(_dray.resource_numbers(self, "tracking")[1])

    def get_outstanding_allocations_str(self) -> str:
        """A line for each block that is not freed, the oldest first; "" without any."""
        return _dray.resource_report(self) if self.get_allocated_bytes() else ""


@final
class FailureCallbackResourceAdaptor(UpstreamResourceAdaptor):
    """Calls callback(nbytes) if upstream has no memory; if it returns true, upstream is
    asked again.

    An exception of the callback goes to sys.unraisablehook, and means false."""

    __slots__ = ()

    def __new__(cls, upstream: MemoryResource,
                callback: Callable[[int], object]) -> FailureCallbackResourceAdaptor:
        _check_callable(callback)
        made: FailureCallbackResourceAdaptor = _dray.resource_on_failure(cls, upstream,
                                                                         callback)
        made._upstream = upstream
        return made


@final
class PrefetchResourceAdaptor(UpstreamResourceAdaptor):
    """Fetches the pages of each new block at once, so that its first touch is quick."""

    __slots__ = ()

    def __new__(cls, upstream: MemoryResource) -> PrefetchResourceAdaptor:
        made: PrefetchResourceAdaptor = cls._over(upstream, "prefetch")
        return made

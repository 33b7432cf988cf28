# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counters of the memory of handlers, in scopes that nest."""

from __future__ import annotations

from typing import Any, Optional, final

from . import _dray


@final
class Statistics:
    """Counters of the memory that handlers of dray allocate and free, in all threads.

    RMM's names, and four short names:

    current, current_bytes: bytes in blocks; below 0 if older blocks were freed
    peak, peak_bytes: the most bytes at a time
    total, total_bytes: the sum of all bytes
    count, total_count: the number of all blocks
    current_count: blocks
    peak_count: the most blocks at a time

    Bytes of blocks are rounded up to granules, as in PoolStats.used."""

    __slots__ = ("_counter", "_numbers")
    __module__ = "dray"

    def __init__(self) -> None:
        self._counter: Optional[Any] = None
        self._numbers = (0, 0, 0, 0, 0, 0)

    def __enter__(self) -> Statistics:
        """Begins to count from 0."""
        if self._counter is not None:
            raise RuntimeError("this scope of dray.statistics() counts already")
        self._counter = _dray.counter_begin()
        return self

    def __exit__(self, *error: object) -> None:
        """Ends the scope; its numbers stay, and scopes may end in any order."""
        counter = self._counter
        if counter is None:
            raise RuntimeError("this scope of dray.statistics() was not entered, or was left "
                               "already")
        _dray.counter_end(counter)
        self._numbers, self._counter = _dray.counter_read(counter), None

    def _read(self) -> tuple[int, ...]:
        counter = self._counter
        return self._numbers if counter is None else _dray.counter_read(counter)

    @property
    def current_bytes(self) -> int:
        """Bytes in blocks that were made in the scope, less those freed in it."""
        return self._read()[0]

    @property
    def current_count(self) -> int:
        """Blocks that were made in the scope, less those freed in it."""
        return self._read()[1]

    @property
    def peak_bytes(self) -> int:
        """The most bytes at a time."""
        return self._read()[2]

    @property
    def peak_count(self) -> int:
        """The most blocks at a time."""
        return self._read()[3]

    @property
    def total_bytes(self) -> int:
        """The bytes of all blocks that were made."""
        return self._read()[4]

    @property
    def total_count(self) -> int:
        """The number of all blocks that were made."""
        return self._read()[5]

    current = current_bytes
    peak = peak_bytes
    total = total_bytes
    count = total_count

    def __repr__(self) -> str:
        names = ("current_bytes", "current_count", "peak_bytes", "peak_count", "total_bytes",
                 "total_count")
        numbers = ", ".join(f"{name}={number}" for name, number in zip(names, self._read()))
        return f"<dray.Statistics {numbers}>"


def statistics() -> Statistics:
    """A scope that counts the memory of NumPy's arrays, and of others, in dray's pools:

        with dray.statistics() as s:
            work()
        print(s.peak, s.total, s.count)

    It sees the calls of handlers in all threads, from its begin to its end, and costs
    nothing before and after.  Scopes nest, may overlap, and may end in any order."""
    return Statistics()

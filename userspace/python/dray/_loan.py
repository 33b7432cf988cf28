# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loans of arrays to engines of other libraries."""

from __future__ import annotations

import warnings
from typing import Any, Optional, final

from . import _dray

_ACCESSES = {"r": _dray.ACCESS_READ, "w": _dray.ACCESS_WRITE,
             "rw": _dray.ACCESS_READ | _dray.ACCESS_WRITE}


@final
class Loan:
    """The loan of an array, made by lend(); it keeps the array until its end.

    `with` ends it at the end of the block, end() at once."""

    __slots__ = ("_array", "_loan", "_to", "__weakref__")

    def __init__(self, array: Any, loan: object, to: str) -> None:
        self._array, self._loan, self._to = array, loan, to

    @property
    def ended(self) -> bool:
        """Whether the loan has ended."""
        return self._loan is None

    def end(self) -> None:
        """Ends the loan, once the engine uses the memory no longer; wakes all that
        wait for it.  From any thread; a second call does nothing."""
        loan, self._loan = self._loan, None
        if loan is not None:
            _dray.end_loan(loan)
            self._array = None

    def __enter__(self) -> Loan:
        if self._loan is None:
            raise ValueError(f"the loan to {self._to} has ended: lend the array again")
        return self

    def __exit__(self, *unused: object) -> None:
        self.end()

    def __reduce__(self) -> Any:
        raise TypeError("a loan cannot be copied, nor pickled: lend the array again")

    def __del__(self) -> None:
        if getattr(self, "_loan", None) is not None:
            warnings.warn(f"a loan to {self._to} was dropped before its end",
                          ResourceWarning, stacklevel=2, source=self)
            self.end()

    def __repr__(self) -> str:
        return f"<dray.Loan to {self._to}{', ended' if self.ended else ''}>"


def lend(a: Any, access: str = "rw", *, to: Optional[str] = None,
         timeout: Optional[float] = None) -> Loan:
    """Lends the memory of `a` to an engine of another library, as MPI or a network card,
    until the loan ends:

        with dray.lend(a, "r", to="MPI"):
            comm.Send(a, dest=1)

    It waits until no transfer, packet or queued call uses the bytes.  Until the end of the
    loan, wait(), copy(), fill(), packets, queued calls and exports to DLPack and Arrow
    wait for it, or raise an error that names the engine.  Reads do not wait for loans
    that only read.  The memory of an array that is dropped is free only then.

    `access`: "r" if the engine reads, "w" if it writes, "rw" for both.
    `to`: the engine's name for errors, at most 31 bytes.
    `timeout`: seconds, then TimeoutError; None waits for ever.

    NumPy's functions wait for nothing.  copy() in the thread that lent its memory waits
    for ever.  PermissionError to write into a read-only array."""
    if not isinstance(access, str) or access not in _ACCESSES:
        raise ValueError(f'access is {access!r}, not "r", "w" or "rw"')
    return Loan(a, _dray.lend(a, _ACCESSES[access], to, timeout),
                to or "another engine")

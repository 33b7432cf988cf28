# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How multiprocessing passes arrays: by a record of their memory.

A record is made for handing over: it keeps the memory until the other side
has opened it, since whoever puts an array into a queue may forget it at once.
Only multiprocessing's own pickles do so; others outlive the process.  What
nobody opens is in dray.waiting_arrays(), until dray.revoke_waiting() ends it.

What cannot be opened is a dray.LostArray: no exception may leave an unpickle.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.reduction
import multiprocessing.util
import sys
from typing import Any, Union

import numpy

from . import _dray
from ._lost import LostArray, lost

# A process that ends waits so long for those who were to open its arrays.
PATIENCE_MS = 5000


def rebuild(record: bytes,
            dtype: numpy.dtype) -> Union[numpy.ndarray, LostArray]:
    """The array of a record; its type where that has more than a record
    says: the fields of a structure, the unit of a date."""
    try:
        array = _dray.open_record(record, None)
        return array if array.dtype == dtype else array.view(dtype)
    except Exception as error:
        return lost(error)


# Whether this process sends copies.  The pickler does not know where a message
# goes, and queues pickle in threads of their own: it is for the whole process.
_copies = False


def pass_copies(on: bool) -> bool:
    global _copies
    before, _copies = _copies, bool(on)
    return before


def reduce(array: numpy.ndarray) -> Any:
    """What is not dray's, or is private to this process, is copied."""
    record = None if _copies else _dray.handover(array)
    if record is None:
        return array.__reduce_ex__(4)
    return rebuild, (record, array.dtype)


def wait() -> None:
    """A worker that has sent its results and ends would take them along."""
    if multiprocessing.parent_process() is None or _dray.wait(PATIENCE_MS):
        return
    # Often of one who is joined before what it has sent is read.
    print(f"dray: {multiprocessing.current_process().name} ends, and "
          f"{len(_dray.waiting())} arrays that it has sent are lost: nobody "
          f"has received them for {PATIENCE_MS / 1000:g} s; a queue is to be "
          "read before its writer is joined", file=sys.stderr)


def _at_exit(_: Any) -> None:
    # After the queues, which have sent all they had by then.
    multiprocessing.util.Finalize(None, wait, exitpriority=-100)


def register() -> None:
    """Once, with the package."""
    multiprocessing.reduction.ForkingPickler.register(numpy.ndarray, reduce)
    _at_exit(None)
    # A child begins with an empty list of what is to be done at its end.
    multiprocessing.util.register_after_fork(register, _at_exit)

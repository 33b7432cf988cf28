# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Passes arrays through multiprocessing, by a record of their memory.

It starts when the program asks for memory that can be shared, or calls
share_arrays().

A record is made for handing over: it keeps the memory until the other side
opens it, because a program that puts an array into a queue may drop it at
once.  Only multiprocessing's own pickles do so; others outlive the process.
Records that are never opened stay in dray.waiting_arrays() until
dray.revoke_waiting().

If an array cannot be opened, it is copied.  If that fails too, it becomes a
dray.LostArray: no exception may leave an unpickle.
"""

from __future__ import annotations

import errno
import gc
import multiprocessing
import multiprocessing.queues
import multiprocessing.reduction
import multiprocessing.util
import sys
import threading
from typing import Any, Optional, Union

import numpy

from . import _dray
from ._lost import LostArray, lost

# Smaller arrays are pickled, because a record costs more than their bytes.
MIN_BYTES = 32768

# Time that a process waits at its end for receivers of its arrays.
PATIENCE_MS = 5000

# Whether this process shares arrays; None: not decided yet.  The pickler does
# not know the receiver of a message, and queues pickle in threads of their own, so
# both settings are for the whole process.
_shares: Optional[bool] = None
_min_bytes = MIN_BYTES

# Threads that sent an array.
_senders: set[threading.Thread] = set()


def share(on: bool, min_bytes: int = MIN_BYTES) -> bool:
    """Switches sharing on or off; returns the previous setting."""
    global _shares, _min_bytes
    before = _shares
    # Raises if min_bytes is not a size; then nothing changes.
    _dray.reduce_with(_reduce, min_bytes)
    _shares, _min_bytes = bool(on), min_bytes
    if before is None:
        multiprocessing.reduction.ForkingPickler.register(numpy.ndarray,
                                                          _dray.reduce)
        _at_exit(None)
        # A child starts without functions to call at its end.
        multiprocessing.util.register_after_fork(share, _at_exit)
    return bool(before)


def asked() -> None:
    """Starts sharing when memory that can be shared is asked for."""
    if _shares is None:
        share(True)


def open_or_fetch(record: bytes) -> numpy.ndarray:
    """Opens the array, or copies it if too few file descriptors are left."""
    if _dray.may_open():
        try:
            array: numpy.ndarray = _dray.open_record(record, None)
            return array
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
    return _dray.fetch(record)


def rebuild(record: bytes,
            dtype: numpy.dtype) -> Union[numpy.ndarray, LostArray]:
    """Opens the array of a record.  `dtype` adds the fields of a structure, or
    the unit of a date, which the record does not carry."""
    asked()
    try:
        array = open_or_fetch(record)
        return array if array.dtype == dtype else array.view(dtype)
    except Exception as error:
        return lost(error)


def _reduce(array: numpy.ndarray) -> Any:
    """Pickles an array as a record, or as a copy."""
    record = _dray.handover(array, _min_bytes) if _shares else None
    if record is None:
        return array.__reduce_ex__(4)
    _senders.add(threading.current_thread())
    return rebuild, (record, array.dtype)


def _nobody_reads() -> bool:
    """Whether all arrays were sent through queues that do not wait for readers,
    because the program called cancel_join_thread()."""
    return _senders <= {queue._thread for queue in gc.get_objects()
                        if issubclass(type(queue), multiprocessing.queues.Queue)
                        and queue._joincancelled}


def wait() -> None:
    """Waits for the receivers of a worker's results, which end with it."""
    if (multiprocessing.parent_process() is None or _dray.wait(0)
            or _nobody_reads() or _dray.wait(PATIENCE_MS)):
        return
    # Usually a process was joined before its queue was read.
    print(f"dray: {multiprocessing.current_process().name} ends, and "
          f"{len(_dray.waiting())} arrays that it sent are lost: they were "
          f"not received for {PATIENCE_MS / 1000:g} s; read a queue before you "
          "join its writer", file=sys.stderr)


def _at_exit(_: Any) -> None:
    _senders.clear()
    # Runs after the queues sent everything.
    multiprocessing.util.Finalize(None, wait, exitpriority=-100)

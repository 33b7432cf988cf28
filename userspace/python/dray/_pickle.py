# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How multiprocessing passes arrays: by a record of their memory.

Nothing of this happens before the program asks for memory that can be shared,
or calls share_arrays().

A record is made for handing over: it keeps the memory until the other side
has opened it, since whoever puts an array into a queue may forget it at once.
Only multiprocessing's own pickles do so; others outlive the process.  Records
that nobody opens are in dray.waiting_arrays(), until dray.revoke_waiting().

An array that cannot be opened is copied, and if that fails too it is a
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

# Smaller arrays are pickled: a record of one takes longer than its bytes.
MIN_BYTES = 32768

# How long a process that ends waits for receivers of its arrays.
PATIENCE_MS = 5000

# Whether this process passes arrays as what they are; None: nobody has asked.
# The pickler does not know where a message goes, and queues pickle in threads
# of their own: both are for the whole process.
_shares: Optional[bool] = None
_min_bytes = MIN_BYTES

# Threads that have sent an array.
_senders: set[threading.Thread] = set()


def share(on: bool, min_bytes: int = MIN_BYTES) -> bool:
    """Switches it; returns what it was."""
    global _shares, _min_bytes
    before = _shares
    _shares, _min_bytes = bool(on), min_bytes
    _dray.reduce_with(_reduce, min_bytes)
    if before is None:
        multiprocessing.reduction.ForkingPickler.register(numpy.ndarray,
                                                          _dray.reduce)
        _at_exit(None)
        # A child begins with an empty list of what is to be done at its end.
        multiprocessing.util.register_after_fork(share, _at_exit)
    return bool(before)


def asked() -> None:
    """Memory that can be shared was asked for."""
    if _shares is None:
        share(True)


def _open(record: bytes) -> numpy.ndarray:
    """The array, or a copy if too few descriptors are left."""
    if _dray.may_open():
        try:
            return _dray.open_record(record, None)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
    return _dray.fetch(record)


def rebuild(record: bytes,
            dtype: numpy.dtype) -> Union[numpy.ndarray, LostArray]:
    """The array of a record.  `dtype` has more than the record says: the
    fields of a structure, the unit of a date."""
    asked()
    try:
        array = _open(record)
        return array if array.dtype == dtype else array.view(dtype)
    except Exception as error:
        return lost(error)


def _reduce(array: numpy.ndarray) -> Any:
    """A record, or a copy as ever."""
    record = _dray.handover(array, _min_bytes) if _shares else None
    if record is None:
        return array.__reduce_ex__(4)
    _senders.add(threading.current_thread())
    return rebuild, (record, array.dtype)


def _nobody_reads() -> bool:
    """Whether all that was sent is in queues whose cancel_join_thread() was
    called: their writers do not wait for readers."""
    return _senders <= {queue._thread for queue in gc.get_objects()
                        if issubclass(type(queue), multiprocessing.queues.Queue)
                        and queue._joincancelled}


def wait() -> None:
    """A worker that has sent its results and ends would take them along."""
    if (multiprocessing.parent_process() is None or _dray.wait(0)
            or _nobody_reads() or _dray.wait(PATIENCE_MS)):
        return
    # Often of one who is joined before what it has sent is read.
    print(f"dray: {multiprocessing.current_process().name} ends, and "
          f"{len(_dray.waiting())} arrays that it has sent are lost: nobody "
          f"has received them for {PATIENCE_MS / 1000:g} s; read a queue "
          "before you join its writer", file=sys.stderr)


def _at_exit(_: Any) -> None:
    _senders.clear()
    # After the queues, which have sent all they had by then.
    multiprocessing.util.Finalize(None, wait, exitpriority=-100)

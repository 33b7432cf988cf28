# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions that run in workers: tasks, and questions about a worker."""
import os
import resource
import signal

import numpy as np

import dray
import dray.dask

# Arrays and streams that a worker keeps from a task to the next.
kept = {}


def shared(shape, dtype="f4"):
    """Numbers from 1 in memory that can be shared."""
    with dray.memory(shareable=True):
        a = np.empty(shape, dtype)
    a[...] = np.arange(1, a.size + 1).reshape(a.shape)
    return a


def passed(value):
    """Keeps a value on this worker."""
    return value


def total(*arrays):
    return float(sum(np.asarray(a).sum(dtype="f8") for a in arrays))


def described(a):
    """How an array arrived: type, elements, writable, memory, bytes beyond a line."""
    array = np.asarray(a)
    return {"type": type(a).__name__, "list": array.tolist(), "dtype": array.dtype,
            "strides": array.strides, "writable": array.flags.writeable,
            "memory": dray.memory_kind(a), "odd": array.ctypes.data % 64}


def keep(name, value):
    """Lets a later function of this worker see the value."""
    kept[name] = value
    return value


def set_first(name, number):
    np.asarray(kept[name])[0] = number


def counts():
    return dray.dask.counts()


def state():
    """Records that wait, and blocks of the pool that can be shared, and of frames."""
    frames = dray.dask._hooks.pool
    return (len(dray.waiting_arrays()), dray.stats(dray.pool(shareable=True)).blocks,
            frames.stats().blocks if frames else 0)


def limit_files(spare):
    """Leaves so many file descriptors, or with None as many as the hard limit; returns
    their number."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    used = max(map(int, os.listdir("/proc/self/fd"))) + 1
    most = hard if spare is None else used + spare
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def receive_later():
    """An array that a stream will fill once the worker sends."""
    node = dray.open("host:shareable")
    with node.pool():
        a, kept["sent"] = np.zeros(16384, "f4"), np.full(16384, 7, "f4")
    kept["tx"], kept["rx"] = node.stream("tx0"), node.stream("rx0")
    kept["event"] = kept["rx"].recv(a, wait=False)
    return a


def send_now():
    kept["tx"].send(kept["sent"])
    kept.pop("event").wait(10)
    for name in "sent", "tx", "rx":
        kept.pop(name)


class WhenSent:
    """Runs a function when it is sent, so that records of arrays before it in a list wait,
    and the receiver has nothing yet."""

    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        self.function()
        return int, ()


def die():
    os.kill(os.getpid(), signal.SIGKILL)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""NumPy arrays in memory that DMA engines reach.

    import dray, numpy as np

    with dray.memory():
        picture = np.zeros((1080, 1920, 3), np.uint8)
        top = np.empty((540, 1920, 3), np.uint8)
    dray.copy(top, picture[:540])

Arrays made inside the scope lie in buffers of dray: of the kernel module if it
is loaded, or else of the host, where all but engines and addresses works.
DRAY_BACKEND in the environment chooses ("kernel", "kernel:dray1", "host",
"host:shareable", "shareable").  An array and its views keep their memory after
the scope; only new arrays go elsewhere.

DRAY_HANDLER=check in the environment is for debugging.  It reports writes next
to arrays and after their end, wrong frees and leaks on standard error.

Arrays in memory that can be shared (dray.memory(shareable=True), and all memory
of the kernel module) go to other processes without a copy.  multiprocessing
passes arrays of 32 KiB and more that way from the first request for such memory
on, or from share_arrays(): both processes then have the same array.  The
receiver can also read and write the rest of the pool's buffer around it.  An
array of shared_zeros() has a buffer of its own.  Ordinary pickles are copies.

CAUTION: fork() does not copy such memory.  If a forked child, such as a worker of
multiprocessing, writes to an array of its parent, the parent's array changes,
although nothing was sent.  If the parent drops or resizes such an array, the
child's becomes zero or shows the parent's next array.

If an array was sent and not received, it keeps its memory: see waiting_arrays()
and revoke_waiting().  If it cannot be opened where it arrives, it is a LostArray
there, which raises the error when it is used.

When a process of multiprocessing ends, it waits up to 5 seconds until its arrays
are received; so read a queue before you join its writer.  It does not wait for a
queue if it has called cancel_join_thread().  The program itself does not wait:
arrays in waiting_arrays() are lost at its end.

Each array that is open in another process takes a file descriptor of
both.  When three quarters of a process's file descriptors are in use, arrays
are copied.

No array can be opened on another machine.  If a process sends arrays through
connections or managers of TCP ("AF_INET"), it calls share_arrays(False) before.

copy(), fill(), wait(), address() and the like also take a dray.Array, an array of the
library.

dray.stream("rx0") opens a channel between memory and an accelerator.  It sends
and receives arrays of any strides as packets, and iterates over frames.

Errors are ordinary exceptions: ValueError and TypeError for arguments,
MemoryError, PermissionError, TimeoutError, and OSError with its errno for
the rest.  Each carries the library's sentence.
"""

# Only what users import: names of others would be attributes of the package.
import typing as _typing
from typing import Any as _Any

from . import _dray, _methods
from ._array import FlatIterator
from ._arrow import ArrowArray, from_arrow, to_arrow
from ._calls import OpenCLExecutor, StreamExecutor
from ._core import CoreUfunc
from ._dray import (Array, CallQueue, Pool, Scope, dot, from_dlpack, matmul, matvec, ufunc,
                    vecdot, vecmat)
from ._fence import Call, Fence
from ._functions import open as open
from ._functions import (Versions, WaitingArray, address, arange, array, asarray, copy, copy_from_sycl,
                         copy_to_sycl, debug_repr, device_empty, empty, empty_like, explain,
                         export_array, fill, from_sycl, full, full_like, handler_name, heaps, install,
                         last_error, memory, memory_kind, nodes, ones, ones_like, open_array, owns,
                         pool, receive, revoke_array,
                         revoke_waiting, rows, segments, send, share_arrays, shared_zeros, stats,
                         stream, sync_for_cpu, sync_for_device, to_sycl, uninstall, versions, wait,
                         waiting_arrays, zeros, zeros_like)
from ._hook import MemoryHook
from ._loan import Loan, lend
from ._lost import LostArray
from ._nditer import nditer
from ._node import Node
from ._profiler import ProfilerRecord, profiler
from ._records import (ArrayFlags, Bank, CallExplanation, ChannelInfo, Explanation, HeapInfo, NodeInfo,
                       OpenCLDevice, PoolStats, RingCounts, Segment, SequencePlan,
                       StreamCounts)
from ._registers import Interrupt, Registers
from ._sequence import Sequence, Value
from ._statistics import Statistics, statistics
from ._stream import Event, Frames, Stream
from ._strings import Strings
from ._sycl import SyclArray, SyclQueue
from ._types import TypeInfo, UserType, type_info
from ._ufunc import (errstate, frompyfunc, getbufsize, geterr, geterrcall, setbufsize, seterr, seterrcall)
from ._ufuncs import abs as abs, divmod as divmod, pow as pow
from ._ufuncs import (absolute, acos, acosh, add, arccos, arccosh, arcsin, arcsinh, arctan, arctan2,
                      arctanh, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_count,
                      bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or,
                      bitwise_right_shift, bitwise_xor, cbrt, ceil, conj, conjugate, copysign, cos,
                      cosh, deg2rad, degrees, divide, equal, exp, exp2, expm1, fabs, float_power,
                      floor, floor_divide, fmax, fmin, fmod, frexp, gcd, greater, greater_equal,
                      heaviside, hypot, invert, isfinite, isinf, isnan, isnat, lcm, ldexp,
                      left_shift, less, less_equal, log, log10, log1p, log2, logaddexp, logaddexp2,
                      logical_and, logical_not, logical_or, logical_xor, maximum, minimum, mod,
                      modf, multiply, negative, nextafter, not_equal, positive, power, rad2deg,
                      radians, reciprocal, remainder, right_shift, rint, sign, signbit, sin, sinh,
                      spacing, sqrt, square, subtract, tan, tanh, true_divide, trunc)
from ._xclbin import xclbin_bank_of, xclbin_banks
from ._xrt import XrtBo, XrtDevice, from_xrt, xrt_bo, xrt_device

__all__ = [
    "Array", "ArrayFlags", "ArrowArray", "Bank", "Call", "CallExplanation", "CallQueue",
    "ChannelInfo", "CoreUfunc", "Event", "Explanation", "Fence", "FlatIterator", "Frames", "HeapInfo",
    "Interrupt", "Loan",
    "LostArray", "MemoryHook", "Node", "NodeInfo", "OpenCLDevice", "OpenCLExecutor", "Pool",
    "PoolStats", "ProfilerRecord", "Registers", "RingCounts", "Scope", "Segment", "Sequence", "SequencePlan",
    "Statistics", "Stream", "StreamCounts", "StreamExecutor", "Strings", "SyclArray", "SyclQueue", "TypeInfo",
    "UserType", "Value", "Versions", "WaitingArray", "XrtBo", "XrtDevice", "address", "arange", "array", "asarray",
    "copy", "copy_from_sycl", "copy_to_sycl", "debug_repr", "device_empty", "dot", "empty",
    "empty_like", "errstate", "explain", "export_array", "fill", "from_arrow", "from_dlpack",
    "from_sycl", "from_xrt", "frompyfunc", "full", "full_like", "getbufsize", "geterr", "geterrcall",
    "handler_name", "heaps", "install", "last_error", "lend", "matmul", "matvec", "memory",
    "memory_kind", "mr", "nditer", "nodes", "ones", "ones_like", "open_array", "owns", "pool", "profiler",
    "receive", "revoke_array", "revoke_waiting", "rows", "segments", "send", "setbufsize", "seterr",
    "seterrcall", "share_arrays", "shared_zeros", "statistics", "stats", "stream", "sync_for_cpu",
    "sync_for_device", "to_arrow", "to_sycl", "type_info", "ufunc", "uninstall", "vecdot", "vecmat", "versions",
    "wait", "waiting_arrays", "xclbin_bank_of", "xclbin_banks", "xp", "xrt_bo", "xrt_device",
    "zeros", "zeros_like",
    # The ufuncs but abs, divmod and pow, which would replace builtins, as open would.
    "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "conj", "conjugate", "copysign", "cos",
    "cosh", "deg2rad", "degrees", "divide", "equal", "exp", "exp2", "expm1", "fabs",
    "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "gcd", "greater",
    "greater_equal", "heaviside", "hypot", "invert", "isfinite", "isinf", "isnan", "isnat", "lcm",
    "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
    "mod", "modf", "multiply", "negative", "nextafter", "not_equal", "positive", "power",
    "rad2deg", "radians", "reciprocal", "remainder", "right_shift", "rint", "sign", "signbit",
    "sin", "sinh", "spacing", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc",
]

__version__: str = _dray.version

_methods.finish()

if _typing.TYPE_CHECKING:
    from . import mr as mr
    from . import xp as xp
else:
    # Modules that few programs use are imported then.
    def __getattr__(name: str) -> _Any:
        if name not in ("mr", "xp"):
            raise AttributeError(f"module 'dray' has no attribute {name!r}")
        import importlib

        return importlib.import_module(f"dray.{name}")

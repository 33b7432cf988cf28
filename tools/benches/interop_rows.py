# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times exchanges of an array and prints samples for tools/bench.

usage: interop_rows.py [WORD]...   only rows with these words in their names

A row is a name, a goal, and a statement for each contender; rows of "the table" are
timed by tests/bench/interop/interop_times.c.  An array of dray is d, an array of NumPy
n, both of 10 elements, and t is a tensor of apache-tvm-ffi with a table of its own.
"""
import functools
import os
import sys
import time as clock
import timeit

# apache-tvm-ffi compiles an extension of torch if it finds torch.
sys.modules["torch"] = None

import dray
import interop_times
import jax
import numpy as np
import polars
import pyarrow
import tvm_ffi

import alloc
import turns
from array_layouts import Row, memory

TABLE = 100  # ns
NUMPY = ("NumPy", 1)
STATEMENTS = (
    ("to NumPy, by a capsule", "np.from_dlpack(d)", "np.from_dlpack(n)", NUMPY),
    ("from NumPy, by a capsule", "dray.from_dlpack(n)", "np.from_dlpack(n)", NUMPY),
    ("capsule, made and dropped", "d.__dlpack__(max_version=(1, 3))",
     "n.__dlpack__(max_version=(1, 3))", ()),
    ("capsule without a version", "d.__dlpack__()", "n.__dlpack__()", ()),
    ("the device", "d.__dlpack_device__()", "n.__dlpack_device__()", ()),
    ("its own array", "dray.from_dlpack(d)", "np.from_dlpack(n)", NUMPY),
    ("to tvm-ffi, by the table; NumPy's by a capsule", "tvm_ffi.from_dlpack(d)",
     "tvm_ffi.from_dlpack(n)", NUMPY),
    ("from tvm-ffi, by a capsule", "dray.from_dlpack(f)", "np.from_dlpack(f)", NUMPY),
    ("to JAX, by a capsule", "jax.dlpack.from_dlpack(d)", "jax.dlpack.from_dlpack(n)",
     ()),
    ("to pyarrow.Tensor, by a capsule", "pyarrow.Tensor.from_dlpack(d)",
     "pyarrow.Tensor.from_dlpack(n)", NUMPY),
    ("to pyarrow, by Arrow; NumPy's by its own way", "pyarrow.array(d)",
     "pyarrow.array(n)", ()),
    ("from pyarrow, by Arrow; to NumPy by its own way", "dray.from_arrow(p)",
     "p.to_numpy()", ()),
    ("Arrow's capsules, made and dropped; of pyarrow's array",
     "d.__arrow_c_array__()", "p.__arrow_c_array__()", ()),
    ("to Polars, by Arrow; NumPy's by its own way", "polars.Series(d)",
     "polars.Series(n)", ()),
)
# Protocols that NumPy lacks: a name and our statement.
OURS = (
    ("SYCL's interface, offered", "dray.to_sycl(d).__sycl_usm_array_interface__"),
    ("SYCL's interface, read", "dray.from_sycl(s)"),
    ("rows", "dray.rows(d)"),
)
TABLES = (
    ("the table: tensor, made and dropped", "tensor"),
    ("the table: borrowed tensor", "borrowed tensor"),
    ("the table: tensor, and an array of it", "tensor and object"),
)
# Each leaves the address of the array's first element.
SHARED = (
    "np.from_dlpack(d).ctypes.data", "address(dray.from_dlpack(d))",
    "tvm_ffi.from_dlpack(d).data_ptr()",
    "jax.dlpack.from_dlpack(d).unsafe_buffer_pointer()",
    "pyarrow.Tensor.from_dlpack(d).to_numpy().ctypes.data",
    "pyarrow.array(d).buffers()[1].address",
    "polars.Series(d).to_numpy(allow_copy=False).ctypes.data",
    "address(dray.from_dlpack(np.asarray(d)))",
    "address(dray.from_arrow(pyarrow.array(d)))",
    "address(dray.from_sycl(dray.to_sycl(d)))",
)


def address(array):
    return array.__array_interface__["data"][0]


def operands():
    """All of it in memory of dray, which is aligned: JAX copies other memory."""
    with dray.memory():
        d, n = dray.Array.zeros(10, "f4"), memory(10, "f4")
        f = tvm_ffi.from_dlpack(memory(10, "f4"))
    return {**globals(), "d": d, "n": n, "f": f, "p": pyarrow.array(n),
            "s": dray.to_sycl(d), "t": tvm_ffi.core.DLTensorTestWrapper(f)}


def time(call, names, loops):
    """Returns ns of a call: a statement, or a call of the table and an array."""
    if isinstance(call, tuple):
        return interop_times.time(call[0], loops, names[call[1]])
    timer = timeit.Timer(call, timer=clock.thread_time, globals=names)
    return timer.timeit(loops) * 1e9 / loops


def rows():
    for name, ours, theirs, goal in STATEMENTS:
        yield Row(name, 0, operands, {"dray": ours, "NumPy": theirs}, goal)
    for name, ours in OURS:
        yield Row(name, 0, operands, {"dray": ours}, ())
    for name, call in TABLES:
        contenders = {"dray": (call, "d")}
        if call == "tensor":
            contenders["tvm-ffi"] = (call, "t")
        yield Row(name, 0, operands, contenders, ("-", TABLE))


def copied():
    """Bytes that these exchanges copied."""
    names = operands()
    return sum(names["d"].nbytes for each in SHARED
               if eval(each, names) != address(names["d"]))


def measure(row, rounds):
    """Times a row; each contender uses the same arrays in all rounds."""
    names = row.make()
    return turns.measure({name: functools.partial(time, call, names)
                          for name, call in row.contenders.items()}, rounds)


def main():
    words = sys.argv[1:]
    rounds = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or turns.ROUNDS
    for row in rows():
        if all(word in row.name for word in words):
            alloc.show(row.name, "ns", "lower", measure(row, rounds), row.goal)
    alloc.show(f"bytes copied by {len(SHARED)} exchanges", "B", "lower",
               {"dray": [copied()]}, ("-", 0))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""OpenCL on NumPy arrays in dray memory, without a copy.

A device that shares the CPU's memory, as PoCL's does, runs a kernel on the array's own
bytes.
"""
import dray
import numpy as np
import pyopencl as cl

COUNT = 100_000
KERNEL = """
kernel void twice(global int *data)
{
    data[get_global_id(0)] *= 2;
}
"""


def twice(queue, array):
    """Doubles the elements; returns the address that OpenCL used."""
    context = queue.context
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    memory = cl.Buffer(context, flags, hostbuf=array)
    kernel = cl.Program(context, KERNEL).build().twice
    kernel(queue, array.shape, None, memory)
    # The elements are the CPU's as long as they are mapped.
    mapped, _ = cl.enqueue_map_buffer(queue, memory, cl.map_flags.READ, 0,
                                      array.shape, array.dtype)
    with mapped.base:
        return mapped.ctypes.data


def main():
    queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    with dray.memory():
        array = np.arange(COUNT, dtype=np.int32)
    copied = twice(queue, array) != array.ctypes.data
    right = np.array_equal(array, 2 * np.arange(COUNT))
    print(f"{COUNT} elements {'copied' if copied else 'in place'}: "
          f"{'right' if right else 'wrong'}")
    return copied or not right


if __name__ == "__main__":
    raise SystemExit(main())

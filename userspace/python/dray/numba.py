# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numba's pinned and mapped host memory from dray: an EMM plug-in.

    NUMBA_CUDA_MEMORY_MANAGER=dray.numba python3 program.py

cuda.pinned_array() and cuda.mapped_array() then lie in dray memory, which is
registered with the CUDA driver.  The GPU, a DMA engine and the CPU reach the
same bytes, and dray.copy() accepts such arrays.  Memory on the GPU stays the
driver's, and Numba manages it.  A program can call install() instead, before
its first call of numba.cuda.

Functions of numba.njit() accept a dray.Array, as an array of NumPy over its memory.  An
installed package does that without this module, by an entry point.

DRAY_HANDLER=check does not check these blocks: each is whole pages, which
leaves no room for guards around a block.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from typing import Any, Optional

import numpy
from numba import cuda  # pyright: ignore[reportMissingImports]
from numba.cuda.cudadrv import driver, enums  # pyright: ignore[reportMissingImports]

import dray
from . import _dray, _functions
from . import _njit as _njit  # functions of numba.njit() over a dray.Array

__all__ = ["HostIpcHandle", "MemoryManager", "install", "pool"]

# Errors of unregistering after cuda.close(), or at the end of the process:
# the registrations ended with their context.
_GONE = (enums.CUDA_ERROR_DEINITIALIZED, enums.CUDA_ERROR_INVALID_CONTEXT,
         enums.CUDA_ERROR_CONTEXT_IS_DESTROYED,
         enums.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)


def install(pool: Optional[dray.Pool] = None) -> None:
    """Makes Numba use the plug-in for new contexts.

    `pool` needs a granule of a page or more, because the driver registers
    whole pages: node.pool(granule=mmap.PAGESIZE).
    """
    if pool is not None:
        _functions._made["numba"] = pool
    cuda.set_memory_manager(MemoryManager)


def pool() -> dray.Pool:
    """Returns the source of the memory: the pool of install(), or else a
    pool of the default node for arrays that can be shared."""
    made: dray.Pool = _functions._once("numba", lambda: _functions._node(True).pool(
        name="numba", granule=mmap.PAGESIZE))
    return made


def _pointer(block: numpy.ndarray) -> Any:
    """Returns the address of a block in the type of Numba's binding."""
    address = block.ctypes.data
    return address if driver.USE_NV_BINDING else ctypes.c_void_p(address)


def _take(size: int, flags: int) -> numpy.ndarray:
    """Makes a registered block.  If dray is out of memory, the error makes
    Numba free pending memory and try again."""
    try:
        # Without a handler: a checking handler would move it within its pages.
        block = _dray.bytes_in(pool(), size)
    except MemoryError:
        raise driver.CudaAPIError(enums.CUDA_ERROR_OUT_OF_MEMORY,
                                  dray.last_error()) from None
    if block.ctypes.data % mmap.PAGESIZE:
        raise ValueError(f"a block at {block.ctypes.data:#x} shares a page: "
                         f"the pool's granule is below {mmap.PAGESIZE}")
    driver.driver.cuMemHostRegister(_pointer(block), size, flags)
    return block


def _give_back(block: numpy.ndarray) -> None:
    try:
        driver.driver.cuMemHostUnregister(_pointer(block))
    except driver.CudaAPIError as error:
        if error.code not in _GONE:
            raise


class HostIpcHandle(driver.IpcHandle):
    """Leads another process to mapped memory, with any devices: `handle` is a
    record of dray.export_array().  Otherwise as Numba's."""

    _impl: Any

    def open(self, context: Any) -> Any:
        if self.base is not None:
            raise ValueError("opening IpcHandle from original process")
        if self._impl is not None:
            raise ValueError("IpcHandle is already opened")
        block = dray.open_array(self.handle)
        self._impl = context.mempin(block, block.ctypes.data, block.nbytes,
                                    mapped=True)
        return self._impl

    open_direct = open_staged = open

    def close(self) -> None:
        """Closes the memory; arrays of the handle become invalid."""
        if self._impl is None:
            raise ValueError("IpcHandle not opened")
        self._impl.free()
        self._impl = None

    def __reduce__(self) -> Any:
        return type(self), (None, self.handle, self.size)


class MemoryManager(driver.NumbaCUDAMemoryManager):
    """Numba's own manager, with host memory from dray, for each context."""

    def memhostalloc(self, size: int, mapped: bool = False,
                     portable: bool = False, wc: bool = False) -> Any:
        """Allocates `size` bytes of dray memory, registered with the driver.
        The memory is freed late, with other pending memory of the context.

        The driver allocates write-combined memory, because registering does
        not change how memory is cached.
        """
        if wc:
            return super().memhostalloc(size, mapped, portable, wc)
        flags = ((enums.CU_MEMHOSTREGISTER_DEVICEMAP if mapped else 0)
                 | (enums.CU_MEMHOSTREGISTER_PORTABLE if portable else 0))
        block = self._attempt_allocation(lambda: _take(size, flags))
        pointer, key = _pointer(block), block.ctypes.data
        allocations, deallocations = self.allocations, self.deallocations

        def finalizer() -> None:
            allocations.pop(key, None)
            deallocations.add_item(_give_back, block, size)

        context = weakref.proxy(self.context)
        if not mapped:
            return driver.PinnedMemory(context, pointer, size,
                                       finalizer=finalizer)
        memory = driver.MappedMemory(context, pointer, size,
                                     finalizer=finalizer)
        memory.block = block
        # Kept until reset(), as Numba keeps its own.
        allocations[key] = memory
        return memory.own()

    def get_ipc_handle(self, memory: Any) -> driver.IpcHandle:
        """Returns the driver's handle of memory on the GPU.  For mapped memory,
        to which the driver knows no handle, it returns dray's."""
        block = getattr(memory.owner, "block", None)
        if block is None:
            return super().get_ipc_handle(memory)
        start = memory.device_pointer_value - block.ctypes.data
        record = dray.export_array(block[start:start + memory.size])
        return HostIpcHandle(memory, record, memory.size)


_numba_memory_manager = MemoryManager

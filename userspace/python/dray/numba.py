# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numba's pinned and mapped host memory from dray: an EMM plug-in.

    NUMBA_CUDA_MEMORY_MANAGER=dray.numba python3 program.py

cuda.pinned_array() and cuda.mapped_array() then lie in dray memory, which is
registered with the CUDA driver: the GPU, a DMA engine and the CPU reach one
and the same bytes, and dray.copy() takes such arrays.  Memory on the GPU
stays the driver's, managed as Numba does.  A program says the same with
install(), before its first call of numba.cuda.

DRAY_HANDLER=check does not look at these blocks: each is whole pages, which
leaves no room for what it writes around a block.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from typing import Any, Optional

import numpy
from numba import cuda
from numba.cuda.cudadrv import driver, enums

import dray

__all__ = ["HostIpcHandle", "MemoryManager", "install", "pool"]

# What unregistering says after cuda.close(), or at the end of the process:
# the context took its registrations along.
_GONE = (enums.CUDA_ERROR_DEINITIALIZED, enums.CUDA_ERROR_INVALID_CONTEXT,
         enums.CUDA_ERROR_CONTEXT_IS_DESTROYED,
         enums.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)


def install(pool: Optional[dray.Pool] = None) -> None:
    """Makes Numba use the plug-in for contexts that come from now on.

    `pool` has a granule of a page or more, because the driver registers
    whole pages: node.pool(granule=mmap.PAGESIZE).
    """
    if pool is not None:
        dray._made["numba"] = pool
    cuda.set_memory_manager(MemoryManager)


def pool() -> dray.Pool:
    """Where the memory comes from: what install() was given, else a pool of
    the default node whose arrays other processes can get."""
    return dray._once("numba", lambda: dray._node(True).pool(
        name="numba", granule=mmap.PAGESIZE))


def _pointer(block: numpy.ndarray) -> Any:
    """The address of a block, as the binding that Numba uses has it."""
    address = block.ctypes.data
    return address if driver.USE_NV_BINDING else ctypes.c_void_p(address)


def _take(size: int, flags: int) -> numpy.ndarray:
    """A block that is registered.  Where dray has no memory, the error is
    the one for which Numba frees what is pending and asks again."""
    try:
        # No handler: a checking one would move it within its pages.
        block = dray._dray.bytes_in(pool(), size)
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
    """Leads another process to mapped memory, whichever its devices are:
    `handle` is a record of dray.export_array().  Otherwise as Numba's."""

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
        """Arrays of the handle have no memory from now on."""
        if self._impl is None:
            raise ValueError("IpcHandle not opened")
        self._impl.free()
        self._impl = None

    def __reduce__(self) -> Any:
        return type(self), (None, self.handle, self.size)


class MemoryManager(driver.NumbaCUDAMemoryManager):
    """Numba's own manager, but for where host memory comes from.  There is
    one for each context."""

    def memhostalloc(self, size: int, mapped: bool = False,
                     portable: bool = False, wc: bool = False) -> Any:
        """`size` bytes of dray memory, registered with the driver.  It goes
        back late, with what else is pending in the context.

        Write-combined memory comes from the driver: registering does not
        change how memory is cached.
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
        # Until reset(), as Numba keeps its own.
        allocations[key] = memory
        return memory.own()

    def get_ipc_handle(self, memory: Any) -> driver.IpcHandle:
        """For memory on the GPU, the driver's handle; for mapped memory, one
        of dray's, which the driver has none for."""
        block = getattr(memory.owner, "block", None)
        if block is None:
            return super().get_ipc_handle(memory)
        start = memory.device_pointer_value - block.ctypes.data
        record = dray.export_array(block[start:start + memory.size])
        return HostIpcHandle(memory, record, memory.size)


_numba_memory_manager = MemoryManager

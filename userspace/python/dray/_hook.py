# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Hooks of handlers, with the names of CuPy's cupy.cuda.MemoryHook."""

from __future__ import annotations

from typing import Any, TypeVar

from . import _dray

_Hook = TypeVar("_Hook", bound="MemoryHook")


class MemoryHook:
    """A base for classes with methods that see the calls of dray's handlers:

        class Log(dray.MemoryHook):
            name = "Log"

            def malloc_postprocess(self, **kwargs):
                print(kwargs["size"], hex(kwargs["mem_ptr"]))

        with Log():
            ...

    The methods have the names and the keywords of CuPy's.  A hook sees the calls of the
    thread that entered it, also by other tasks in that thread.  Hooks nest, and may
    be left in any order; no two of a thread have the same `name`.  Calls by a hook itself
    are seen by no hook.

    A method cannot fail a call: its exception goes to sys.unraisablehook.  A resize is a
    free and an allocation.

    device_id: 0
    size: bytes that were asked for
    mem_size: bytes of the block; before there is a block, as `size`
    mem_ptr: its address; 0: the allocation failed
    pmem_id: as mem_ptr"""

    __module__ = "dray"

    name = "MemoryHook"

    def __enter__(self: _Hook) -> _Hook:
        """Calls the methods from now on, in this thread."""
        if any(hook.name == self.name for hook in _dray.hooks()):
            raise KeyError(f"memory hook {self.name} already exists")
        _dray.hook_enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Ends the calls."""
        _dray.hook_leave(self)

    def alloc_preprocess(self, **kwargs: Any) -> None:
        """A pool fetched memory of its node, device_id, mem_size; called after it did."""

    def alloc_postprocess(self, **kwargs: Any) -> None:
        """The same, with mem_ptr=0: the memory extends the pool's."""

    def malloc_preprocess(self, **kwargs: Any) -> None:
        """Before an allocation: device_id, size, mem_size."""

    def malloc_postprocess(self, **kwargs: Any) -> None:
        """After it: device_id, size, mem_size, mem_ptr, pmem_id."""

    def free_preprocess(self, **kwargs: Any) -> None:
        """Before a free: device_id, mem_size, mem_ptr, pmem_id."""

    def free_postprocess(self, **kwargs: Any) -> None:
        """After it, when others may have the block: the same."""

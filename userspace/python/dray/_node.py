# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Nodes, over their part in C."""

from __future__ import annotations

import operator
from typing import Any, Iterable, Literal, Optional, Union, final

from ._dray import NodeBase, Pool, size, stream_open, use
from ._records import ChannelInfo, HeapInfo, NodeInfo
from ._registers import Interrupt, Registers, open_interrupt, open_registers
from ._stream import Stream

# Words for enum dray_heap_type.
_HEAP_TYPES: dict[Any, str] = {1: "reserved", 2: "cma", 3: "pages", 4: "carveout"}
_POLICIES = {"preferred": 1, "bind": 2, "interleave": 3}


def _numa(numa: Optional[str], numa_nodes: Iterable[int]) -> tuple[int, int]:
    """The policy of pages, and the bits of its nodes."""
    bits = 0
    for node in map(operator.index, numa_nodes):
        if not 0 <= node <= 63:
            raise ValueError(f"numa_nodes has {node!r}: numbers of nodes from 0 to 63")
        bits |= 1 << node
    if numa is None:
        if bits:
            raise ValueError("numa_nodes without numa: 'preferred', 'bind' or 'interleave'")
        return 0, 0
    if not isinstance(numa, str):
        raise TypeError(f"numa is not a str but {type(numa).__name__}")
    if numa not in _POLICIES:
        raise ValueError(f"numa is '{numa}': 'preferred', 'bind' or 'interleave'")
    if not bits:
        raise ValueError(f"numa='{numa}' without numa_nodes, as [0]")
    return _POLICIES[numa], bits


@final
class Node(NodeBase):
    """A DMA-capable device as dray sees it, or the host."""

    __slots__ = ()
    __module__ = "dray"

    def info(self) -> NodeInfo:
        """The node's properties and limits, as NodeInfo."""
        return self._info()

    def heaps(self) -> list[HeapInfo]:
        """A list of HeapInfo, in the order in which they are tried."""
        return [heap._replace(type=_HEAP_TYPES.get(heap.type, str(heap.type)))
                for heap in self._heaps()]

    def channels(self) -> list[ChannelInfo]:
        """A list of ChannelInfo."""
        return self._channels()

    def pool(self, *, heap: Optional[str] = None, name: Optional[str] = None,
             initial: Union[int, str] = 0, limit: Union[int, str] = 0,
             granule: Union[int, str] = 0, prefault: bool = False, huge_pages: bool = False,
             numa: Optional[Literal["preferred", "bind", "interleave"]] = None,
             numa_nodes: Iterable[int] = ()) -> Pool:
        """A new pool on this node.  Sizes are in bytes, or as "1G", "64K"; 0 is the
        node's own choice.

        prefault: fetches all pages before the first array, and keeps them until
        trim(); memory of the kernel module always does.
        huge_pages: uses reserved huge pages (vm.nr_hugepages), on "host:shareable".
        Arrays in them cannot be passed to other processes.  "host" uses
        transparent huge pages by itself.
        numa: "preferred", "bind" or "interleave", for numa_nodes, numbers from
        0 to 63; memory of the host only.  set_mempolicy(2) explains them.

        ValueError if a number is out of range, OSError (EOPNOTSUPP) if the node
        does not have such pages, MemoryError if none are left."""
        sizes = (size(initial, "initial"), size(limit, "limit"),
                 size(granule, "granule", 2**32 - 1))
        return self._pool(heap, name, *sizes, prefault, huge_pages, *_numa(numa, numa_nodes))

    def stream(self, name: str, *, points: int = 0, batch: int = 0) -> Stream:
        """Opens a stream of this node, as dray.stream() does."""
        for value, what in ((points, "points"), (batch, "batch")):
            if not 0 <= operator.index(value) < 2**32:
                raise ValueError(f"{what} is {value}: from 0 to {2**32 - 1}")
        return stream_open(self, name, points, batch)

    @property
    def register_areas(self) -> list[str]:
        """The names of the areas of registers that the device tree offers."""
        return self._areas()

    @property
    def interrupts(self) -> list[str]:
        """The names of the interrupts that the device tree offers."""
        return self._lines()

    def registers(self, name: Optional[str] = None) -> Registers:
        """Maps the area of registers called `name`, or the first:

            with node.registers("control") as control:
                control[0x10] = 1

        ValueError if there is no area of that name, PermissionError without the right
        (root, or the module with registers=1), OSError if the node offers none."""
        return open_registers(self, name)

    def interrupt(self, name: Optional[str] = None) -> Interrupt:
        """Opens the interrupt called `name`, or the first; a single object at a time has
        it.  Interrupts before this call do not count.

        ValueError if there is no interrupt of that name, OSError (EBUSY) if it is open, here
        or in another process, or if the node offers none."""
        return open_interrupt(self, name)

    def __repr__(self) -> str:
        return (f"<dray.Node {self._info().name}, back end {self.backend}, "
                f"{'shareable' if self.shareable else 'private'}>")


use(Node)

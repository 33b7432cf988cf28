# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Named tuples that the extension fills, with fields in its order."""

from typing import Any, NamedTuple, Optional


def named_type(value: Any) -> str:
    """The name of a value's type with its article: "an int", "a list"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


class Segment(NamedTuple):
    """A piece of an array as its node sees it.

    address: DMA address for the node
    length: bytes
    """

    address: int
    length: int


class PoolStats(NamedTuple):
    """Counters of a pool.

    regions: number of buffers that the pool holds
    reserved: bytes in those buffers
    used: bytes in blocks, rounded up to granules
    blocks: number of blocks
    peak: the most bytes that were used or cached
    parked: bytes freed that an engine still uses
    largest_free: bytes of the longest free run
    bad_frees: number of frees of addresses that are not blocks
    cached: bytes that threads kept for later
    """

    regions: int
    reserved: int
    used: int
    blocks: int
    peak: int
    parked: int
    largest_free: int
    bad_frees: int
    cached: int


class NodeInfo(NamedTuple):
    """A node's properties and limits.

    name: 'dray0', or 'host'
    backend: 'kernel' or 'host'
    device: the device's own name
    version: version of the module
    coherent: whether the device sees the CPU's caches
    iommu: whether DMA addresses are translated
    virtual: whether there is no hardware
    addresses: whether this process may see addresses
    dma_mask: highest address that the device reaches
    cache_line: bytes
    page_size: bytes
    max_runs: most descriptors of a transfer
    max_bytes: most bytes of a transfer
    """

    name: str
    backend: str
    device: str
    version: str
    coherent: bool
    iommu: bool
    virtual: bool
    addresses: bool
    dma_mask: int
    cache_line: int
    page_size: int
    max_runs: int
    max_bytes: int


class HeapInfo(NamedTuple):
    """A source of memory of a node.

    name: for dray.memory(heap=)
    type: 'reserved', 'cma', 'pages' or 'carveout'; a newer module's type is its number, as text
    buffers: number of buffers in it
    total: bytes
    free: bytes
    used: bytes in dray's buffers
    quarantined: bytes freed that others still hold
    largest_free: bytes of the longest free run
    largest_request: bytes; a larger request can never succeed
    """

    name: str
    type: str
    buffers: int
    total: int
    free: int
    used: int
    quarantined: int
    largest_free: int
    largest_request: int


class ChannelInfo(NamedTuple):
    """A channel of a DMA engine.

    name: its dma-names entry
    device: the engine; empty until it is used
    open: whether dray uses it now
    dead: whether it stopped answering
    alignment: bytes, of addresses and lengths
    max_segment: most bytes of a descriptor
    submitted: transfers since the node came up
    bytes: bytes moved since then
    failed: transfers that failed
    """

    name: str
    device: str
    open: bool
    dead: bool
    alignment: int
    max_segment: int
    submitted: int
    bytes: int
    failed: int


class Explanation(NamedTuple):
    """How a copy would be done, and why.

    elements: number of elements
    bytes: bytes that move
    run: bytes of a contiguous run, on both sides
    descriptors: descriptors that the engine would need
    threshold: if a copy needs more descriptors, the CPU copies
    axes: axes left, beside the run
    engine: whether the engine copies; if not, the CPU does
    reason: the reason, as a sentence
    """

    elements: int
    bytes: int
    run: int
    descriptors: int
    threshold: int
    axes: int
    engine: bool
    reason: str


class StreamCounts(NamedTuple):
    """Counters of a stream since it was opened.

    submitted: transfers
    transfers: that ended with success
    bytes: of transfers that ended, in any way
    failed: transfers that ended with an error, and
    cancelled: of these, by cancel() and the like
    timed_out: of these, by their deadline
    staged: submitted with a copy by the CPU
    in_flight: transfers that did not end yet
    """

    submitted: int
    transfers: int
    bytes: int
    failed: int
    cancelled: int
    timed_out: int
    staged: int
    in_flight: int


class RingCounts(NamedTuple):
    """Counters of a ring since its stream began it.

    frames: number of frames
    ended: packets that were received or sent, or broke off
    acquired: of these, by the program
    lost: of these, overwritten before they were acquired
    waiting: of these, to be acquired now
    owned: frames that the program has now
    held_back: times that no frame was free for the engine
    """

    frames: int
    ended: int
    acquired: int
    lost: int
    waiting: int
    owned: int
    held_back: int


class ArrayFlags(NamedTuple):
    """Facts about a dray.Array, as NumPy's flags, also by NumPy's names: flags["C_CONTIGUOUS"].

    c_contiguous: no gaps, the last axis fastest
    f_contiguous: no gaps, the first axis fastest
    writeable: whether elements may be set
    aligned: each element, for its type
    owndata: made with its memory, no view
    immutable: its elements never change
    """

    c_contiguous: bool
    f_contiguous: bool
    writeable: bool
    aligned: bool
    owndata: bool
    immutable: bool

    @property
    def contiguous(self) -> bool:
        """The same as c_contiguous."""
        return self.c_contiguous

    @property
    def fnc(self) -> bool:
        """Whether the first axis is the fastest, and not the last as well."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether there are no gaps in either order."""
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        """Whether it is aligned and writeable."""
        return self.aligned and self.writeable

    @property
    def carray(self) -> bool:
        """Whether it is behaved and c_contiguous."""
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Whether it is behaved and fnc."""
        return self.behaved and self.fnc

    @property
    def writebackifcopy(self) -> bool:
        """False: a dray.Array is never such a copy."""
        return False

    def __getitem__(self, key: Any) -> Any:
        """The flag of a name of NumPy, or of a place in the tuple."""
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        name = _FLAGS.get(key, key.lower() if key.isupper() else "")
        if not name or not hasattr(type(self), name):
            raise KeyError(f"there is no flag {key!r}")
        return getattr(self, name)


_FLAGS = {"C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "F": "f_contiguous",
          "FORTRAN": "f_contiguous", "W": "writeable", "A": "aligned", "O": "owndata",
          "X": "writebackifcopy", "B": "behaved", "CA": "carray", "FA": "farray"}


class CallExplanation(NamedTuple):
    """Which executor would run a call of a ufunc, and why.

    executor: 'cpu', 'streams' or 'opencl'
    elements: of the shape of all operands together
    bytes: of all operands
    seconds: of the call; None: not measured yet
    reason: a sentence
    """

    executor: str
    elements: int
    bytes: int
    seconds: Optional[float]
    reason: str


class SequencePlan(NamedTuple):
    """The plan of a sequence.

    chains: of a call or more
    chained: calls and conversions in them
    single: calls and conversions of whole arrays
    transfers: copies by queues
    left_out: of all these, those that nothing needs
    arrays: of values in between, in memory
    block: elements of the smallest block; 0: no chain
    """

    chains: int
    chained: int
    single: int
    transfers: int
    left_out: int
    arrays: int
    block: int


class OpenCLDevice(NamedTuple):
    """The device of an OpenCLExecutor.

    platform, device: their names
    version: of OpenCL, as the device reports it
    shared: kernels see the CPU's addresses
    unified: the device uses the CPU's memory, so that no operand is copied
    double: it computes doubles
    rounded: quotients and square roots of float32 are rounded as on the CPU
    subnormal: float32 includes subnormal numbers
    calls, bytes: that the executor ran; of their operands
    """

    platform: str
    device: str
    version: str
    shared: bool
    unified: bool
    double: bool
    rounded: bool
    subnormal: bool
    calls: int
    bytes: int


class Bank(NamedTuple):
    """A memory bank of an .xclbin file: memory that kernels in the logic reach.

    index: its number, the group of pyxrt.bo() and xrtBOAlloc()
    name: such as 'DDR[0]' or 'HP0'
    type: 'DDR4', 'HBM', 'stream', 'host', ...; 'unknown' for a newer type
    address: physical address of the first byte; 0 for a stream
    size: bytes; 0 for a stream
    used: whether a kernel of the design uses it
    """

    index: int  # type: ignore[assignment]  # pyright: ignore  # hides tuple.index()
    name: str
    type: str
    address: int
    size: int
    used: bool

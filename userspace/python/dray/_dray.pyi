# SPDX-License-Identifier: Apache-2.0 OR MIT
# Types of the part that is written in C; its functions are private.
from types import TracebackType
from typing import (Any, Callable, Iterable, Literal, NamedTuple, Optional, Type,
                    final)

from numpy import ndarray

version: str
library_version: str
ANY_USER: int
FOR_DEVICE: int
FOR_CPU: int
READ_ONLY: int

class Segment(NamedTuple):
    address: int
    length: int

class PoolStats(NamedTuple):
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
    name: str
    type: int
    buffers: int
    total: int
    free: int
    used: int
    quarantined: int
    largest_free: int
    largest_request: int

class ChannelInfo(NamedTuple):
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
    elements: int
    bytes: int
    run: int
    descriptors: int
    threshold: int
    axes: int
    engine: bool
    reason: str

@final
class Pool:
    @property
    def handler_name(self) -> str: ...
    def stats(self) -> PoolStats: ...
    def trim(self) -> int: ...

@final
class Node:
    @property
    def backend(self) -> Literal["kernel", "host"]: ...
    @property
    def shareable(self) -> bool: ...
    def info(self) -> NodeInfo: ...
    def heaps(self) -> list[HeapInfo]: ...
    def channels(self) -> list[ChannelInfo]: ...
    def pool(self, *, heap: Optional[str] = None, name: Optional[str] = None,
             initial: int = 0, limit: int = 0, granule: int = 0,
             prefault: bool = False, huge_pages: bool = False,
             numa: Optional[Literal["preferred", "bind", "interleave"]] = None,
             numa_nodes: Iterable[int] = ()) -> Pool: ...

@final
class Scope:
    @property
    def pool(self) -> Pool: ...
    @property
    def min_bytes(self) -> int: ...
    def __enter__(self) -> Pool: ...
    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> Literal[False]: ...

@final
class Fence:
    @property
    def done(self) -> bool: ...
    def wait(self, timeout: Optional[float] = None) -> None: ...
    def fileno(self) -> int: ...

def open(spec: Optional[str]) -> Node: ...
def nodes() -> list[str]: ...
def scope(pool: Pool, min_bytes: int = 0) -> Scope: ...
def set_handler(pool: Optional[Pool], min_bytes: int = 0) -> None: ...
def handler_name(a: Optional[ndarray] = None) -> Optional[str]: ...
def address(a: ndarray) -> int: ...
def segments(a: ndarray) -> list[Segment]: ...
def sync(a: ndarray, direction: str, owner: int) -> None: ...
def copy(dst: ndarray, src: ndarray, *, engine: Optional[bool] = None,
         wait: bool = True) -> Fence: ...
def fill(dst: ndarray, value: Any, *, engine: Optional[bool] = None,
         wait: bool = True) -> Fence: ...
def explain(dst: ndarray, src: ndarray, *,
            engine: Optional[bool] = None) -> Explanation: ...
def send(sock: Any, array: ndarray) -> None: ...
def receive(sock: Any, node: Optional[Node]) -> ndarray: ...
def export(array: ndarray, flags: int) -> bytes: ...
def handover(array: ndarray, min_bytes: int) -> Optional[bytes]: ...
def reduce_with(function: Callable[[ndarray], Any], min_bytes: int) -> None: ...
def reduce(array: ndarray) -> Any: ...
def may_open() -> bool: ...
def fetch(record: bytes) -> ndarray: ...
def wait(timeout_ms: int) -> bool: ...
def revoke(record: bytes) -> None: ...
def waiting() -> list[tuple[bytes, int, float]]: ...
def open_record(record: bytes, node: Optional[Node]) -> ndarray: ...
def bytes_alone(node: Node, size: int) -> ndarray: ...
def bytes_in(pool: Pool, size: int) -> ndarray: ...
def last_error() -> str: ...

# SPDX-License-Identifier: Apache-2.0 OR MIT
# Types of the part that is written in C; its functions are private.
from contextvars import ContextVar
from types import GenericAlias, ModuleType, TracebackType
from typing import (Any, AsyncIterator, Callable, ClassVar, Coroutine, Generator, Generic,
                    Iterable, Iterator, Literal, Optional, Sequence, Type, Union, final, overload)

from numpy import dtype, float64, generic, int64, ndarray
from numpy.typing import NDArray
from typing_extensions import Self, TypeVar

from ._array import FlatIterator
from ._fence import Call, Fence
from ._node import Node
from ._records import (ArrayFlags, Bank, CallExplanation, ChannelInfo, Explanation, HeapInfo, NodeInfo, OpenCLDevice, PoolStats,
                       RingCounts, Segment, StreamCounts)
from ._stream import Frames, Stream

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=generic, default=Any)

version: str
library_version: str
ANY_USER: int
FOR_DEVICE: int
ACCESS_READ: int
ACCESS_WRITE: int
FOR_CPU: int
MAX_FRAMES: int
READ_ONLY: int
ROWS_ORDERED: int
# Actions on divide, over, under, invalid; elements of a buffer; a function.
fp_state: ContextVar[Optional[tuple[Any, ...]]]
ufuncs: dict[str, ufunc]

# NumPy's array, or the library's.
_AnyArray = Union[ndarray, "Array"]

@final
class Pool:
    """Memory of a node for arrays."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def handler_name(self) -> str:
        """The name of the handler of its arrays."""
    @property
    def shareable(self) -> bool:
        """Whether its arrays can be passed to other processes."""
    @property
    def closed(self) -> bool:
        """Whether close() was called."""
    def stats(self) -> PoolStats:
        """The pool's counters, as PoolStats."""
    def trim(self) -> int:
        """Returns empty buffers to the node, and the number of their bytes."""
    def close(self) -> None:
        """Ends the pool: any use raises ValueError from now on.

        Its arrays stay.  The node gets the memory back when the last of them and
        the last scope are gone.  May be called again."""
    def __enter__(self) -> Pool:
        """Makes new arrays lie in the pool, as dray.memory(pool) does."""
    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType], /) -> Literal[False]:
        """Restores the previous handler; does not close the pool."""

class NodeBase:
    """The part of dray.Node in C."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def backend(self) -> Literal["kernel", "host"]:
        """'kernel' or 'host'."""
    @property
    def shareable(self) -> bool:
        """Whether its memory can be passed to other processes."""
    def _info(self) -> NodeInfo: ...
    def _heaps(self) -> list[HeapInfo]: ...
    def _channels(self) -> list[ChannelInfo]: ...
    def _areas(self) -> list[str]: ...
    def _lines(self) -> list[str]: ...
    def _pool(self, heap: Optional[str], name: Optional[str], initial: int, limit: int,
              granule: int, prefault: bool, huge_pages: bool, policy: int, nodes: int,
              /) -> Pool: ...

@final
class Scope:
    """`with` this, new arrays lie in the scope's pool; @this is a decorator."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def pool(self) -> Pool:
        """The pool that the scope uses."""
    @property
    def min_bytes(self) -> int:
        """The least size of arrays that lie in the pool."""
    def __enter__(self) -> Pool:
        """Makes new arrays come from the pool, and returns it."""
    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType], /) -> Literal[False]:
        """Restores the previous handler."""
    def __call__(self, function: _Function, /) -> _Function: ...

class FenceBase:
    """The part of dray.Fence in C."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def done(self) -> bool:
        """Whether the transfer is over; wait() tells whether it failed."""
    def _wait(self, timeout: Optional[float], /) -> None: ...
    def _time(self) -> float: ...
    def _fileno(self) -> int: ...
    def _status(self) -> int: ...

class EventBase:
    """The part of dray.Event in C."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def done(self) -> bool:
        """Whether the transfer is done; wait() raises its error if it failed."""
    @property
    def count(self) -> int:
        """Elements that moved.  BlockingIOError before the end, OSError (EBADMSG) if
        the last element is not whole."""
    @property
    def stream(self) -> Stream:
        """The stream."""
    def _wait(self, timeout: Optional[float], /) -> int: ...
    def _cancel(self) -> None: ...
    def _status(self) -> int: ...
    def _tell(self) -> tuple[int, int, float]: ...

class StreamBase:
    """The part of dray.Stream in C."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def name(self) -> str:
        """The name of its channel."""
    @property
    def node(self) -> Node:
        """Its node."""
    @property
    def closed(self) -> bool:
        """Whether close() was called."""
    def _move(self, move: int, a: _AnyArray, wait: bool, timeout: Optional[float],
              deadline: Optional[float], stage: bool, nonblock: bool,
              fences: Iterable[Fence], /) -> Any: ...
    def _explain(self, a: _AnyArray, stage: bool, /) -> Explanation: ...
    def _counts(self) -> StreamCounts: ...
    def _cancel(self) -> None: ...
    def _fileno(self) -> int: ...
    def _ended(self) -> int: ...
    def _close(self) -> None: ...
    def _hold(self) -> Any: ...
    def _check(self) -> None: ...

class FramesBase(Generic[_Scalar]):
    """The part of dray.Frames in C."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def timeout(self) -> Optional[float]:
        """Seconds of a step, or None."""
    @property
    def stream(self) -> Stream:
        """The stream."""
    @property
    def closed(self) -> bool:
        """Whether the ring is closed: by close(), `with` or the end of the stream."""
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> GenericAlias:
        """Type checkers know the type of the frames: Frames[numpy.uint8]."""
    def _poll(self) -> Optional[NDArray[_Scalar]]: ...
    def _flush(self, timeout: Optional[float], /) -> None: ...
    def _close(self, drops: bool, timeout: Optional[float], /) -> None: ...
    def _counts(self) -> RingCounts: ...
    def _tell(self) -> tuple[int, int, float, int]: ...
    def __iter__(self) -> Iterator[NDArray[_Scalar]]: ...
    def __next__(self) -> NDArray[_Scalar]: ...

@final
class Array:
    """A strided array of libdray, over the memory of `source` without a copy:
    of another Array, an array of NumPy, or an object with the buffer protocol
    or with __array_interface__."""
    def __new__(cls, source: Any, /) -> Array: ...
    @classmethod
    def empty(cls, shape: Any, dtype: Any = ..., order: str = "C") -> Array:
        """A new array with undefined elements, in memory of NumPy's current handler:
        inside `with dray.memory():` in dray's memory."""
    @classmethod
    def zeros(cls, shape: Any, dtype: Any = ..., order: str = "C") -> Array:
        """The same, and all bytes are zero."""
    @classmethod
    def arange(cls, start: Any, stop: Any = None, step: Any = None,
               dtype: Any = None) -> Array:
        """Numbers in even steps before `stop`, from 0 if `start` is alone.  Dates are a
        view of integers: arange(3).view('M8[D]')."""
    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one to the next."""
    @property
    def ndim(self) -> int:
        """Number of axes."""
    @property
    def size(self) -> int:
        """Number of elements."""
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
    @property
    def dtype(self) -> dtype[Any]:
        """The type, NumPy's object."""
    @property
    def typestr(self) -> str:
        """The type as "<f4"."""
    @property
    def flags(self) -> ArrayFlags:
        """An ArrayFlags."""
    @property
    def base(self) -> Any:
        """The owner of foreign memory; None if it is the array's own."""
    @property
    def handler_name(self) -> Optional[str]:
        """The handler that allocated the memory, as dray.handler_name() tells it."""
    @property
    def handler_version(self) -> Optional[int]:
        """The version of that handler; None if the memory is foreign."""
    @property
    def T(self) -> Array:
        """transpose()"""
    @property
    def flat(self) -> FlatIterator:
        """The elements in C order, a FlatIterator; can be set."""
    @flat.setter
    def flat(self, value: Any) -> None: ...
    @property
    def real(self) -> Array:
        """A view of the real parts; can be set."""
    @real.setter
    def real(self, value: Any) -> None: ...
    @property
    def imag(self) -> Array:
        """A view of the imaginary parts, which can be set; of real numbers zeros."""
    @imag.setter
    def imag(self, value: Any) -> None: ...
    @property
    def mT(self) -> Array:
        """A view with the last two axes exchanged."""
    @property
    def device(self) -> str:
        """Where its elements are: "cpu", or "device" for memory that only engines reach."""
    @property
    def data(self) -> memoryview:
        """A memoryview of the elements."""
    @property
    def ctypes(self) -> Any:
        """Address, shape and strides as objects of ctypes, as of NumPy's array."""
    def __array_namespace__(self, *, api_version: Optional[str] = None) -> ModuleType:
        """dray.xp, the namespace of the array-API standard 2025.12 and the versions before."""
    def to_device(self, device: str, /, *, stream: Any = None) -> Array:
        """The array itself if it is there; else a copy by dray.copy()."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The array as a dictionary, for other packages."""
    @property
    def __array_struct__(self) -> Any:
        """The same for C."""
    def __array__(self, dtype: Any = None,
                  copy: Optional[bool] = None) -> ndarray:
        """NumPy's array over the same memory, or a copy."""
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __eq__(self, value: Any, /) -> Any: ...
    def __ne__(self, value: Any, /) -> Any: ...
    def __lt__(self, value: Any, /) -> Any: ...
    def __le__(self, value: Any, /) -> Any: ...
    def __gt__(self, value: Any, /) -> Any: ...
    def __ge__(self, value: Any, /) -> Any: ...
    def __format__(self, format: str, /) -> str:
        """The text of NumPy's array, or of the element without axes."""
    def __add__(self, value: Any, /) -> Any: ...
    def __radd__(self, value: Any, /) -> Any: ...
    def __iadd__(self, value: Any, /) -> Array: ...
    def __sub__(self, value: Any, /) -> Any: ...
    def __rsub__(self, value: Any, /) -> Any: ...
    def __isub__(self, value: Any, /) -> Array: ...
    def __mul__(self, value: Any, /) -> Any: ...
    def __rmul__(self, value: Any, /) -> Any: ...
    def __imul__(self, value: Any, /) -> Array: ...
    def __truediv__(self, value: Any, /) -> Any: ...
    def __rtruediv__(self, value: Any, /) -> Any: ...
    def __itruediv__(self, value: Any, /) -> Array: ...
    def __floordiv__(self, value: Any, /) -> Any: ...
    def __rfloordiv__(self, value: Any, /) -> Any: ...
    def __ifloordiv__(self, value: Any, /) -> Array: ...
    def __mod__(self, value: Any, /) -> Any: ...
    def __rmod__(self, value: Any, /) -> Any: ...
    def __imod__(self, value: Any, /) -> Array: ...
    def __divmod__(self, value: Any, /) -> Any: ...
    def __rdivmod__(self, value: Any, /) -> Any: ...
    def __pow__(self, value: Any, mod: None = None, /) -> Any: ...
    def __rpow__(self, value: Any, mod: None = None, /) -> Any: ...
    def __ipow__(self, value: Any, /) -> Array: ...  # type: ignore[misc]
    def __matmul__(self, value: Any, /) -> Any: ...
    def __rmatmul__(self, value: Any, /) -> Any: ...
    def __imatmul__(self, value: Any, /) -> Array: ...
    def __and__(self, value: Any, /) -> Any: ...
    def __rand__(self, value: Any, /) -> Any: ...
    def __iand__(self, value: Any, /) -> Array: ...
    def __or__(self, value: Any, /) -> Any: ...
    def __ror__(self, value: Any, /) -> Any: ...
    def __ior__(self, value: Any, /) -> Array: ...
    def __xor__(self, value: Any, /) -> Any: ...
    def __rxor__(self, value: Any, /) -> Any: ...
    def __ixor__(self, value: Any, /) -> Array: ...
    def __lshift__(self, value: Any, /) -> Any: ...
    def __rlshift__(self, value: Any, /) -> Any: ...
    def __ilshift__(self, value: Any, /) -> Array: ...
    def __rshift__(self, value: Any, /) -> Any: ...
    def __rrshift__(self, value: Any, /) -> Any: ...
    def __irshift__(self, value: Any, /) -> Array: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Computes a ufunc of NumPy by dray's of the same name; by NumPy if that has no
        loop for the types."""
    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...],
                           kwargs: dict[str, Any], /) -> Any:
        """Calls a function of NumPy; new arrays of it are dray's, and so are its outputs."""
    __dlpack_c_exchange_api__: ClassVar[Any]
    __c_dlpack_exchange_api__: ClassVar[int]
    def __dlpack__(self, *, stream: Optional[int] = None,
                   max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        """A capsule of DLPack over the same memory, or over a copy.  Waits until no
        transfer uses the memory, unless stream is -1."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device: (1, 0) is the CPU, (12, 0) memory that it does not reach."""
    def __arrow_c_schema__(self) -> Any:
        """A capsule of Arrow's schema for arrays of this type and shape."""
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Capsules of Arrow's schema and array, over the same memory.  Never converts or
        copies: dray.to_arrow() does."""
    def __arrow_c_device_array__(self, requested_schema: Any = None,
                                 **kwargs: Any) -> tuple[Any, Any]:
        """The same, with a device array: the CPU's, and nothing to wait for."""
    def __copy__(self) -> Array:
        """A copy in order 'K'."""
    def __deepcopy__(self, memo: Any, /) -> Array:
        """The same."""
    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the elements."""
    def __debug_repr__(self) -> str:
        """The text of dray.debug_repr()."""
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def copy(self, order: str = "C") -> Array:
        """A copy in order 'C', 'F', 'A' or 'K', in memory like empty()'s."""
    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe",
               copy: bool = True, *, subok: bool = True) -> Array:
        """A copy of another type; with copy=False the array itself, if its type is equal.
        Errors of numbers are those of errstate(), as "overflow encountered in cast"."""
    def transpose(self, *axes: Any) -> Array:
        """A view with its axes in another order, by default reversed."""
    def broadcast_to(self, shape: Any, /) -> Array:
        """A read-only view in which axes of length 1 are repeated."""
    def swapaxes(self, axis1: int, axis2: int, /) -> Array:
        """A view with two axes exchanged."""
    def moveaxis(self, source: Any, destination: Any, /) -> Array:
        """A view with axes at other places; the others keep their order."""
    def squeeze(self, axis: Any = None) -> Array:
        """A view without axes of length 1."""
    def expand_dims(self, axis: Any) -> Array:
        """A view with more axes of length 1."""
    def flip(self, axis: Any = None) -> Array:
        """A view with axes reversed."""
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """A read-only view of the diagonal of two axes."""
    def reshape(self, *shape: Any, order: str = "C", copy: Optional[bool] = None) -> Array:
        """A view with another shape, or if strides do not allow it, a copy; copy=True:
        always a copy, False: ValueError instead of one."""
    def ravel(self, order: str = "C") -> Array:
        """The elements along a single axis: a view if they lie so, or else a copy."""
    def view(self, dtype: Any = None) -> Array:
        """The same bytes as another type."""
    def sliding_window_view(self, window_shape: Any, axis: Any = None) -> Array:
        """A read-only view of every window of a shape."""
    def as_strided(self, shape: Any, strides: Any, /) -> Array:
        """A view of any shape and strides inside of the array's memory."""
    def shares_memory(self, other: Array, /) -> bool:
        """Whether an element of each shares a byte with the other, exactly."""
    def save(self, path: Any, *, page: bool = False, new: bool = False) -> None:
        """Writes a .npy file: with its elements from a page's start on; or only if there
        is none of that name."""
    @classmethod
    def load(cls, path: Any, *, node: Optional[Node] = None) -> Array:
        """A new array of the contents of a .npy file, in memory like empty()'s, or in a
        buffer of a node, to read header and elements by O_DIRECT."""
    @classmethod
    def map(cls, path: Any, *, writable: bool = False) -> Array:
        """An array over the bytes of a .npy file: writes change the file."""
    def take(self, indices: Any, axis: Optional[int] = None, out: Any = None,
             mode: str = "raise") -> Any:
        """A copy of the elements of some numbers along an axis, or of all in C order."""
    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Sets the elements of some numbers in C order; values are repeated."""
    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *,
             stable: Any = None) -> None:
        """Sorts the elements along an axis in place; equal elements keep their order."""
    def argsort(self, axis: Optional[int] = -1, kind: Any = None, order: Any = None, *,
                stable: Any = None) -> Array:
        """The indices that would sort it; of all elements in C order with None."""
    def argmax(self, axis: Optional[int] = None, out: Any = None) -> Any:
        """The index of the first largest element along an axis, or of all."""
    def argmin(self, axis: Optional[int] = None, out: Any = None) -> Any:
        """The index of the first smallest element along an axis, or of all."""
    def nonzero(self) -> tuple[Array, ...]:
        """The indices of elements that are not zero: an Array for each axis."""
    def where(self, yes: Any, no: Any, /) -> Array:
        """A new array: of `yes` where the element is true, else of `no`."""
    def fill(self, value: Any, /) -> None:
        """Sets all elements."""
    def item(self, *args: Any) -> Any:
        """An element as an object of Python, as of NumPy's array."""
    def tolist(self) -> Any:
        """The elements as nested lists."""
    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
            initial: Any = 0, where: Any = True) -> Any:
        """The sum of the elements, along axes or of all."""
    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
             initial: Any = 1, where: Any = True) -> Any:
        """The product of the elements."""
    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
            where: Any = True) -> Any:
        """The smallest element."""
    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
            where: Any = True) -> Any:
        """The largest element."""
    def ptp(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The largest element minus the smallest."""
    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, *,
            where: Any = True) -> Any:
        """Whether all elements are true."""
    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, *,
            where: Any = True) -> Any:
        """Whether an element is true."""
    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
             *, where: Any = True) -> Any:
        """The mean."""
    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
            keepdims: bool = False, *, where: Any = True, mean: Any = None) -> Any:
        """The variance, with the divisor size - ddof."""
    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
            keepdims: bool = False, *, where: Any = True, mean: Any = None) -> Any:
        """The standard deviation."""
    def argpartition(self, kth: Any, axis: Any = -1, kind: str = "introselect",
                     order: Any = None) -> Any:
        """The indices that would partition it."""
    def byteswap(self, inplace: bool = False) -> Array:
        """The elements with their bytes in reverse, a copy or the array itself."""
    def choose(self, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
        """Elements of the choices that the array numbers."""
    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """The parts along an axis for which a condition is true."""
    def dump(self, file: Any) -> None:
        """Pickles the array to a file or a path."""
    def dumps(self) -> bytes:
        """The pickled array."""
    def flatten(self, order: str = "C") -> Array:
        """A copy of the elements along a single axis."""
    def getfield(self, dtype: Any, offset: int = 0) -> Array:
        """A view of bytes of each element as another type."""
    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect",
                  order: Any = None) -> None:
        """Puts the elements of some numbers at their place in order, between smaller and greater."""
    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Each element several times."""
    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """The places before which values keep the sorted array so."""
    def setfield(self, val: Any, dtype: Any, offset: int = 0) -> None:
        """Sets bytes of each element to a value of another type."""
    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Checks flags: they never change, so that ValueError names the way for another."""
    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes of the elements, in C order or another."""
    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Writes the elements to a file, as bytes or as text between separators."""
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
              out: Any = None) -> Any:
        """The sum of a diagonal of two axes."""
    def clip(self, min: Any = None, max: Any = None, out: Any = None, **keywords: Any) -> Any:
        """The elements, put between bounds."""
    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """The elements, rounded to even."""
    def conj(self, out: Any = None) -> Any:
        """Complex conjugates; of real numbers the array itself."""
    def conjugate(self, out: Any = None) -> Any:
        """The same as conj()."""
    def dot(self, other: Any, /, out: Any = None) -> Any:
        """The product of vectors or matrices, as dray.dot()."""
    def cumsum(self, axis: Optional[int] = None, dtype: Any = None, out: Any = None) -> Any:
        """Running sums along an axis, or of all elements in C order."""
    def cumprod(self, axis: Optional[int] = None, dtype: Any = None, out: Any = None) -> Any:
        """Running products."""

@final
class ufunc:
    """A function of whole arrays, made of loops over elements: a new ufunc is
    without loops until register() sets them.  With a signature of core axes, such as
    "(n),(n)->()", it is a CoreUfunc.

        z = dray.add(x, y, out=z, where=mask)

    Calls and methods accept NumPy's arguments, and threads= for large arrays.
    Operands are arrays of dray and NumPy, numbers, and lists; results are
    dray.Array, elements if they are without axes, or the arrays of out=."""
    # A CoreUfunc, if there is a signature.
    def __new__(cls, name: str, nin: int = -1, nout: int = -1, identity: Optional[float] = None,
                *, signature: Optional[str] = None) -> ufunc: ...
    @property
    def __name__(self) -> str:
        """The name."""
    @property
    def nin(self) -> int:
        """Number of inputs."""
    @property
    def nout(self) -> int:
        """Number of outputs."""
    @property
    def nargs(self) -> int:
        """Number of inputs and outputs."""
    @property
    def ntypes(self) -> int:
        """Number of loops."""
    @property
    def types(self) -> list[str]:
        """The types of each loop, as "dd->d"."""
    @property
    def identity(self) -> Optional[float]:
        """The result of reducing nothing; None: there is none."""
    def __call__(self, *args: Any, out: Any = None, where: Any = True, casting: str = "same_kind",
                 order: str = "K", dtype: Any = None, signature: Any = None, sig: Any = None,
                 subok: bool = True, threads: int = 1, fast: bool = False) -> Any: ...
    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
               keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
        """Applies the ufunc between all elements along an axis, several, or all (None)."""
    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None
                   ) -> Any:
        """The results of all steps of a reduction."""
    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None,
                 out: Any = None) -> Any:
        """Reduces the elements from each index up to the next."""
    def outer(self, a: Any, b: Any, /, **keywords: Any) -> Any:
        """The results of all pairs of elements; keywords as in a call."""
    def at(self, a: _AnyArray, indices: Any, b: Any = None, /) -> None:
        """Changes a[indices] in place; elements that are named twice, twice."""
    def register(self, types: Any, loop: Any, context: Any = None, *, fp_errors: bool = True
                 ) -> None:
        """Sets the loop for types, such as "dd->d": a function of ctypes, a cfunc of
        Numba, or an address, of the type dray_loop of <dray/dtype.h>; the operands are
        the inputs, then the outputs.  It runs without the GIL.  `context` is its last
        argument.  fp_errors=False: it leaves nothing of meaning in the processor's flags."""
    def resolve_dtypes(self, dtypes: Any, *, signature: Any = None, casting: str = 'same_kind',
                       reduction: bool = False) -> tuple[dtype[Any], ...]:
        """The types of the loop that a call with these types runs; int, float and complex
        are numbers of Python, and None is an output to be made."""
    def __reduce__(self) -> str:
        """Pickles the name of a builtin ufunc."""

class NditerBase:
    """The part of dray.nditer in C."""
    def __new__(cls, *arguments: Any, **keywords: Any) -> Self: ...
    def make(self, operands: tuple[Any, ...], operand_flags: tuple[int, ...],
             types: tuple[Any, ...], flags: int, order: str, casting: int, axes: int,
             maps: Any, shape: Any, size: int, /) -> None: ...
    @property
    def number(self) -> int:
        """The element in C or F order; -1: not kept."""
    @property
    def position(self) -> int:
        """Elements from the start."""
    @property
    def itersize(self) -> int:
        """The number of elements."""
    @property
    def ndim(self) -> int:
        """The number of axes."""
    @property
    def nop(self) -> int:
        """The number of operands."""
    @property
    def flags(self) -> int:
        """The flags of the library."""
    def _value(self) -> Any: ...
    @property
    def finished(self) -> bool:
        """Whether it is past the end."""
    @property
    def delayed(self) -> bool:
        """Whether reset() makes buffers."""
    @property
    def closed(self) -> bool:
        """Whether close() was called."""
    @property
    def needs_buffers(self) -> bool:
        """Whether an operand is buffered."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of its axes."""
    @property
    def coordinates(self) -> tuple[int, ...]:
        """The coordinates of the element."""
    @property
    def range(self) -> tuple[int, ...]:
        """The elements that it visits."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
    def close(self) -> None:
        """Writes buffers and copies back to the operands.  Nothing else follows it."""
    def iternext(self) -> bool:
        """Moves on; False at the end."""
    def copy(self) -> Self:
        """Another iterator at the same place."""
    def is_first_visit(self, number: int, /) -> bool:
        """Whether a reduced operand's elements are seen for the first time."""
    def views(self) -> tuple[Any, ...]:
        """The elements of all operands."""
    def _types(self) -> tuple[dtype[Any], ...]: ...
    def operand(self, number: int, /) -> ndarray[Any, Any]: ...
    def allocated(self, number: int, /) -> Optional[Array]: ...
    def axis_strides(self, axis: int, /) -> tuple[int, ...]: ...
    def jump(self, kind: int, numbers: tuple[Any, ...], /) -> None: ...

@final
class CallQueue:
    """Calls of ufuncs that run in turn, in a thread of the queue.

    Each runs on the executor that needs the least time, the CPU among them.  The
    first calls of a loop measure each of them.  At most `depth` calls wait or run, 0:
    1024; another submission waits for any of them."""
    def __new__(cls, executors: Iterable[Handle] = ...,
                depth: int = ...) -> CallQueue: ...
    def submit(self, ufunc: ufunc, /, *inputs: Any, out: Any = ..., where: Any = ...,
               **keywords: Any) -> Call:
        """Submits a call, with the arguments of ufunc(), and returns a Call at once.

        The operands must not change until it ends; outputs are read then.
        Errors of numbers, such as a division by 0, follow the submission's
        errstate(); wait() raises them, or warns."""
    def explain(self, ufunc: ufunc, /, *inputs: Any, out: Any = ..., where: Any = ...,
                **keywords: Any) -> CallExplanation:
        """Says which executor would run a call, and why; computes nothing."""
    def cancel(self) -> None:
        """Cancels all calls: those that wait end at once.  Later calls run."""
    def close(self) -> None:
        """Waits for the calls, and closes the queue."""
    def __enter__(self) -> CallQueue:
        """Returns the queue."""
    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 traceback: Optional[TracebackType], /) -> Literal[False]:
        """Closes the queue."""

class CallBase:
    """The part of dray.Call in C."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def done(self) -> bool:
        """Whether the call has ended."""
    def _wait(self, timeout: Optional[float], /) -> Any: ...
    def _cancel(self) -> None: ...
    def _fileno(self) -> int: ...

class Recording:
    """The part of dray.Sequence in C."""
    def __new__(cls, *, chains: bool = ...) -> Self: ...
    def _input(self, like: Any, /) -> int: ...
    def _constant(self, number: Any, /) -> tuple[int, bool]: ...
    def _call(self, ufunc: ufunc, inputs: tuple[int, ...], weak: int, where: int,
              otherwise: int, dtype: Any, /) -> tuple[int, ...]: ...
    def _convert(self, value: int, dtype: Any, casting: int, /) -> int: ...
    def _copy(self, value: int, node: Node, engine: Optional[bool], /) -> int: ...
    def _output(self, value: int, /) -> None: ...
    def _describe(self, value: int, /) -> tuple[dtype[Any], tuple[int, ...]]: ...
    def _plan(self) -> tuple[int, int, int, int, int, int, int]: ...
    def _end(self) -> None: ...
    def _run(self, inputs: tuple[Any, ...], out: Any, threads: int, /) -> Any: ...
    def _submit(self, queue: CallQueue, inputs: tuple[Any, ...], out: Any, threads: int,
                /) -> Call: ...

class Handle:
    """An object of the library, the base of classes."""
    def __new__(cls, *args: Any, **keywords: Any) -> Self: ...
    @property
    def _dropped(self) -> bool:
        """Whether it was dropped."""
    def _drop(self) -> None:
        """Drops the library's object; may be called again."""

_Handle = TypeVar("_Handle", bound=Handle)

class UserBase:
    """The part of dray.UserType in C."""
    def __new__(cls, *args: Any) -> Self: ...
    @property
    def dtype(self) -> dtype[Any]:
        """NumPy's object for it: plain bytes, with the type in its metadata."""
    @property
    def name(self) -> str:
        """The name."""

def open(spec: Optional[str], /) -> Node: ...
def nodes() -> list[str]: ...
def thread_fp_state() -> tuple[Any, ...]: ...
def scope(pool: Union[Pool, Handle], min_bytes: Union[int, str] = 0, /) -> Scope: ...
@overload
def set_handler(pool: None, min_bytes: int = 0, /) -> None: ...
@overload
def set_handler(pool: Union[Pool, Handle], min_bytes: Union[int, str] = 0,
                /) -> Scope: ...
def handler_name(a: Any = None, /) -> Optional[str]: ...
def address(a: _AnyArray, /) -> int: ...
def segments(a: _AnyArray, /) -> list[Segment]: ...
def sync(a: _AnyArray, direction: str, owner: int, /) -> None: ...
def export_arrow(a: Array, mask: Optional[Array], copy: bool, requested_schema: Any,
                 device: bool, /) -> tuple[Any, Any]: ...
def import_arrow(schema: Any, array: Any, copy: bool, masks: bool, fields: bool,
                 /) -> list[tuple[Array, Optional[Array]]]: ...
def strings_make(type: Type[_Handle], items: tuple[Union[str, bytes, None], ...], is_text: bool,
                 errors: Optional[str], /) -> _Handle: ...
def strings_count(strings: Handle, /) -> int: ...
def strings_item(strings: Handle, index: int, is_text: bool, errors: Optional[str],
                 /) -> Any: ...
def strings_list(strings: Handle, is_text: bool, errors: Optional[str], /) -> list[Any]: ...
def strings_slice(type: Type[_Handle], strings: Handle, part: slice, /) -> _Handle: ...
def strings_take(type: Type[_Handle], strings: Handle, indices: Optional[Array],
                 /) -> _Handle: ...
def strings_compare(a: Handle, b: Handle, relation: int, out: Array, /) -> Array: ...
def strings_argsort(strings: Handle, out: Array, /) -> Array: ...
def strings_export(strings: Handle, is_text: bool, requested_schema: Any, whole: bool,
                   /) -> Any: ...
def strings_import(type: Type[_Handle], schema: Any, array: Any,
                   /) -> tuple[_Handle, bool]: ...
def read_arrow_stream(stream: Any, /) -> tuple[Any, Any]: ...
def arrow_names(schema: Any, /) -> list[str]: ...
def wait_array(a: _AnyArray, write: bool, timeout: Optional[float], /) -> None: ...
def registers_map(type: type[_Handle], node: Node, name: Optional[str], /) -> _Handle: ...
def registers_describe(registers: Handle, /) -> tuple[str, int]: ...
def registers_read(registers: Handle, offset: int, /) -> int: ...
def registers_write(registers: Handle, offset: int, value: int, /) -> None: ...
def interrupt_open(type: type[_Handle], node: Node, name: Optional[str], /) -> _Handle: ...
def interrupt_describe(interrupt: Handle, /) -> tuple[str, int]: ...
def interrupt_wait(interrupt: Handle, timeout: Optional[float], /) -> int: ...
def interrupt_clear(interrupt: Handle, /) -> None: ...
def lend(a: _AnyArray, access: int, to: Optional[str], timeout: Optional[float], /) -> object: ...
def end_loan(loan: object, /) -> None: ...
def copy(dst: _AnyArray, src: _AnyArray, *, engine: Optional[bool] = None,
         wait: bool = True) -> Fence: ...
def fill(dst: _AnyArray, value: Any, *, engine: Optional[bool] = None,
         wait: bool = True) -> Fence: ...
def kind(a: Any, node: Optional[Node], /) -> str: ...
def owns(a: _AnyArray, /) -> bool: ...
def counter_begin() -> Any: ...
def counter_end(counter: Any, /) -> None: ...
def counter_read(counter: Any, /) -> tuple[int, int, int, int, int, int]: ...
def hook_enter(hook: Any, /) -> None: ...
def hook_leave(hook: Any, /) -> None: ...
def hooks() -> tuple[Any, ...]: ...
def resource_over_pool(type: Type[_Handle], pool: Pool, /) -> _Handle: ...
def resource_of_heap(type: Type[_Handle], /) -> _Handle: ...
def resource_of_callbacks(type: Type[_Handle], allocate: Callable[[int, int], int],
                          deallocate: Callable[[int, int, int], object], /) -> _Handle: ...
def resource_on_failure(type: Type[_Handle], upstream: Handle,
                        callback: Callable[[int], object], /) -> _Handle: ...
def resource_over(type: Type[_Handle], kind: str, upstream: Handle,
                  argument: Any = None, /) -> _Handle: ...
def resource_allocate(resource: Handle, nbytes: int, stream: int, /) -> int: ...
def resource_deallocate(resource: Handle, ptr: int, nbytes: int, stream: int,
                        /) -> None: ...
def resource_numbers(resource: Handle, field: str, /) -> Any: ...
def resource_report(resource: Handle, /) -> str: ...
def rows(a: _AnyArray, limits: tuple[Any, Any, Any, Any, Any], flags: int,
         device: Optional[int], /) -> NDArray[int64]: ...
def array_at(owner: Any, address: int, dtype: dtype[Any], shape: tuple[int, ...],
             strides: Optional[tuple[int, ...]], writable: bool, kind: str, /) -> Array: ...
def is_reached(a: Array, /) -> bool: ...
def place(a: Array, /) -> tuple[int, int, int, bool, Optional[Node]]: ...
def device_empty(node: Node, shape: Any, dtype: dtype[Any], heap: Optional[str], /) -> Array: ...
def explain(dst: _AnyArray, src: _AnyArray, *,
            engine: Optional[bool] = None) -> Explanation: ...
def frames(stream: Stream, arrays: tuple[ndarray, ...], overwrite: bool,
           timeout: Optional[float], /) -> Frames: ...
def send(sock: Any, array: _AnyArray, /) -> None: ...
def receive(sock: Any, node: Optional[Node], /) -> Any: ...
def export(array: _AnyArray, flags: int, /) -> bytes: ...
def handover(array: ndarray, min_bytes: int, /) -> Optional[bytes]: ...
def reduce_with(function: Callable[[ndarray], Any], min_bytes: int, /) -> None: ...
def reduce(array: ndarray, /) -> Any: ...
def may_open() -> bool: ...
def fetch(record: bytes, /) -> ndarray: ...
def wait(timeout_ms: int, /) -> bool: ...
def revoke(record: bytes, /) -> None: ...
def waiting() -> list[tuple[bytes, int, float]]: ...
def open_record(record: bytes, node: Optional[Node], /) -> Any: ...
def bytes_alone(node: Node, size: int, /) -> ndarray: ...
def bytes_in(pool: Pool, size: int, /) -> ndarray: ...
def xclbin_banks(path: Any, /) -> list[Bank]: ...
def bank_of(memory: Any, banks: Any, node: Optional[Node], /) -> Bank: ...
def xrt_device(type: type[_Handle], index: int, /) -> _Handle: ...
def xrt_device_of(type: type[_Handle], handle: int, /) -> _Handle: ...
def xrt_device_handle(device: Handle, /) -> int: ...
def xrt_alloc(type: type[_Handle], device: Handle, size: int, flags: int, bank: int, /) -> _Handle: ...
def xrt_describe(bo: Handle, /) -> tuple[int, int, int]: ...
def xrt_address(bo: Handle, /) -> int: ...
def xrt_sync(bo: Handle, owner: int, size: int, offset: int, /) -> None: ...
def xrt_part(type: type[_Handle], bo: Handle, offset: int, size: int, /) -> _Handle: ...
def xrt_import(type: type[_Handle], device: Handle, array: ndarray, user: bool, /) -> _Handle: ...
def xrt_adopt(type: type[_Handle], device: Handle, bo: int, root: int, /) -> _Handle: ...
def xrt_wrap(type: type[_Handle], sync: Callable[[int, int, int], Any], fd: int, size: int,
             address: int, /) -> _Handle: ...
def xrt_array(bo: Handle, node: Optional[Node], offset: int, dtype: dtype[Any], shape: Any,
              strides: Any, /) -> Array: ...
def xrt_fd(array: ndarray, /) -> tuple[int, int, int]: ...
def stream_executor(type: type[_Handle], ufunc: ufunc, types: tuple[dtype[Any], ...],
                    tx: tuple[Any, ...], rx: tuple[Any, ...], frame_bytes: int, depth: int,
                    timeout_ns: int, stage: bool, arrays: tuple[Any, ...],
                    ring: tuple[Any, ...], done: Optional[Handle], /) -> _Handle: ...
def opencl_executor(type: type[_Handle], loops: tuple[tuple[Any, ...], ...],
                    platform: Optional[str], device: Optional[str], options: Optional[str],
                    copies: bool, /) -> _Handle: ...
def executor_reset(executor: Handle, /) -> None: ...
def executor_cost(executor: Handle, ufunc: ufunc, types: tuple[dtype[Any], ...], /) -> Any: ...
def executor_set_cost(executor: Handle, ufunc: ufunc, types: tuple[dtype[Any], ...], cost: Any,
                      /) -> None: ...
def opencl_device(executor: Handle, /) -> OpenCLDevice: ...
def stream_open(node: Node, name: str, points: int, batch: int, /) -> Stream: ...
def set_loop(ufunc: ufunc, types: tuple[Any, ...], address: int, context: int, fp_errors: bool,
             owners: Any, /) -> None: ...
def resolve(ufunc: ufunc, types: tuple[Any, ...], signature: tuple[Any, ...], weak: int,
            casting: int, /) -> tuple[dtype[Any], ...]: ...
def run_core(address: int, context: int, operands: tuple[Any, ...], axes: int,
             dimensions: tuple[int, ...], /) -> int: ...
def set_function(ufunc: ufunc, types: tuple[Any, ...], function: Any, /) -> None: ...
def user_type_cast(type: UserBase, from_: Any, to: Any, address: int, context: int, level: int,
                   loop: Any, owner: Any, /) -> None: ...
def type_info(dtype: Any, /) -> tuple[str, str, int, int, int, dict[str, int]]: ...
def use(type: type[Any], /) -> type[Any]: ...
def standard(array: Array, /) -> Array: ...
def finish(type: type[Any], attributes: dict[str, Any], /) -> None: ...
def bare(type: type[_Handle], /) -> _Handle: ...
def whole(value: Any, name: str, most: int = ..., /) -> int: ...
def size(value: Any, name: str, most: int = ..., /) -> int: ...
def current_pool() -> Any: ...
def close_queues() -> None: ...
def last_error() -> str: ...
def matmul(a: Any, b: Any, /, *, out: Any = None) -> Any:
    """Multiplies matrices, the last two axes, as numpy.matmul(); floats by BLAS, or by
    NumPy if only a slow one is found (DRAY_BLAS=none: by neither)."""
def dot(a: Any, b: Any, /, out: Any = None) -> Any:
    """Sums over the last axis of a and the second last of b, as numpy.dot()."""
def vecdot(a: Any, b: Any, /, *, out: Any = None) -> Any:
    """Sums products along the last axes, as numpy.vecdot()."""
def matvec(a: Any, b: Any, /, *, out: Any = None) -> Any:
    """Multiplies matrices, the last two axes of a, by vectors, the last axis of b."""
def vecmat(a: Any, b: Any, /, *, out: Any = None) -> Any:
    """Multiplies vectors, conjugated, the last axis of a, by matrices."""
def from_dlpack(x: Any, /, *, device: Union[None, Literal["cpu"], tuple[int, int]] = None,
                copy: Optional[bool] = None, writable: Optional[bool] = None,
                max_version: Optional[tuple[int, int]] = None) -> Array:
    """An Array over the memory of an array of another library, without a copy.

    x: an object with __dlpack__(), or a capsule of DLPack with its tensor.
    device: None, 'cpu', or a pair of DLPack: where the memory is to be.  Its owner
        may copy it there.
    copy: True: a copy in memory of NumPy's current handler, inside of `with
        dray.memory():` in dray's.  False: never a copy.  None: only for `device`.
    writable: None: as the tensor says; a tensor without a version, which cannot say, is
        read-only.  True: writable, or BufferError if the tensor is read-only;
        without a version it is trusted.  False: read-only.
    max_version: a pair: the newest version that x is asked for; by default (1, 3),
        or the table of its class.

    Waits until no transfer uses the memory.  BufferError if that cannot be done."""

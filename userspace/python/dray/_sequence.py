# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Sequence: calls of ufuncs, conversions and copies that are recorded once and run
many times.  Recording is done here, running in the extension."""
from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Literal, Optional, Type

import numpy

from . import _dray, _ufuncs
from ._fence import Call
from ._functions import _node
from ._node import Node
from ._records import SequencePlan


_Binary = Callable[["Value", Any], Any]


def _operator(name: str) -> tuple[_Binary, _Binary]:
    ufunc = getattr(_ufuncs, name)

    def operate(self: Value, other: Any) -> Any:
        return self.sequence.call(ufunc, self, other)

    def operate_reflected(self: Value, other: Any) -> Any:
        return self.sequence.call(ufunc, other, self)
    return operate, operate_reflected


def _unary(name: str) -> Callable[[Value], Any]:
    ufunc = getattr(_ufuncs, name)
    return lambda self: self.sequence.call(ufunc, self)


_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


def _rule(casting: str) -> int:
    """The number of a rule of casts."""
    if casting not in _CASTING:
        raise ValueError("casting is 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', "
                         f"not '{casting}'")
    return _CASTING.index(casting)


class Value:
    """A value of a sequence that is being recorded: an input, or a result.

    Operators record calls, also with numbers.  Elements are arguments of run()."""

    __slots__ = ("sequence", "_number")
    # Arrays of NumPy leave operators to the value.
    __array_ufunc__ = None

    def __init__(self, sequence: Sequence, number: int):
        self.sequence: Sequence = sequence
        self._number = number

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Its type."""
        return self.sequence._describe(self._number)[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.sequence._describe(self._number)[1]

    def __bool__(self) -> bool:
        raise TypeError("a value of a sequence has no elements yet: calls take masks by where=")

    def __hash__(self) -> int:  # == records a call
        return object.__hash__(self)

    def __repr__(self) -> str:
        return f"<dray.Value of {self.dtype}, {self.shape}>"

    def astype(self, dtype: Any, casting: str = "unsafe") -> Value:
        """Records a conversion, or a copy."""
        return self.sequence._made(self.sequence._convert(
            self._number, dtype, _rule(casting)))

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")
    __floordiv__, __rfloordiv__ = _operator("floor_divide")
    __mod__, __rmod__ = _operator("remainder")
    __divmod__, __rdivmod__ = _operator("divmod")
    __pow__, __rpow__ = _operator("power")
    __and__, __rand__ = _operator("bitwise_and")
    __or__, __ror__ = _operator("bitwise_or")
    __xor__, __rxor__ = _operator("bitwise_xor")
    __lshift__, __rlshift__ = _operator("left_shift")
    __rshift__, __rrshift__ = _operator("right_shift")
    __lt__ = _operator("less")[0]
    __le__ = _operator("less_equal")[0]
    __gt__ = _operator("greater")[0]
    __ge__ = _operator("greater_equal")[0]
    __eq__ = _operator("equal")[0]
    __ne__ = _operator("not_equal")[0]
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")


class Sequence(_dray.Recording):
    """Calls of ufuncs, conversions and copies, recorded once and run many times with other
    arrays of the same types and shapes:

        with dray.Sequence() as sequence:
            a, b, c = (sequence.input(array) for array in (x, y, z))
            sequence.output(a * b + b * c - a * c)

        result = sequence.run(x, y, z)

    Calls of the same shape form a chain, which computes block by block: results in
    between stay in the cache and need no array.  Outputs are the same to the bit as
    without chains.

    Such chains run on the CPU.  On a CallQueue with executors, `chains=False` lets each
    call run on the executor that needs the least time for it.

    A single thread records it; after `with` any number of threads may run it at once."""

    def __enter__(self) -> Sequence:
        """Begins the recording, and returns the sequence."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> Literal[False]:
        """Ends the recording, unless an exception leaves it."""
        if kind is None:
            self._end()
        return False

    def end(self) -> None:
        """Ends the recording, as leaving `with` does."""
        self._end()

    def run(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Runs the sequence with arrays of the types and shapes that were recorded.

        Returns an array for each output, made or of `out`; a tuple of several.
        threads: that compute at once."""
        if threads != 1:
            threads = _dray.whole(threads, "threads", 1024)
        return self._run(inputs, out, threads)

    def submit(self, queue: _dray.CallQueue, /, *inputs: Any, out: Any = None,
               threads: int = 1) -> Call:
        """Runs the sequence on a CallQueue, and returns a Call at once.

        The arrays must not change until it ends; outputs are read then.  Errors
        of numbers, such as a division by 0, follow the submission's errstate();
        wait() raises them, or warns."""
        return self._submit(queue, inputs, out, _dray.whole(threads, "threads", 1024))

    def __reduce__(self) -> Any:
        raise TypeError("a sequence cannot be copied, nor pickled: record another sequence")

    def _made(self, number: int) -> Value:
        return Value(self, number)

    def _number(self, value: Any) -> tuple[int, bool]:
        """The number of a value, or of a new constant, and whether its type follows the others'."""
        if not isinstance(value, Value):
            return self._constant(value)
        if value.sequence is not self:
            raise ValueError("a value is not of this sequence")
        return value._number, False

    def input(self, like: Any) -> Value:
        """Records an input of the type and shape of an array, whose elements do not
        count: numpy.empty(shape, dtype) will do."""
        return self._made(self._input(like))

    def call(self, ufunc: _dray.ufunc, /, *inputs: Any, where: Optional[Value] = None,
             otherwise: Any = None, dtype: Any = None) -> Any:
        """Records a call of a ufunc on values and numbers; its result, or a tuple of
        several.

        where: bools, elements to compute; others are copied from `otherwise`, or undefined
        dtype: of the loop, as in a call of the ufunc"""
        numbers, weak = [], 0
        for position, value in enumerate(inputs):
            number, is_weak = self._number(value)
            numbers.append(number)
            weak |= is_weak << position
        made = self._call(ufunc, tuple(numbers), weak,
                          0 if where is None else self._number(where)[0],
                          0 if otherwise is None else self._number(otherwise)[0], dtype)
        values = tuple(self._made(number) for number in made)
        return values[0] if len(values) == 1 else values

    def copy(self, value: Value, node: Optional[Node] = None, *,
             engine: Optional[bool] = None) -> Value:
        """Records a copy that the queue of a node makes, as copy(): by its engine, which
        works while later calls run that do not need the copy.

        node: by default the node of dray.memory()
        engine: None lets a threshold decide, True is the engine or an OSError, False the
        CPU"""
        if engine not in (None, True, False):
            raise TypeError(f"engine is {engine!r}: None (as the threshold says), True or False")
        return self._made(self._copy(self._number(value)[0],
                                     _node(False) if node is None else node, engine))

    def output(self, *values: Value) -> None:
        """Records outputs, in the order of the arrays of run()."""
        for value in values:
            self._output(self._number(value)[0])

    @property
    def plan(self) -> SequencePlan:
        """Numbers about the plan, after the end of the recording."""
        return SequencePlan(*self._plan())

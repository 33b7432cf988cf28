# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reactions to errors of numbers in ufuncs, with the names of NumPy's functions; each
thread and each asyncio task sets its own.  And loops of the user."""
from __future__ import annotations

import contextlib
import operator
import sys
from typing import Any, Callable, NamedTuple, Optional

import numpy

from . import _dray

# Numbers of enum dray_fp_action; "log" calls too, the method write() of an object.
_ACTIONS = {"ignore": 0, "warn": 1, "raise": 2, "call": 3, "log": 3, "print": 4}
_KINDS = ("divide", "over", "under", "invalid")
_NAMES = ("ignore", "warn", "raise", "call", "print")
# The state of a new thread: divide, over, under, invalid, elements of a buffer, function.
_FRESH = (1, 1, 0, 1, 8192, None)


class _State(NamedTuple):
    divide: int
    over: int
    under: int
    invalid: int
    bufsize: int
    call: Any


def _state() -> _State:
    return _State(*(_dray.fp_state.get(None) or numpy_state() or _dray.thread_fp_state()))


def _set(state: _State) -> None:
    """Sets the state of this context; a new thread's is none of its own, so NumPy's holds."""
    _dray.fp_state.set(None if state == _FRESH else state)


def _name(state: _State, kind: str) -> str:
    name = _NAMES[getattr(state, kind)]
    return "log" if name == "call" and hasattr(state.call, "write") else name


def geterr() -> dict[str, str]:
    """Reactions to errors of numbers, as numpy.geterr(): {"divide": "warn", ...}."""
    state = _state()
    return {kind: _name(state, kind) for kind in _KINDS}


def _changed(state: _State, given: dict[str, Optional[str]], every: Optional[str]) -> _State:
    for kind in _KINDS:
        action = given.get(kind)
        if action is None:
            action = every
        if action is None:
            continue
        if action not in _ACTIONS:
            raise ValueError(f"{action!r} is not one of {', '.join(_ACTIONS)}")
        state = state._replace(**{kind: _ACTIONS[action]})
    return state


def seterr(all: Optional[str] = None, divide: Optional[str] = None,  # pylint: disable=redefined-builtin
           over: Optional[str] = None, under: Optional[str] = None,
           invalid: Optional[str] = None) -> dict[str, str]:
    """Sets reactions to errors of numbers in this thread or task, as numpy.seterr():
    "ignore", "warn" (RuntimeWarning), "raise" (FloatingPointError), "call" (the function of
    seterrcall()), "print" or "log".  Returns the reactions before."""
    before = geterr()
    _set(_changed(_state(), {"divide": divide, "over": over, "under": under,
                             "invalid": invalid}, all))
    return before


def geterrcall() -> Any:
    """The function of seterrcall(), or None."""
    return _state().call


def _check_call(func: Any) -> None:
    if func is not None and not callable(func) and not callable(getattr(func, "write", None)):
        raise TypeError("only a function, or an object with write(), is called")


def seterrcall(func: Any) -> Any:
    """Sets the function that is called on errors of numbers, with a text such as "divide by
    zero" and a number; or an object with write(), for "log".  Returns the function before."""
    _check_call(func)
    state = _state()
    _set(state._replace(call=func))
    return state.call


def getbufsize() -> int:
    """Elements of the buffers for operands that are converted."""
    return _state().bufsize


def setbufsize(size: int) -> int:
    """Sets it, 16 to 16777216.  Returns the number before."""
    size = operator.index(size)
    if not 16 <= size <= 1 << 24:
        raise ValueError(f"a buffer has 16 to 16777216 elements, not {size}")
    state = _state()
    _set(state._replace(bufsize=size))
    return state.bufsize


class errstate(contextlib.ContextDecorator):  # pylint: disable=invalid-name
    """A scope, or a decorator, in which errors of numbers lead to something else:

        with dray.errstate(divide="raise"): ...

    Its arguments are as of seterr(), and `call` as of seterrcall()."""

    def __init__(self, *, call: Any = ..., all: Optional[str] = None,  # pylint: disable=redefined-builtin
                 divide: Optional[str] = None, over: Optional[str] = None,
                 under: Optional[str] = None, invalid: Optional[str] = None):
        self._given = {"divide": divide, "over": over, "under": under, "invalid": invalid}
        self._all = all
        self._call = call
        self._token: Any = None
        _changed(_State(*_FRESH), self._given, all)
        _check_call(None if call is ... else call)

    def _recreate_cm(self) -> errstate:
        return errstate(call=self._call, all=self._all, **self._given)

    def __enter__(self) -> None:
        if self._token is not None:
            raise TypeError("a scope of dray.errstate() is entered once")
        state = _changed(_state(), self._given, self._all)
        if self._call is not ...:
            state = state._replace(call=self._call)
        self._token = _dray.fp_state.set(state)

    def __exit__(self, *error: Any) -> None:
        _dray.fp_state.reset(self._token)


def numpy_state() -> Any:
    """NumPy's reactions, or None if they equal a new thread's."""
    reactions: dict[str, Any] = {**numpy.geterr()}
    actions = tuple(_ACTIONS[reactions[kind]] for kind in _KINDS)
    if actions == _FRESH[:4]:
        return None
    function: Any = numpy.geterrcall() if 3 in actions else None
    return (*actions, numpy.getbufsize(), function)


def as_numpy() -> Any:
    """Copies NumPy's reactions, for a ufunc of NumPy that dray computes, in place of
    dray's own.  Returns a token to undo it."""
    return _dray.fp_state.set(numpy_state() or _FRESH)


def address_of(thing: Any, is_loop: bool = True) -> int:
    """The address of a loop, or of its context; 0 for None and functions of Python."""
    import ctypes

    address: Any = 0
    if isinstance(thing, bool):
        pass
    elif isinstance(thing, int):
        address = thing
    elif is_loop and hasattr(thing, "address"):
        address = operator.index(thing.address)
    elif isinstance(thing, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        address = ctypes.cast(thing, ctypes.c_void_p).value
    elif not is_loop:
        address = ctypes.addressof(thing)
    if is_loop and not address and (thing is None or not isinstance(thing, int) and callable(thing)
                                    and not isinstance(thing, ctypes._CFuncPtr)):  # type: ignore[attr-defined]
        return 0
    if not address:
        raise TypeError("a loop is a function of ctypes, a cfunc of Numba or an address, "
                        f"not {thing!r}")
    if not 0 < address <= sys.maxsize * 2 + 1:
        raise OverflowError(f"{address} is not an address")
    return int(address)


def _address(thing: Any, is_loop: bool) -> int:
    """The address of a loop, or of its context, which it needs."""
    address = address_of(thing, is_loop)
    if not address:
        raise TypeError("a loop is a function of ctypes, a cfunc of Numba or an address, "
                        f"not {thing!r}")
    return address


def _types(ufunc: Any, types: Any) -> tuple[Any, ...]:
    """The types of a loop, of "dd->d" or of a sequence."""
    found = tuple(types.replace("->", "", 1) if isinstance(types, str) else types)
    if len(found) != ufunc.nargs:
        raise ValueError(f"a loop of {ufunc.__name__} has {ufunc.nargs} types, not {len(found)}")
    return found


def register(ufunc: _dray.ufunc, types: Any, loop: Any, context: Any = None, *,
             fp_errors: bool = True) -> None:
    """Runs for ufunc.register()."""
    _dray.set_loop(ufunc, _types(ufunc, types), _address(loop, True),
                   0 if context is None else _address(context, False), fp_errors,
                   (loop, context))


_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
# Types of numbers of Python, which have a kind and no size.
_WEAK = (int, float, complex)


def resolve_dtypes(ufunc: _dray.ufunc, dtypes: Any, *, signature: Any = None,
                   casting: str = "same_kind", reduction: bool = False
                   ) -> tuple[numpy.dtype[Any], ...]:
    """Runs for ufunc.resolve_dtypes()."""
    if casting not in _CASTINGS:
        raise ValueError(f"casting= is one of {', '.join(_CASTINGS)}, not {casting!r}")
    given = list(dtypes)
    if len(given) != ufunc.nargs:
        raise ValueError(f"{ufunc.__name__} has {ufunc.nargs} types, not {len(given)}")
    if reduction:
        if ufunc.nin != 2 or ufunc.nout != 1:
            raise ValueError(f"{ufunc.__name__} does not reduce")
        # The result of a step is an input of the next.
        given[0] = given[1] if given[0] is None else given[0]
    if any(each is None for each in given[:ufunc.nin]):
        raise ValueError("an input has a type: only outputs may be None")
    weak = sum(1 << number for number, each in enumerate(given[:ufunc.nin])
               if any(each is kind for kind in _WEAK))
    wanted = (None,) * ufunc.nargs if signature is None else tuple(
        None if each is None else numpy.dtype(each) for each in _types(ufunc, signature))
    return _dray.resolve(
        ufunc, tuple(None if each is None else numpy.dtype(each) for each in given), wanted, weak,
        _CASTINGS.index(casting))


def frompyfunc(function: Callable[..., Any], nin: int, nout: int, *, types: Any,
               identity: Optional[float] = None) -> _dray.ufunc:
    """A ufunc that calls a function of Python for each element:

        clip = dray.frompyfunc(lambda x, most: min(x, most), 2, 1, types=["ll->l", "dd->d"])
        clip(a, 10, out=b, where=mask)

    It differs from numpy.frompyfunc() in its types: dray has no arrays of objects, so
    `types` lists the types of inputs and outputs, as "dd->d" or as a tuple of types, the
    lesser first.  The function is called with numbers of Python, as Array.item() returns
    them, and its results are converted as by an assignment to an element.  With several
    outputs it returns a tuple.  An exception ends the call, which raises it.  In a
    CallQueue, whose thread is not Python's, it is an OSError with the exception's words.

    The GIL is acquired once for each line of elements, and threads= has no effect."""
    if not callable(function):
        raise TypeError(f"frompyfunc() takes a function, not {function!r}")
    name = getattr(function, "__name__", "?")
    made = _dray.ufunc(f"{name} (vectorized)", nin, nout, identity)
    several = [types] if isinstance(types, str) else list(types)
    if not any("->" in each if isinstance(each, str) else isinstance(each, (tuple, list))
               for each in several):
        several = [tuple(several)] if several else []
    if not several:
        raise ValueError("a function without types has no loop: types= lists them, as \"dd->d\"")
    for each in several:
        _dray.set_function(made, _types(made, each), function)
    return made

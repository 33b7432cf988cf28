# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ufuncs with core axes: dray.ufunc("name", signature="(n),(n)->()").  A loop computes on the
core axes, and the other axes, of loops, are broadcast, with NumPy's rules."""
from __future__ import annotations

import operator
import re
from typing import Any, NoReturn, Optional, Sequence, Union, final

import numpy

from . import _dray, _ufunc

_AXIS = r"\s*(?:[A-Za-z_]\w*|\d+)\s*"
_AXES = rf"\s*\(\s*(?:{_AXIS}(?:,{_AXIS})*)?\)\s*"
_SIGNATURE = re.compile(rf"{_AXES}(?:,{_AXES})*->{_AXES}(?:,{_AXES})*")
_MOST = 7  # operands, DRAY_UFUNC_MAX_OPERANDS

# NumPy 1.24 has it in its main module only.
_AxisError = vars(getattr(numpy, "exceptions", numpy))["AxisError"]

# Kinds of numbers of Python, and of the types that they may become.
_WEAK = {int: "iufc", float: "fc", complex: "c"}


def _parsed(signature: Any) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The core axes of each input, and of each output."""
    if not isinstance(signature, str):
        raise TypeError(f"a signature is a text such as '(n),(n)->()', not {signature!r}")
    if not _SIGNATURE.fullmatch(signature):
        raise ValueError(f"{signature!r} is not a signature such as '(m,n),(n)->(m)'")
    inputs, outputs = (
        [tuple(re.findall(r"\w+", axes)) for axes in re.findall(r"\(([^)]*)\)", side)]
        for side in signature.split("->"))
    for axes in inputs + outputs:
        if "0" in axes:
            raise ValueError(f"{signature!r} has a core axis without elements")
    return inputs, outputs


class _Loop:
    """A loop, its types and its owners."""
    def __init__(self, types: Sequence[numpy.dtype[Any]], address: int, context: int,
                 owners: Any):
        self.types, self.address, self.context, self.owners = tuple(types), address, context, owners


def _axes_of(given: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Axes as numbers from 0 on."""
    numbers = tuple(map(operator.index, given if isinstance(given, (tuple, list)) else (given,)))
    for number in numbers:
        if not -ndim <= number < ndim:
            raise _AxisError(number, ndim, name)
    found = tuple(number % ndim for number in numbers)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: axes {given} name an axis twice")
    return found


def _report(name: str, errors: int) -> None:
    """Warns of errors of numbers, or raises one, as the thread's reactions say."""
    import warnings

    state = _ufunc._state()
    words = {"divide": "divide by zero", "over": "overflow", "under": "underflow",
             "invalid": "invalid value"}
    for bit, (kind, word) in enumerate(words.items()):
        action = getattr(state, kind) if errors & 1 << bit else 0
        sentence = f"{word} encountered in {name}"
        if action == 1:
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)
        elif action == 2:
            raise FloatingPointError(sentence)
        elif action == 3 and callable(state.call):
            state.call(word, errors)
        elif action in (3, 4):
            write: Any = getattr(state.call, "write") if action == 3 else print
            write(f"Warning: {sentence}")


@final
class CoreUfunc:
    """A ufunc whose loops compute on core axes, the last axes of their operands:

        distance = dray.ufunc("distance", signature="(n),(n)->()")
        distance.register("dd->d", loop)
        distance(points, centre)

    `loop` is a function of ctypes, a cfunc of Numba, or an address, of the type
    int (char *const *data, const int64_t *dimensions, const int64_t *steps, void *context):
    NumPy's arguments, and 0 or a negative errno.  `dimensions` has the number of times that
    it computes, then the lengths of the core axes in their order in the signature; `steps`
    has a stride for each operand, then the strides along the core axes of each."""

    def __init__(self, name: str, signature: str, nin: Optional[int] = None,
                 nout: Optional[int] = None):
        self._inputs, self._outputs = _parsed(signature)
        counts = len(self._inputs), len(self._outputs)
        if sum(counts) > _MOST:
            raise ValueError(f"a ufunc has at most {_MOST} operands, not {sum(counts)}")
        for given, count, side in zip((nin, nout), counts, ("inputs", "outputs")):
            if given is not None and given != count:
                raise ValueError(f"{signature!r} has {count} {side}, not {given}")
        self.__name__, self._signature = name, signature.replace(" ", "")
        self._loops: dict[tuple[numpy.dtype[Any], ...], _Loop] = {}
        # Names of core axes in their order.
        self._names = list(dict.fromkeys(axis for axes in self._operands for axis in axes))

    @property
    def _operands(self) -> list[tuple[str, ...]]:
        return self._inputs + self._outputs

    def __repr__(self) -> str:
        return f"<dray.ufunc '{self.__name__}' {self._signature}>"

    @property
    def signature(self) -> str:
        """The core axes of the operands."""
        return self._signature

    @property
    def nin(self) -> int:
        """Number of inputs."""
        return len(self._inputs)

    @property
    def nout(self) -> int:
        """Number of outputs."""
        return len(self._outputs)

    @property
    def nargs(self) -> int:
        """Number of inputs and outputs."""
        return len(self._operands)

    @property
    def identity(self) -> None:
        """None: it does not reduce."""

    @property
    def ntypes(self) -> int:
        """Number of loops."""
        return len(self._loops)

    @property
    def types(self) -> list[str]:
        """The types of each loop, as "dd->d"."""
        letters = ["".join(each.char for each in types) for types in self._loops]
        return [f"{text[:self.nin]}->{text[self.nin:]}" for text in letters]

    def register(self, types: Any, loop: Any, context: Any = None) -> None:
        """Sets the loop for types, such as "dd->d"."""
        found = []
        for each in _ufunc._types(self, types):
            dtype = numpy.dtype(each)
            if dtype.kind not in "?biufcmM":
                raise TypeError(f"a loop with core axes is of numbers and times, not of {dtype}")
            found.append(dtype.newbyteorder("="))
        self._loops[tuple(found)] = _Loop(
            found, _ufunc._address(loop, True),
            0 if context is None else _ufunc._address(context, False), (loop, context))

    def _method(self, *args: Any, **keywords: Any) -> NoReturn:
        """Raises RuntimeError: a ufunc with core axes only has calls."""
        raise RuntimeError(f"{self.__name__} has the signature {self._signature}, and only ufuncs "
                           "without a signature have this method")

    reduce = accumulate = reduceat = outer = at = _method

    # Types.

    def _wanted(self, dtype: Any, signature: Any) -> list[Optional[numpy.dtype[Any]]]:
        """The types that dtype= and signature= ask for, None for any."""
        if signature is None:
            any_type: list[Optional[numpy.dtype[Any]]] = [None] * self.nin
            return any_type + [None if dtype is None else numpy.dtype(dtype)] * self.nout
        if dtype is not None:
            raise TypeError("dtype= and signature= of a ufunc do not go together")
        return [None if each is None else numpy.dtype(each)
                for each in _ufunc._types(self, signature)]

    def _loop(self, given: Sequence[Union[numpy.dtype[Any], type]],
              wanted: Sequence[Optional[numpy.dtype[Any]]], casting: Any) -> _Loop:
        """The loop of the very types of the inputs, else the first that they convert to."""
        rule: Any = "safe" if not any(wanted) else casting

        def converts(each: Any, to: numpy.dtype[Any]) -> bool:
            if each in _WEAK and not all(other in _WEAK for other in given):
                return to.kind in _WEAK[each]
            return numpy.can_cast(numpy.dtype(each), to, rule)

        def fits(types: Sequence[numpy.dtype[Any]]) -> bool:
            return (all(want is None or want == each for want, each in zip(wanted, types))
                    and all(map(converts, given, types)))
        exact = [loop for types, loop in self._loops.items()
                 if all(map(operator.eq, given, types)) and fits(types)]
        for loop in exact + [loop for types, loop in self._loops.items() if fits(types)]:
            return loop
        names = ", ".join(getattr(each, "__name__", str(each)) for each in given)
        raise TypeError(f"{self.__name__} has no loop for the types {names}"
                        + (f": its loops are {', '.join(self.types)}" if self._loops else
                           ": register() sets loops"))

    def resolve_dtypes(self, dtypes: Any, *, signature: Any = None, casting: str = "same_kind",
                       reduction: bool = False) -> tuple[numpy.dtype[Any], ...]:
        """The types of the loop that a call with these types runs; int, float and complex are
        numbers of Python, and None an output to be made."""
        if reduction:
            self._method()
        if len(dtypes) != self.nargs:
            raise ValueError(f"{self.__name__} has {self.nargs} types, not {len(dtypes)}")
        given = [each if each in _WEAK else numpy.dtype(each) for each in dtypes[:self.nin]]
        loop = self._loop(given, self._wanted(None, signature), casting)
        for each, made in zip(dtypes[self.nin:], loop.types[self.nin:]):
            self._check_cast(made, made if each is None else numpy.dtype(each), casting)
        return loop.types

    def _check_cast(self, made: numpy.dtype[Any], to: numpy.dtype[Any], casting: Any) -> None:
        if not numpy.can_cast(made, to, casting):
            raise TypeError(f"{self.__name__} makes {made}, which casting={casting!r} does not "
                            f"convert to {to}")

    # Axes.

    def _core_axes(self, ndims: Sequence[Optional[int]], axes: Any, axis: Any, keepdims: bool
                   ) -> list[Any]:
        """The core axes of each operand, None for the last axes."""
        counts = [len(names) for names in self._operands]
        if keepdims and (len(set(counts[:self.nin])) > 1 or any(counts[self.nin:])):
            raise TypeError(f"keepdims= is for inputs of as many core axes and outputs without, "
                            f"not for {self._signature}")
        if keepdims:
            counts[self.nin:] = [counts[0]] * self.nout
        if axes is not None and axis is not None:
            raise TypeError("axes= and axis= of a ufunc do not go together")
        if axis is not None:
            if len(self._names) != 1 or max(map(len, self._operands)) > 1:
                raise TypeError(f"axis= is for a single shared core axis, not for {self._signature}")
            axis = operator.index(axis)
            return [(axis,) if count else None for count in counts]
        if axes is None:
            return [None] * self.nargs
        if not isinstance(axes, list):
            raise TypeError("axes= is a list with a tuple for each operand")
        if len(axes) != self.nargs and (len(axes) != self.nin or any(counts[self.nin:])
                                        and not keepdims):
            raise ValueError(f"axes= of {self.__name__} has a tuple for each of {self.nargs} "
                             f"operands, not {len(axes)}")
        found = [each if isinstance(each, tuple) else (operator.index(each),) for each in axes]
        if len(found) == self.nin:
            found += [found[0] if keepdims else ()] * self.nout
        for each, count, number in zip(found, counts, range(self.nargs)):
            if len(each) != count:
                raise ValueError(f"axes= of {self.__name__} has {len(each)} axes for operand "
                                 f"{number}, which has {count} core axes")
        return found

    def _moved(self, array: Any, axes: Any, count: int) -> Any:
        """A view with the core axes last."""
        if axes is None or not count:
            return array
        found = _axes_of(axes, array.ndim, self.__name__)
        return numpy.moveaxis(array, found, range(-count, 0))

    def _measure(self, operands: Sequence[Any], sizes: dict[str, int], first: int, side: str
                 ) -> None:
        """Notes the lengths of core axes, and compares them."""
        for number, array in enumerate(operands):
            names = self._operands[first + number]
            if array is None:
                continue
            if array.ndim < len(names):
                raise ValueError(
                    f"{self.__name__}: {side} operand {number} does not have enough dimensions "
                    f"(has {array.ndim}, gufunc core with signature {self._signature} requires "
                    f"{len(names)})")
            for place, name in enumerate(names):
                size = array.shape[array.ndim - len(names) + place]
                if sizes.setdefault(name, int(name) if name.isdigit() else size) != size:
                    raise ValueError(
                        f"{self.__name__}: {side} operand {number} has a mismatch in its core "
                        f"dimension {place}, with gufunc signature {self._signature} (size {size} "
                        f"is different from {sizes[name]})")

    # Calls.

    def _take_outputs(self, args: Sequence[Any], out: Any) -> list[Any]:
        given = list(args[self.nin:])
        if given and out is not None:
            raise TypeError("outputs are given by their place or by out=, not both")
        if out is not None and out is not ...:
            given = list(out) if isinstance(out, tuple) else [out]
            if len(given) != self.nout:
                raise ValueError(f"out= of {self.__name__} has {self.nout} arrays, "
                                 f"not {len(given)}")
        given += [None] * (self.nout - len(given))
        for each in given:
            if each is not None and not isinstance(each, (numpy.ndarray, _dray.Array)):
                raise TypeError("outputs are arrays of dray or NumPy")
        return given

    def __call__(self, *args: Any, out: Any = None, axes: Any = None, axis: Any = None,
                 keepdims: bool = False, casting: Any = "same_kind", dtype: Any = None,
                 signature: Any = None, order: str = "K", subok: bool = True) -> Any:
        nin, nout, name = self.nin, self.nout, self.__name__
        if not nin <= len(args) <= nin + nout:
            raise TypeError(f"{name}() takes from {nin} to {nin + nout} positional arguments but "
                            f"{len(args)} were given")
        if order not in ("K", "C", "A"):
            raise ValueError(f"{name} makes outputs in C order, not in {order!r}")
        given = self._take_outputs(args, out)
        inputs = [numpy.asarray(each) for each in args[:nin]]
        kinds = [type(each) if type(each) in _WEAK else array.dtype
                 for each, array in zip(args, inputs)]
        loop = self._loop(kinds, self._wanted(dtype, signature), casting)
        places = self._core_axes([array.ndim for array in inputs], axes, axis, keepdims)
        # Its types and its bytes, so that the loop can read them.
        inputs = [numpy.require(
            self._moved(array, place, len(core)), to, "A") for array, to, core, place in zip(
                [numpy.asarray(each, to) if kind in _WEAK else array.astype(to, copy=False)
                 for each, kind, array, to in zip(args, kinds, inputs, loop.types)],
                loop.types, self._inputs, places)]
        views = [None if each is None else self._output_view(each, place, core, keepdims)
                 for each, place, core in zip(given, places[nin:], self._outputs)]
        sizes: dict[str, int] = {}
        self._measure(inputs, sizes, 0, "input")
        self._measure(views, sizes, nin, "output")
        shape = self._loop_shape(inputs, views)
        results = [self._target(view, to, shape, core, sizes, inputs, casting)
                   for view, to, core in zip(views, loop.types[nin:], self._outputs)]
        for array, core in zip(inputs, self._inputs):
            results.insert(len(results) - nout, numpy.broadcast_to(
                array, shape + array.shape[array.ndim - len(core):]))
        dimensions = (shape[-1] if shape else 1, *(sizes[each] for each in self._names))
        errors = _dray.run_core(loop.address, loop.context, tuple(map(numpy.asarray, results)),
                                len(shape), dimensions)
        _report(name, errors) if errors else None
        made = tuple(self._finished(*each, keepdims, out is ...) for each in zip(
            results[nin:], views, given, places[nin:], self._outputs))
        return made if nout > 1 else made[0]

    def _output_view(self, array: Any, place: Any, core: tuple[str, ...], keepdims: bool) -> Any:
        """An output as the loop sees it."""
        view = numpy.asarray(array)
        if not view.flags.writeable:
            raise ValueError(f"an output of {self.__name__} is read-only")
        if not keepdims:
            return self._moved(view, place, len(core))
        count = len(self._inputs[0])
        if view.ndim < count:
            raise ValueError(f"an output of {self.__name__} has {view.ndim} axes, and keepdims= "
                             f"asks for {count}")
        view = self._moved(view, place, count)
        if view.shape[view.ndim - count:] != (1,) * count:
            raise ValueError(f"an output of {self.__name__} has the shape {array.shape}, and "
                             "keepdims= asks for core axes of length 1")
        return view.reshape(view.shape[:view.ndim - count])

    def _loop_shape(self, inputs: Sequence[Any], views: Sequence[Any]) -> tuple[int, ...]:
        def shape_of(array: Any, core: tuple[str, ...]) -> tuple[int, ...]:
            return tuple(array.shape[:array.ndim - len(core)])
        outer = [shape_of(*each) for each in zip(views, self._outputs) if each[0] is not None]
        shape = tuple(numpy.broadcast_shapes(*map(shape_of, inputs, self._inputs), *outer))
        for each in outer:
            if each != shape:
                raise ValueError(f"an output of {self.__name__} has the loop axes {each}, and the "
                                 f"operands have {shape}")
        return shape

    def _target(self, view: Any, dtype: numpy.dtype[Any], shape: tuple[int, ...],
                core: tuple[str, ...], sizes: dict[str, int], inputs: Sequence[Any],
                casting: Any) -> Any:
        """An array that the loop writes: the output, or a new array."""
        for name in core:
            if name not in sizes and not name.isdigit():
                raise ValueError(f"the length of core axis {name!r} of {self.__name__} is unknown: "
                                 "out= decides it")
            sizes.setdefault(name, int(name) if name.isdigit() else 0)
        if view is not None:
            self._check_cast(dtype, view.dtype, casting)
            if view.dtype == dtype and view.flags.behaved and not any(
                    numpy.may_share_memory(view, each) for each in inputs):
                return view
        return _dray.Array.empty(shape + tuple(sizes[name] for name in core), dtype)

    def _finished(self, result: Any, view: Any, given: Any, place: Any, core: tuple[str, ...],
                  keepdims: bool, arrays: bool) -> Any:
        """The object of a result: an output that was given, a dray.Array, or an element."""
        if given is not None:
            if result is not view:
                numpy.copyto(view, numpy.asarray(result), "unsafe")
            return given
        count = len(self._inputs[0]) if keepdims else len(core)
        if keepdims:
            result = result[(..., *[None] * count)]
        if place is not None and count:
            places = _axes_of(place, result.ndim, self.__name__)
            result = _dray.Array(numpy.moveaxis(numpy.asarray(result), range(-count, 0), places))
        return result if result.ndim or arrays else result[()]


def made(name: Any, nin: Any, nout: Any, identity: Any, signature: Any) -> CoreUfunc:
    """Runs for dray.ufunc() with a signature."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a ufunc is a text, not {name!r}")
    if identity is not None:
        raise ValueError("a ufunc with core axes does not reduce, and has no identity")
    return CoreUfunc(name, signature, None if nin == -1 else nin, None if nout == -1 else nout)

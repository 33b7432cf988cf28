# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One case: a new array, operations on it, and the comparison after each.

The first operations are NumPy's on both sides; dray.Array then takes over.
"""
import dataclasses
import functools
import warnings
from random import Random
from typing import Any, Optional

import numpy as np

import accepted
import accepted_ufuncs
import arguments
import dray
import elements
import memory
import judge
import ufuncs
from operations import OPERATIONS, Operation

WEIGHTS = [each.weight for each in OPERATIONS.values()]
NAMES = list(OPERATIONS)


def operation_of(name: str) -> Operation:
    return OPERATIONS[name] if name in OPERATIONS else ufuncs.UFUNCS[name]


@dataclasses.dataclass(frozen=True)
class Step:
    operation: str
    arguments: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Case:
    source: Any
    steps: tuple[Step, ...]
    taken_over: int = 0
    """Steps before dray.Array takes over."""

    @property
    def expressions(self) -> tuple[str, str, str]:
        """The array; and the operations on both sides, where it is `a`."""
        made = self.source.text
        for step in self.steps[:self.taken_over]:
            made = operation_of(step.operation).numpy.expression(made, step.arguments)
        numpy, here = "a", "dray.Array(a)"
        for step in self.steps[self.taken_over:]:
            line = operation_of(step.operation)
            numpy = line.numpy.expression(numpy, step.arguments)
            here = line.dray.expression(here, for_dray(step.arguments))
        return made, numpy, here

    @property
    def lines(self) -> str:
        """Two lines of Python that print both results."""
        made, numpy, here = self.expressions
        given = self.steps[-1].arguments.get(ufuncs.REACTIONS)
        reactions = "" if given is None else "".join(
            f"; {each}.seterr(**{given!r})" for each in ("np", "dray"))
        names = "dray, numpy as np" + ", others" * ("others." in numpy + here)
        return (f"import {names}; a = {made}{reactions}\n"
                f"print(repr({numpy}), repr({here}))")


def for_dray(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments as dray gets them: arrays are dray's or NumPy's."""
    return elements.ours(given) if given.get(ufuncs.OURS) else given


@dataclasses.dataclass
class Outcome:
    """An operation's result, or its error."""

    value: Any = None
    error: Optional[BaseException] = None
    array: Any = None
    """It was done to this one."""
    said: tuple[str, ...] = ()
    """Warnings about numbers."""

    @property
    def goes_on(self) -> bool:
        return self.error is None and isinstance(self.value, (np.ndarray, dray.Array))


@dataclasses.dataclass
class Difference:
    step: int
    numpy: str
    dray: str
    what: str


def outcome(line: Any, a: Any, given: dict[str, Any]) -> Outcome:
    try:
        return Outcome(line.run(a, given), array=a)
    except Exception as error:  # pylint: disable=broad-except
        return Outcome(error=error, array=a)


# Operations that convert elements: both sides warn of the same errors of numbers.
CONVERTING = ("astype", "set to an array", "set by arrays to an Array", "set to a part", "sum")


def is_open(step: Any, a: Any) -> bool:
    """Whether the types of a conversion are two of which docs/casts.md tells another rule:
    text, and uint32 out of its range."""
    types = [np.asarray(a).dtype, *(np.dtype(each.dtype if hasattr(each, "dtype") else each)
                                    for name, each in step.arguments.items() if name in "dv")]
    return any(kind in str(each) for each in types for kind in ("u4", "uint32", "S", "U"))


def outcome_and_warnings(line: Any, a: Any, given: dict[str, Any]) -> Outcome:
    """With the reactions to errors of numbers that `given` has."""
    reactions = given[ufuncs.REACTIONS]
    with warnings.catch_warnings(record=True) as caught, np.errstate(**reactions), \
            dray.errstate(**reactions):
        warnings.simplefilter("always", RuntimeWarning)
        found = outcome(line, a, given)
    found.said = tuple(sorted({str(each.message) for each in caught
                               if each.category is RuntimeWarning}))
    return found


def outcome_of_conversion(line: Any, a: Any, given: dict[str, Any]) -> Outcome:
    """With each warning of numbers, and of lost imaginary parts."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"), \
            dray.errstate(all="warn"):
        warnings.simplefilter("always")
        found = outcome(line, a, given)
    found.said = tuple(sorted({str(each.message) for each in caught
                               if each.category.__name__ in ("RuntimeWarning",
                                                             "ComplexWarning")}))
    return found


FLAGS = ("c_contiguous", "f_contiguous", "aligned", "writeable")


def bytes_of(values: np.ndarray) -> bytes:
    """Its values; without gaps, and the unused bytes of long doubles."""
    if values.dtype.names:
        return b"".join(bytes_of(values[name]) for name in values.dtype.names)
    if values.dtype.kind in "fc" and np.finfo(values.dtype).nmant == 63:
        unit = values.dtype.itemsize // (1 + (values.dtype.kind == "c"))
        used = np.frombuffer(values.tobytes(), np.uint8).reshape(-1, unit)
        return used[:, :10].tobytes()
    return values.tobytes()


def facts(value: Any) -> dict[str, Any]:
    if isinstance(value, (np.ndarray, dray.Array)):
        array = value if isinstance(value, np.ndarray) else value.__array__()
        return {"shape": value.shape, "dtype": value.dtype, "strides": value.strides,
                "flags": tuple(getattr(value.flags, name) for name in FLAGS),
                "values": bytes_of(array)}
    if isinstance(value, np.generic):
        return {"class": type(value), "dtype": value.dtype,
                "values": bytes_of(np.asarray(value))}
    return {"class": type(value), "values": repr(value)}


def same_error(numpy: BaseException, here: BaseException) -> bool:
    """NumPy's own classes have several bases; one of them is enough."""
    return isinstance(numpy, type(here)) or isinstance(here, type(numpy))


def difference(numpy: Outcome, here: Outcome, close: Any = None
               ) -> Optional[tuple[str, str, str]]:
    """Returns the name of the fact that differs, and both sides.  `close` judges values
    that are not equal."""
    if numpy.error or here.error:
        if numpy.error and here.error and same_error(numpy.error, here.error):
            if isinstance(numpy.error, FloatingPointError) and \
                    str(numpy.error) != str(here.error):
                return "sentence", str(numpy.error), str(here.error)
            return None
        return "error", repr(numpy.error), repr(here.error)
    if type(numpy.value) is tuple and type(here.value) is tuple:
        found = (difference(Outcome(one), Outcome(other), close)
                 for one, other in zip(numpy.value, here.value))
        return next((each for each in found if each), None)
    there, ours = facts(numpy.value), facts(here.value)
    if there.keys() != ours.keys():
        return "class", repr(type(numpy.value)), repr(type(here.value))
    for name, fact in there.items():
        if fact != ours[name]:
            if close and name == "class":
                continue  # longlong and long: the types are equal
            if close and name in ("strides", "flags") and (
                    name == "flags" or judge.strides(numpy.value, *close.args[1:])
                    == judge.strides(here.value, *close.args[1:])):
                continue
            if close and name == "values" and close(np.asarray(numpy.value),
                                                    np.asarray(here.value)):
                continue
            return name, repr(fact), repr(ours[name])
    return None


class Run:
    """Runs both sides of a case, step by step."""

    def __init__(self, source: Any):
        self.roots = source.make(), source.make()
        self.numpy = self.there = self.roots[0]
        self.dray: Any = self.roots[1]
        self.last: tuple[Outcome, Outcome] = Outcome(), Outcome()
        self.missing = False
        self.accepted: Optional[str] = None
        self.done = 0

    def take_over(self) -> None:
        self.dray = dray.Array(self.dray)

    def step(self, step: Step) -> Optional[Difference]:
        """Returns the difference after `step`; self.ended if it is the last."""
        operation = operation_of(step.operation)
        ours = isinstance(self.dray, dray.Array)
        line = operation.dray if ours else operation.numpy
        before = memory.copied(self.numpy) if operation.numpy.changes else self.numpy
        close = None
        if isinstance(operation, ufuncs.Ufunc):
            if ufuncs.kills_numpy(operation.ufunc, operation.method, self.numpy, step.arguments):
                raise ValueError("not a case")
            before = elements.readable(before)
            close = functools.partial(judge.close, operation.ufunc, operation.method,
                                      ufuncs.inputs(before, step.arguments),
                                      given=arguments.made(step.arguments))
        run_line = outcome
        if ufuncs.REACTIONS in step.arguments:
            run_line = outcome_and_warnings
        elif step.operation in CONVERTING and not is_open(step, self.numpy):
            run_line = outcome_of_conversion
        there = {name: tuple(map(elements.readable, each)) if type(each) is tuple else each
                 for name, each in arguments.made(step.arguments).items()}
        numpy = run_line(operation.numpy, self.numpy if operation.numpy.changes else
                         elements.readable(self.numpy), there)
        here = run_line(line, self.dray, arguments.made(for_dray(step.arguments)))
        self.ended = not (numpy.goes_on and here.goes_on)
        self.last = numpy, here
        self.done += 1
        if isinstance(here.error, NotImplementedError):
            self.missing = self.ended = True
            return None
        found = difference(numpy, here, close)
        if not found and not close and operation.numpy.changes and (
                bytes_of(self.roots[0]) != bytes_of(self.roots[1])):
            found = ("bytes outside of the view", repr(self.roots[0]),
                     repr(self.roots[1]))
        if not found and not here.error and numpy.said != here.said:
            found = "warnings", repr(numpy.said), repr(here.said)
        if found:
            self.ended = True
            meant = accepted_ufuncs if close else accepted
            self.accepted = meant.reason(step, before, numpy, here, found[0])
            if not self.accepted:
                return Difference(self.done - 1, found[1], found[2], found[0])
        self.numpy, self.dray = numpy.value, here.value
        return None


def run(case: Case) -> tuple[Optional[Difference], Run]:
    state = Run(case.source)
    for at in range(len(case.steps) + 1):
        if at == case.taken_over:
            state.take_over()
        if at == len(case.steps):
            break
        found = state.step(case.steps[at])
        if found or state.ended:
            return found, state
    return None, state


def draw(pick: Random) -> tuple[Case, Optional[Difference], Run]:
    """Makes a random case while it runs."""
    source = arguments.a_source(pick)
    state = Run(source)
    steps: list[Step] = []
    before = pick.choice([0, 0, 0, 1, 2])
    found = None
    for at in range(before + pick.randrange(1, 6)):
        if at == before:
            state.take_over()
        given = None
        while given is None:
            operation = OPERATIONS[pick.choices(NAMES, WEIGHTS)[0]]
            given = operation.arguments(pick, state.numpy)
        steps.append(Step(operation.name, given))
        found = state.step(steps[-1])
        if found or state.ended:
            break
    return Case(source, tuple(steps), before), found, state


def draw_ufunc(pick: Random) -> tuple[Case, Optional[Difference], Run]:
    """Makes a random call of a ufunc, and runs it."""
    while True:
        operation = pick.choices(list(ufuncs.UFUNCS.values()), ufuncs.WEIGHTS)[0]
        source, given = operation.draw(operation.ufunc, pick)
        if not ufuncs.kills_numpy(operation.ufunc, operation.method, source.make(),
                                  given):
            break
    case = Case(source, (Step(operation.name, {**given, **ufuncs.surroundings(pick)}),))
    return (case, *run(case))

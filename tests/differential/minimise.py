# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes a case that fails smaller, as long as it still fails."""
import dataclasses
import math
from typing import Any, Iterator, Optional

import elements
from arguments import Indices, Source
from cases import Case, Step, run


def smaller_numbers(number: int) -> Iterator[int]:
    for other in (0, 1, number // 2, number - 1 if number > 0 else number + 1):
        if abs(other) < abs(number):
            yield other


def smaller_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for at in range(len(shape)):
        yield shape[:at] + shape[at + 1:]
    for at, extent in enumerate(shape):
        for other in smaller_numbers(extent):
            yield shape[:at] + (other,) + shape[at + 1:]


def smaller_sources(source: Any) -> Iterator[Any]:
    if isinstance(source, elements.Elements):
        yield from elements.smaller(source)
        return
    for dtype in ("u1", "<i2", "<i4"):
        if source.dtype == dtype:
            break
        yield dataclasses.replace(source, dtype=dtype)
    if isinstance(source.dtype, list):
        for fields in smaller_values(source.dtype):
            yield dataclasses.replace(source, dtype=fields)
    for change in ({"order": "C"}, {"first": 0}, {"offset": 0}):
        changed = dataclasses.replace(source, **change)  # type: ignore[arg-type]
        if changed != source:
            yield changed
    for shape in smaller_shapes(source.shape):
        yield dataclasses.replace(source, shape=shape)


def smaller_indices(value: Indices) -> Iterator[Indices]:
    if value.dtype not in ("<i8", "?"):
        yield dataclasses.replace(value, dtype="<i8")
    for shape in smaller_shapes(value.shape):
        count = math.prod(shape)
        if count <= len(value.numbers):
            yield dataclasses.replace(value, shape=shape, numbers=value.numbers[:count])
    for at, number in enumerate(value.numbers):
        for other in smaller_numbers(number):
            yield dataclasses.replace(
                value, numbers=value.numbers[:at] + (other,) + value.numbers[at + 1:])


def smaller_values(value: Any) -> Iterator[Any]:
    """Of any argument."""
    if isinstance(value, (Source, elements.Elements)):
        yield from smaller_sources(value)
    elif isinstance(value, dict):
        for name in value:
            # Without an output, elements where the mask is false are undefined.
            if not (name == "out" and "where" in value):
                yield {other: each for other, each in value.items() if other != name}
        for name, each in value.items():
            for smaller in smaller_values(each):
                yield {**value, name: smaller}
    elif isinstance(value, Indices):
        yield from smaller_indices(value)
    elif isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        for at, part in enumerate(parts):
            for other in ([None] if part is not None else []) + list(smaller_values(part)):
                if not (at == 2 and other == 0):
                    yield slice(*parts[:at], other, *parts[at + 1:])
    elif isinstance(value, (tuple, list)):
        for at in range(len(value)):
            yield value[:at] + value[at + 1:]
        for at, part in enumerate(value):
            for other in smaller_values(part):
                yield value[:at] + type(value)((other,)) + value[at + 1:]
    elif type(value) is int:
        yield from smaller_numbers(value)


def smaller_steps(step: Step) -> Iterator[Step]:
    for name, value in step.arguments.items():
        for other in smaller_values(value):
            yield Step(step.operation, {**step.arguments, name: other})


def smaller_cases(case: Case) -> Iterator[Case]:
    for at in range(len(case.steps)):
        yield dataclasses.replace(
            case, steps=case.steps[:at] + case.steps[at + 1:],
            taken_over=case.taken_over - (at < case.taken_over))
    if case.taken_over:
        yield dataclasses.replace(case, taken_over=0)
    for source in smaller_sources(case.source):
        yield dataclasses.replace(case, source=source)
    for at, step in enumerate(case.steps):
        for other in smaller_steps(step):
            yield dataclasses.replace(
                case, steps=case.steps[:at] + (other,) + case.steps[at + 1:])


def difference_of(case: Case) -> Optional[tuple[str, str]]:
    """The operation that differs and what of it, or None."""
    try:
        found = run(case)[0]
    except Exception:  # pylint: disable=broad-except
        return None  # not a case: the array cannot be made
    return (case.steps[found.step].operation, found.what) if found else None


def minimise(case: Case) -> Case:
    """The smallest case with the same difference that the steps above lead to."""
    wanted = difference_of(case)
    tries = 5000 if wanted else 0
    while tries > 0:
        for other in smaller_cases(case):
            tries -= 1
            if difference_of(other) == wanted:
                case = other
                break
            if tries <= 0:
                break
        else:
            break
    return case

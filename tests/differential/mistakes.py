# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls of ufuncs with several mistakes: any of their errors may be told first.

A call is rid of one mistake after the other, to see whether NumPy then has dray's error.
"""
import functools
import itertools
from typing import Any

import numpy as np

import ufuncs
from arguments import made


def without(step: dict[str, Any], before: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """The call without a keyword."""
    kept = {key: each for key, each in step["k"].items()
            if key != name and not (name == "out" and key == "where")}
    return before, {**step, "k": kept}


def of_a_loop(given: dict[str, Any], before: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """The call with the types of a loop, and no other wishes about types."""
    loop = getattr(np, name).types[0]
    given = made(given)
    keywords = {key: each for key, each in given.get("k", {}).items()
                if key not in ("dtype", "signature", "casting")}
    if "out" in keywords:
        out = keywords["out"]
        keywords["out"] = tuple(np.ones(np.shape(each), dtype) for each, dtype in zip(
            out if type(out) is tuple else (out,), loop.split("->")[1]))
    return np.ones(np.shape(before), loop[0]), {**given, "k": keywords, "v": tuple(
        np.ones(np.shape(each), dtype)
        for each, dtype in zip(given.get("v", ()), loop[1:]))}


def of_numbers(given: dict[str, Any], before: Any) -> tuple[Any, dict[str, Any]]:
    return before, {**given, "v": tuple(1 if type(each) is int else each
                                        for each in given.get("v", ()))}


def of_one_shape(given: dict[str, Any], before: Any) -> tuple[Any, dict[str, Any]]:
    return before, {**given, "v": tuple(np.zeros((), np.asarray(each).dtype)
                                        for each in made(given).get("v", ()))}


def of_one_axis(given: dict[str, Any], before: Any) -> tuple[Any, dict[str, Any]]:
    return before, {**given, "k": {**given["k"], "axis": 0 if before.ndim else None}}


def of_more_axes(given: dict[str, Any], before: Any) -> tuple[Any, dict[str, Any]]:
    return np.ones((9, 9, 9, 9), before.dtype), given


def of_single_elements(given: dict[str, Any], before: Any) -> tuple[Any, dict[str, Any]]:
    return np.ones((1, 1, 1, 1), before.dtype), given


def of_all(given: dict[str, Any], before: Any) -> tuple[Any, dict[str, Any]]:
    return before, {**given, "i": ...}


def of_whole_axis(given: dict[str, Any], before: Any, at: int) -> tuple[Any, dict[str, Any]]:
    index = given["i"]
    if type(index) is not tuple:  # repaired as a whole
        return before, given
    return before, {**given, "i": (*index[:at], slice(None), *index[at + 1:])}


def repairs(name: str, given: dict[str, Any]) -> list[Any]:
    """Ways to rid a call of one mistake, and to make no other."""
    keywords = given.get("k", {})
    found = [functools.partial(without, name=each) for each in keywords if each != "axis"]
    if "axis" in keywords:
        found.append(of_one_axis)
    if "i" in given and "k" not in given:
        found += [of_all, of_more_axes, of_single_elements]
        found += [functools.partial(of_whole_axis, at=at) for at in range(
            len(given["i"]) if type(given["i"]) is tuple else 0)]
    return found + [functools.partial(of_a_loop, name=name), of_one_shape, of_numbers]


def error_of_numpy(operation: str, before: Any, given: dict[str, Any]) -> Any:
    call = ufuncs.UFUNCS[operation]
    try:
        if ufuncs.kills_numpy(call.ufunc, call.method, before, given):
            return None
        with np.errstate(all="ignore"):
            call.numpy.run(np.array(before), made(given))
    except Exception as error:  # pylint: disable=broad-except
        return error
    return None


def other_mistake(step: Any, before: Any, numpy: Any, here: Any, _what: str) -> bool:
    """Whether the call has a second mistake, for which NumPy has dray's class: it shows
    after one or two repairs."""
    if not (numpy.error and here.error):
        return False
    ways = repairs(step.operation.split(".")[0], step.arguments)
    for each in [(one,) for one in ways] + list(itertools.combinations(ways, 2)):
        array, given = before, step.arguments
        for repair in each:
            array, given = repair(given, array)
        error = error_of_numpy(step.operation, array, given)
        if error is not None and (isinstance(error, type(here.error))
                                  or isinstance(here.error, type(error))):
            return True
        if isinstance(error, OverflowError) and isinstance(here.error, IndexError):
            return True  # as in huge_index()
    # NumPy counts indices before it looks at them.
    return step.operation.endswith(".at") and "too many indices" in str(numpy.error)

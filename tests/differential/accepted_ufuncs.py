# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The differences of ufuncs that are meant, with the wording of docs/ufuncs.md."""
import warnings
from typing import Any, Optional

import numpy as np

import judge
import ufuncs
from accepted import Accepted
from arguments import made
from mistakes import other_mistake

ABOUT_NUMBERS = ("warnings", "error", "sentence")
ERRORS = ("divide by zero", "overflow", "underflow", "invalid value")


def errors_of(outcome: Any) -> dict[str, str]:
    """Errors of numbers that were met, and the name that was said with each, "cast" last."""
    said = list(outcome.said)
    if isinstance(outcome.error, FloatingPointError):
        said.append(str(outcome.error))
    said.sort(key=lambda each: not each.endswith("in cast"))
    return dict(each.split(" encountered in ") for each in said)


def other_errors(numpy: Any, here: Any) -> Optional[list[tuple[str, bool]]]:
    """The errors of numbers that one side met alone, and whether it was dray; None if that is
    not the difference.  The first that is raised ends a call."""
    if any(each.error and not isinstance(each.error, FloatingPointError)
           for each in (numpy, here)):
        return None
    there, ours = errors_of(numpy), errors_of(here)
    if any(there[each] not in (ours[each], "cast") and ours[each] != "at"
           for each in there.keys() & ours.keys()):
        return None
    found = [(each, each in ours) for each in ERRORS if (each in there) != (each in ours)]
    return found[:1] if numpy.error or here.error else found


def is_complex(step: Any, before: Any, numpy: Any, here: Any) -> bool:
    given = made(step.arguments).get("v", ())
    return any(np.dtype(getattr(each, "dtype", type(each))).kind == "c" for each in (
        before, *given, numpy.value, here.value))


def conversion(_step: Any, _before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    return what in ABOUT_NUMBERS and (found == [] or bool(found) and str(numpy.error).endswith(
        "in cast") and all(here for _, here in found))


def infinite_exponent(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    if step.operation.split(".")[0] not in ("power", "float_power") or what not in ABOUT_NUMBERS:
        return False
    exponents = made(step.arguments).get("v", (before,))
    return bool(found) and not any(here for _, here in found) and bool(
        np.isinf(np.asarray(exponents[0], "c16")).any())


def other_order(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    name, _, method = step.operation.partition(".")
    return what in ABOUT_NUMBERS and bool(other_errors(numpy, here)) and (
        name in ("add", "multiply", "hypot") and method != "accumulate" or name in ufuncs.EARLY) and \
        method in ("reduce", "reduceat", "accumulate") and not before.dtype.kind in "mM"


def errors_of_conversions(step: Any, before: Any) -> set[str]:
    """Errors of numbers that whole inputs meet which are converted to the types of the loop."""
    name, _, method = step.operation.partition(".")
    given = made(step.arguments)
    array_inputs, keywords = (before, *given.get("v", ())), given.get("k", {})
    types = [keywords["dtype"]] * 2 if "dtype" in keywords else keywords.get("signature", "")
    if method in judge.METHODS:
        types = [judge.loop_type(name, method, array_inputs, given) or before.dtype]
    with warnings.catch_warnings(record=True) as said, np.errstate(all="warn"):
        warnings.simplefilter("always")
        for each, dtype in zip(array_inputs, types):
            np.asarray(each).astype(dtype)
    return {str(each.message).split(" encountered", maxsplit=1)[0] for each in said}


def is_ready(array: Any) -> bool:
    return not isinstance(array, np.ndarray) or bool(array.dtype.isnative and array.flags.aligned)


def converted_garbage(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    given = made(step.arguments)
    return what in ABOUT_NUMBERS and bool(found) and not any(here for _, here in found) and (
        "where" in given.get("k", {}) or not all(map(is_ready, (before, *given.get("v", ()))))
        or ("i" in given or np.size(here.value) == 0) and
        {each for each, _ in found} <= errors_of_conversions(step, before))


def converted_identity(step: Any, _before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    return what in ABOUT_NUMBERS and ".reduce" in step.operation and bool(found) and \
        "out" in step.arguments["k"] and not any(here for _, here in found)


def zero_of_one_element(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    return what in ABOUT_NUMBERS and before.dtype.kind == "m" and bool(found) and \
        step.operation.split(".")[0] in ("divide", "floor_divide") and all(
            each == "divide by zero" for each, _ in found)


def converted_results(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    method = step.operation.partition(".")[2]
    given = step.arguments.get("k", {})
    return what in ABOUT_NUMBERS and bool(found) and \
        method in ("reduce", "accumulate", "reduceat") and "out" in given


def conversion_alone(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    return what in ABOUT_NUMBERS and bool(found) and all(here for _, here in found) and \
        {each for each, _ in found} <= errors_of_conversions(step, before)


def raised_earlier(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return isinstance(numpy.error, FloatingPointError) and \
        isinstance(here.error, FloatingPointError) and \
        str(numpy.error).split(" in ")[-1] == str(here.error).split(" in ")[-1]


def first_elements(step: Any, before: Any, _numpy: Any, here: Any, what: str) -> bool:
    """Whether dray's result is that without an output, converted."""
    given = made(step.arguments)
    if ".reduce" not in step.operation or what != "values" or "out" not in given["k"]:
        return False
    out = given["k"].pop("out")
    for dtype in {given["k"].get("dtype"), np.result_type(before.dtype, out.dtype)}:
        given["k"]["dtype"] = dtype
        with np.errstate(all="ignore"):
            try:
                wanted = np.asarray(ufuncs.UFUNCS[step.operation].numpy.run(before, given))
            except TypeError:
                continue  # no loop of this type
            if np.array_equal(wanted.astype(out.dtype), np.asarray(here.value),
                              equal_nan=out.dtype.kind in "fc"):
                return True
    return False


def small_results(step: Any, _before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    return bool(found) and what in ABOUT_NUMBERS and \
        step.operation.split(".")[0] in judge.ULPS and all(
            each == "underflow" for each, _ in found)


def sums_of_logarithms(step: Any, _before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    return bool(found) and what in ABOUT_NUMBERS and \
        step.operation.startswith("logaddexp") and all(
            each == "underflow" or not here for each, here in found)


def complex_errors(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    return bool(other_errors(numpy, here)) and what in ABOUT_NUMBERS and \
        (step.operation.split(".")[0] not in judge.PARTS or ".reduce" in step.operation) and \
        is_complex(step, before, numpy, here)


def halves_in_between(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    found = other_errors(numpy, here)
    name, _, method = step.operation.partition(".")
    return bool(found) and what in ABOUT_NUMBERS and method in ("reduce", "reduceat") and \
        before.dtype.str[1:] == "f2" and name in ("add", "multiply", *judge.GATHERED)


def no_time(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    return before.dtype.kind == "m" and step.operation == "divide.at" and \
        other_errors(numpy, here) == [("invalid value", True)]


def times_and_durations(step: Any, _before: Any, _numpy: Any, here: Any, _what: str) -> bool:
    return (step.operation.split(".")[0] in ("minimum", "maximum", "fmin", "fmax")
            and isinstance(here.error, TypeError)
            and "M8" in str(here.error) and "m8" in str(here.error))


def large_integer(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    if isinstance(numpy.error, TypeError) and "cannot cast Python int" in str(numpy.error):
        return not here.error and any(type(each) is int and each >= 2**63
                                      for each in step.arguments.get("v", ()))
    return (isinstance(numpy.error, OverflowError)
            and (not here.error or isinstance(here.error, TypeError))
            and ("C long" in str(numpy.error) or "too big" in str(numpy.error)))


def read_too_early(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    """Whether dray's result is that of one step after the other."""
    name, _, method = step.operation.partition(".")
    return name in ufuncs.EARLY and method in ("reduce", "reduceat") and what == "values" and \
        bool(judge.in_steps(name, method, (before,), made(step.arguments),
                            judge.plain(np.asarray(here.value))))


def overlap(step: Any, before: Any, _numpy: Any, here: Any, what: str) -> bool:
    """Whether dray's result is that of inputs copied aside."""
    name, _, method = step.operation.partition(".")
    if method != "overlap" or what != "values":
        return False
    ufunc, given = getattr(np, name), step.arguments
    after = before.copy()
    with np.errstate(all="ignore"):
        after[given["o"]] = ufunc(*[before[given[each]].copy() for each in "ij"[:ufunc.nin]])
    return judge.close(name, method, (before,), after, np.asarray(here.value), given)


def layout(step: Any, before: Any, _numpy: Any, here: Any, what: str) -> bool:
    """Whether NumPy has dray's result for inputs without gaps and an output of its own."""
    name, _, method = step.operation.partition(".")
    if method or what != "values" or isinstance(here.value, tuple):
        return False
    given = {key: each for key, each in made(step.arguments)["k"].items()
             if key not in ("out", "where")}
    mask = made(step.arguments)["k"].get("where", True)
    inputs = ufuncs.inputs(before, step.arguments)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*(np.array(np.broadcast_to(each, here.value.shape))
                                     for each in inputs), **given)
    result = np.asarray(here.value)
    return wanted.dtype == bool and bool(np.all((wanted == result) | ~np.asarray(mask)))


def time_without_unit(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, ValueError) and not here.error
            and ("generic units" in str(numpy.error) or "specified unit" in str(numpy.error)))


def unswapped(_step: Any, _before: Any, numpy: Any, here: Any, what: str) -> bool:
    """Whether NumPy's numbers are dray's in the machine's byte order, though the type has the
    other one."""
    theirs = numpy.value
    if what != "values" or not isinstance(theirs, np.ndarray) or theirs.dtype.kind != "m" \
            or theirs.dtype.isnative:
        return False
    native = theirs.dtype.newbyteorder("=")
    wanted = np.asarray(here.value).astype(native).view("i8")
    raw = np.ascontiguousarray(theirs).reshape(theirs.shape).view("=i8")
    return bool(((raw == wanted) | (theirs.astype(native).view("i8") == wanted)).all())


def huge_index(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return isinstance(numpy.error, OverflowError) and isinstance(here.error, IndexError)


ACCEPTED: list[Accepted] = [
    Accepted("Elementary functions but `hypot` note an underflow of every small result that is "
             "rounded, and of no other.",
             "NumPy's depends on the C library and on the processor.",
             small_results),
    Accepted("`logaddexp()` and `logaddexp2()` note no error of a NaN, or of numbers whose difference "
             "overflows.",
             "NumPy does, though the result is right.",
             sums_of_logarithms),
    Accepted("Products, quotients, comparisons and functions of complex numbers may note other errors.",
             "The formulas differ, and with them the steps on the way.",
             complex_errors),
    Accepted("An error of a conversion names the function.",
             'NumPy says "in cast" where a whole array is converted, and raises it before the '
             "function is called.",
             conversion),
    Accepted("Powers whose exponent is infinite note no error.",
             "NumPy's do, where NumPy uses its own vectors.",
             infinite_exponent),
    Accepted("Sums, products, powers and `hypot` of many numbers may note other errors on their way.",
             "The order of the steps differs.",
             other_order),
    Accepted("Only elements of the call note errors, if a mask or indices leave some out, or if "
             "the operands are not aligned or have another byte order.",
             "NumPy converts what lies beside them.",
             converted_garbage),
    Accepted("An identity is not converted to an output's type.",
             "NumPy's reductions start in the output, and note its overflow.",
             converted_identity),
    Accepted("A duration by zero notes a division by zero if a single divisor is for all "
             "elements, also for a single element.",
             "NumPy detects that by strides, which are arbitrary for a single element.",
             zero_of_one_element),
    Accepted("Steps of reductions and of `accumulate()` are not read from an output of another "
             "type.",
             "NumPy reads them from the output.",
             converted_results),
    Accepted("Conversions to the loop of a function that notes no error note theirs.",
             "NumPy does not look.",
             conversion_alone),
    Accepted("Of several errors that are to be raised, a large or broken-up call raises the first that "
             "it meets.",
             "NumPy computes all of the call first.",
             raised_earlier),
    Accepted("Reductions into an output of another type are computed in the loop's type and converted "
             "at the end.",
             "NumPy converts the first elements to the output's type.",
             first_elements),
    Accepted("Reductions of `float16` by `add`, `subtract`, `multiply` and `divide` may note other errors on "
             "their way.",
             "Both round lines at the end and rows after each step, but choose them differently.",
             halves_in_between),
    Accepted("A quotient of durations that is not a number is an invalid value where it is "
             "written to durations.",
             "A NaN cannot become an integer.",
             no_time),
    Accepted("Of a call with several mistakes, such as types without a loop and two axes of a "
             "ufunc whose order counts, the error may report another mistake than NumPy's.",
             "The order in which arguments are checked is the library's.",
             other_mistake),
    Accepted("`minimum()` and the like of a date and a duration are a `TypeError`.",
             "NumPy treats the duration as a date.",
             times_and_durations),
    Accepted("Numbers of Python from 2^63 to 2^64 - 1 are `uint64`: they may stand beside bools and "
             "durations, and under each casting rule.",
             "NumPy makes an int64 of them, which is an `OverflowError`.",
             large_integer),
    Accepted("`reduce()` and `reduceat()` of `arctan2` and powers run step by step.",
             "NumPy's AVX-512 loops read several elements of the result before they are written.",
             read_too_early),
    Accepted("Dates and durations without a unit adopt the unit of others, and integers are "
             "durations or dates without a unit.",
             "NumPy does so only if the value is NaT.",
             time_without_unit),
    Accepted("An output of another type that overlaps an input gets the results of a copied "
             "input.",
             "NumPy's gets random bools, seen with `isnan()` of numbers that are not NaN.",
             overlap),
    Accepted("A repeated element yields the same bool in all of the output.",
             "NumPy's `signbit()` and the like yield others if the output has gaps.",
             layout),
    Accepted("Durations without a unit are written to an output of another byte order by their "
             "values.",
             "NumPy's ufuncs leave their bytes in the machine's order.",
             unswapped),
    Accepted("An index of 2^63 or more is an `IndexError` in `at()`, in NumPy an "
             "`OverflowError`.",
             "As in all other indices of dray.Array.",
             huge_index),
]


def reason(*found: Any) -> Optional[str]:
    """Returns the accepted difference that `found` is, or None."""
    return next((each.difference for each in ACCEPTED if each.holds(*found)), None)

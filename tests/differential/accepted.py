# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The differences that are meant, with the wording of docs/arrays.md."""
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

import memory
from arguments import made
from operations import OPERATIONS


class Accepted(NamedTuple):
    difference: str
    why: str
    # (step, the array before with memory of its own, NumPy's outcome, dray's outcome,
    # the name of the fact that differs)
    holds: Callable[..., bool]


def huge_integer(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, OverflowError) and isinstance(here.error, IndexError)
            and any(abs(number) >= 2**63 for index in step.arguments.values()
                    for number in index_parts(index) if isinstance(number, int)))


def stride_above_63_bits(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    """All other facts are equal, since strides are compared before them only if
    the shape is.  A copy in order K follows the strides that it is made of."""
    if what not in ("strides", "flags") or numpy.error or here.error:
        return False
    if step.operation in ("copy", "astype") and step.arguments["o"] == "K":
        return (numpy.array.strides != here.array.strides
                or max(map(abs, numpy.array.strides), default=0) >= 2**62)
    return (any(isinstance(part, slice) and part.step
                    and abs(part.step) * max(map(abs, before.strides), default=0) >= 2**63
                    for index in step.arguments.values() for part in index_parts(index))
            and all(extent <= 1 or one == other for extent, one, other in
                    zip(numpy.value.shape, numpy.value.strides, here.value.strides)))


def outside_of_memory(step: Any, before: Any, numpy: Any, here: Any, _what: str) -> bool:
    if not (step.operation == "as_strided" and not numpy.error
            and isinstance(here.error, ValueError) and "cover bytes" in str(here.error)):
        return False
    low, high = memory.bounds(before)
    first, last = memory.bounds(numpy.value)
    return first < low or last > high


def axis_of_nothing(step: Any, before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (step.operation in ("squeeze", "take", "argsort", "argmax", "argmin")
            and before.ndim == 0
            and (not numpy.error or "data type not ordered" in str(numpy.error)
                 or (step.operation == "take"
                     and "out of bounds for axis 0" in str(numpy.error)))
            and step.arguments["x"] in (0, -1, (0,), (-1,))
            and isinstance(here.error, ValueError))


def put_of_nothing(step: Any, before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (step.operation == "put" and not before.size and not here.error
            and isinstance(numpy.error, IndexError)
            and made(step.arguments)["v"].size == 0)


def take_of_nothing(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (step.operation == "take" and not numpy.error and np.size(numpy.value) == 0
            and isinstance(here.error, IndexError) and "out of bounds" in str(here.error))


def repeated_destination(step: Any, before: Any, numpy: Any, here: Any,
                         _what: str) -> bool:
    return (isinstance(here.error, ValueError) and "at one address" in str(here.error)
            and step.operation in OPERATIONS and OPERATIONS[step.operation].numpy.changes
            and (not numpy.error or isinstance(numpy.error, (IndexError, TypeError)))
            and any(extent > 1 and stride == 0
                    for extent, stride in zip(before.shape, before.strides)))


def type_of(value: Any) -> np.dtype:
    try:
        return np.asarray(value).dtype
    except ValueError:  # lists of different lengths
        return np.dtype(object)


def is_raw(dtype: np.dtype) -> bool:
    return dtype.kind == "V" and dtype.names is None


def has_raw_fields(dtype: np.dtype) -> bool:
    return any(is_raw(dtype[name]) or has_raw_fields(dtype[name]) for name in dtype.names or ())


def raw_data(step: Any, before: Any, _numpy: Any, here: Any, _what: str) -> bool:
    others = [np.dtype(step.arguments["d"])] if "d" in step.arguments else []
    if "v" in step.arguments:
        others.append(type_of(made(step.arguments)["v"]))
    return (isinstance(here.error, TypeError) and "do not convert" in str(here.error)
            and any(is_raw(before.dtype) != is_raw(other) or has_raw_fields(before.dtype)
                    or has_raw_fields(other) for other in others))


def float_in_a_slice(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (bool(numpy.error) and isinstance(here.error, TypeError)
            and "a slice has a" in str(here.error)
            and any(isinstance(bound, float) for part in slices_of(step)
                    for bound in (part.start, part.stop, part.step)))


def written_in_part(_step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    if what != "bytes outside of the view" or not (numpy.error and here.error):
        return False
    one, other = here.array.__array__(), before
    if before.dtype.names is None:
        return memory.of(one) == memory.of(other)
    return all(map(lambda a, b: a.tobytes() == b.tobytes(), items_of(one, one.ndim),
                   items_of(other, other.ndim)))  # gaps may have any value


def is_converted(element: np.ndarray, value: Any) -> bool:
    converted = np.empty_like(element)
    try:
        converted[...] = value
    except Exception:  # pylint: disable=broad-except
        return False
    return converted.tobytes() == element.tobytes()


def take_over_converted(then: np.ndarray, now: np.ndarray, value: Any) -> None:
    """Copies to `then` each changed element or field that has the converted value."""
    if now.dtype.names is None:
        if now.tobytes() != then.tobytes() and is_converted(now, value):
            then[...] = now
        return
    for number, name in enumerate(now.dtype.names):
        part = value if value.dtype.names is None else value[value.dtype.names[number]]
        take_over_converted(then[name], now[name], part)


def written_before_an_error(step: Any, before: Any, numpy: Any, here: Any,
                            what: str) -> bool:
    if not (what == "bytes outside of the view" and numpy.error and here.error
            and step.operation in ("set to an array", "set to a part", "set by arrays",
                                   "set by arrays to an Array")):
        return False
    given = made(step.arguments)
    index = given["i"]
    values = given["v"] if "v" in given else before[given["j"]].copy()
    result, expected = memory.copied(here.array.__array__()), memory.copied(before)
    values = np.broadcast_to(values.reshape(values.shape[-result[index].ndim:]),
                             result[index].shape)
    written = expected[index]
    for at in np.ndindex(values.shape):
        take_over_converted(written[(*at, ...)], result[index][(*at, ...)],
                            values[(*at, ...)])
    expected[index] = written
    return memory.of(result) == memory.of(expected)


def overlapping_destination(step: Any, before: Any, numpy: Any, here: Any,
                            what: str) -> bool:
    """Each byte that is written must be one of a value that is written there."""
    if what != "values" or not OPERATIONS[step.operation].numpy.changes \
            or not memory.overlaps_itself(before):
        return False
    written, values = memory.assigned(OPERATIONS[step.operation].numpy, before,
                                      made(step.arguments))
    addresses = memory.addresses(before)[written]
    result, unchanged = (np.frombuffer(memory.of(array), np.uint8)
                         for array in (here.value.__array__(), before))
    given = np.frombuffer(values[written].tobytes(), np.uint8).reshape(addresses.shape)
    good = result == unchanged
    good[addresses] = False
    good[addresses[result[addresses] == given]] = True
    return bool(good.all())


def other_of_two(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, IndexError) and isinstance(here.error, ValueError)
            and "step of the slice" in str(here.error)
            and any(part.step == 0 for part in slices_of(step)))


def picks_nothing(step: Any, before: Any, numpy: Any) -> bool:
    """Or fails to pick."""
    if numpy.error:
        return isinstance(numpy.error, IndexError) or "slice step" in str(numpy.error)
    return before[made(step.arguments)["i"]].size == 0


def shape_of_nothing(step: Any, before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return ("shape mismatch: value array" in str(here.error)
            and picks_nothing(step, before, numpy))


def converted_for_nothing(step: Any, before: Any, numpy: Any, here: Any,
                          _what: str) -> bool:
    if step.operation == "put":
        return bool(numpy.error) and ("Cannot cast" in str(here.error) or not before.size)
    return (step.operation.startswith("set by arrays")
            and ("does not fit" in str(here.error) or "do not convert" in str(here.error))
            and ("shape mismatch: value array" in str(numpy.error)
                 or "where the mask is true" in str(numpy.error)
                 or picks_nothing(step, before, numpy)))


def overlapping_parts(step: Any, before: Any, _numpy: Any, here: Any, what: str) -> bool:
    if step.operation != "set to a part" or what != "values":
        return False
    part, other = (before[step.arguments[name]] for name in "ij")
    if part.ndim != 1 or not np.shares_memory(part, other):
        return False
    part[...] = other.copy()
    return memory.of(here.value.__array__()) == memory.of(before)


def huge_and_empty(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return ("too big" in str(numpy.error) and not here.error and 0 in here.value.shape)


def several_axes(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, TypeError) and isinstance(here.error, ValueError)
            and "boolean array indexing assignment" in str(here.error))


def quiet(elements: np.ndarray) -> bytes:
    """Its values; of each NaN with the first bit of the fraction, which makes it
    quiet."""
    if elements.dtype.kind not in "fc" or np.finfo(elements.dtype).nmant >= 63:
        return elements.tobytes()
    parts = np.ravel(elements).view(elements.real.dtype)
    bits = parts.view(parts.dtype.str.replace("f", "u"))
    return np.where(np.isnan(parts), bits | 1 << np.finfo(parts.dtype).nmant - 1,
                    bits).tobytes()


def quiet_nan(_step: Any, _before: Any, numpy: Any, here: Any, what: str) -> bool:
    if what != "values" or not hasattr(numpy.value, "dtype"):
        return False
    one, other = np.asarray(numpy.value), here.value.__array__()
    return all(map(lambda a, b: quiet(a) == quiet(b), items_of(one, one.ndim),
                   items_of(other, other.ndim)))


def items_of(elements: np.ndarray, ndim: int) -> list[np.ndarray]:
    """The numbers in elements of `ndim` axes, in the order in which they are compared."""
    if elements.ndim > ndim:
        return [item for at in np.ndindex(elements.shape[ndim:])
                for item in items_of(elements[(..., *at)], ndim)]
    return [elements] if elements.dtype.names is None else [
        item for name in elements.dtype.names for item in items_of(elements[name], ndim)]


def sub_arrays(step: Any, before: Any, _numpy: Any, here: Any, what: str) -> bool:
    if what != "values" or step.operation not in ("sort", "argsort") \
            or before.dtype.names is None:
        return False
    axis = step.arguments["x"]
    flat = before.reshape(-1) if axis is None else before
    items = items_of(flat, flat.ndim)
    keys = np.empty(flat.shape, [("", item.dtype) for item in items])
    for name, item in zip(keys.dtype.names, items):
        keys[name] = item
    order = np.argsort(keys, 0 if axis is None else axis, kind="stable")
    if step.operation == "argsort":
        return np.array_equal(order, here.value.__array__())
    return np.array_equal(np.take_along_axis(before, order, axis), here.value.__array__())


def index_parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def slices_of(step: Any) -> list[slice]:
    return [part for index in step.arguments.values() for part in index_parts(index)
            if isinstance(part, slice)]


def parts_of_nothing(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    return (what == "warnings" and step.operation.startswith("set by arrays")
            and not np.size(before[made(step.arguments)["i"]])
            and set(here.said) - set(numpy.said) == {
                "Casting complex values to real discards the imaginary part"})


ACCEPTED: list[Accepted] = [
    Accepted("An integer index of 2^63 to 2^64 - 1 is an `IndexError`, in NumPy an "
             "`OverflowError`.",
             "NumPy raises an `IndexError` too for integers that are longer, or negative.",
             huge_integer),
    Accepted("If a slice selects at most one element with a step so long that the stride does "
             "not fit 63 bits, the axis keeps its stride; NumPy's is cut to 64 bits.",
             "No address is computed from either, and no stride of dray has overflowed.",
             stride_above_63_bits),
    Accepted("`as_strided()` is a `ValueError` if the strides leave the memory of the array.",
             "NumPy checks nothing, and its array reads and writes memory of others.",
             outside_of_memory),
    Accepted("Axis 0 or -1 is a `ValueError` if there are no axes, in `squeeze()`, `take()`, "
             "`argsort()`, `argmax()` and `argmin()` too.",
             "NumPy treats an array without axes as if it had an axis.",
             axis_of_nothing),
    Accepted("`put()` without values does nothing, even if the array has no elements.",
             "NumPy looks at the values first only if the array has elements.",
             put_of_nothing),
    Accepted("A number outside of the axis is an `IndexError` of `take()` even if the result has "
             "no elements.",
             "NumPy reads no index then.",
             take_of_nothing),
    Accepted("An assignment to a writeable view with a stride of 0, made by `as_strided()`, is a "
             "`ValueError`, even if the arrays of the index are wrong too, or the value does not "
             "convert.",
             "Several values are written to the same address, and which of them stays is a "
             "matter of chance.",
             repeated_destination),
    Accepted("Raw data (`V`) converts to raw data only; anything else is a `TypeError`.",
             "NumPy converts by an object of Python for each element, which reads the bytes as "
             "text.",
             raw_data),
    Accepted("A slice with a bound that is not an integer is a `TypeError`, even if another "
             "index is out of range or superfluous, and NumPy reports that index.",
             "All slices are read before the library applies the first.",
             float_in_a_slice),
    Accepted("An assignment to a single element that fails leaves the element as it was.",
             "NumPy may have written a part of it, such as the start of a date as text.",
             written_in_part),
    Accepted("An assignment that fails because a value does not convert may have written the "
             "values before it.",
             "NumPy's may have too, in blocks of values.",
             written_before_an_error),
    Accepted("An assignment to a view of which elements overlap, made by `as_strided()`, may "
             "leave other values than NumPy's.",
             "The order in which elements are written is not defined.",
             overlapping_destination),
    Accepted("If an index has a step of 0 and arrays that are wrong too, the error is the "
             "`ValueError` of the step; in NumPy an `IndexError`.",
             "Slices are read first.",
             other_of_two),
    Accepted("The shape of a value must fit even if the arrays of an index pick no element, or "
             "one of them is out of range too, an `IndexError` in NumPy.",
             "Shapes are compared first. If nothing is picked, NumPy accepts some wrong shapes "
             "and refuses others.",
             shape_of_nothing),
    Accepted("A value that does not convert is an error even if the arrays of an index pick no "
             "element; if they are wrong too, or the shape of the value, it is the error of the "
             "value.",
             "Values are converted before anything is written, so that an error leaves the array as "
             "it was.",
             converted_for_nothing),
    Accepted("A part of an axis that is assigned to another part of the same array, with another "
             "stride, is read before anything is written: `a[::3] = a[1:4]`.",
             "NumPy looks at the first addresses and the signs of the strides only, and reads "
             "elements that it has overwritten.",
             overlapping_parts),
    Accepted("A view without elements may have other extents whose product does not fit 63 bits.",
             "NumPy multiplies all extents but 0; no address is computed from them.",
             huge_and_empty),
    Accepted("A value of two or more axes for the elements of a boolean array is a `ValueError`, "
             "in NumPy a `TypeError`.",
             "Other values of wrong shapes are a `ValueError` in NumPy too.",
             several_axes),
    Accepted("Structures with sub-arrays are sorted by the items of these.",
             "NumPy compares the bytes of a sub-array.",
             sub_arrays),
    Accepted("An assignment of complex numbers to no element at all, by arrays, warns of lost "
             "imaginary parts, too.",
             "The types are compared before the elements are counted.",
             parts_of_nothing),
    Accepted("A conversion may quiet a signalling NaN.",
             "The processor's instructions for halves do so.",
             quiet_nan),
]


def reason(*found: Any) -> Optional[str]:
    """Returns the accepted difference that `found` is, or None."""
    for each in ACCEPTED:
        if each.holds(*found):
            return each.difference
    return None

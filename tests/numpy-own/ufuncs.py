# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ufuncs of NumPy with an array of the stand-in, answered by dray's of the same name.

Only in NumPy's tests of ufuncs; in others NumPy computes.
"""
import numpy
from answers import ANSWERS

import dray

FILES = ("test_ufunc.py", "test_umath.py", "test_umath_complex.py")
OURS = {getattr(numpy, name): getattr(dray, name) for name in dir(numpy)
        if isinstance(getattr(numpy, name), numpy.ufunc)
        and isinstance(getattr(dray, name, None), dray.ufunc)}


def errors():
    """NumPy's reactions to errors of numbers."""
    if "call" in numpy.geterr().values() or "log" in numpy.geterr().values():
        return dray.errstate(**numpy.geterr(), call=numpy.geterrcall())
    return dray.errstate(**numpy.geterr())


def answer(ufunc, method, inputs, keywords, operand, plain, put_back):
    """Lets dray compute; NumPy, if dray has no such types."""
    def theirs(value):
        if isinstance(value, numpy.ndarray):
            return plain(value)
        return tuple(map(theirs, value)) if type(value) is tuple else value

    def by_numpy():
        return getattr(ufunc, method)(*map(theirs, inputs), **{
            name: theirs(value) for name, value in keywords.items()})

    def ours(value):
        return tuple(map(operand, value)) if type(value) is tuple else operand(value)

    if any(has_rules(each) for each in (*inputs, *keywords.get("out", ()))):
        return NotImplemented
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    outputs = keywords.get("out", ())
    if ufunc not in OURS:
        ANSWERS.by_numpy(name)
        return results(by_numpy(), outputs, put_back)
    try:
        with errors():
            found = getattr(OURS[ufunc], method)(*map(ours, inputs), **{
                key: ours(value) for key, value in keywords.items()})
    except FloatingPointError:
        # A call that wrote in place would have no error any more.
        ANSWERS.by_dray(name)
        raise
    except Exception as error:
        try:
            found = by_numpy()
        except Exception:  # pylint: disable=broad-except
            ANSWERS.by_dray(name)
            raise error from None
        ANSWERS.miss(name, f"{type(error).__name__}: {error}")
        return results(found, outputs, put_back)
    ANSWERS.by_dray(name)
    return results(found, outputs, put_back)


def has_rules(value):
    """Whether another class is to compute."""
    return not isinstance(value, numpy.ndarray) and hasattr(type(value), "__array_ufunc__") \
        and not isinstance(value, numpy.generic)


def results(found, outputs, put_back):
    if type(found) is tuple:
        return tuple(one_result(each, outputs[at:at + 1], put_back)
                     for at, each in enumerate(found))
    return one_result(found, outputs, put_back)


def one_result(found, output, put_back):
    given = output[0] if output and output[0] is not None and output[0] is not ... else None
    return put_back(found) if given is None else given

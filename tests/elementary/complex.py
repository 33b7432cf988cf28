#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures functions of complex numbers against those of long doubles.

Prints a row for each: the largest distance in the plane, in units of the last place of the
result's absolute value.

    PYTHONPATH=build/userspace/python DRAY_BACKEND=host python3 tests/elementary/complex.py
"""
import argparse

import dray
import numpy as np

UNARY = ("absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh",
         "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "sin", "sinh",
         "sqrt", "square", "tan", "tanh")
BINARY = ("divide", "multiply", "power")


def parts(dice, count, real):
    """Moderate numbers, numbers of many sizes, and numbers near 1 or 0."""
    limits = np.finfo(real)
    with np.errstate(all="ignore"):
        sizes = np.exp2(dice.uniform(limits.minexp / 4, limits.maxexp / 4, count))
        chosen = np.choose(dice.integers(0, 4, count), [
            dice.uniform(-9, 9, count), dice.normal(0, 30, count),
            sizes * dice.choice([-1, 1], count),
            dice.choice([0, 1, -1, 0.5], count) + dice.normal(0, 1e-3, count)])
    return chosen.astype(real)


def numbers(dice, count, dtype):
    real = np.dtype(f"f{np.dtype(dtype).itemsize // 2}")
    values = np.empty(count, dtype)
    values.real, values.imag = parts(dice, count, real), parts(dice, count, real)
    return values


def worst(name, dtype, count, dice):
    """The largest error, and the arguments."""
    inputs = [numbers(dice, count, dtype) for _ in range(1 + (name in BINARY))]
    if name == "power":
        inputs[1].real %= 8
        inputs[1].imag %= 8
    with np.errstate(all="ignore"), dray.errstate(all="ignore"):
        exact = getattr(np, name)(*(each.astype(np.clongdouble) for each in inputs))
        here = np.asarray(getattr(dray, name)(*inputs).__array__())
        size = np.abs(exact)
        limits = np.finfo(here.dtype)
        unit = np.exp2(np.floor(np.log2(size))) * limits.eps
        unit = np.maximum(unit, limits.smallest_subnormal)
        errors = np.abs(here - exact) / unit
    errors = np.where(np.isfinite(exact) & np.isfinite(here) & (size <= limits.max), errors, 0)
    at = int(np.argmax(errors))
    return float(errors[at]), [each[at] for each in inputs]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100000)
    parser.add_argument("--worst", action="store_true", help="with the arguments")
    options = parser.parse_args()
    dice = np.random.default_rng(1)
    print("| function | complex64 | complex128 |\n|---|---|---|")
    for name in UNARY + BINARY:
        found = [worst(name, dtype, options.points, dice) for dtype in ("c8", "c16")]
        print(f"| `{name}` | " + " | ".join(f"{np.ceil(error * 100) / 100:.2f}"
                                            for error, _ in found) + " |")
        if options.worst:
            print(*(arguments for _, arguments in found))


if __name__ == "__main__":
    main()

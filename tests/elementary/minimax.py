# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the coefficients of the polynomials in userspace/array/loops/elementary_wide.h
and its neighbours: those with the least relative error on an interval, found by Remez's
exchange (E. Remez, 1934) with mpmath (Debian: python3-mpmath).

    python3 tests/elementary/minimax.py [NAME]..."""

import sys

import mpmath as mp

mp.mp.prec = 200
ROOT = mp.sqrt(2)


def sine(z):
    """(sin(x) / x - 1) / x**2 of z = x**2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(-1) / 6 + z / 120
    x = mp.sqrt(z)
    return (mp.sin(x) / x - 1) / z


def sine_weight(z):
    x = mp.sqrt(z)
    return z / (mp.sin(x) / x if x else 1)


def cosine(z):
    """(cos(x) - 1) / x**2 of z = x**2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(-1) / 2 + z / 24
    return (mp.cos(mp.sqrt(z)) - 1) / z


def power(f):
    """(2**f - 1) / f."""
    return mp.expm1(f * mp.log(2)) / f if f else mp.log(2)


def rest(r):
    """(e**r - 1 - r) / r**2."""
    if abs(r) < mp.mpf(10) ** -20:
        return mp.mpf(1) / 2 + r / 6
    return (mp.expm1(r) - r) / r ** 2


def logarithm(f):
    """(log(1 + f) / f - 1) / f."""
    return (mp.log1p(f) / f - 1) / f if f else mp.mpf(-1) / 2


def logarithm_weight(f):
    return f / (mp.log1p(f) / f) if f else mp.mpf(0)


def area(z):
    """2 * (atanh(s) / s - 1) / s**2 of z = s**2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(2) / 3 + 2 * z / 5
    s = mp.sqrt(z)
    return 2 * (mp.atanh(s) / s - 1) / z


def quartic(z):
    """(3 * (atanh(s) / s - 1) - s**2) / s**4 of z = s**2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(3) / 5 + 3 * z / 7
    s = mp.sqrt(z)
    return (3 * (mp.atanh(s) / s - 1) - z) / z ** 2


def arctangent(z):
    """(atan(x) / x - 1) / x**2 of z = x**2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(-1) / 3 + z / 5
    x = mp.sqrt(z)
    return (mp.atan(x) / x - 1) / z


def arcsine(z):
    """(asin(x) / x - 1) / x**2 of z = x**2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(1) / 6 + 3 * z / 40
    x = mp.sqrt(z)
    return (mp.asin(x) / x - 1) / z


def cube_root(f):
    """(cbrt(1 + f) - 1) / f."""
    if abs(f) < mp.mpf(10) ** -20:
        return mp.mpf(1) / 3 - f / 9
    return (mp.cbrt(1 + f) - 1) / f


# Name -> function, interval, coefficients, weight of errors.
POLYNOMIALS = {
    "cosine": (cosine, 0, (mp.pi / 4) ** 2, 5, lambda z: z),
    "sine": (sine, 0, (mp.pi / 2) ** 2, 5, sine_weight),
    "power": (power, mp.mpf(-0.5), mp.mpf(0.5), 6, lambda f: f / 2 ** f),
    "long power": (power, mp.mpf(-0.5), mp.mpf(0.5), 9, lambda f: 1 / power(f)),
    "rest": (rest, -mp.log(2) / 2, mp.log(2) / 2, 10,
             lambda r: r ** 2 / (mp.expm1(r) / r if r else 1)),
    "logarithm": (logarithm, 1 / ROOT - 1, ROOT - 1, 10, logarithm_weight),
    "area": (area, 0, (3 - 2 * ROOT) ** 2, 6, lambda z: z),
    "arctangent": (arctangent, 0, 1, 10, lambda z: z),
    "arcsine": (arcsine, 0, mp.mpf(0.25), 6, lambda z: z),
    "cube root": (cube_root, 1 / ROOT - 1, ROOT - 1, 9, lambda f: abs(f) / mp.cbrt(1 + f)),
    "quartic": (quartic, 0, (3 - 2 * ROOT) ** 2, 7, lambda z: z ** 2 / 3),
    "long area": (area, 0, (3 - 2 * ROOT) ** 2, 7, lambda z: z),
}


def value(coefficients, x):
    return mp.polyval(coefficients[::-1], x)


def extremes(error, low, high, count):
    """Finds the places of the largest error between its zeros."""
    steps = 60 * count
    at = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / steps)
          for i in range(steps + 1)]
    errors = [error(x) for x in at]
    found = []
    for x, size in zip(at, errors):
        if found and mp.sign(found[-1][1]) == mp.sign(size):
            if abs(size) > abs(found[-1][1]):
                found[-1] = x, size
        elif size:
            found.append((x, size))
    while len(found) > count:
        found.pop(0 if abs(found[0][1]) < abs(found[-1][1]) else -1)
    return [x for x, _ in found]


def minimax(function, low, high, count, weight):
    """Returns coefficients, the lowest first, and the largest error."""
    low, high = mp.mpf(low), mp.mpf(high)
    places = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + 0.5) / (count + 1))
              for i in range(count + 1)]
    for _ in range(12):
        rows = mp.matrix(count + 1, count + 1)
        values = mp.matrix(count + 1, 1)
        for i, x in enumerate(places):
            for j in range(count):
                rows[i, j] = weight(x) * x ** j
            rows[i, count] = (-1) ** i
            values[i] = weight(x) * function(x)
        solved = mp.lu_solve(rows, values)
        coefficients = [solved[j] for j in range(count)]
        found = extremes(lambda x: weight(x) * (value(coefficients, x) - function(x)),
                         low, high, count + 1)
        if len(found) != count + 1:
            break
        places = found
    return coefficients, abs(solved[count])


def main():
    for name in sys.argv[1:] or POLYNOMIALS:
        coefficients, error = minimax(*POLYNOMIALS[name])
        print(f"{name}: relative error 2**{mp.nstr(mp.log(error, 2), 4)}")
        for each in coefficients:
            print("\t", float(each).hex())


if __name__ == "__main__":
    main()

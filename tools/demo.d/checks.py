# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks facts during the job, prints them, and collects failures."""

import numpy as np

_failures: list[str] = []


def check(fact: str, is_so: bool, quiet: bool = False) -> None:
    """Prints whether the fact holds; records it if it does not."""
    if not is_so:
        _failures.append(fact)
        print(f"   FAILED   {fact}", flush=True)
    elif not quiet:
        print(f"   ok       {fact}", flush=True)


def failures() -> list[str]:
    return _failures


def same_bytes(one: np.ndarray, other: np.ndarray) -> bool:
    """Returns whether two arrays agree in shape, type and each byte; prints the
    first difference."""
    if one.shape != other.shape or one.dtype != other.dtype:
        print(f"   {one.shape} {one.dtype} is not {other.shape} {other.dtype}")
        return False
    different = one != other
    if not different.any():
        return True
    where = np.unravel_index(np.argmax(different), one.shape)
    print(f"   {np.count_nonzero(different):,} bytes differ, the first at "
          f"{tuple(map(int, where))}: {one[where]}, not {other[where]}")
    return False

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Waiting, with one deadline for all tests."""
import time

# Seconds.  It only ends a test that has failed, so no busy machine may reach it.
DEADLINE = 600


def wait_until(fact):
    """Asks again and again until @fact holds; whether it does."""
    end = time.monotonic() + DEADLINE
    while not fact():
        if time.monotonic() > end:
            return fact()
        time.sleep(0.02)
    return True

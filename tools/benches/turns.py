# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Contenders that take turns, for rows that are timed within one process."""

import alloc

ENOUGH = 5e6  # ns, of a sample
ROUNDS = 7


def measure(contenders, rounds):
    """Returns contender -> ns, in each round each once.  A contender is a function of
    the number of calls, which returns ns of one."""
    found = {name: [] for name in contenders}
    loops = {}
    for name, time in contenders.items():
        time(1)  # the first call of some compiles
        once = time(1)
        if once < ENOUGH / 100:
            once = time(10)
        loops[name] = max(1, int(ENOUGH / once))
    for number in range(rounds):
        for name in alloc.turns(contenders, number):
            found[name].append(contenders[name](loops[name]))
    return found

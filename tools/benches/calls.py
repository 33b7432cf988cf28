# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turns the output of tests/bench/executor/calls_in_flight.c into samples for tools/bench.

usage: calls.py TIMES

Work beside many queued calls must not cost more than beside one.
"""

import sys

import alloc
import stream

ONE = "beside one"
NAMES = {"call": "call on another queue", "wait": "dray_view_wait() of other memory",
         "copy": "dray_copy() of 64 bytes by the CPU"}


def main():
    for work, values in stream.read(sys.argv[1]).items():
        for count, samples in values.items():
            if count != "1":
                alloc.show(f"{NAMES[work]}, beside {int(count):,} queued calls", "ns",
                           "lower", {"dray": samples, ONE: values["1"]}, (ONE, 2))


if __name__ == "__main__":
    main()

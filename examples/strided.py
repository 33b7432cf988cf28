#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A strided copy with a fence: every second row of a picture, upside down.

dray.explain() says beforehand if an engine or the CPU copies, and why.
"""
import sys

import dray
import numpy as np


def main():
    with dray.memory():
        picture = np.empty((512, 1024), np.uint16)
        small = np.empty((256, 1024), np.uint16)
    picture[:] = np.arange(512)[:, None]
    rows = picture[::-2]

    way = dray.explain(small, rows)
    print(f"{way.bytes} bytes in runs of {way.run}, "
          f"by the {'engine' if way.engine else 'CPU'}: {way.reason}")
    fence = dray.copy(small, rows, wait=False)
    # The CPU is free for other work here, until it needs the bytes.
    fence.wait(timeout=10)
    print(f"the first row was row {small[0, 0]}, the next one row {small[1, 0]}")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, MemoryError) as error:
        sys.exit(f"strided: {error}")

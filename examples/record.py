#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Two processes and a record: the child opens an array of the parent.

The exporter starts this program again and writes the record, plain bytes, to its
standard input.  The importer opens it and doubles each element.  Nothing is
copied: the exporter sees the result in its own array.
"""
import subprocess
import sys

import dray
import numpy as np


def import_array():
    array = dray.open_array(sys.stdin.buffer.read())
    array *= 2
    print(f"importer: doubled {array.size} elements", flush=True)


def export_array():
    # An importer reaches the whole buffer around a record, so this array has a
    # buffer of its own.
    array = dray.shared_zeros(16384, np.int32)
    array[:] = np.arange(array.size)
    record = dray.export_array(array)
    try:
        subprocess.run([sys.executable, __file__, "import"], input=record, check=True)
    finally:
        # Ends the record: a later open fails.
        dray.revoke_array(record)
    if not (array == 2 * np.arange(array.size)).all():
        raise ValueError("the importer did not double each element")
    print(f"exporter: a record of {len(record)} bytes, "
          f"element {array.size - 1} is now {array[-1]}")


if __name__ == "__main__":
    try:
        import_array() if sys.argv[1:] == ["import"] else export_array()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"record: {error}")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes docs/ufuncs-table.md: every ufunc of NumPy and the loops of the library in
DRAY_BUILD.

    python3 tests/unit/ufuncs_table.py > docs/ufuncs-table.md
"""

import sys

import numpy as np

import test_loops_numpy as loops

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 OR MIT -->
<!-- Made by tests/unit/ufuncs_table.py -->
# Universal functions

Each universal function of NumPy 2.4, and the types of its loops here: inputs `->` outputs. The letters are NumPy's: `?` bool, `b` `B` `h` `H`
`i` `I` `q` `Q` integers of 8 to 64 bits, `e` `f` `d` floats, `F` `D` complex, `M` dates, `m` durations. NumPy's `l` and `L` are `q` and `Q`.

Left out everywhere: `g` and `G`, the long double, which differs from machine to machine; `O`, objects of Python; and the functions of
`numpy.strings`, which work on text.

| function | loops |
|---|---|
"""


def row(name):
    function = getattr(np, name)
    if name in loops.SEVERAL_AXES:
        return "a product, of `dray/array/linear.h`"
    have = loops.loops_of(name)
    missing = [types for types in loops.signatures_of_numpy(function) if types not in have]
    text = "`" + "` `".join(have) + "`"
    return text + (f"; not `{'` `'.join(missing)}`" if missing else "")


def table():
    return HEAD + "".join(f"| `{name}` | {row(name)} |\n" for name in loops.NAMES)


if __name__ == "__main__":
    sys.stdout.write(table())

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Types on their way through Arrow, with the wording of docs/interop.md."""
from typing import NamedTuple

from refusals import COPIES, SHARES


class Type(NamedTuple):
    dtypes: str
    arrow: str
    # As pyarrow writes it, an expression.
    pattern: str
    # SHARES, COPIES, or the class of the error: in Arrow, and in Polars and back.
    outcome: str
    polars: str
    why: str

    def line(self) -> str:
        """The row of the page."""
        def told(outcome: str) -> str:
            return outcome if outcome in (SHARES, COPIES) else f"`{outcome}`"
        types = ", ".join(f"`{each}`" for each in self.dtypes.split())
        return (f"| {types} | {self.arrow} | {told(self.outcome)} | "
                f"{told(self.polars)} | {self.why} |")


TYPES = [
    Type("i1 i2 i4 i8 u1 u2 u4 u8", "integers", r"u?int\d+", SHARES, SHARES, ""),
    Type("f2 f4 f8", "floats", "halffloat|float|double", SHARES, SHARES, ""),
    Type("c8 c16", "lists of two floats", r"fixed_size_list<.*>\[2\]", SHARES, SHARES,
         "Come back as an axis of two."),
    Type("M8[ms] M8[us] M8[ns]", "timestamps", r"timestamp\[..\]", SHARES, SHARES, ""),
    Type("m8[ms] m8[us] m8[ns]", "durations", r"duration\[..\]", SHARES, SHARES, ""),
    Type("M8[s] m8[s]", "timestamps, durations", r"(timestamp|duration)\[s\]", SHARES,
         COPIES, "Polars has no seconds, and makes milliseconds of them."),
    Type("S3 V2", "binaries of a fixed size", r"fixed_size_binary\[\d\]", SHARES,
         "TypeError", "Come back as raw data, `V`. Polars makes views of them, which "
         "dray does not take."),
    Type("?", "bools", "bool", COPIES, COPIES, "One bit each."),
    Type("M8[D]", "dates", r"date32\[day\]", COPIES, COPIES, "32 bits."),
    Type(">i2 >f8", "integers, floats", "int16|double", COPIES, COPIES,
         "The machine's byte order."),
    Type("i4,f8", "structures", "struct<f0: int32, f1: double>", COPIES, COPIES,
         "Arrow's fields lie apart. `from_arrow(x, fields=True)` copies nothing."),
    Type("U2 M8[h] m8[D] g G", "none", "", "TypeError", "TypeError",
         "Arrow has text of any length only, and no such units or long doubles."),
]

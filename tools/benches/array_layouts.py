# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench array, and the layouts of their arrays."""

import collections

import numpy as np

KIB, MIB = 1 << 10, 1 << 20
# Rows of at least that many bytes are in GB/s.
LARGE = MIB

# make() returns dst, src and, for some, indices.  contenders maps names to calls of
# array_times; "straight" gets arrays without gaps.  is_ten: a call on ten elements.
Row = collections.namedtuple("Row", "name bytes make contenders goal is_ten",
                             defaults=(False,))


def memory(shape, dtype):
    """Returns an array with all its pages."""
    made = np.empty(shape, dtype)
    made.fill(1)
    return made


def contiguous(count, dtype):
    return memory(count, dtype), memory(count, dtype)


def strided(count, dtype):
    return memory(count, dtype), memory(2 * count, dtype)[::2]


def spread(count, dtype):
    return memory(2 * count, dtype)[::2], memory(count, dtype)


def every(step):
    """Each second, third or fourth element of the source."""
    def make(count, dtype):
        return memory(count, dtype), memory(step * count, dtype)[::step]
    return make


def into_every(step):
    def make(count, dtype):
        return memory(step * count, dtype)[::step], memory(count, dtype)
    return make


def pixels_to_planes(count, dtype):
    """Colours of a picture, red, green and blue, each to a picture of its own."""
    return memory((3, count // 3), dtype), memory((count // 3, 3), dtype).T


def planes_to_pixels(count, dtype):
    return memory((count // 3, 3), dtype).T, memory((3, count // 3), dtype)


def backwards(count, dtype):
    return memory(count, dtype), memory(count, dtype)[::-1]


def broadcast(count, dtype):
    """Repeats a row of 1/16 of the elements, at least an element."""
    rows = 16 if count >= 256 else 2
    row = memory(count // rows, dtype)
    return (memory((rows, count // rows), dtype),
            np.broadcast_to(row, (rows, count // rows)))


def repeated(count, dtype):
    """Repeats an element."""
    return memory(count, dtype), np.broadcast_to(memory((), dtype), (count,))


def sides(count, rank):
    """Splits a power of two into such axes, the first are longest; ten is 5 × 2."""
    if count == 10:
        return (5, 2) + (1,) * (rank - 2)
    bits = count.bit_length() - 1
    return tuple(1 << (bits + rank - 1 - axis) // rank for axis in range(rank))


def transposed(rank, odd=0):
    def make(count, dtype):
        shape = tuple(side - odd for side in sides(count, rank))
        return memory(shape[::-1], dtype), memory(shape, dtype).T
    return make


KINDS = {
    "contiguous": contiguous,
    "strided": strided,
    "spread": spread,
    "reversed": backwards,
    "broadcast": broadcast,
    "one element": repeated,
    **{f"transposed rank {rank}": transposed(rank) for rank in range(2, 7)},
    "transposed rank 2, odd": transposed(2, 1),
}
# Copies of planes; memcpy() copies all bytes, also in the gaps.
PLANES = {
    "RGB to planes": pixels_to_planes,
    "planes to RGB": planes_to_pixels,
    **{f"every {word} element": every(step)
       for step, word in ((2, "second"), (3, "third"), (4, "fourth"))},
    **{f"to every {word} element": into_every(step)
       for step, word in ((2, "second"), (3, "third"), (4, "fourth"))},
}
SIZES = {"10 elements": None, "32 KiB": 32 * KIB, "1 MiB": MIB,
         "16 MiB": 16 * MIB, "64 MiB": 64 * MIB}

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""seeds.py DIRECTORY: writes inputs that the fuzzers start from, a directory for each."""
import io
import pathlib
import random
import struct
import subprocess
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).parents[1] / "dmactl"))
import broken_trees  # noqa: E402

TYPES = [
    "<f8", "?", ">i2", "S5", "<U7", "V12", "<M8[25s]", ">m8[ns]", "float32", "d",
    "(2,3)f4", "i4,(2,3)f8,S3", "[('x', '<f4'), (('t', 'y'), '>i2', (2, 3))]",
    "{'names': ['x', 'y'], 'formats': ['<f4', 'u1'], 'offsets': [4, 1], "
    "'titles': [None, 't'], 'itemsize': 12, 'aligned': False}", "('<f4', (2, 3))",
    "[('a', [('b', '<c8'), ('', '|V3')])]", "<f", "T{b:x:3x(2,3)>i:y:}", "Zd", "7w",
    "@bi", "^T{=h:a:xZf:b:}", "(4)12x", "g", "<e",
]


def types():
    dice = random.Random(1)
    for text in TYPES:
        yield text.encode() + b"\0" + dice.randbytes(24)


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array, allow_pickle=False)
    return file.getvalue()


def archive(save, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def files():
    table = numpy.zeros(3, [("x", "<i4"), ("y", "S3", (2,))])
    for array in [numpy.arange(6.0).reshape(2, 3), numpy.array(7, ">i2"), table,
                  numpy.asfortranarray(numpy.arange(6).reshape(2, 3)),
                  numpy.zeros((0, 4), "M8[s]"), numpy.array(["ab", "c"])]:
        yield npy(array)
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n"
    for version in (2, 3):
        yield (b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<I", len(header)) +
               header + b"abc")
    yield archive(numpy.savez, a=numpy.arange(4.0))
    yield archive(numpy.savez_compressed, a=numpy.arange(400), b=table)


def array_record(shape, strides, dtype, offset=0, flags=3):
    """An array's record; the fuzzer puts in that of the memory."""
    text = b""
    if isinstance(dtype, str):
        text = dtype.encode() + b"\0"
        text = struct.pack("<II", len(text), 0) + text
        dtype = 0
    axes = struct.pack(f"<{2 * len(shape)}q", *shape, *strides)
    return (struct.pack("<40xQQQ", 0, 0, 8192) +
            struct.pack("<IIIIQQ", 0x61797264, 2, flags, len(shape), dtype, offset) +
            axes + text)


def builtin(kind, order, size):
    return size << 32 | ord(order) << 8 | ord(kind)


def records():
    arrays = [
        array_record((4, 8), (64, 8), builtin("f", "<", 8)),
        array_record((3,), (-2,), builtin("i", ">", 2), offset=4),
        array_record((), (), builtin("u", "|", 1), flags=1),
        array_record((5,), (12,), "[('x', '<f4'), ('y', '>i8')]"),
    ]
    for array in arrays:
        for which in (0, 1):
            yield bytes([0, which, 0, 0]) + array
            yield bytes([0, which, 6, 1]) + array
        # Of a socket: the buffer's back end, reserved bytes and size come first.
        yield bytes([3, 0, 1]) + struct.pack("<IIQ48x", 1, 0, 8192) + array[64:]
    for how in (b"\1\0\0\1", b"\1\1\6\0", b"\1\0\7\1", b"\0\0"):
        yield bytes([4]) + how + arrays[0][:64] + struct.pack("<Q", 1)
    # Its secret, offset and size, then the descriptors and the answer.
    asked = struct.pack("<BHH", 1, 0, 4096)
    for error in (0, -13, -116, -122):
        for copies in (0, 3):
            yield (bytes([5, copies, 0]) + asked + bytes([0, 0 if error else 1]) +
                   struct.pack("<IiIIII32x", 0x69797264, error, 0 if error else 1,
                               0, 0, 0))
    yield bytes([6]) + arrays[0]


def indices():
    dice = random.Random(1)
    for size in (8, 16, 32, 64, 128) * 12:
        yield dice.randbytes(size)


def ufuncs():
    dice = random.Random(5)
    for size in (16, 32, 64, 128, 256) * 20:
        yield dice.randbytes(size)


def dlpack():
    """Numbers of a tensor from the stranger, or of a view; the first byte chooses."""
    dice = random.Random(2)
    for size in (16, 32, 64) * 16:
        yield dice.randbytes(size)


def arrow():
    """Choices of a stranger for a tree; zeros are usual."""
    dice = random.Random(3)
    for size in (16, 32, 64, 128) * 12:
        yield bytes(dice.choice((0, 1, 2, 3, 5, 9, 46, 47, dice.randrange(256)))
                    for _ in range(size))


def strings():
    """Choices of a stranger for text; small numbers are usual."""
    dice = random.Random(4)
    for size in (16, 32, 64, 128) * 12:
        yield bytes(dice.choice((1, 2, 3, 5, 7, dice.randrange(256))) for _ in range(size))


def xclbin_bank(kind, used, kilobytes, address, tag):
    return struct.pack("<BB6xQQ16s", kind, used, kilobytes, address, tag)


def xclbin():
    """A file behind its header, which the fuzzer writes; a number of sections and two
    segments come first."""
    ddr = xclbin_bank(1, 1, 1 << 20, 1 << 31, b"DDR[0]")
    stream = xclbin_bank(3, 1, 7, 9, b"a tag of 16 byte")
    for banks, told in (([ddr], 1), ([ddr, stream, ddr], 3), ([], 0), ([ddr], 2),
                        ([xclbin_bank(6, 0, 1 << 54, 1 << 40, b"")] * 9, 9)):
        table = struct.pack("<i4x", told) + b"".join(banks)
        other = struct.pack("<I16s4xQQ", 8, b"other", 0, 4)
        for sections in ([], [other]):
            end = 456 + 40 * (len(sections) + 1)
            topology = struct.pack("<I16s4xQQ", 6, b"memories", end, len(table))
            yield (struct.pack("<BQQQQBBH", 5, 1 << 31, 4096, (1 << 31) + 4096, 1, 1, 1,
                               len(sections) + 1) + b"".join(sections) + topology + table)


def blob(text, *options):
    return subprocess.run(["dtc", "-q", "-f", *options, "-I", "dts", "-O", "dtb"],
                          input=text.encode(), capture_output=True, check=True).stdout


def trees():
    """Trees with one mistake each, or bytes that trees are made of."""
    for number, broken in enumerate(broken_trees.BROKEN.values()):
        yield b"\0" + blob(broken_trees.source(broken), *["-@"] * (number % 2))
    dice = random.Random(4)
    for size in (64, 128, 256, 512) * 12:
        yield bytes([1]) + dice.randbytes(size)


def published_item(kind, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<II", kind, len(body) + 8) + body


def published():
    """Items behind a head that the fuzzer writes."""
    pool = published_item(1, struct.pack("<II32s32s16s", 64, 0, b"pool", b"dray0", b"kernel"))
    region = published_item(2, struct.pack("<QQQ", 1, 1 << 20, 7))
    blocks = [published_item(3, struct.pack("<QQQIIIIII", offset, 64, 60, offset // 64 % 3, ndim > 0,
                                            0, ndim, 3, 4)
                             + struct.pack(f"<{ndim}q", *range(ndim)) + b"<f4site")
              for ndim, offset in enumerate((0, 128, 192, 4096))]
    for items in ([pool], [pool, region], [pool, *blocks, region],
                  [pool, blocks[0], region, blocks[1], region, pool, region],
                  [pool, published_item(9, b"later"), region]):
        yield b"\1" + b"".join(items)


def main():
    for seeds in (indices, types, ufuncs, files, records, dlpack, arrow, strings, published, trees, xclbin):
        directory = pathlib.Path(sys.argv[1]) / seeds.__name__
        directory.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds()):
            (directory / f"seed-{number:03}").write_bytes(seed)


if __name__ == "__main__":
    main()

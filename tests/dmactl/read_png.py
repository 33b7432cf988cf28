# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the pictures of a dump with its raw file: FOLDER.

Reads PNG by zlib and its specification alone, without the library that wrote
the pictures.
"""

import struct
import sys
import zlib
from pathlib import Path


def read(path):
    """Width, height, bits, kind of colour, and the bytes of all rows."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed, head = 8, b"", None
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        place += length + 12
    width, height, bits, colour, _, _, interlaced = head
    assert not interlaced
    pixel = {0: 1, 2: 3, 4: 2, 6: 4}[colour] * bits // 8
    return width, height, bits, colour, unfilter(
        zlib.decompress(packed), height, width * pixel, pixel)


def unfilter(data, height, row, pixel):
    above = bytearray(row)
    out = b""
    for y in range(height):
        kind = data[y * (row + 1)]
        line = bytearray(data[y * (row + 1) + 1:(y + 1) * (row + 1)])
        for i in range(row):
            left = line[i - pixel] if i >= pixel else 0
            corner = above[i - pixel] if i >= pixel else 0
            line[i] = (line[i] + predict(kind, left, above[i], corner)) % 256
        above = line
        out += bytes(line)
    return out


def predict(kind, left, up, corner):
    if kind == 4:
        guess = left + up - corner
        return min((left, up, corner), key=lambda near: abs(guess - near))
    return (0, left, up, (left + up) // 2)[kind]


def main(folder):
    raw = (folder / "raw").read_bytes()
    assert any(raw)
    picture = read(folder / "a.png")
    assert picture == (200, 100, 8, 2, raw[:60000]), picture[:4]
    grey = read(folder / "grey.png")
    swapped = b"".join(raw[i:i + 2][::-1] for i in range(0, 8192, 2))
    assert grey == (64, 64, 16, 0, swapped), grey[:4]


main(Path(sys.argv[1]))

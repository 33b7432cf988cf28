# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes .xclbin files with a table of memory banks, as no package has one.  Suite
`xrt` reads the same files with XRT's own header."""
import struct

BANKS = [  # type, used, KiB, address, tag
    (1, 0, 0x200000, 0, b"HPC0"),
    (1, 1, 0x200000, 0, b"HP0"),
    (3, 1, 7, 9, b"stream0"),
    (6, 1, 0x40000, 0x4000000000, b"HBM[0]"),
    (10, 1, 16, 1 << 20, b"0123456789abcdef"),
]


def topology(banks):
    return struct.pack("<iI", len(banks), 0) + b"".join(
        struct.pack("<BB6xQQ16s", *bank) for bank in banks)


def xclbin(banks, kind=6, other=b"{}" * 50):
    """The bytes of a file: a section of build data, then the banks'."""
    start = 456 + 2 * 40
    sections = [(14, b"build", other), (kind, b"mem", topology(banks))]
    table, content = b"", b""
    for number, name, data in sections:
        table += struct.pack("<I16s4xQQ", number, name, start + len(content), len(data))
        content += data + bytes(-len(data) % 8)
    header = struct.pack("<8si28s256sQQ", b"xclbin2", -1, b"\xff" * 28, bytes(256), 1,
                         start + len(content))
    return header + bytes(136) + struct.pack("<I4x", len(sections)) + table + content

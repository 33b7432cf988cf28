# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An IP core in Python.

    import fpga_ip

    def receive(stream, data, last):
        stream.send(bytes(255 - byte for byte in data), last)

    fpga_ip.run(receive)

receive() is called for each piece of a packet, at most 32 KiB and cut anywhere;
last is TLAST behind its last byte.  run(receive, reset) also calls reset() when the
core is reset.  stream.h has the messages.
"""

import os
import socket
import struct
import sys

PIECE = 32768
LAST, RESET = 1, 2
HEADER = struct.Struct("<II")


class Stream:
    """The AXI4-Stream to and from the board."""

    def __init__(self):
        number = os.environ.get("DRAY_FPGA_STREAM")
        if number is None:
            sys.exit("start it by tools/fpga, which connects its stream")
        self.socket = socket.socket(fileno=int(number))

    def message(self, data, flags):
        try:
            self.socket.sendmsg([HEADER.pack(len(data), flags), data])
        except BrokenPipeError:
            sys.exit(0)

    def send(self, data, last=False):
        """Sends bytes of a packet; waits while the stream stands still."""
        data = memoryview(data).cast("B")
        for start in range(0, max(len(data), 1), PIECE):
            end = start + PIECE
            self.message(data[start:end],
                         LAST if last and end >= len(data) else 0)

    def receive(self):
        """Returns bytes and flags of the next message; None at the end."""
        message = self.socket.recv(HEADER.size + PIECE)
        if not message:
            return None
        return message[HEADER.size:], HEADER.unpack_from(message)[1]


def run(receive, reset=None):
    """Serves the stream until the board is switched off."""
    stream = Stream()
    while (message := stream.receive()) is not None:
        data, flags = message
        if flags & RESET:
            if reset:
                reset()
            stream.message(b"", RESET)
        else:
            receive(stream, data, bool(flags & LAST))

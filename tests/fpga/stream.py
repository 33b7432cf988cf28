# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The other end of an IP's stream: the test in place of the model."""

import os
import socket
import struct
import subprocess

LAST, RESET, HELD = 1, 2, 4
DEADLINE = 300


class Stream:
    """An IP and the model's end of its socket."""

    def __init__(self, command, environment=()):
        self.socket, other = socket.socketpair(socket.AF_UNIX,
                                               socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE)
        self.memory = os.memfd_create("board")  # with the IP's registers
        os.ftruncate(self.memory, 1 << 30)
        self.process = subprocess.Popen(
            command, pass_fds=[other.fileno(), self.memory], stderr=subprocess.PIPE,
            text=True, env={**os.environ, **dict(environment),
                            "DRAY_FPGA_STREAM": str(other.fileno()),
                            "DRAY_FPGA_MEMORY": str(self.memory)})
        other.close()

    def end(self):
        """Closes the stream; returns the IP's status and messages."""
        self.socket.close()
        os.close(self.memory)
        said = self.process.communicate(timeout=DEADLINE)[1]
        return self.process.returncode, said

    def message(self, data=b"", flags=0):
        self.socket.sendall(struct.pack("<II", len(data), flags) + data)

    def send(self, packet, cuts=()):
        """Sends a packet, cut at these places."""
        edges = [0, *sorted(cuts), len(packet)]
        for start, end in zip(edges, edges[1:]):
            self.message(packet[start:end], LAST if end == len(packet) else 0)

    def receive(self):
        """The bytes and flags of the next message."""
        message = self.socket.recv(65536)
        length, flags = struct.unpack_from("<II", message)
        assert length == len(message) - 8
        return message[8:], flags

    def packet(self):
        whole, flags = b"", 0
        while not flags & LAST:
            data, flags = self.receive()
            whole += data
        return whole

    def reset(self):
        """The flags of the messages until the answer."""
        self.message(flags=RESET)
        seen = []
        while not seen or not seen[-1] & RESET:
            seen.append(self.receive()[1])
        return seen

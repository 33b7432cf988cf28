# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The examples of IP, without the model: the test is the other end of the stream."""

import os
import random
import socket
import struct
import subprocess
import time

import numpy as np
import pytest

LAST, RESET, HELD = 1, 2, 4
DEADLINE = 300


class Stream:
    """An IP and the model's end of its socket."""

    def __init__(self, command, environment):
        self.socket, other = socket.socketpair(socket.AF_UNIX,
                                               socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE)
        self.process = subprocess.Popen(
            command, pass_fds=[other.fileno()],
            env={**os.environ, **environment,
                 "DRAY_FPGA_STREAM": str(other.fileno())})
        other.close()

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


@pytest.fixture
def start(built, source):
    """Starts IPs, each of which must end when its stream is closed."""
    streams = []

    def start_one(name, *options):
        command = [built / name, *options]
        if (source / "examples" / (name + ".py")).exists():
            command = ["/usr/bin/python3", "-B",
                       source / "examples" / (name + ".py"), *options]
        streams.append(Stream(command, {"PYTHONPATH": str(source)}))
        return streams[-1]

    yield start_one
    for stream in streams:
        stream.socket.close()
        assert stream.process.wait(DEADLINE) == 0


def test_invert_inverts_each_byte(start):
    stream = start("invert")
    for length in (1, 5, 4096, 32768):
        data = os.urandom(length)
        stream.send(data)
        assert stream.packet() == bytes(255 - byte for byte in data)


def test_a_piece_passes_before_its_packet_ends(start):
    stream = start("invert")
    stream.message(b"\0\1")
    assert stream.receive() == (b"\xff\xfe", 0)


def sums(data):
    """The expected result of sum."""
    whole = len(data) // 4 * 4
    words = np.frombuffer(data[:whole], "<u4")
    return np.cumsum(words, dtype="<u4").tobytes() + data[whole:]


def test_sum_adds_words_of_a_packet_however_it_is_cut(start):
    stream = start("sum")
    dice = random.Random(1)
    for _ in range(100):
        data = dice.randbytes(dice.randrange(1, 200))
        cuts = {dice.randrange(len(data)) for _ in range(3)} - {0}
        stream.send(data, cuts)
        assert stream.packet() == sums(data)


def test_reset_drops_the_packet_at_work(start):
    stream = start("sum")
    stream.message(b"\1\0\0\0\2\0")
    assert stream.receive() == (b"\1\0\0\0", 0)
    assert stream.reset() == [RESET]
    stream.send(b"\5\0\0\0")
    assert stream.packet() == b"\5\0\0\0"


def test_filter_blurs_a_point(start):
    stream = start("filter", "--width", "5")
    picture = np.zeros((5, 5), np.uint8)
    picture[2, 2] = 90
    stream.send(picture.tobytes(), [3, 11])
    blurred = np.zeros((5, 5), np.uint8)
    blurred[1:4, 1:4] = 10
    assert stream.packet() == blurred.tobytes()


@pytest.mark.parametrize("kernel, value", [("blur", 7), ("edges", 0),
                                           ("sharpen", 7)])
def test_filter_treats_an_even_picture_evenly(start, kernel, value):
    stream = start("filter", "--width", "300", "--kernel", kernel)
    stream.send(bytes([7]) * 30000)
    assert stream.packet() == bytes([value]) * 30000


def test_filter_passes_a_packet_without_whole_lines(start):
    stream = start("filter", "--width", "5")
    stream.send(b"abcdefg")
    assert stream.packet() == b"abcdefg"


def frame(number, size):
    return (np.arange(size // 4, dtype="<u4") + number).astype("<u4").tobytes()


def test_source_numbers_its_frames(start):
    stream = start("source", "--size", "40000", "--rate", "0")
    number = 0
    while number < 20:
        data, flags = stream.receive()
        if flags & HELD:
            continue
        while not flags & LAST:
            more, flags = stream.receive()
            data += more
        assert data == frame(number, 40000)
        number += 1


def test_source_reports_frames_that_it_held_back(start):
    stream = start("source", "--size", "4096", "--rate", "1000")
    time.sleep(0.2)  # it sends one frame, and no other
    held = 0
    for _ in range(20):
        held += bool(stream.receive()[1] & HELD)
    assert held > 0


def test_source_keeps_its_rate(start):
    stream = start("source", "--size", "64", "--rate", "50")
    stream.packet()
    begin = time.monotonic()
    for _ in range(10):
        stream.packet()
    assert time.monotonic() - begin >= 0.18


def test_source_answers_a_reset_while_it_waits(start):
    stream = start("source", "--size", "4096", "--rate", "0")
    stream.packet()
    assert stream.reset()[-1] == RESET


def test_an_ip_outside_of_a_board_says_how_to_start_it(built):
    run = subprocess.run([built / "invert"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "tools/fpga" in run.stderr

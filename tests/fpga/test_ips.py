# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The examples of IP, in C or Python and in Verilog, without the model."""

import os
import random
import subprocess
import time

import numpy as np
import pytest

from stream import HELD, LAST, RESET


@pytest.mark.parametrize("name, function", [
    ("invert", lambda byte: 255 - byte),
    ("brighten", lambda byte: min(byte + 40, 255)),
])
def test_a_core_changes_each_byte(start, name, function):
    stream = start(name)
    for length in (1, 5, 4096, 32768):
        data = os.urandom(length)
        stream.send(data)
        assert stream.packet() == bytes(map(function, data))


def test_a_piece_passes_before_its_packet_ends(start):
    stream = start("invert")
    stream.message(b"\0\1\2\3")
    assert stream.receive() == (b"\xff\xfe\xfd\xfc", 0)


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


WIDTH = ("--width", "5", "--channels", "1")


def test_filter_blurs_a_point(start):
    stream = start("filter", *WIDTH, "--kernel", "blur")
    picture = np.zeros((5, 5), np.uint8)
    picture[2, 2] = 90
    stream.send(picture.tobytes(), [3, 11])
    blurred = np.zeros((5, 5), np.uint8)
    blurred[1:4, 1:4] = 10
    assert stream.packet() == blurred.tobytes()


@pytest.mark.parametrize("kernel, value", [("blur", 7), ("edges", 0),
                                           ("sharpen", 7)])
def test_filter_treats_an_even_picture_evenly(start, kernel, value):
    stream = start("filter", *WIDTH, "--kernel", kernel)
    stream.send(bytes([7]) * 30000)
    assert stream.packet() == bytes([value]) * 30000


def filtered(picture, kernel):
    """The expected result of filter, by sums of whole numbers."""
    weights, divisor = {
        "blur": ([1, 1, 1, 1, 1, 1, 1, 1, 1], 9),
        "edges": ([-1, -1, -1, -1, 8, -1, -1, -1, -1], 1),
        "sharpen": ([0, -1, 0, -1, 5, -1, 0, -1, 0], 1),
    }[kernel]
    height, width, _ = picture.shape
    wide = np.pad(picture.astype(int), ((1, 1), (1, 1), (0, 0)), "edge")
    total = sum(weight * wide[i // 3:i // 3 + height, i % 3:i % 3 + width]
                for i, weight in enumerate(weights))
    return np.clip((2 * total + divisor) // (2 * divisor), 0,
                   255).astype(np.uint8)


@pytest.mark.parametrize("kernel, width, channels", [
    ("blur", 5, 1), ("edges", 5, 1), ("sharpen", 5, 1), ("blur", 1, 3)])
def test_filter_equals_the_sum_of_its_neighbours(start, kernel, width,
                                                 channels):
    stream = start("filter", "--width", str(width), "--channels",
                   str(channels), "--kernel", kernel)
    dice = np.random.default_rng(1)
    for height in (1, 2, 3, 50, 1):
        picture = dice.integers(0, 256, (height, width, channels), np.uint8)
        stream.send(picture.tobytes(), [1] if picture.size > 1 else [])
        assert stream.packet() == filtered(picture, kernel).tobytes()


def test_filter_passes_a_packet_without_whole_lines(start_sibling):
    stream = start_sibling("filter", "--width", "5")
    stream.send(b"abcdefg")
    assert stream.packet() == b"abcdefg"


def test_filter_in_verilog_keeps_the_length_of_such_a_packet(start_verilog):
    stream = start_verilog("filter", *WIDTH, "--kernel", "blur")
    for length in (1, 4, 7, 11):
        stream.send(bytes(length))
        assert len(stream.packet()) == length
    stream.send(bytes([7]) * 15)
    assert stream.packet() == bytes([7]) * 15


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


def test_source_keeps_its_rate(start_sibling):
    stream = start_sibling("source", "--size", "64", "--rate", "50")
    stream.packet()
    begin = time.monotonic()
    for _ in range(10):
        stream.packet()
    assert time.monotonic() - begin >= 0.18


def test_source_answers_a_reset_while_it_waits(start):
    stream = start("source", "--size", "40000", "--rate", "0")
    stream.packet()
    assert stream.reset()[-1] == RESET


def test_an_ip_outside_of_a_board_says_how_to_start_it(built):
    run = subprocess.run([built / "invert"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "tools/fpga" in run.stderr

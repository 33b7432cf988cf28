# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The display port of the emulated ZCU102, for a Python program there.

A picture that the host takes is one vertical sync (screen.h).
"""

import contextlib
import mmap
import os
import time
from typing import Callable, Iterator

import numpy as np

PORT, SCREEN = 0xFD4A0000, 0x3FFE0000
LIMIT = 60  # seconds
# Pixels: 32-bit words, red on top, or the bytes red, green, blue.
WORDS, BYTES = 0x000, 0x300


class DisplayPort:
    def __init__(self, width: int, rows: int, pixels: int) -> None:
        """Switches it on, with sound at full volume."""
        port = physical(PORT, 0x10000)
        for register, value in ((0xB000, pixels), (0x194, width), (0x198, rows),
                                (0xC000, 0x20002000), (0x080, 1), (0x300, 1)):
            port[register // 4] = value
        self._screen = physical(SCREEN, 0x1000)

    def picture(self, views: int) -> int:
        """Asks the host for a picture when the engine has as many views, and waits
        for the sync; returns the picture's number."""
        wait_until(lambda: taken_up(views))
        number, before = int(self._screen[0]), syncs()
        self._screen[0] = number + 1
        wait_until(lambda: syncs() != before)
        return number

    @contextlib.contextmanager
    def refreshed(self) -> Iterator[None]:
        """Has vertical syncs, without pictures, meanwhile."""
        self._screen[1] = 1
        try:
            yield
        finally:
            self._screen[1] = 0


def physical(address: int, size: int) -> np.ndarray:
    """Maps 32-bit words of physical memory."""
    file = os.open("/dev/mem", os.O_RDWR | os.O_SYNC)
    try:
        return np.frombuffer(mmap.mmap(file, size, offset=address), "<u4")
    finally:
        os.close(file)


def syncs() -> int:
    """Counts interrupts of the display's DMA: each vertical sync is one."""
    with open("/proc/interrupts", encoding="ascii") as table:
        return sum(int(count) for line in table if "fd4c0000" in line
                   for count in line.split()[1:3])


def taken_up(count: int) -> bool:
    """Has the engine as many views?"""
    with open("/sys/kernel/debug/dray/dray0/channels", encoding="ascii") as table:
        return any(f"display0, waiting {count}, out {count}," in line
                   for line in table)


def wait_until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.001)

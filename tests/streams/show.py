# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows views of NumPy's arrays on the display of the emulated ZCU102.

Saves each with its array to /results, for screen_check.py.
"""

import mmap
import os
import pathlib
import time

import dray
import numpy as np

PORT, SCREEN = 0xFD4A0000, 0x3FFE0000
RESULTS = pathlib.Path("/results")
ROWS, WIDTH = 64, 96
LIMIT = 60  # seconds


def physical(address: int, size: int) -> np.ndarray:
    """Maps 32-bit words of physical memory."""
    file = os.open("/dev/mem", os.O_RDWR | os.O_SYNC)
    return np.frombuffer(mmap.mmap(file, size, offset=address), "<u4")


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


def wait_until(reached) -> None:
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.001)


def main() -> None:
    port, screen = physical(PORT, 0x10000), physical(SCREEN, 0x1000)
    for register, value in ((0xB000, 0), (0x194, WIDTH), (0x198, ROWS), (0x80, 1)):
        port[register // 4] = value
    with dray.memory():
        picture = np.zeros((256, 512), "<u4")
    picture[:] = np.random.default_rng(8).integers(0, 1 << 32, picture.shape)
    views = [picture[:ROWS, :WIDTH], picture[100:164, 64:64 + WIDTH],
             picture[::4, 128:128 + WIDTH], picture[3:131:2, 256:256 + WIDTH]]
    before = None
    with dray.stream("display0") as display:
        for view in views:
            shown = display.show(view)
            wait_until(lambda count=1 + (before is not None): taken_up(count))
            number, sync = int(screen[0]), syncs()
            screen[0] = number + 1
            wait_until(lambda seen=sync: syncs() > seen)
            if before is not None:
                assert before.wait(LIMIT) == view.size
            assert not shown.done and syncs() == sync + 1
            offset = view.ctypes.data - picture.ctypes.data
            (RESULTS / f"{number}.bytes").write_bytes(picture.tobytes())
            (RESULTS / f"{number}.view").write_text(
                f"{WIDTH} {ROWS} {offset} {view.strides[0]}\n", encoding="ascii")
            before = shown
        for wrong in (picture[:ROWS, 1:97], picture[ROWS:0:-1, :WIDTH]):
            try:
                display.show(wrong)
                raise AssertionError("it was shown")
            except OSError as error:
                print("#", error)
        last = display.show(picture[:ROWS, 1:97], stage=True)
    try:
        last.wait(LIMIT)
        raise AssertionError("it ended well")
    except OSError as error:
        print("#", error)


print("1..1")
main()
print("ok 1 views of NumPy are on the display")

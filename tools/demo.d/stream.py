# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Passes a part of the photograph through the core filter.v on the stream of an AXI
DMA, and compares the result with NumPy's own filter."""

import time

import numpy as np

import dray
from checks import check, same_bytes
from witness import Witness

# The AXI DMA's driver takes 255 pieces a packet: here, lines.
LINES, WIDTH, CHANNELS = 240, 960, 3


def edges(picture: np.ndarray) -> np.ndarray:
    """Returns each sample, times 9, less the sum of the 3x3 samples around it."""
    height, width, _ = picture.shape
    wide = np.pad(picture.astype(np.int16), ((1, 1), (1, 1), (0, 0)), "edge")
    total = sum(wide[y:y + height, x:x + width]
                for y in range(3) for x in range(3))
    return np.clip(9 * picture.astype(np.int16) - total, 0, 255
                   ).astype(np.uint8)


def through_filter(source: np.ndarray, pristine: np.ndarray,
                   sheet: np.ndarray, inside: np.ndarray,
                   witness: Witness) -> None:
    """Sends `source` and receives into `inside`, a view of the sheet of noise;
    `pristine` is a copy of `source` in ordinary memory."""
    expected = sheet.copy()
    margin = (sheet.shape[0] - inside.shape[0]) // 2
    expected[margin:-margin, margin:-margin] = edges(pristine)
    before = interrupts()
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        print(f"   plan     {tx.explain(source).reason}")
        started = time.monotonic()
        with witness:
            received = rx.recv(inside, wait=False)
            sent = tx.send(source, wait=False)
        count = received.wait(60)
        sent.wait(60)
        took = time.monotonic() - started
    print(f"   done     system calls: {', '.join(witness.calls)}; "
          f"{sent.bytes:,} bytes sent, {received.bytes:,} received "
          f"in {1e3 * took:.0f} ms")
    check("two system calls: SUBMIT to send, SUBMIT to receive",
          witness.calls == ["ioctl SUBMIT", "ioctl SUBMIT"])
    check("every sample came back", count == inside.size)
    check("the AXI DMA raised interrupts", interrupts() > before)
    check("every byte is as in NumPy's own filter, and the "
          f"{sheet.nbytes - inside.nbytes:,} bytes around it are untouched",
          same_bytes(sheet, expected))


def interrupts() -> int:
    """Counts those of the AXI DMA."""
    with open("/proc/interrupts", encoding="ascii") as table:
        return sum(int(count) for line in table if "xilinx-dma" in line
                   for count in line.split()[1:3])

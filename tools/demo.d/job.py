#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The job: runs on the board, with NumPy and dray.

A photograph is loaded into memory that the board's DMA engine reaches.  The
engine copies pieces of it, with a single call and fence each.  Every piece is
compared, byte for byte, with NumPy's slice of the same photograph in ordinary
memory.  Other pieces pass through an IP behind an AXI DMA, are shown on the display,
and are sent to a second process.  If anything differs, the job returns a status other
than zero.
"""

import json
import os
import socket
import subprocess
import sys
import time

import numpy as np

import brightness
import display
import dray
import stream
from checks import check, failures, same_bytes
from witness import Witness

MARGIN = 24         # rows and columns around each destination
BORDER = 40         # pixels of the border around the picture
COLOUR = (250, 240, 225)
BOULDER = np.s_[621:685, 616:680]


def main() -> int:
    pristine = np.load("photo.npy")     # in ordinary memory, to compare with
    second = Second()
    step("1. The photograph under the handler")
    photo = load("photo.npy")
    check("the photograph is what the host sent", same_bytes(photo, pristine))

    step("2. The engine copies: one system call and one fence each")
    height, width, _ = photo.shape
    top, left = height // 3, width // 4
    engine = Engine(photo, pristine)
    pieces = {
        "crop": engine.copy(
            f"the region [{top}:{top + 640}, {left}:{left + 960}]",
            lambda picture: picture[top:top + 640, left:left + 960]),
        "every-second-line": engine.copy(
            "every second line",
            lambda picture: picture[::2]),
        "upside-down": engine.copy(
            "upside down",
            lambda picture: picture[::-1]),
        "border": engine.copy_with_border("with a border around it"),
        "tile": engine.copy(
            "a 64x64 tile of the green plane, transposed",
            lambda picture: picture[BOULDER][..., 1].T),
    }

    step("3. The whole green plane: element by element is the CPU's work")
    pieces["green-plane"] = plane(photo, pristine)

    step("4. Lines pass through an IP in Verilog: one SEND and one RECV")
    pieces["edges"] = filtered(engine)

    step("5. A view goes to the display, a tone to its loudspeakers")
    display.on_display(photo, pristine, engine.witness)

    step("6. Another process changes an array in place")
    with dray.memory(heap="reserved"):
        pieces["negative"] = np.array(pieces["crop"])
    second.change(pieces["negative"])

    step("7. The output of dmactl meanwhile")
    dmactl("list")
    shared = most_mapped_buffer()
    check("dmactl sees the mapping of each process", shared["mapped"] == 2)
    dmactl("show", str(shared["id"]))
    dmactl("heaps")
    dmactl("nodes")
    second.end()

    step("8. Another core in the logic: it computes a universal function")
    pieces["brightness"] = brightness.run(pristine)

    step("9. The results go to the host")
    for name, piece in pieces.items():
        # Rows apart are slow to write.
        np.save(f"/results/{name}.npy", np.ascontiguousarray(piece))
        print(f"   {name:18} {'x'.join(map(str, piece.shape)):14}"
              f"{piece.nbytes:>10,} bytes")
    return 1 if failures() else 0


def load(path: str) -> np.ndarray:
    with dray.memory(heap="reserved"):
        photo = np.load(path)
    address = dray.address(photo)
    print(f"   {photo.shape[1]} x {photo.shape[0]} pixels, "
          f"{photo.nbytes:,} bytes")
    print(f"   handler  {dray.handler_name(photo)}")
    print(f"   address  {address:#x}")
    check("the handler is dray's, on the kernel back end",
          dray.handler_name(photo) == "dray kernel")
    start, size = reserved_memory()
    check(f"the address lies in the reserved memory {start:#x}-"
          f"{start + size - 1:#x} of the device tree",
          start <= address and address + photo.nbytes <= start + size)
    check("an array made outside the scope is not there",
          dray.handler_name(np.empty(1000)) == "default_allocator")
    return photo


def reserved_memory() -> tuple[int, int]:
    """Returns start and size of the heap "reserved" in the device tree."""
    node = "/proc/device-tree/reserved-memory/buffers@34000000/reg"
    with open(node, "rb") as reg:
        cells = np.frombuffer(reg.read(), ">u8")
    return int(cells[0]), int(cells[1])


class Engine:
    """Copies pieces of the photograph with the engine and checks them."""

    def __init__(self, photo: np.ndarray, pristine: np.ndarray):
        self.photo = photo
        self.pristine = pristine
        self.node = dray.open("kernel")
        self.noise = np.random.default_rng(1)
        self.witness = Witness()
        # The first transfer opens the channel and asks its capabilities.
        fence = dray.fill(self.sheet((64, 64)), 0, engine=True)
        self.before = fence.fileno()

    def copy(self, what: str, piece) -> np.ndarray:
        """Copies piece(photo) into the middle of a sheet of noise."""
        source = piece(self.photo)
        rows, columns = source.shape[:2]
        sheet = self.sheet((rows + 2 * MARGIN, columns + 2 * MARGIN,
                            *source.shape[2:]))
        inside = sheet[MARGIN:MARGIN + rows, MARGIN:MARGIN + columns]
        expected = sheet.copy()
        expected[MARGIN:MARGIN + rows, MARGIN:MARGIN + columns] = \
            piece(self.pristine)
        self.run(what, inside, source)
        check("every byte is as in NumPy's own slice, and the "
              f"{sheet.nbytes - inside.nbytes:,} bytes around it are "
              "untouched", same_bytes(sheet, expected))
        return inside

    def copy_with_border(self, what: str) -> np.ndarray:
        """Copies the picture into the middle of a larger, coloured sheet."""
        height, width, planes = self.photo.shape
        with dray.memory(heap="reserved"):
            sheet = np.empty((height + 2 * BORDER, width + 2 * BORDER,
                              planes), np.uint8)
        sheet[:] = COLOUR
        expected = np.pad(self.pristine,
                          ((BORDER, BORDER), (BORDER, BORDER), (0, 0)))
        for plane_index, value in enumerate(COLOUR):
            plane_of = expected[..., plane_index]
            plane_of[:BORDER] = plane_of[-BORDER:] = value
            plane_of[:, :BORDER] = plane_of[:, -BORDER:] = value
        self.run(what, sheet[BORDER:-BORDER, BORDER:-BORDER], self.photo)
        check("every byte is as NumPy pads it: picture and border",
              same_bytes(sheet, expected))
        return sheet

    def sheet(self, shape: tuple[int, ...]) -> np.ndarray:
        """Fills reserved memory with noise: no byte can be right by chance."""
        with dray.memory(heap="reserved"):
            sheet = np.empty(shape, np.uint8)
        sheet[:] = self.noise.integers(0, 256, shape, np.uint8)
        return sheet

    def run(self, what: str, destination: np.ndarray,
            source: np.ndarray) -> None:
        print(f"\n   {what}")
        plan = dray.explain(destination, source)
        print(f"   plan     {plan.descriptors:,} runs of {plan.run:,} "
              f"{'bytes' if plan.run > 1 else 'byte'} each: {plan.reason}")
        check("the engine was chosen", plan.engine)
        if not plan.engine:
            return
        before = counted(self.node)
        started = time.monotonic()
        with self.witness:
            fence = dray.copy(destination, source, wait=False)
        number = fence.fileno()
        fence.wait(30)
        took = time.monotonic() - started
        after = counted(self.node)
        calls = self.witness.calls
        # Each transfer closes the fence of the previous transfer.
        if calls[:1] == [f"close {self.before}"]:
            del calls[0]
        self.before = number
        print(f"   done     system calls: {', '.join(calls) or 'none'}; "
              f"fence: fd {number}; {after['bytes'] - before['bytes']:,} "
              f"bytes by ZDMA in {1e3 * took:.0f} ms")
        check("one system call: SUBMIT", calls == ["ioctl SUBMIT"])
        check("one fence, a sync_file", number >= 0 and fence.done and
              os.readlink(f"/proc/self/fd/{number}").endswith("sync_file"))
        check("one transfer more, none failed, all bytes by the engine",
              after["submitted"] == before["submitted"] + 1 and
              after["failed"] == before["failed"] and
              after["bytes"] == before["bytes"] + source.nbytes)
        check("ZDMA raised interrupts",
              after["interrupts"] > before["interrupts"])


def counted(node: "dray.Node") -> dict[str, int]:
    """Sums up the counters of the channels and the engine's interrupts."""
    channels = node.channels()
    with open("/proc/interrupts", encoding="ascii") as table:
        interrupts = sum(int(count) for line in table
                         if "zynqmp-dma" in line
                         for count in line.split()[1:3])
    return {"submitted": sum(channel.submitted for channel in channels),
            "bytes": sum(channel.bytes for channel in channels),
            "failed": sum(channel.failed for channel in channels),
            "interrupts": interrupts}


def plane(photo: np.ndarray, pristine: np.ndarray) -> np.ndarray:
    with dray.memory(heap="reserved"):
        green = np.empty(photo.shape[:2], np.uint8)
    node = dray.open("kernel")
    before = counted(node)
    plan = dray.explain(green, photo[..., 1])
    print(f"   plan     {plan.descriptors:,} runs of {plan.run} byte "
          f"each: {plan.reason}")
    dray.copy(green, photo[..., 1])
    check("dray chose the CPU, because of the threshold",
          not plan.engine and plan.descriptors > plan.threshold and
          str(plan.threshold) in plan.reason.replace(",", ""))
    check("the engine moved nothing", counted(node) == before)
    check("every byte is as in NumPy's own slice",
          same_bytes(green, np.ascontiguousarray(pristine[..., 1])))
    return green


def filtered(engine: Engine) -> np.ndarray:
    height, width, _ = engine.photo.shape
    top, left = height // 4, width // 4
    region = np.s_[top:top + stream.LINES, left:left + stream.WIDTH]
    sheet = engine.sheet((stream.LINES + 2 * MARGIN, stream.WIDTH + 2 * MARGIN,
                          stream.CHANNELS))
    inside = sheet[MARGIN:-MARGIN, MARGIN:-MARGIN]
    stream.through_filter(engine.photo[region], engine.pristine[region], sheet,
                          inside, engine.witness)
    return inside


class Second:
    """A second Python process; it shares only the memory sent to it."""

    def __init__(self) -> None:
        self.ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "second.py", str(theirs.fileno())],
            pass_fds=[theirs.fileno()])
        theirs.close()

    def change(self, array: np.ndarray) -> None:
        before = array.copy()
        dray.send(self.ours, array)
        said = self.ours.recv(200).decode()
        print(f"   process {self.process.pid} {said}")
        check("this process sees each byte changed, at the same place",
              same_bytes(array, 255 - before))

    def end(self) -> None:
        """Ends the process, which holds its array until then."""
        self.ours.close()
        check("the second process ended well", self.process.wait() == 0)


def most_mapped_buffer() -> dict:
    """Finds by dmactl the buffer that both processes mapped."""
    said = subprocess.run(["dmactl", "list", "--json"], check=True,
                          capture_output=True, text=True).stdout
    return max(json.loads(said)["buffers"],
               key=lambda buffer: buffer["mapped"])


def dmactl(*words: str) -> None:
    print("   $ dmactl", *words, flush=True)
    check(f"dmactl {words[0]}", subprocess.run(
        ["dmactl", *words], check=False).returncode == 0, quiet=True)
    print()


def step(title: str) -> None:
    print(f"\n{title}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Filters a grey picture of one byte a pixel, a packet, with a 3x3 kernel.

    filter.py [--width PIXELS] [--kernel blur|edges|sharpen]    (640, blur)

A pixel beyond the border has the value of the nearest one.  A packet of a length that
is not a number of whole lines passes unchanged.
"""

import argparse

import numpy as np

import fpga_ip

KERNELS = {
    "blur": np.full((3, 3), 1 / 9),
    "edges": np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]),
    "sharpen": np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]),
}


def filtered(picture, kernel):
    """Returns the picture convolved with the kernel."""
    height, width = picture.shape
    wide = np.pad(picture.astype(np.float32), 1, mode="edge")
    total = sum(kernel[y, x] * wide[y:y + height, x:x + width]
                for y in range(3) for x in range(3))
    return np.clip(np.rint(total), 0, 255).astype(np.uint8)


class Filter:
    """Collects a picture and sends the filtered one."""

    def __init__(self, width, kernel):
        self.width = width
        self.kernel = kernel
        self.packet = bytearray()

    def reset(self):
        self.packet.clear()

    def receive(self, stream, data, last):
        self.packet += data
        if not last:
            return
        picture = np.array(self.packet, np.uint8)
        self.packet.clear()
        if picture.size % self.width == 0:
            picture = filtered(picture.reshape(-1, self.width), self.kernel)
        stream.send(picture.tobytes(), last=True)


def main():
    parser = argparse.ArgumentParser(prog="filter.py")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--kernel", choices=KERNELS, default="blur")
    options = parser.parse_args()
    core = Filter(options.width, KERNELS[options.kernel])
    fpga_ip.run(core.receive, core.reset)


if __name__ == "__main__":
    main()

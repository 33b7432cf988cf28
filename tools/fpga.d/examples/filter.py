# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Filters a picture of one byte a sample, a packet, with a 3x3 kernel.

    filter.py [--width PIXELS] [--channels SAMPLES] [--kernel blur|edges|sharpen]

The defaults are 640, 1 and blur; 3 channels are red, green and blue.  A pixel
beyond the border has the value of the nearest one.  A packet of a length that is not a
number of whole lines passes unchanged.
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
    """Returns the picture [line, pixel, channel] convolved with the kernel."""
    height, width = picture.shape[:2]
    wide = np.pad(picture.astype(np.float32), ((1, 1), (1, 1), (0, 0)),
                  mode="edge")
    total = sum(kernel[y, x] * wide[y:y + height, x:x + width]
                for y in range(3) for x in range(3))
    return np.clip(np.rint(total), 0, 255).astype(np.uint8)


class Filter:
    """Collects a picture and sends the filtered one."""

    def __init__(self, width, channels, kernel):
        self.width = width
        self.channels = channels
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
        if picture.size % (self.width * self.channels) == 0:
            picture = filtered(
                picture.reshape(-1, self.width, self.channels), self.kernel)
        stream.send(picture.tobytes(), last=True)


def main():
    parser = argparse.ArgumentParser(prog="filter.py")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--kernel", choices=KERNELS, default="blur")
    options = parser.parse_args()
    core = Filter(options.width, options.channels, KERNELS[options.kernel])
    fpga_ip.run(core.receive, core.reset)


if __name__ == "__main__":
    main()

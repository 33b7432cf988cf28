#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes PNG files of the arrays that came back: pictures.py FROM TO

Also makes overview.png, which shows them side by side."""

import pathlib
import sys

import numpy as np
from PIL import Image

WIDTH, GAP = 300, 12
ORDER = ["crop", "every-second-line", "upside-down", "border", "tile",
         "green-plane"]


def main() -> None:
    source, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for name in ORDER:
        pictures[name] = Image.fromarray(np.load(source / f"{name}.npy"))
        pictures[name].save(target / f"{name}.png", compress_level=3)
        print(target / f"{name}.png")
    overview(list(pictures.values())).save(target / "overview.png",
                                           optimize=True)
    print(target / "overview.png")


def overview(pictures: list[Image.Image]) -> Image.Image:
    """Two rows of three, in few colours, so that the file is small."""
    height = WIDTH * 3 // 4
    sheet = Image.new("RGB", (3 * WIDTH + 4 * GAP, 2 * height + 3 * GAP),
                      "white")
    for index, picture in enumerate(pictures):
        # A tile of 64 pixels is made larger, so that it is seen.
        scale = min(WIDTH / picture.width, height / picture.height)
        small = picture.convert("RGB").resize(
            (round(picture.width * scale), round(picture.height * scale)),
            Image.Resampling.NEAREST if scale > 1
            else Image.Resampling.LANCZOS)
        sheet.paste(small, (
            GAP + index % 3 * (WIDTH + GAP) + (WIDTH - small.width) // 2,
            GAP + index // 3 * (height + GAP) + (height - small.height) // 2))
    return sheet.quantize(256, dither=Image.Dither.FLOYDSTEINBERG)


main()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes PNG files of the job's arrays: pictures.py PHOTO.npy FROM TO

Also makes overview.png, which shows the photograph beside them."""

import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw

COLUMNS, WIDTH, GAP, LABEL = 5, 208, 10, 28
ORDER = ["crop", "every-second-line", "upside-down", "border", "tile",
         "green-plane", "edges", "negative", "brightness", "display"]


def main() -> None:
    photo, source, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for name in ORDER:
        pictures[name] = Image.fromarray(np.load(source / f"{name}.npy"))
        pictures[name].save(target / f"{name}.png", compress_level=3)
        print(target / f"{name}.png")
    overview({"photograph": Image.fromarray(np.load(photo)), **pictures}
             ).save(target / "overview.png")
    print(target / "overview.png")


def overview(pictures: dict[str, Image.Image]) -> Image.Image:
    """Arranges rows of five, in few colours for a small file."""
    room = WIDTH * 3 // 4
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * (WIDTH + GAP) + GAP,
                              rows * (room + LABEL) + GAP), "white")
    for index, (name, picture) in enumerate(pictures.items()):
        left = GAP + index % COLUMNS * (WIDTH + GAP)
        top = GAP + index // COLUMNS * (room + LABEL)
        # Enlarges the tile of 64 pixels.
        scale = min(WIDTH / picture.width, room / picture.height)
        small = picture.convert("RGB").resize(
            (round(picture.width * scale), round(picture.height * scale)),
            Image.Resampling.NEAREST if scale > 1
            else Image.Resampling.LANCZOS)
        sheet.paste(small, (left + (WIDTH - small.width) // 2,
                            top + (room - small.height) // 2))
        ImageDraw.Draw(sheet).text((left, top + room + 4), name, "black")
    return sheet.quantize(256, dither=Image.Dither.FLOYDSTEINBERG)


main()

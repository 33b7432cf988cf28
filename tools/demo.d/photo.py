#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Decodes a photograph, on the host: photo.py PHOTOGRAPH WIDTH OUT.npy

Scales it down to WIDTH pixels, so that it and its pieces fit into the board's
64 MiB of reserved memory together."""

import sys

import numpy as np
from PIL import Image

with Image.open(sys.argv[1]) as photograph:
    width = int(sys.argv[2])
    height = photograph.height * width // photograph.width
    print(f"{photograph.width} x {photograph.height} pixels, scaled to "
          f"{width} x {height}")
    np.save(sys.argv[3], np.asarray(photograph.convert("RGB").resize(
        (width, height), Image.Resampling.LANCZOS)))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the screen and the sound of the board with the views of display.c.

Usage: screen_check.py SCREEN RESULTS [--silent]

NumPy makes each view of the saved buffer itself.  Prints TAP.
"""

import pathlib
import sys
import wave
from typing import Iterator

import numpy as np

Result = tuple[str, bool, str]


def picture(path: pathlib.Path) -> np.ndarray:
    """Reads a PPM of 8 bits."""
    kind, width, height, most, pixels = path.read_bytes().split(maxsplit=4)
    assert (kind, most) == (b"P6", b"255")
    return np.frombuffer(pixels, "u1").reshape(int(height), int(width), 3)


def view(path: pathlib.Path) -> np.ndarray:
    """The pixels that the program showed: R, G, B of its 32-bit words."""
    width, rows, offset, stride = map(int, path.read_text().split())
    words = np.ndarray((rows, width), "<u4", path.with_suffix(".bytes").read_bytes(),
                       offset, (stride, 4))
    return np.stack([words >> 24, words >> 16 & 255, words >> 8 & 255], axis=2)


def check_pictures(screen: pathlib.Path, results: pathlib.Path) -> Iterator[Result]:
    views = sorted(results.glob("*.view"), key=lambda path: int(path.stem))
    for path in views:
        seen, shown = picture(screen / f"{path.stem}.ppm"), view(path)
        same = seen.shape == shown.shape
        wrong = int(np.any(seen != shown, axis=2).sum()) if same else seen.size
        yield (f"picture {path.stem} has the pixels of NumPy's view", not wrong,
               f"{wrong} of {shown[..., 0].size} differ")
    yield "there are pictures", len(views) > 3, f"{len(views)}"


def check_sound(screen: pathlib.Path, results: pathlib.Path) -> Iterator[Result]:
    size, repeated = map(int, (results / "sound.periods").read_text().split())
    sent = np.fromfile(results / "sound.bytes", "<i2").reshape(-1, size // 2)
    # QEMU clips its sum of two channels there.
    sent = np.maximum(sent, -32767)
    with wave.open(str(screen / "sound.wav")) as file:
        heard = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    begin = int(np.argmax(heard != 0))
    times = []
    for period in sent:
        count = 0
        while np.array_equal(heard[begin:begin + period.size], period):
            begin += period.size
            count += 1
        times.append(count)
    yield "every period is heard, in order", min(times) > 0, f"{times}"
    # The writer was late for 3 or more.  A late sync repeats a period too, and the last
    # one repeats until it is stopped.
    repeats = sum(times) - len(times)
    yield ("the module has counted repetitions", 3 <= repeated <= repeats + 1,
           f"{repeats} heard, {repeated} counted")


def main() -> int:
    folders = [pathlib.Path(word) for word in sys.argv[1:3]]
    results = [*check_pictures(*folders)]
    if "--silent" not in sys.argv:
        results += check_sound(*folders)
    print(f"1..{len(results)}")
    for number, (fact, is_so, detail) in enumerate(results, 1):
        print(f"{'ok' if is_so else 'not ok'} {number} {fact}: {detail}")
    return not all(is_so for _, is_so, _ in results)


sys.exit(main())

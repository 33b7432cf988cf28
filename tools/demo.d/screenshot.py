#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the board's screen and sound, on the host, with the arrays that the job
saved: screenshot.py SCREEN RESULTS TO

Saves the screenshot to RESULTS as an array, and the sound, without the silence
around it, to TO."""

import pathlib
import sys
import wave

import numpy as np
from PIL import Image

from checks import check, failures, same_bytes


def main() -> int:
    screen, results, target = map(pathlib.Path, sys.argv[1:])
    with Image.open(screen / "0.ppm") as picture:
        seen = np.asarray(picture)
    np.save(results / "display.npy", seen)
    check(f"every pixel of the screenshot, {seen.shape[1]} x {seen.shape[0]}, is as in "
          "NumPy's own slice", same_bytes(seen, np.load(results / "shown.npy")))
    sound(screen / "sound.wav", np.load(results / "played.npy"), target / "tone.wav")
    return 1 if failures() else 0


def sound(recorded: pathlib.Path, periods: np.ndarray, target: pathlib.Path) -> None:
    with wave.open(str(recorded)) as file:
        form = file.getparams()
        frames = np.frombuffer(file.readframes(form.nframes), "<i2").reshape(-1, 2)
    check("the sound is stereo, 44,100 frames a second",
          (form.nchannels, form.sampwidth, form.framerate) == (2, 2, 44100))
    loud = np.flatnonzero(frames.any(axis=1))
    if loud.size:
        silent = np.argmax(periods.any(axis=2))
        frames = frames[loud[0] - silent:loud[-1] + periods.shape[1]]
    times = heard(frames, periods)
    print("   times that each period of the tone is heard: "
          f"{' '.join(map(str, times))}")
    check("every sample of the tone is in the WAV file, in order", min(times) > 0)
    with wave.open(str(target), "wb") as file:
        file.setparams(form)
        file.writeframes(frames.tobytes())
    print(target)


def heard(frames: np.ndarray, periods: np.ndarray) -> list[int]:
    """Counts how often each period is heard, one behind the other."""
    begin, times = 0, []
    for period in periods:
        times.append(0)
        while np.array_equal(frames[begin:begin + len(period)], period):
            begin += len(period)
            times[-1] += 1
    return times


sys.exit(main())

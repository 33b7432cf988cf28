# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows a part of the photograph on the board's display, for the host's screenshot,
and plays a tone, which the host records."""

import time

import numpy as np

import dray
from checks import check
from display_port import BYTES, LIMIT, DisplayPort, syncs
from witness import Witness

# The DPDMA needs a first byte at a multiple of 256, and strides of 16 bytes.
VIEW = np.s_[120:600, 256:896]
PERIODS, FRAMES = 44, 1024      # of sound, 23 ms each
WAVES = 10                      # a period: 431 Hz
LOUD = 12000


def tone() -> np.ndarray:
    """Returns periods of a tone that fades out, the right channel at half volume.
    No two are equal, but each may repeat without a click.  The last is silent."""
    frame = np.arange(PERIODS * FRAMES)
    fade = np.clip(1 - frame / ((PERIODS - 1) * FRAMES), 0, 1)
    wave = LOUD * fade * np.sin(2 * np.pi * WAVES * frame / FRAMES)
    return np.stack([wave, wave / 2], axis=1).astype("<i2").reshape(
        PERIODS, FRAMES, 2)


def on_display(photo: np.ndarray, pristine: np.ndarray,
               witness: Witness) -> None:
    """Saves to /results the arrays that the host compares with its screen, which
    NumPy makes of `pristine`, a copy in ordinary memory, and with its sound."""
    view, periods = photo[VIEW], tone()
    rows, width, _ = view.shape
    port = DisplayPort(width, rows, BYTES)
    with dray.stream("display0") as display, dray.stream("tx-sound") as sound:
        print(f"   plan     {display.explain(view).reason}")
        before = syncs()
        with witness:
            shown = display.show(view)
        print(f"   done     system calls: {', '.join(witness.calls)}")
        check("one system call: SUBMIT", witness.calls == ["ioctl SUBMIT"])
        check("the first picture of the host", port.picture(1) == 0)
        check("it was one vertical sync, and the view stays",
              syncs() == before + 1 and not shown.done)
        play(sound, periods, port)
        check("the view is still there", not shown.done)
    np.save("/results/shown.npy", pristine[VIEW])
    np.save("/results/played.npy", periods[:-1])


def play(sound: dray.Stream, periods: np.ndarray, port: DisplayPort) -> None:
    started = time.monotonic()
    with port.refreshed():
        # From ordinary memory, in copies that the CPU makes.
        sent = [sound.send(period, wait=False, stage=True)
                for period in periods]
        # The last period repeats until the stream is closed.
        counts = [event.wait(LIMIT) for event in sent[:-1]]
    print(f"   done     {len(counts)} periods of sound, {periods[0].nbytes:,} "
          f"bytes each, in {1e3 * (time.monotonic() - started):.0f} ms")
    check("every sample of the tone was sent",
          counts == [period.size for period in periods[:-1]])

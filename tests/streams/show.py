# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows views of NumPy's arrays on the display of the emulated ZCU102.

Saves each with its array to /results, for screen_check.py.
"""

import pathlib

import dray
import numpy as np
from display_port import LIMIT, WORDS, DisplayPort, syncs

RESULTS = pathlib.Path("/results")
ROWS, WIDTH = 64, 96


def main() -> None:
    port = DisplayPort(WIDTH, ROWS, WORDS)
    with dray.memory():
        picture = np.zeros((256, 512), "<u4")
    picture[:] = np.random.default_rng(8).integers(0, 1 << 32, picture.shape)
    views = [picture[:ROWS, :WIDTH], picture[100:164, 64:64 + WIDTH],
             picture[::4, 128:128 + WIDTH], picture[3:131:2, 256:256 + WIDTH]]
    before = None
    with dray.stream("display0") as display:
        for view in views:
            shown, sync = display.show(view), syncs()
            number = port.picture(1 if before is None else 2)
            if before is not None:
                assert before.wait(LIMIT) == view.size
            assert not shown.done and syncs() == sync + 1
            offset = view.ctypes.data - picture.ctypes.data
            (RESULTS / f"{number}.bytes").write_bytes(picture.tobytes())
            (RESULTS / f"{number}.view").write_text(
                f"{WIDTH} {ROWS} {offset} {view.strides[0]}\n", encoding="ascii")
            before = shown
        for wrong in (picture[:ROWS, 1:97], picture[ROWS:0:-1, :WIDTH]):
            try:
                display.show(wrong)
                raise AssertionError("it was shown")
            except OSError as error:
                print("#", error)
        last = display.show(picture[:ROWS, 1:97], stage=True)
    try:
        last.wait(LIMIT)
        raise AssertionError("it ended well")
    except OSError as error:
        print("#", error)


print("1..1")
main()
print("ok 1 views of NumPy are on the display")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python programs of examples/ run and print their result.  tests/readme runs those
that need another package."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "runtime": "output .64, 128. in default_allocator, bias in default_allocator, mean 1.0\n"
               "output .64, 128. in {}, bias in default_allocator, mean 1.0\n",
    "record": "importer: doubled 16384 elements\n"
              "exporter: a record of 112 bytes, element 16383 is now 32766\n",
    "strided": "524288 bytes in runs of 2048, by the CPU: the host has no engine\n"
               "the first row was row 511, the next one row 509\n",
    "stream": "4096 elements: 64 descriptors are within the engine's limit of 65536\n"
              "packet 1 brought 4096 elements\n"
              "the tile has row 163 first and row 100 last\n"
              "8 rows with a sum of 786432, as in the picture: True\n",
    "accelerator": "".join(
        f"frame {number}: {where}\n" for number, where in enumerate(
            ["nothing"] * 3 + [f"columns {max(40 * n - 192, 0)} to {min(40 * n - 113, 255)}"
                               for n in range(3, 12)])),
    "pipeline": "(frame [0-7]: bright from column [0-9]+ to [0-9]+\n){{8}}8 frames in {}:shareable\n",
}
# tests/readme, and tests/dask, run these.
WITH_OTHERS = {"opencl", "cluster", "messages"}
pytestmark = pytest.mark.host


def test_each_example_has_its_row():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID) | WITH_OTHERS


@pytest.mark.parametrize("name, said", SAID.items())
def test_it_prints_its_result(name, said, handler):
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True,
                          text=True, timeout=120, check=False)
    assert re.fullmatch(said.format(handler), done.stdout), done.stderr
    assert (done.returncode, done.stderr) == (0, "")

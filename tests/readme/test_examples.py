# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The C programs of examples/ build against the installed library without a warning,
run, and print their result; a checking handler finds no leak in them.
tests/python has the same for those in Python."""

import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "runtime": "malloc: 15 x 1000 floats, sum 20000\n"
               "(checked )?dray host: 15 x 1000 floats, sum 20000\n",
    "record": "importer: doubled 16384 elements\n"
              "exporter: a record of 112 bytes, element 16383 is now 32766\n",
    "strided": "262144 bytes in runs of 1024, by the CPU: the host has no engine\n"
               "the first row was row 511, the next one row 509\n",
    "stream": "4096 bytes in runs of 64: 64 descriptors are within the engine's limit of "
              "65536\n"
              "packet 1 brought 4096 bytes\n"
              "the tile's rows run from 163 to 100\n",
    "arrays": re.escape("[[18 19 20 21 22 23]\n [ 6  7  8  9 10 11]]\n"
                        "shape (2,6), type <i2\n"
                        "[18 19 20 21 22 23 11]\nshape (7,), type <i2\n"
                        "arrays.npy has 12 floats from byte 4096 on\n"),
    "rows": "1 row: 480 pieces of 1920 bytes, 5760 apart\na file of 921600 bytes\n",
    "ring": "1000 pictures, the sum of their first pixels is 124948\n",
}


def test_each_example_has_its_row():
    assert {path.stem for path in EXAMPLES.glob("*.c")} == set(SAID)


@pytest.fixture(scope="session")
def programs(build_c, tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    for name in SAID:
        build_c((EXAMPLES / f"{name}.c").read_text(encoding="utf-8"), folder / name)
    return folder


@pytest.mark.parametrize("handler", ["", "check"])
@pytest.mark.parametrize("name, said", SAID.items())
def test_it_prints_its_result(output, programs, name, said, handler, capfd):
    assert re.fullmatch(said, output(programs / name, variables={"DRAY_HANDLER": handler}))
    assert capfd.readouterr().err == ""

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The C programs of examples/ build against the installed library without a warning,
run, and print their result; a checking handler finds no leak in them.
tests/python has the same for those in Python, test_runtimes.py for those that need another
library, and suite pc runs those that need the kernel's camera."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from test_runtimes import SAID as RUNTIMES

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
    "ufuncs": re.escape("sums of columns: [12 22 32]\nshape (3,), type <f4\n"
                        "blend: [[ 0  5 10]\n [12 17 22]]\nshape (2,3), type <f4\n"
                        "on a queue: [[ 0  5 10]\n [15 20 25]]\nshape (2,3), type <f4\n"
                        "recorded: [[        0  2.236068 3.1622777]\n"
                        " [3.8729835  4.472136         5]]\nshape (2,3), type <f4\n"),
    "rows": "1 row: 480 pieces of 1920 bytes, 5760 apart\na file of 921600 bytes\n",
    "uring": "3108000 bytes written in 12 pieces, and the same ones read\n",
    "ring": "1000 pictures, the sum of their first pixels is 124948\n",
}

# Packages of other libraries.
PACKAGES = {"uring": ["liburing"]}
# Their sentences without the device, or the file, that they need.
REFUSED = {
    ("camera", "/dev/null"): "VIDIOC_S_FMT: Inappropriate ioctl for device\n",
    ("camera", "/dev/no-camera"): "camera: No such file or directory\n",
    ("uring", "/dev/null"): "/dev/null: this file system has no direct I/O\n",
}


def test_each_example_has_its_row():
    with_others = {name for name in RUNTIMES if name.endswith(".c")}
    assert ({path.name for path in EXAMPLES.glob("*.c")} == with_others |
            {f"{name}.c" for name in set(SAID) | {name for name, _ in REFUSED}})


@pytest.mark.parametrize("path", sorted(
    path for path in EXAMPLES.iterdir() if path.suffix in (".c", ".cc", ".py")),
    ids=lambda path: path.name)
def test_it_has_at_most_150_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.fixture(scope="session")
def built(build_c, tmp_path_factory):
    """built(NAME): the program, built once."""
    folder = tmp_path_factory.mktemp("examples")

    def build(name):
        packages = PACKAGES.get(name, [])
        if packages and subprocess.run(["pkg-config", "--exists", *packages],
                                       check=False).returncode != 0:
            pytest.skip(f"{' and '.join(packages)} for {name} is not installed")
        if not (folder / name).exists():
            build_c((EXAMPLES / f"{name}.c").read_text(encoding="utf-8"), folder / name,
                    *packages)
        return folder / name
    return build


@pytest.fixture
def disk():
    """A folder beside the build: that of other tests may have no direct I/O."""
    with tempfile.TemporaryDirectory(dir=os.environ["DRAY_BUILD"]) as folder:
        yield folder


@pytest.mark.parametrize("handler", ["", "check"])
@pytest.mark.parametrize("name, said", SAID.items())
def test_it_prints_its_result(output, built, disk, name, said, handler, capfd):
    assert re.fullmatch(said, output(built(name), variables={"DRAY_HANDLER": handler},
                                     cwd=disk))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name, argument", REFUSED)
def test_it_says_what_it_lacks(output, built, name, argument, capfd):
    with pytest.raises(subprocess.CalledProcessError):
        output(built(name), argument)
    assert capfd.readouterr().err == REFUSED[name, argument]


def test_the_array_is_in_the_file(output, built, disk):
    output(built("uring"), "array", cwd=disk)
    floats = memoryview(Path(disk, "array").read_bytes()).cast("f")
    assert floats.tolist() == list(range(777000))


# A signal may interrupt each wait.
INTERRUPTED = """
#define _GNU_SOURCE 1
#include <errno.h>
#include <liburing.h>
static int interrupted(struct io_uring *ring, struct io_uring_cqe **done)
{
	static int calls;

	return calls++ % 2 ? io_uring_wait_cqe(ring, done) : -EINTR;
}
#define io_uring_wait_cqe interrupted
"""


def test_signals_do_not_end_the_writes(output, built, build_c, disk, tmp_path):
    built("uring")
    build_c(INTERRUPTED + (EXAMPLES / "uring.c").read_text(encoding="utf-8"),
            tmp_path / "program", "liburing")
    assert output(tmp_path / "program", cwd=disk) == SAID["uring"]

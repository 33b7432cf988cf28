# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of examples/ that use dray's memory in another runtime (OpenCV, GStreamer,
OpenCL): each is built against the installed library, prints its result, and ends well."""

import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# Debian's packages of two modules of OpenCV have no file for pkg-config.
OPENCV = ["-isystem", "/usr/include/opencv4", "-lopencv_core", "-lopencv_imgproc"]
WORDS = {
    "opencv.cc": ["-std=c++11", *OPENCV],
    "gstreamer.c": ["gstreamer-app-1.0", "gstreamer-allocators-1.0"],
    "opencl.c": ["OpenCL"],
}
SAID = {
    "opencv.cc": "".join(f"frame {i}: a tile of [101 x 101] at column {50 + 30 * i} in rows "
                         "of 320 bytes, copied by the CPU: 7909 bright pixels\n"
                         for i in range(4)),
    "gstreamer.c": "100 frames are right, 100 were passed on\n"
                   "100 frames are right, 0 were passed on\n"
                   "host: 0 frames are left\n",
    "opencl.c": "in place: 0 of 100000 elements are wrong\n"
                "imported: not offered by this platform\n",
    "opencl.py": "100000 elements in place: right\n",
}


@pytest.fixture(scope="session")
def run(build, output, package, tmp_path_factory):
    """run(NAME, HANDLER): the output of an example, which is built once."""
    folder = tmp_path_factory.mktemp("runtimes")
    # Caches of GStreamer, PoCL and pyopencl.
    variables = {"GST_REGISTRY": folder / "registry", "POCL_CACHE_DIR": folder / "pocl",
                 "XDG_CACHE_HOME": folder, "PYTHONPATH": package}

    def program(name):
        made = folder / name
        if not made.exists():
            words = WORDS[name]
            if name.endswith(".c"):
                words = subprocess.check_output(
                    ["pkg-config", "--cflags", "--libs", *words], text=True).split()
            build(made, EXAMPLES / name, *words,
                  compiler="g++" if name.endswith(".cc") else "cc")
        return [made]

    def said(name, handler):
        python = ["/usr/bin/python3", "-B", EXAMPLES / name]
        return output(*(python if name.endswith(".py") else program(name)),
                      variables=variables | {"DRAY_HANDLER": handler})
    return said


def test_each_example_in_c_plus_plus_has_its_row():
    # Suite interop has the libraries of the other one.
    assert ({path.name for path in EXAMPLES.glob("*.cc")} - {"memory_pool.cc"} ==
            {name for name in SAID if name.endswith(".cc")})


@pytest.mark.parametrize("handler", ["", "check"])
@pytest.mark.parametrize("name", SAID)
def test_it_prints_its_result(run, name, handler, capfd):
    assert run(name, handler) == SAID[name]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", [path.name for path in EXAMPLES.glob("*.*")
                                  if path.suffix in (".c", ".cc", ".py")])
def test_it_has_at_most_150_lines(name):
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 150

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds the built programs of tools/fpga.d, and starts examples of IP."""

import os
import pathlib
import shutil
import subprocess

import pytest

from stream import Stream

TREE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def source():
    return TREE / "tools/fpga.d"


@pytest.fixture(scope="session")
def built():
    folder = pathlib.Path(os.environ.get("DRAY_BUILD", TREE / "build"))
    return folder / "tools/fpga.d"


@pytest.fixture(scope="session")
def verilate(source, tmp_path_factory):
    """Compiles an IP in Verilog; returns the finished process and the program."""
    if not shutil.which("verilator"):
        pytest.skip("needs verilator")
    folder, done = tmp_path_factory.mktemp("verilog"), {}

    def compile_one(file, *options):
        key = (file, *options)
        if key not in done:
            into = folder / str(len(done))
            done[key] = subprocess.run(
                [source / "verilate", file, into, *options],
                stderr=subprocess.PIPE, text=True), into / "ip"
        return done[key]

    return compile_one


@pytest.fixture
def open_stream():
    """Starts IPs, each of which must end when its stream is closed."""
    streams = []

    def start(command, environment=()):
        streams.append(Stream(command, environment))
        return streams[-1]

    yield start
    for stream in streams:
        assert stream.end() == (0, "")


@pytest.fixture
def start_sibling(open_stream, built, source):
    """Starts an example in C or Python."""
    def start(name, *options):
        command = [built / name, *options]
        if (source / "examples" / (name + ".py")).exists():
            command = ["/usr/bin/python3", "-B",
                       source / "examples" / (name + ".py"), *options]
        return open_stream(command, {"PYTHONPATH": str(source)})

    return start


@pytest.fixture
def start_verilog(open_stream, verilate, source):
    """Starts an example in Verilog."""
    def start(name, *options):
        if "--rate" in options:     # of source; its clock has no rate
            options = options[:options.index("--rate")]
        run, program = verilate(source / "examples" / (name + ".v"), *options)
        assert (run.returncode, run.stderr) == (0, "")
        return open_stream([program])

    return start


@pytest.fixture(params=["sibling", "verilog"])
def start(request):
    """Starts an example in either way."""
    return request.getfixturevalue("start_" + request.param)

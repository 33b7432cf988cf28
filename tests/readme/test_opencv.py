# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The facts of opencv.cc about <dray/array/opencv.hpp>, with the installed header and library,
and with the sanitizers of the library; and the header alone, by several compilers."""

import re
import subprocess
from pathlib import Path

import pytest
from test_runtimes import OPENCV

TREE = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("opencv.cc")
FACTS = re.findall(r"^FACT\((\w+)\)$", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    made = tmp_path_factory.mktemp("opencv") / "facts"
    build(made, "-std=c++17", "-O1", "-pthread", SOURCE, *OPENCV, compiler="g++")
    return made


@pytest.mark.parametrize("fact", FACTS)
def test_fact(output, program, fact, capfd):
    # OpenCV would use PoCL's device only if it is asked for.
    variables = {"OPENCV_OPENCL_DEVICE": ":CPU:", "POCL_CACHE_DIR": program.parent,
                 "XDG_CACHE_HOME": program.parent}
    if "opencl" in fact:
        # PoCL leaks 16 bytes; the program itself counts blocks.
        variables["ASAN_OPTIONS"] = "detect_leaks=0"
    try:
        output(program, fact, variables=variables)
    except subprocess.CalledProcessError as failure:
        if failure.returncode == 77:
            pytest.skip(failure.output)
        pytest.fail(failure.output + capfd.readouterr().err, pytrace=False)


@pytest.mark.parametrize("compiler, standard", [
    ("g++", "c++11"), ("g++", "c++20"), ("clang++", "c++11")])
def test_the_header_alone_compiles_without_a_warning(compiler, standard):
    # Twice: it has a guard.
    done = subprocess.run(
        [compiler, "-x", "c++", f"-std={standard}", "-Wall", "-Wextra", "-Wshadow",
         "-Wconversion", "-Wno-sign-conversion", "-Wpedantic", "-Werror",
         f"-I{TREE}/include", f"-I{TREE}/include/uapi", *OPENCV[:2], "-fsyntax-only", "-"],
        input=2 * "#include <dray/array/opencv.hpp>\n", text=True, capture_output=True,
        check=False)
    assert (done.returncode, done.stderr) == (0, "")

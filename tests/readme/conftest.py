# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An installed copy of the build in DRAY_BUILD, and programs built against it as
their readers would build them, on the host back end."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root():
    """The folder into which everything is installed."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["meson", "install", "-C", os.environ["DRAY_BUILD"], "--destdir",
                        folder, "--no-rebuild", "--quiet"], check=True)
        yield Path(folder)


@pytest.fixture(scope="session")
def output(root):
    """output(COMMAND...): its output, with the installed library."""
    libraries = next(root.rglob("libdray.so")).parent
    environment = dict(os.environ, LC_ALL="C", PKG_CONFIG_SYSROOT_DIR=root,
                       PKG_CONFIG_PATH=libraries / "pkgconfig",
                       LD_LIBRARY_PATH=libraries, DRAY_BACKEND="host")

    def run(*command, variables=(), **more):
        return subprocess.check_output(command, env=environment | dict(variables),
                                       text=True, **more)
    return run


@pytest.fixture(scope="session")
def build(output):
    """build(PROGRAM, WORD..., compiler=, packages=): a program, built with pkg-config's
    flags and the sanitizers of the library."""
    options = json.loads((Path(os.environ["DRAY_BUILD"]) /
                          "meson-info/intro-buildoptions.json").read_text(encoding="utf-8"))
    sanitizers = next(option["value"] for option in options
                      if option["name"] == "b_sanitize")
    sanitized = [] if sanitizers == "none" else [
        "-g", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"]

    def run(program, *words, compiler="cc", packages=(), **more):
        flags = output("pkg-config", "--cflags", "--libs", "dray-array", *packages).split()
        output(compiler, "-Wall", "-Wextra", "-Werror", *sanitized, "-o", program, *words,
               *flags, **more)
    return run


@pytest.fixture(scope="session")
def build_c(build):
    """build_c(TEXT, PROGRAM, PACKAGE...): a C program, with other packages of pkg-config."""
    def run(text, program, *packages):
        build(program, "-x", "c", "-", packages=packages, input=text)
    return run


@pytest.fixture(scope="session")
def package(root):
    """The folder of the Python package."""
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    return found[0].parents[1]

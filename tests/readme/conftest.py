# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An installed copy of the build in DRAY_BUILD, and programs built against it as
their readers would build them, on the host back end."""

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
def build_c(output):
    """build_c(TEXT, PROGRAM, PACKAGE...): a C program, built with pkg-config's flags for
    dray and other packages."""
    def build(text, program, *packages):
        flags = output("pkg-config", "--cflags", "--libs", "dray", *packages).split()
        output("cc", "-Wall", "-Wextra", "-Werror", "-x", "c", "-o", program, "-",
               *flags, input=text)
    return build

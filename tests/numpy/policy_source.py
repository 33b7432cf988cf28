# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the C source of the extension that NumPy's test_mem_policy compiles.

The test takes a module `mem_policy` that it finds instead: on a machine without
a compiler one that was built from this source is put beside the tests.
"""
import pathlib
import sys
import tempfile

from numpy.core.tests import test_mem_policy
from numpy.testing import extbuild


class Enough(Exception):
    pass


def keep_source(name, builddir, include_dirs, source, **rest):
    sys.stdout.write(source)
    raise Enough


extbuild.compile_extension_module = keep_source
with tempfile.TemporaryDirectory() as scratch:
    try:
        test_mem_policy.get_module.__pytest_wrapped__.obj(
            pathlib.Path(scratch))
    except Enough:
        sys.exit(0)
sys.exit("test_mem_policy found its module somewhere")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tools/lib/paths.py finds each path in backticks that does not exist, and no other."""

import subprocess
import sys
from pathlib import Path

import pytest

PATHS = Path(__file__).parents[2] / "tools/lib/paths.py"

FILES = ["room/file.c", "room/file_neon.c", "room/part/deep.c", "include/dray/view.h",
         "other/file.c", ".gitignore"]


@pytest.fixture
def check(tmp_path):
    """check(TEXT): the result for room/README.md with that text."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("*.out\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)

    def run(text):
        (tmp_path / "room/README.md").write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", PATHS], cwd=tmp_path, check=False,
                              capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout
    return run


@pytest.mark.parametrize("text", [
    "`room/file.c`, `file.c`, `part/`, `part/deep.c`",
    "`../other/file.c`, `other/file.c`",
    "`dray/view.h` and `<dray/view.h>`",
    "`fil*.c`, `part/NAME.c`, `_neon.c`, `.c`",
    "`/dev/dray0`, `~/x/y.c`, `$HOME/x.c`, `a.out`, `file.ko`, `libdray.so.0`",
    "`a/b`, `--mode=x`, `1.5`, `<i4`, `x.y`",
    "| `part/` | `deep.c` |\n| | `deep.c` |",
    "In `part/`:\n\n| file |\n|---|\n| `deep.c` |",
    "`made.c` is made:\n\n    cp file.c made.c",
    "```\n`missing.c`\n```\n",
    "[`missing.c`](https://example.org)",
])
def test_a_path_that_exists_is_silent(check, text):
    assert check(text) == (0, "")


@pytest.mark.parametrize("text, word", [
    ("a\n`missing.c`", "missing.c"),
    ("a\n`deep.c`", "deep.c"),
    ("a\n`room/missing.c`", "room/missing.c"),
    ("a\n`room/part/NAME.py`", "room/part/NAME.py"),
    ("a\n`_avx.c`", "_avx.c"),
    ("a\n`view.h`", "view.h"),
    ("a\n`missing/`", "missing/"),
    ("| `part/` | x |\n| `other` | `deep.c` |", "deep.c"),
])
def test_a_path_that_is_missing_is_named_with_its_line(check, text, word):
    assert check(text) == (1, f"room/README.md:2: {word}\n")

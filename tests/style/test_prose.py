# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tools/lib/prose.py measures each file, and its list of debts can only get shorter."""

import subprocess
import sys
from pathlib import Path

import pytest

PROSE = Path(__file__).parents[2] / "tools/lib/prose.py"

PLAIN = "The function returns the size if the pool is full. " * 20
# Six in 130 words are above the limit of five in 1000; three in 130 of 18 in 1000.
STANDS_IN = PLAIN + "one that of " * 3
FAINT = PLAIN + "has takes given goes " * 2


def complaints(tree, texts, debts=()):
    """The files, with sentences, that the gate names in a tree of these texts."""
    (tree / "tools/lib").mkdir(parents=True)
    (tree / "tools/lib/prose-debts.txt").write_text("# debts\n" + "".join(f"{debt}\n" for debt in debts),
                                                    encoding="utf-8")
    for name, text in texts.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    done = subprocess.run([sys.executable, "-B", PROSE], cwd=tree, check=False,
                          capture_output=True, text=True)
    assert done.stderr == ""
    return [line.strip() for line in done.stdout.splitlines() if line[0] == " "]


@pytest.mark.parametrize("name, text", [
    ("docs/page.md", PLAIN),
    ("docs/page.md", STANDS_IN[-100:]),
    ("docs/page.md", PLAIN + "`" + "one " * 20 + "`"),
    ("driver/a.c", f"/* {PLAIN} */\nint one, that_of, has, goes;\n"),
])
def test_a_plain_or_short_text_passes(tmp_path, name, text):
    assert not complaints(tmp_path, {name: text})


@pytest.mark.parametrize("text, found", [
    (STANDS_IN, "one/that of, at most 5"),
    (FAINT, "has/take/give/go/come/tell, at most 18"),
])
@pytest.mark.parametrize("form, name", [
    ("{}", "docs/page.md"),
    ("/* {} */", "driver/a.c"),
    ('f("{}");', "driver/a.c strings"),
    ("# {}", "tools/a.sh"),
])
def test_a_text_above_a_limit_is_named_unless_listed(tmp_path, text, found, form, name):
    texts = {name.split(" ")[0]: form.format(text) + "\n"}
    said, = complaints(tmp_path / "new", texts)
    assert said.startswith(name + ": ") and found in said
    assert not complaints(tmp_path / "listed", texts, [name])


def test_a_listed_file_within_the_limits_is_named(tmp_path):
    said, = complaints(tmp_path, {"docs/page.md": PLAIN}, ["docs/page.md"])
    assert "docs/page.md is within the limits, delete the line" in said


def test_the_list_is_sorted(tmp_path):
    said, = complaints(tmp_path, {"docs/a.md": FAINT, "docs/b.md": FAINT}, ["docs/b.md", "docs/a.md"])
    assert "sort it" in said

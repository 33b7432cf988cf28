# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of docs/memory.md run as they stand there, and print what it says."""
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "docs/memory.md"
if not FILE.exists():
    pytest.skip("no pages on a board", allow_module_level=True)
PAGE = FILE.read_text(encoding="utf-8")
SAID = {
    "Statistics": r"307\d\d\d 12\d{5} 12\d{5} \d\n",
    "Profiles": r" *count +peak +total +now +place\n +(4|8|12) +9,8\d\d,\d{3} .*\n",
    "Hooks": r"6220800 bytes at 0x[0-9a-f]+\n",
    "Resources that stack": r"50331648 AllocationCounts\(current_bytes=50331648, "
                            r"current_count=1, .*total_count=5\)\n",
    "tracemalloc": r".*: size=6075 KiB, count=1, average=6075 KiB\n",
}


def program(title):
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = section.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("    "))
    end = next(i for i in range(begin, len(lines)) if lines[i] and lines[i][0] != " ")
    return textwrap.dedent("\n".join(lines[begin:end]))


@pytest.mark.exact
@pytest.mark.host
@pytest.mark.parametrize("title", SAID)
def test_a_program_of_the_page_runs(title, tmp_path):
    done = subprocess.run([sys.executable, "-c", program(title)], cwd=tmp_path, text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(SAID[title], done.stdout), done.stdout
    for path in tmp_path.glob("*.json"):
        assert json.loads(path.read_text(encoding="utf-8"))["profiles"]


def test_all_programs_are_known():
    titles = re.findall(r"\n## (.*)\n\n    import", PAGE)
    assert set(titles) == set(SAID)

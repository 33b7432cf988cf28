# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the table in docs/arrays.md with accepted.py."""
import pathlib

from accepted import ACCEPTED

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "arrays.md"
HEAD = "| difference | why |"


def rows() -> list[str]:
    """The rows of the table."""
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    if HEAD not in lines:
        return []
    table = lines[lines.index(HEAD) + 2:]
    end = next((at for at, line in enumerate(table) if not line.startswith("|")),
               len(table))
    return table[:end]


def differences() -> list[str]:
    """Sentences about rows that only one of them has."""
    told = set(rows())
    meant = {f"| {each.difference} | {each.why} |" for each in ACCEPTED}
    return ([f"docs/arrays.md lacks: {row}" for row in sorted(meant - told)]
            + [f"accepted.py lacks: {row}" for row in sorted(told - meant)])

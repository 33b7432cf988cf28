# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the tables in docs/interop.md with those in refusals.py,
libraries.py and arrow_types.py."""
import pathlib

from arrow_types import TYPES
from libraries import LIBRARIES
from refusals import GIVEN, MISUSES, ROWS

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "interop.md"
WAYS = "| library | imports an array `a` of dray | exports an array `x` to dray | DLPack |"
TAKEN = "| library | array of dray | outcome | why |"
GIVES = "| library | its array | outcome | why |"
WRONG = "| library | given | outcome | why |"
ARROW = "| types of dray | in Arrow | pyarrow, pandas, nanoarrow | Polars | remark |"


def rows(head: str) -> list[str]:
    """The rows of the table with this head."""
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    if head not in lines:
        return []
    table = lines[lines.index(head) + 2:]
    end = next((at for at, line in enumerate(table) if not line.startswith("|")),
               len(table))
    return table[:end]


def meant() -> dict[str, list[str]]:
    """The rows that each table must have, by its head."""
    return {WAYS: [f"| {' | '.join(each)} |" for each in LIBRARIES],
            TAKEN: [row.line() for row in ROWS],
            GIVES: [row.line() for row in GIVEN],
            WRONG: [row.line() for row in MISUSES],
            ARROW: [row.line() for row in TYPES]}


def differences() -> list[str]:
    """Sentences about rows that only one side has."""
    found = []
    for head, wanted in meant().items():
        told = rows(head)
        found += [f"the page lacks: {row}" for row in wanted if row not in told]
        found += [f"the tests lack: {row}" for row in told if row not in wanted]
    return found


if __name__ == "__main__":
    for head, wanted in meant().items():
        print(head, "|---" * head.count(" | ") + "|---|", *wanted, "", sep="\n")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares tables of docs/arrays.md and docs/ufuncs.md with what the cases know."""
import pathlib

import numpy as np

import accepted
import accepted_ufuncs
import judge

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
HEAD = "| difference | why |"
UFUNCS_HEAD = "| ufunc | other names | compared |"
# Sums of products; no case draws them.
LINEAR = ("matmul", "matvec", "vecdot", "vecmat")


def rows(page: str = "arrays.md", head: str = HEAD) -> list[str]:
    """The rows of a table."""
    lines = (DOCS / page).read_text(encoding="utf-8").split("\n")
    if head not in lines:
        return []
    table = lines[lines.index(head) + 2:]
    end = next((at for at, line in enumerate(table) if not line.startswith("|")),
               len(table))
    return table[:end]


def compared(name: str) -> str:
    """How results are judged."""
    if name in LINEAR:
        return "not in these cases"
    if name in judge.ULPS:
        return f"{judge.ULPS[name]:g} ULP"
    return "equal"


def ufunc_rows() -> list[str]:
    """A row for each ufunc of NumPy."""
    names: dict[str, list[str]] = {}
    for name, ufunc in sorted(vars(np).items()):
        if isinstance(ufunc, np.ufunc):
            names.setdefault(ufunc.__name__, []).append(name)
    return [f"| `{name}` | {', '.join(f'`{other}`' for other in others if other != name)} "
            f"| {compared(name)} |".replace("|  |", "| |") for name, others in sorted(names.items())]


def differences() -> list[str]:
    """Sentences about rows that only one of them has."""
    wrong = []
    for page, head, meant in (
            ("arrays.md", HEAD, [f"| {each.difference} | {each.why} |"
                                 for each in accepted.ACCEPTED]),
            ("ufuncs.md", HEAD, [f"| {each.difference} | {each.why} |"
                                 for each in accepted_ufuncs.ACCEPTED]),
            ("ufuncs.md", UFUNCS_HEAD, ufunc_rows())):
        told = set(rows(page, head))
        wrong += [f"docs/{page} lacks: {row}" for row in sorted(set(meant) - told)]
        wrong += [f"docs/{page} has too much: {row}" for row in sorted(told - set(meant))]
    return wrong

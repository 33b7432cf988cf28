# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The code of a page: fenced blocks by language, and indented commands."""

import re
from pathlib import Path

TREE = Path(__file__).parents[2]


def text(page):
    return (TREE / page).read_text(encoding="utf-8")


def blocks(page, language):
    """The fenced blocks of that language."""
    return re.findall(f"^```{language}\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)


def program(page, name):
    """The block behind "Save this as `name`" or "Save it as `name`"."""
    found = re.search(rf"[Ss]ave \w+ as\s+`{re.escape(name)}`.*?^```\w+\n(.*?)^```$",
                      text(page), re.MULTILINE | re.DOTALL)
    return found[1]


def commands(page, words=""):
    """The indented commands that begin with these words, a backslash joining lines."""
    plain = re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)
    plain = plain.replace("\\\n", "")
    return [line.strip() for line in re.findall("^    (.*)$", plain, re.MULTILINE)
            if line.strip().startswith(words)]


def links(page):
    """Links to files of the tree: the path from its root, and the part behind #."""
    found = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text(page))
    folder = (TREE / page).parent
    return [(folder / path if path else TREE / page, part) for path, part in found]


def anchors(path):
    """The names that Markdown makes of a page's headings."""
    headings = re.findall("^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in headings}

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks that each path in backticks exists, whole, in all pages of the tree.

A path is a word with a slash, or a name with an ending of KINDS.  It counts from the
top of the tree or from the page's directory; in a table, also from the directory in the
first cell of its row, or of the last row above with a first cell, or from the single
directory that the paragraph before the table names.  Further rules:

- a header may be named as programs include it, <dray/array/array.h>, and a file of another
  room as the sources do, base/fork.h in userspace/core/pool;
- a word in capitals, NAME, stands for any, and so does *: some file must fit;
- an ending, _neon.c, must be a file's in the page's directory;
- a bare name in the page's own commands or programs is a file that they make or use;
- absolute paths, ~ and variables are of the machine; modules, libraries and all that
  git ignores are builds.

Other projects' files stand without backticks, or as links.

Usage: paths.py [PAGE]...; exits with 1 and prints FILE:LINE for each that is missing.
"""

import re
import subprocess
import sys
from pathlib import Path

KINDS = ("awk bash build c cc cpp cu dts dtsi dtso h hpp ini json md npy patch png py pyi "
         "sh toml txt v yaml yml zsh 1 3 4 7").split()
CODE = re.compile(r"^```.*?^```|<!--.*?-->|^(?:    |\t)[^\n]*", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!\[)`([^`\n]+)`")
WORD = re.compile(r"<?\.{0,2}[\w./*@+,-]+>?")
NAMED = re.compile(r"`([\w./-]+/)`")
HEADERS = (Path("include"), Path("include/uapi"))


def git(*words, **more):
    """Returns the files that git names; check-ignore uses a status of its own."""
    return subprocess.run(["git", "-c", "safe.directory=*", *words, "-z"], check=False,
                          stdout=subprocess.PIPE, text=True, **more).stdout.split("\0")[:-1]


def is_path(word):
    """Options, types, shapes and versions are not paths."""
    if not WORD.fullmatch(word) or word.startswith(("/", "-")) or ".." == word:
        return False
    head, _, kind = word.strip("<>").rpartition(".")
    if kind in KINDS and not re.search(r"^[\d.]*$|\.so$", head) or word.endswith("/"):
        return True
    return "/" in word and word.split("/")[0] in TOPS


def exists(word, roots):
    pattern = re.sub(r"\b[A-Z]{4,}\b|(?<=_)[A-Z]{4,}(?=\W)", "*", word.strip("<>"))
    if re.match(r"[_.]\w", pattern) and "/" not in pattern:
        pattern = "*" + pattern
    for root in roots:
        if "*" in pattern:
            if any(root.glob(pattern)):
                return True
        elif (root / pattern).exists():
            return True
    return False


def table_roots(lines, number, folder):
    """Returns the directories of a row: its first cell's, or the paragraph's before."""
    found = []
    if lines[number].startswith("|"):
        row = number
        while row >= 0 and lines[row].startswith("|"):
            first = NAMED.match(lines[row][1:].strip())
            if first and not found:
                found.append(first[1])
            if lines[row][1:].split("|")[0].strip():
                found = found or [""]
            row -= 1
        before = "\n".join(lines[:row + 1]).rstrip().rpartition("\n\n")[2]
        named = set(NAMED.findall(before))
        found += named if len(named) == 1 else []
    return [folder / name for name in found if name]


def missing(page):
    """The paths of a page that do not exist, each with its line."""
    text = page.read_text(encoding="utf-8")
    code = " ".join(CODE.findall(text))
    plain = CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    lines = plain.split("\n")
    for found in SPAN.finditer(plain):
        word = found[1]
        if not is_path(word):
            continue
        number = plain.count("\n", 0, found.start())
        roots = [Path("."), page.parent, *HEADERS, *table_roots(lines, number, page.parent)]
        if "/" in word:
            roots.append(page.parent.parent)
        if exists(word, roots) or "/" not in word and re.search(
                rf"(?<![\w/.]){re.escape(word)}(?![\w])", code):
            continue
        yield number + 1, word


TOPS = {path.split("/")[0] for path in git("ls-files")}
pages = sys.argv[1:] or [page for page in git("ls-files", "-co", "--exclude-standard")
                         if page.endswith(".md")]
absent = [(page, *row) for page in pages for row in missing(Path(page))]
ignored = set(git("check-ignore", "--no-index", "--stdin", input="\0".join(
    word for *_, word in absent if not word.startswith(".."))))
absent = [row for row in absent if row[2] not in ignored]
for page, line, word in absent:
    print(f"{page}:{line}: {word}")
sys.exit(bool(absent))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What came of the cells of tests/bench/works.

usage: works.py samples CELLS           lines for tools/lib/report.py
       works.py table CELLS             the table, as text
       works.py page CELLS FILE OBJECT  renews it in a Markdown file, with
                                        what the suite's object says of the run
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import report  # noqa: E402

OURS = "dray "
CONTROL = "anonymous"
GOOD = ("works", "copied")

# Which cells, by consumer, mapping and what came of them; and why.
REASONS = []


def read(path):
    """Consumers and mappings in their order, and what came of each cell."""
    cells = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.rstrip("\r\n").split("\t")
            if words[0] == "cell":
                consumer, mapping, *came = words[1:]
                cells.setdefault(consumer, {})[mapping] = tuple(came)
    if not cells:
        raise ValueError("there are no cells")
    mappings = list(next(iter(cells.values())))
    for consumer, row in cells.items():
        if list(row) != mappings:
            raise ValueError(f"{consumer}: not every mapping was tried")
        # A consumer that takes nobody's memory says nothing of ours.
        if not any(came[0] in GOOD for mapping, came in row.items()
                   if not mapping.startswith(OURS)):
            raise ValueError(f"{consumer} is not there: {row}")
        for mapping, (word, error, step) in row.items():
            if word in ("absent", "died"):
                raise ValueError(f"{consumer}, {mapping}: {word} at {step} "
                                 f"{error}")
    return cells, mappings


def works(row, mapping):
    """A copy is good enough where ordinary memory is copied too."""
    word = row[mapping][0]
    return word == "works" or word == "copied" == row[CONTROL][0]


def samples(cells, mappings):
    """A row for each heap whose every cell has a goal: that it works, or for
    cma, whose mappings have no pages, that it comes back."""
    for consumer, row in cells.items():
        for heap in ("reserved", "pages"):
            name = f"{consumer}: {heap}"
            print("row", name, "works", "higher", "-", 1, sep="\t")
            print("sample", name, "dray", int(works(row, OURS + heap)),
                  sep="\t")
            for mapping in mappings:
                if not mapping.startswith(OURS) and \
                        row[mapping][0] != "unfit":
                    print("sample", name, mapping, int(works(row, mapping)),
                          sep="\t")
        name = f"{consumer}: cma"
        print("row", name, "returns", "higher", "-", 1, sep="\t")
        print("sample", name, "dray",
              int(not row[OURS + "cma"][0].startswith("hang")), sep="\t")


def said(came):
    word, error, _ = came
    return {"refused": error, "unfit": "–", "untried": "not tried"}.get(
        word, word)


def reason(consumer, mapping, came):
    """The number of the reason why a cell is as it is, or None for those that
    need none."""
    if came[0] in ("works", "unfit"):
        return None
    for i, (consumers, mappings, words, _) in enumerate(REASONS, 1):
        if re.search(consumers, consumer) and re.search(mappings, mapping) \
                and re.search(words, said(came)):
            return i
    return 0


def text(cells, mappings):
    lines = [["", *mappings]]
    lines += [[consumer, *(said(row[mapping]) for mapping in mappings)]
              for consumer, row in cells.items()]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(f"{word:<{width}}"
                        for word, width in zip(line, widths)).rstrip())
    print()


def page(cells, mappings, path, data):
    lines = [f"{data['target']}; emulated on {data['machine']}; commit "
             f"{data['commit'][:12]}.", "",
             "| | " + " | ".join(mappings) + " |",
             "|---|" + "---|" * len(mappings)]
    for consumer, row in cells.items():
        words = []
        for mapping in mappings:
            number = reason(consumer, mapping, row[mapping])
            if number == 0:
                raise ValueError(f"no reason is known for {consumer}, "
                                 f"{mapping}: {row[mapping]}")
            mark = f" <sup>{number}</sup>" if number else ""
            words.append(said(row[mapping]) + mark)
        lines.append(f"| {consumer} | " + " | ".join(words) + " |")
    lines += ["", *(f"{i}. {why}"
                    for i, (*_, why) in enumerate(REASONS, 1))]
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new = report.between(old, "works", "\n".join(lines) + "\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def main():
    try:
        what, path, *rest = sys.argv[1:]
        cells, mappings = read(path)
        if what == "samples":
            samples(cells, mappings)
        elif what == "table":
            text(cells, mappings)
        else:
            with open(rest[1], encoding="utf-8") as file:
                page(cells, mappings, rest[0], json.load(file))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

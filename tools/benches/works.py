# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the results of tests/bench/works on a machine or several.

usage: works.py samples CELLS...           lines for tools/lib/report.py
       works.py table CELLS...             tables, as text
       works.py page FILE OBJECT CELLS...  renews them in a Markdown file, with
                                           the machine of the suite's object

CELLS is the program's output on a machine after a line "target NAME", separated
by a tab.  The first machine provides all of dray's heaps.
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
ITSELF = "the mapping itself"

PINS = (r"O_DIRECT|ZEROCOPY|io_uring|vmsplice|process_vm|USERPTR|RDMA|VFIO",
        "EFAULT")
FRAMES = "mapped by frame number (`VM_PFNMAP`): `get_user_pages()` refuses " \
    "such mappings in `check_vma_flags()`"

# Patterns of consumer, mapping and result, and the reason.
REASONS = [
    (PINS[0], "^dray cma", PINS[1],
     f"`cma` is {FRAMES}. This is on purpose: with pages in the mapping, a "
     "long-term pin (io_uring, RDMA, V4L2) first tries to move them out of the "
     "CMA area and never returns."),
    (PINS[0], "^dray carveout", PINS[1],
     f"A `no-map` region has no pages. It is {FRAMES}."),
    (PINS[0], "^(dma-heap|udmabuf$)", PINS[1],
     f"The dma-buf is {FRAMES}."),
    ("ZEROCOPY", "", "copied",
     "The pages were pinned and sent; at the receiver the kernel copied them "
     "(`skb_orphan_frags_rx()`), as it does with all packets that do not leave "
     "the machine, also from ordinary memory."),
    ("V4L2 DMABUF$", "carveout", "EFAULT",
     "vivid writes the picture with the CPU and asks for a kernel mapping, "
     "which a `no-map` region lacks. A camera that writes by DMA does not "
     "ask."),
    ("contiguous", "carveout", "not tried",
     "As in the row above, but this camera asks for the kernel mapping only when "
     "it writes, and does not check the result."),
    ("contiguous", "dma-heap system|udmabuf", "EFAULT",
     "The memory is in pieces, and a device without an IOMMU needs one piece "
     "(`vb2_dc_map_dmabuf()`: contiguous chunk is too small)."),
]


class Table:
    """The results of a machine for each consumer and mapping, in order."""

    def __init__(self, path):
        self.target = ""
        self.cells = {}
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.rstrip("\r\n").split("\t")
                if words[0] == "target":
                    self.target, = words[1:]
                elif words[0] == "cell":
                    consumer, mapping, *came = words[1:]
                    self.cells.setdefault(consumer, {})[mapping] = tuple(came)
        if not self.cells:
            raise ValueError(f"{path}: there are no cells")
        self.leave_out()
        for consumer in self.cells:
            self.check(consumer)

    def leave_out(self):
        """Removes mappings that this machine lacks."""
        rows = self.cells.values()
        for mapping in list(next(iter(rows))):
            if all(row.get(mapping, ("",))[::2] == ("absent", ITSELF)
                   for row in rows):
                for row in rows:
                    del row[mapping]
        self.mappings = list(next(iter(rows)))

    def check(self, consumer):
        row = self.cells[consumer]
        if list(row) != self.mappings:
            raise ValueError(f"{consumer}: not every mapping was tried")
        for mapping, (word, error, step) in row.items():
            if word in ("absent", "died"):
                raise ValueError(f"{consumer}, {mapping}: {word} at {step} "
                                 f"{error}")
        # A consumer must accept some other memory: else it shows nothing.
        if not any(came[0] in GOOD for mapping, came in row.items()
                   if not mapping.startswith(OURS)):
            raise ValueError(f"{consumer} takes no memory at all: {row}")


def works(row, mapping):
    """Accepts a copy if ordinary memory is copied too."""
    word = row[mapping][0]
    return word == "works" or word == "copied" == row[CONTROL][0]


def samples(tables):
    """Prints a row for each heap with a goal: cells work, or for cma the call
    returns, as its mappings are without pages."""
    for heap in ("reserved", "pages", "cma"):
        if OURS + heap not in tables[0].mappings:
            raise ValueError(f"{tables[0].target} has no heap {heap}")
    print("target", "; ".join(table.target for table in tables), sep="\t")
    several = [consumer for table in tables for consumer in table.cells]
    for table in tables:
        for consumer, row in table.cells.items():
            name = consumer
            if several.count(consumer) > 1:
                name += f", {table.target}"
            samples_of(name, row)


def samples_of(name, row):
    for heap in ("reserved", "pages", "cma"):
        if OURS + heap not in row:
            continue
        if heap == "cma":
            unit, good = "returns", not row[OURS + heap][0].startswith("hang")
        else:
            unit, good = "works", works(row, OURS + heap)
        print("row", f"{name}: {heap}", unit, "higher", "-", 1, sep="\t")
        print("sample", f"{name}: {heap}", "dray", int(good), sep="\t")
        if heap == "cma":
            continue
        for mapping, came in row.items():
            if not mapping.startswith(OURS) and came[0] != "unfit":
                print("sample", f"{name}: {heap}", mapping,
                      int(works(row, mapping)), sep="\t")


def said(came):
    word, error, _ = came
    return {"refused": error, "unfit": "–", "untried": "not tried"}.get(
        word, word)


def reason(consumer, mapping, came):
    """Explains a cell; returns None if it needs no explanation."""
    if came[0] in ("works", "unfit"):
        return None
    for consumers, mappings, word, why in REASONS:
        if re.search(consumers, consumer) and re.search(mappings, mapping) \
                and word == said(came):
            return why
    raise ValueError(f"no reason is known for {consumer}, {mapping}: {came}")


def text(table):
    lines = [["", *table.mappings]]
    lines += [[consumer, *map(said, row.values())]
              for consumer, row in table.cells.items()]
    widths = [max(map(len, column)) for column in zip(*lines)]
    print(table.target)
    for line in lines:
        print("  ".join(f"{word:<{width}}"
                        for word, width in zip(line, widths)).rstrip())
    print()


def page(path, data, tables):
    lines, used = [], []
    for table in tables:
        lines += [f"On the {table.target}:", "",
                  "| | " + " | ".join(table.mappings) + " |",
                  "|---|" + "---|" * len(table.mappings)]
        for consumer, row in table.cells.items():
            words = []
            for mapping, came in row.items():
                why = reason(consumer, mapping, came)
                if why and why not in used:
                    used.append(why)
                mark = f" <sup>{used.index(why) + 1}</sup>" if why else ""
                words.append(said(came) + mark)
            lines.append(f"| {consumer} | " + " | ".join(words) + " |")
        lines.append("")
    lines += [f"{i}. {why}" for i, why in enumerate(used, 1)]
    lines += ["", f"Emulated on {data['machine']}."]
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new = report.between(old, "works", "\n".join(lines) + "\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def main():
    try:
        what, *rest = sys.argv[1:]
        paths = rest[2:] if what == "page" else rest
        tables = [Table(path) for path in paths]
        if what == "samples":
            samples(tables)
        elif what == "table":
            for table in tables:
                text(table)
        else:
            with open(rest[1], encoding="utf-8") as file:
                page(rest[0], json.load(file), tables)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

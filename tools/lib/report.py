# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turns measurements of a benchmark into a table or JSON, and judges its goals.

usage: report.py object SUITE SAMPLES   the suite's JSON object
       report.py table OBJECT...        tables and goals; fails if a goal is
                                        missed by more than the spread
       report.py join OBJECT...         an object, or a list of several
       report.py document FILE OBJECT   renews a table in a Markdown file,
                                        between <!-- table SUITE --> and
                                        <!-- end -->

SAMPLES contains lines of words separated by tabs; other lines are ignored:

  target  NAME                           the machine under test
  row     NAME  UNIT  BETTER [PEER RATIO]
                                         a row, in the table's order: BETTER is
                                         lower or higher, the rest its goal
  sample  NAME  CONTENDER  VALUE         a measurement of a row; contenders
                                         other than dray are its peers

A goal bounds dray divided by the peer: from above if lower is better, else from
below.  The peer "best" is the best peer of the row.  If the peer is "-", RATIO
bounds the value itself.  If RATIO is "-", the ratio to the peer is shown, and
bounded by nothing.
"""

import collections
import json
import math
import os
import platform
import statistics
import subprocess
import sys


def summary(values):
    """Summarises samples.  The spread is half the range of the middle half: a single
    late timer tick does not widen it."""
    low = high = values[0]
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": statistics.median(values), "min": min(values),
            "max": max(values), "n": len(values), "spread": (high - low) / 2}


def judge(row):
    """Sets ratio, met, and within: whether medians that miss the goal do so by
    no more than both spreads."""
    row["ratio"] = row["met"] = row["within"] = None
    if not row["goal"]:
        return
    goal, ours, peers = row["goal"], row["dray"], row["peers"]
    sign = 1 if row["better"] == "lower" else -1
    if goal["peer"] is None:
        bound, slack = goal["ratio"], 0
    else:
        name = goal["peer"]
        if name == "best":
            name = min(peers, key=lambda peer: sign * peers[peer]["median"])
        peer = peers[name]
        if peer["median"]:
            row["ratio"] = ours["median"] / peer["median"]
        if goal["ratio"] is None:
            return
        bound = goal["ratio"] * peer["median"]
        slack = goal["ratio"] * peer["spread"]
    slack = math.hypot(slack, ours["spread"])
    excess = sign * (ours["median"] - bound)
    row["met"] = excess <= 0
    row["within"] = 0 < excess <= slack


def rows_of(lines):
    """Returns the rows and the target."""
    target, rows = "", {}
    for number, line in enumerate(lines, 1):
        words = line.rstrip("\r\n").split("\t")
        try:
            if words[0] == "target":
                target, = words[1:]
            elif words[0] == "row":
                name, unit, better, *goal = words[1:]
                if better not in ("lower", "higher") or name in rows:
                    raise ValueError("no such direction, or the row again")
                if goal:
                    peer, ratio = goal
                    goal = {"peer": None if peer == "-" else peer,
                            "ratio": None if ratio == "-" and peer != "-"
                            else float(ratio)}
                rows[name] = {"name": name, "unit": unit, "better": better,
                              "samples": {}, "goal": goal or None}
            elif words[0] == "sample":
                name, contender, value = words[1:]
                rows[name]["samples"].setdefault(contender, []).append(
                    float(value))
        except (KeyError, ValueError) as error:
            raise ValueError(f"line {number}, {line.rstrip()!r}: {error}")
    for row in rows.values():
        peers = {name: summary(values)
                 for name, values in row.pop("samples").items()}
        if "dray" not in peers:
            raise ValueError(f"row {row['name']!r} has no sample of dray")
        row["dray"] = peers.pop("dray")
        row["peers"] = peers
        peer = (row["goal"] or {}).get("peer")
        if peer and (not peers if peer == "best" else peer not in peers):
            raise ValueError(f"row {row['name']!r} has no sample of {peer}")
        judge(row)
    if not rows:
        raise ValueError("there are no rows")
    return list(rows.values()), target


def commit():
    """Returns the tree's commit, with a + if there are uncommitted changes."""
    tree = os.path.dirname(os.path.abspath(__file__))

    def git(*words):
        return subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", tree, *words],
            capture_output=True, text=True, check=True).stdout.strip()
    try:
        return git("rev-parse", "HEAD") + \
            ("+" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine():
    """Describes this machine, which also runs the emulated machines."""
    name = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return f"{name}, {os.cpu_count()} processors"


def number(value):
    """Formats three significant digits, or all before the point; integers
    without a point."""
    if value == int(value):
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(digits, 0)}f}"


def goal_of(row):
    goal = row["goal"]
    if not goal or goal["ratio"] is None:
        return ""
    sign = "≤" if row["better"] == "lower" else "≥"
    if goal["peer"] is None:
        return f"{sign} {number(goal['ratio'])}"
    return f"{sign} {number(goal['ratio'])} × {goal['peer']}"


def contenders(rows):
    return list(dict.fromkeys(peer for row in rows for peer in row["peers"]))


def outcome(row):
    """Returns "met", "MISSED" or "within the spread" for the goal of a row, or ""."""
    if row["met"] is None:
        return ""
    if row["within"]:
        return "within the spread"
    return "met" if row["met"] else "MISSED"


def cells(rows):
    """Yields the lines of a table, each a list of words."""
    peers = contenders(rows)
    yield ["", "unit", "dray", *peers, "ratio", "goal", ""]
    for row in rows:
        yield [row["name"], row["unit"],
               number(row["dray"]["median"])
               + (f" ± {number(row['dray']['spread'])}"
                  if row["dray"]["spread"] else ""),
               *(number(row["peers"][peer]["median"])
                 if peer in row["peers"] else "" for peer in peers),
               "" if row["ratio"] is None else number(row["ratio"]),
               goal_of(row),
               outcome(row)]


def table(objects):
    """Prints tables; returns False if a goal is missed by more than the spread."""
    outcomes = collections.Counter()
    for data in objects:
        lines = list(cells(data["rows"]))
        widths = [max(map(len, column)) for column in zip(*lines)]
        print(f"{data['suite']}: {data['target']}, on {data['machine']}; "
              "medians ± half of the middle half's range")
        for line in lines:
            words = [f"{word:<{width}}" if i < 2 else f"{word:>{width}}"
                     for i, (word, width) in enumerate(zip(line, widths))]
            print("  ".join(words).rstrip())
        print()
        outcomes.update(map(outcome, data["rows"]))
    print(f"{outcomes['met']} goals met, "
          f"{outcomes['within the spread']} within the spread, "
          f"{outcomes['MISSED']} missed")
    return not outcomes["MISSED"]


def between(page, name, words):
    """Returns the page with these words between its marks."""
    begin, end = f"<!-- table {name} -->\n", "<!-- end -->"
    if page.count(begin) != 1:
        raise ValueError(f"the page must have one line {begin!r}")
    before, after = page.split(begin)
    if end not in after:
        raise ValueError(f"no line {end!r} behind {begin!r}")
    return before + begin + words + end + after.split(end, 1)[1]


def document(path, data):
    lines = [f"Measured on {data['target']}, on {data['machine']}: medians ± "
             "half of the middle half's range.", ""]
    for i, line in enumerate(cells(data["rows"])):
        lines.append("| " + " | ".join(line) + " |")
        if not i:
            lines.append("|---|---|" + "--:|" * (len(line) - 2))
    with open(path, encoding="utf-8") as file:
        page = file.read()
    page = between(page, data["suite"], "\n".join(lines) + "\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield json.load(file)


def main():
    what, *rest = sys.argv[1:] or ["help"]
    if what == "object":
        suite, path = rest
        with open(path, encoding="utf-8", errors="replace") as file:
            try:
                rows, target = rows_of(file)
            except ValueError as error:
                print(f"{suite}: {error}", file=sys.stderr)
                return 1
        json.dump({"suite": suite, "commit": commit(), "machine": machine(),
                   "target": target, "rows": rows}, sys.stdout, indent=1)
        print()
    elif what == "table":
        return 0 if table(read(rest)) else 1
    elif what == "join":
        objects = list(read(rest))
        json.dump(objects if len(objects) > 1 else objects[0], sys.stdout,
                  indent=1)
        print()
    elif what == "document":
        document(rest[0], *read(rest[1:]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

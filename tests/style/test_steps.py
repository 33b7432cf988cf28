# SPDX-License-Identifier: Apache-2.0 OR MIT
"""userspace/array/ufunc/call.h names the steps of a ufunc's call in their order, and the
fields that each sets: the files do what it says."""

import re
from pathlib import Path

ROOM = Path(__file__).parents[2] / "userspace/array/ufunc"
ROW = re.compile(r"^ \*   (?P<step>[a-z]+(?: [a-z]+)?) {2,}(?P<function>\w+) +(?P<file>\w+\.c)"
                 r"(?: +(?P<also>[a-z ]+))?$", re.MULTILINE)
SET = re.compile(r"\bcall(?:->|\.)(\w+)(?:\[.*\])? (?:\||[+*])?= |\bcall->(\w+)\+\+")


def written_order():
    """Returns the rows of the table and {field: files that may set it}."""
    text = (ROOM / "call.h").read_text()
    rows = [row.groupdict() for row in ROW.finditer(text)]
    files = {row["step"]: row["file"] for row in rows}
    may_set, step = {}, None
    for line in text.split("struct dray_ufunc_call {")[1].split("\n};")[0].splitlines():
        group = re.match(r"\t/\* ([a-z ]+?)(?::| \*/)", line)
        if group and group[1] in files:
            step = group[1]
        field = re.match(r"\t[a-z].*?(\w+)(?:\[\w+\])*(?:\[16\].*)?;", line)
        if field:
            may_set[field[1]] = {files[step]}
    for row in rows:
        for field in (row["also"] or "").split():
            may_set[field].add(row["file"])
    return rows, may_set


def test_each_field_of_a_call_is_set_by_the_steps_that_name_it():
    _, may_set = written_order()
    assert len(may_set) > 10
    wrong = []
    for path in ROOM.glob("call_*.c"):
        for found in SET.finditer(path.read_text()):
            field = found[1] or found[2]
            if path.name not in may_set[field] and field != "errors":
                wrong.append(f"{path.name}: {field}")
    assert not wrong, f"userspace/array/ufunc/call.h does not say so: {wrong}"


def test_the_steps_of_a_call_run_in_the_order_of_their_list():
    rows, _ = written_order()
    assert len(rows) > 5
    for row in rows:
        assert re.search(rf"^(?:static )?int {row['function']}\(",
                         (ROOM / row["file"]).read_text(), re.MULTILINE), row
    text = (ROOM / "call_steps.c").read_text()
    run = text[text.index("static int call_steps_run("):]
    steps = [row["function"] for row in rows if row["step"] not in ("collect", "set aside")]
    places = [run.find(f"{function}(") for function in steps]
    assert -1 not in places and places == sorted(places), list(zip(steps, places))
    compute = text[text.index("static int call_steps_compute("):].split("\n}")[0]
    ways = ["dray_call_small(", "dray_call_put_aside(", "dray_call_strided(",
            "dray_call_pieces(", "dray_call_buffered("]
    places = [compute.find(way) for way in ways]
    assert -1 not in places and places == sorted(places), list(zip(ways, places))

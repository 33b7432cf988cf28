# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Filters, order and columns of dmactl list, in text and in JSON."""

import pytest

from conftest import SCRIPTED, TREE, document, misused, run, shown
from schema import check

# id, size in MiB, heap, mode, pid, user root, age; see scripted.c
EVERY = [1, 2, 3, 4, 5, 6]
NAMES = ["id", "size", "heap", "mode", "node", "pid", "comm", "user", "mapped",
         "attached", "busy", "synced", "age", "name"]


def ids(*arguments, scene="attached"):
    text = shown("list", "--no-header", "--columns", "id", *arguments,
                 scene=scene)
    return [int(line) for line in text.split()]


@pytest.mark.parametrize("arguments, expected", [
    ([], EVERY),
    (["--pid", "101"], [1]), (["--pid", "101", "--pid", "105"], [1, 5]),
    (["--pid", "999"], []),
    (["--user", "root"], EVERY), (["--user", "0"], EVERY),
    (["--user", "65534"], []), (["--user", "1", "--user", "0"], EVERY),
    (["--heap", "reserved"], [1, 2]), (["--heap", "vivid"], [5]),
    (["--heap", "reserve"], []), (["--heap", "reserved0"], []),
    (["--name", "frame"], [1, 2]), (["--name", "fr*"], [1, 2]),
    (["--name", "?ideo"], [5]), (["--name", ""], [3, 4, 6]),
    (["--name", "video", "--name", "f[r]ame"], [1, 2, 5]),
    (["--min-size", "3M"], [3, 4, 5, 6]), (["--min-size", "3145729"], [4, 5, 6]),
    (["--older", "1h"], [3, 4]), (["--older", "192"], [2, 3, 4, 6]),
    (["--older", "192001ms"], [3, 4]), (["--older", "40d"], [4]),
    (["--orphans"], [2, 4]), (["--held"], [4]), (["--orphans", "--held"], [4]),
    (["--heap", "reserved", "--min-size", "2M"], [2]),
    (["--sort", "id"], EVERY), (["--sort", "-id"], EVERY[::-1]),
    (["--sort", "-size"], EVERY[::-1]), (["--sort", "age"], [1, 5, 2, 6, 3, 4]),
    (["--sort", "-age"], [4, 3, 2, 6, 1, 5]),
    (["--sort", "name"], [3, 4, 6, 1, 2, 5]),
    (["--sort", "heap"], [4, 6, 3, 1, 2, 5]),
    (["--sort", "mode"], [6, 1, 3, 5, 4, 2]),
    (["--sort", "-busy"], [2, 5, 1, 3, 4, 6]),
    (["--sort", "-attached"], [1, 2, 3, 4, 5, 6]),
    (["--sort", "-synced", "--pid", "101", "--pid", "102"], [2, 1]),
    (["--sort", "user", "--held"], [4]),
], ids=lambda value: " ".join(map(str, value)) or "none")
def test_options_narrow_and_order_both_forms(arguments, expected):
    assert ids(*arguments) == expected
    listed = document("list", *arguments, scene="attached")
    buffers = [entry["id"] for entry in listed["buffers"]]
    attachments = [entry["id"] for entry in listed["attachments"]]
    assert buffers == [number for number in expected if number < 4]
    assert attachments == [number for number in expected if number >= 4]
    assert listed["total"]["buffers"] == len(buffers)
    assert listed["total"]["attached"] == sum(attachments) << 20


def test_the_total_is_that_of_the_rows_shown():
    assert shown("list", "--pid", "102").splitlines()[-1] == \
        "total: 1 buffer, 2.0M"


def test_columns_are_chosen_and_ordered():
    assert shown("list", "--columns", "name,node,id,size", "--sort=-size") == (
        "NAME   NODE   ID  SIZE\n"
        "-      dray0   3  3.0M\n"
        "frame  dray0   2  2.0M\n"
        "frame  dray0   1  1.0M\n"
        "total: 3 buffers, 6.0M\n")
    assert shown("list", "--columns=synced", "--no-header", "--bytes") == \
        "    512\n1572864\n1572864\n"
    listed = document("list", "--columns", "name,pid", "--pid", "101")
    assert [list(entry.items()) for entry in listed["buffers"]] == [[
        ("name", "frame"), ("pid", 101), ("owner_gone", False),
        ("held", False)]]


def test_all_columns_make_the_whole_document():
    whole = document("list", scene="attached")
    chosen = document("list", "--columns", ",".join(NAMES), scene="attached")
    for entry in whole["buffers"] + whole["attachments"]:
        del entry["address_given"]
    assert chosen == whole


def test_documents_fit_the_schema():
    for arguments in ([], ["--columns", "id,age"], ["--held"]):
        for scene in ("attached", "hostile", "huge", "empty"):
            check("list", document("list", *arguments, scene=scene))


@pytest.mark.parametrize("arguments, sentence", [
    (["--sort", "foo"], f"list: no column 'foo': there are {', '.join(NAMES)}"),
    (["--sort", "-"], f"list: no column '': there are {', '.join(NAMES)}"),
    (["--columns", "id,SIZE"],
     f"list: no column 'SIZE': there are {', '.join(NAMES)}"),
    (["--columns", ""], f"list: no column '': there are {', '.join(NAMES)}"),
    (["--columns", ",".join(["id"] * 25)], "list: more than 24 columns"),
    (["--pid", "x"], "'x' is not a process id"),
    (["--pid", "2147483648"], "'2147483648' is not a process id"),
    (["--user", "nobody-has-this-name"], "no user 'nobody-has-this-name'"),
    (["--min-size", "8X"], "'8X' is not a size: a number of bytes, or one with "
     "K, M, G or T, as 8M"),
    (["--older", "5w"], "'5w' is not a time: a number of seconds, or one with "
     "us, ms, s, m, h or d, as 5m"),
    (["--older", "213504d"], "'213504d' is too long: a time has at most 584 "
     "years"),
    (["--all", "--held"], "list: give --all or --held, not both: it is known "
     "of dray's memory only"),
    (["--all", "-n", "dray0"], "list: give --all or --node, not both: it is "
     "known of dray's memory only"),
    (["--all", "--sort", "age"], "list: no column 'age': there are inode, size, "
     "exporter, id, refs, holders, devices, name"),
])
def test_wrong_values_are_named_and_exit_2(arguments, sentence):
    # even where there is nothing to compare them with
    assert run(SCRIPTED, "list", *arguments, scene="empty") == misused(sentence)


def test_the_manual_names_the_columns():
    page = (TREE / "docs/man/dmactl-list.1").read_text(encoding="utf-8")
    for name in NAMES + ["inode", "exporter", "refs", "holders", "devices"]:
        assert f"\n.It Li {name}\n" in page

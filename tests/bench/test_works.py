# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results that tools/benches/works.py makes of cells."""

import pytest
import report
import works

MAPPINGS = ("dray reserved", "dray pages", "dray cma", "dma-heap cma",
            "anonymous")
WORKS = ("works", "", "")
COPIED = ("copied", "", "")
WRONG = ("wrong", "", "byte 0 is 1, not 2")
REFUSED = ("refused", "EFAULT", "vmsplice")
DIED = ("died", "", "pwrite")
HANG = ("hang", "", "vmsplice")
STUCK = ("hang, cannot be killed", "", "")
ABSENT = ("absent", "ENODEV", "a pipe")
NO_MAPPING = ("absent", "ENOENT", works.ITSELF)


@pytest.fixture
def table(tmp_path):
    def make(*came):
        lines = ["target\tboard"] + [
            "\t".join(["cell", "vmsplice", mapping, *words])
            for mapping, words in zip(MAPPINGS, came)]
        (tmp_path / "cells").write_text("\n".join(lines) + "\n")
        return works.Table(tmp_path / "cells")
    return make


@pytest.fixture
def met(table, capsys):
    """Of reserved, pages and cma."""
    def goals(*came):
        works.samples([table(*came)])
        rows, target = report.rows_of(capsys.readouterr().out.splitlines())
        assert target == "board"
        return [row["met"] for row in rows]
    return goals


@pytest.mark.parametrize("came, goals", [
    pytest.param(came, goals, id=fact) for fact, came, goals in [
        ("cma may be refused",
         (WORKS, WORKS, REFUSED, REFUSED, WORKS), [True, True, True]),
        ("reserved may not be refused",
         (REFUSED, WORKS, REFUSED, REFUSED, WORKS), [False, True, True]),
        ("cma may not hang",
         (WORKS, WORKS, HANG, REFUSED, WORKS), [True, True, False]),
        ("pages may not hang, and nothing may hang for good",
         (WORKS, HANG, STUCK, REFUSED, WORKS), [True, False, False]),
        ("a copy is enough where ordinary memory is copied",
         (COPIED, COPIED, REFUSED, REFUSED, COPIED), [True, True, True]),
        ("a copy is not enough elsewhere",
         (COPIED, WORKS, REFUSED, REFUSED, WORKS), [False, True, True]),
        ("wrong bytes do not work",
         (WRONG, WORKS, REFUSED, REFUSED, WORKS), [False, True, True]),
    ]])
def test_a_goal(met, came, goals):
    assert met(*came) == goals


@pytest.mark.parametrize("cma, ordinary", [
    (REFUSED, REFUSED), (REFUSED, ABSENT), (DIED, WORKS)])
def test_a_consumer_that_takes_nothing_and_one_that_dies_are_errors(
        table, cma, ordinary):
    with pytest.raises(ValueError):
        table(WORKS, WORKS, REFUSED, cma, ordinary)


def test_a_mapping_that_a_machine_lacks_is_left_out(table, met):
    assert table(WORKS, WORKS, REFUSED, NO_MAPPING, WORKS).mappings == list(
        MAPPINGS[:3] + MAPPINGS[4:])
    with pytest.raises(ValueError):
        met(NO_MAPPING, WORKS, REFUSED, REFUSED, WORKS)


def test_a_cell_without_a_known_reason_is_not_written_down():
    with pytest.raises(ValueError):
        works.reason("vmsplice", "dray pages", REFUSED)
    assert works.reason("vmsplice", "dray cma", REFUSED)

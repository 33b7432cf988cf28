# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results that tools/lib/report.py makes of samples."""

import json
import subprocess
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest
import report

PLOT = Path(__file__).parents[2] / "tools/plot"


def rows(better, goal, **samples):
    lines = ["target\tboard", "\t".join(["row", "r", "ns", better, *goal])]
    lines += [f"sample\tr\t{name}\t{value}"
              for name, values in samples.items() for value in values]
    return report.rows_of(lines)[0]


@pytest.mark.parametrize("better, goal, dray, peer, met", [
    ("lower", ["a", "0.5"], 10, 20, True),
    ("lower", ["a", "0.5"], 11, 20, False),
    ("higher", ["a", "0.9"], 90, 100, True),
    ("higher", ["a", "0.9"], 89, 100, False)])
def test_a_goal_is_met_at_the_ratio_and_missed_beyond(better, goal, dray, peer, met):
    assert rows(better, goal, dray=[dray], a=[peer])[0]["met"] is met


@pytest.mark.parametrize("better, ratio", [("lower", 2), ("higher", 0.5)])
def test_best_is_the_least_or_the_most_of_the_peers(better, ratio):
    assert rows(better, ["best", "1"], dray=[10], a=[20],
                b=[5])[0]["ratio"] == ratio


@pytest.mark.parametrize("value, met", [(1, True), (0, False)])
def test_no_peer_is_a_bound_of_the_value(value, met):
    assert rows("higher", ["-", "1"], dray=[value])[0]["met"] is met


@pytest.mark.parametrize("dray, peer, outcome", [
    ([8, 10, 12, 14, 16], [10], "within the spread"),
    ([12], [6, 8, 10, 12, 14], "within the spread"),
    ([13], [6, 8, 10, 12, 14], "MISSED"),
    ([10], [6, 8, 10, 12, 14], "met")])
def test_within_the_spread_of_either_a_goal_is_neither_met_nor_missed(
        dray, peer, outcome):
    assert report.outcome(rows("lower", ["a", "1"], dray=dray,
                               a=peer)[0]) == outcome


def test_one_outlier_is_no_spread():
    assert report.outcome(rows("lower", ["a", "1"], a=[10],
                               dray=[12, 12, 12, 12, 12, 12, 99])[0]) == "MISSED"


def test_no_goal_is_neither_met_nor_missed():
    assert rows("lower", [], dray=[1], a=[2])[0]["met"] is None


def test_a_ratio_without_a_bound_is_shown_and_not_judged():
    row, = rows("lower", ["a", "-"], dray=[1], a=[2])
    assert (row["ratio"], row["met"]) == (0.5, None)
    assert report.goal_of(row) == report.outcome(row) == ""


def test_a_value_needs_a_bound():
    with pytest.raises(ValueError):
        rows("lower", ["-", "-"], dray=[1])


def test_a_summary_describes_the_samples():
    assert rows("lower", [], dray=[4, 1, 3, 2])[0]["dray"] == {
        "median": 2.5, "min": 1, "max": 4, "n": 4, "spread": 0.75}


@pytest.mark.parametrize("line", [
    "sample\tother\tdray\t1", "sample\tr\tdray\tx", "row\tr\tns\tlower",
    "row\ts\tns\tsmaller", "sample\tr", "row\ts\tns\tlower"])
def test_wrong_lines_are_refused(line):
    good = ["row\tr\tns\tlower", "sample\tr\tdray\t1"]
    report.rows_of(good)
    with pytest.raises(ValueError):
        report.rows_of([*good, line])


def test_a_goal_without_its_peer_and_no_lines_are_refused():
    with pytest.raises(ValueError):
        rows("lower", ["a", "1"], dray=[1], b=[1])
    with pytest.raises(ValueError):
        report.rows_of([])


def test_other_lines_are_left_alone():
    assert len(report.rows_of(
        ["@begin\tx", "row\tr\tns\tlower\r", "", "sample\tr\tdray\t1\r",
         "# progress"])[0]) == 1


@pytest.fixture
def data():
    return [{"suite": "s", "target": "board", "machine": "m & n",
             "commit": "c" * 40,
             "rows": rows("lower", ["a", "0.5"], dray=[11], a=[20])}]


def test_the_table_says_that_a_goal_is_missed_and_fails(data, capsys):
    assert not report.table(data)
    assert "0 goals met, 0 within the spread, 1 missed" in capsys.readouterr().out


def test_the_drawing_has_a_bar_for_each_contender(data, tmp_path):
    (tmp_path / "figures").write_text(json.dumps(data), encoding="utf-8")
    subprocess.run([PLOT, tmp_path / "figures", "-o", tmp_path / "bench.svg"], check=True)
    texts = [shape.text for shape in tree.parse(tmp_path / "bench.svg").iter()
             if shape.tag.endswith("text")]
    for text in ("s: board", "m & n; commit cccccccccccc", "r [ns, lower is better]", "dray",
                 "11.0", "a", "20.0"):
        assert text in texts


def test_a_page_is_renewed_between_its_marks_alone():
    page = "a\n<!-- table s -->\nold\n<!-- end -->\nb\n"
    assert report.between(page, "s", "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError):
        report.between(page, "t", "new\n")


@pytest.mark.parametrize("value, text", [
    (0, "0"), (8, "8"), (0.01234, "0.0123"), (1.234, "1.23"), (123.4, "123"),
    (12345.6, "12,346")])
def test_numbers_have_three_digits_or_all_before_the_point(value, text):
    assert report.number(value) == text

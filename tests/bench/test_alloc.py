# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How tools/benches/alloc.py runs contenders in turns, and what it compares."""

import alloc
import pytest

ROW = ("r", "ns", "lower", "w", "ns", {"dray": "d", "a": "a"}, "room",
       ("a", 0.5))


def test_everybody_has_a_turn_in_each_round_and_is_first_or_last_once():
    names = ["a", "b", "c", "d"]
    rounds = [alloc.turns(names, number) for number in range(4)]
    assert [sorted(each) for each in rounds] == 4 * [names]
    assert len({tuple(each) for each in rounds}) == 4


def test_contenders_take_turns_within_a_round():
    ran = []

    def run(name, workload):
        ran.append(name)
        return {"ns": 1.0}
    alloc.measure([ROW], run)
    assert ran[:2] == ["d", "a"]
    assert len(ran) == 2 * alloc.ROUNDS["room"]


def test_a_peer_that_fails_is_asked_once_and_the_others_go_on(capsys):
    ran = []

    def run(name, workload):
        ran.append(name)
        if name == "a":
            raise alloc.Failed("signal 11")
        return {"ns": 1.0}
    values = alloc.measure([ROW], run)
    assert ran.count("a") == 1
    assert values["w"]["ns"] == {"dray": [1.0] * alloc.ROUNDS["room"]}
    assert "signal 11" in capsys.readouterr().err


def test_figures_are_names_and_values():
    assert alloc.figures(["printf", "a 1.5\\nb 2\\n"]) == {"a": 1.5, "b": 2.0}


@pytest.mark.parametrize("command, words", [
    ("exit 3", "exit status 3"), ("kill -SEGV $$", "signal 11")])
def test_a_process_that_fails_or_dies_gives_none(command, words):
    with pytest.raises(alloc.Failed, match=words):
        alloc.figures(["sh", "-c", command])


def test_the_fastest_is_a_peer_and_not_dray_in_other_memory():
    values = {"dray": [1], alloc.SHAREABLE: [2], "a": [5], "b": [4]}
    assert alloc.named((alloc.BEST, 1), values) == ("b", 1)
    assert alloc.named(("a", 0.5), values) == ("a", 0.5)


def test_shareable_memory_has_the_same_goal_in_a_row_of_its_own(capsys):
    values = {"w": {"ns": {"dray": [1], alloc.SHAREABLE: [2], "a": [3]}}}
    alloc.print_shareable([ROW], values)
    assert capsys.readouterr().out == (
        "row\tr: shareable\tns\tlower\ta\t0.5\n"
        "sample\tr: shareable\tdray\t2\n"
        "sample\tr: shareable\ta\t3\n")


def test_suites_of_other_tests_are_not_compared():
    alloc.check_suites({"suite": {"passed": {"a": [9, 9], "b": [7]}}})
    with pytest.raises(SystemExit):
        alloc.check_suites({"suite": {"passed": {"a": [9], "b": [5]}}})

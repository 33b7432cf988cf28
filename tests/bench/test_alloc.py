# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How tools/benches/alloc.py runs contenders in turns, and what it compares."""

import contextlib
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tools", "benches"))
import alloc  # noqa: E402

ROW = ("r", "ns", "lower", "w", "ns", {"dray": "d", "a": "a"}, "room",
       ("a", 0.5))


def printed(what, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        what(*arguments)
    return [line.split("\t") for line in out.getvalue().splitlines()]


class Turns(unittest.TestCase):
    def test_everybody_has_a_turn_in_each_round_and_is_first_or_last_once(self):
        names = ["a", "b", "c", "d"]
        rounds = [alloc.turns(names, number) for number in range(4)]
        for each in rounds:
            self.assertEqual(names, sorted(each))
        self.assertEqual(4, len({tuple(each) for each in rounds}))

    def test_contenders_take_turns_within_a_round(self):
        ran = []

        def run(name, workload):
            ran.append(name)
            return {"ns": 1.0}
        alloc.measure([ROW], run)
        self.assertEqual(["d", "a"], ran[:2])
        self.assertEqual(2 * alloc.ROUNDS["room"], len(ran))

    def test_a_peer_that_fails_is_asked_once_and_the_others_go_on(self):
        ran = []

        def run(name, workload):
            ran.append(name)
            if name == "a":
                raise alloc.Failed("signal 11")
            return {"ns": 1.0}
        with contextlib.redirect_stderr(io.StringIO()) as said:
            values = alloc.measure([ROW], run)
        self.assertEqual(1, ran.count("a"))
        self.assertEqual({"dray": [1.0] * alloc.ROUNDS["room"]},
                         values["w"]["ns"])
        self.assertIn("signal 11", said.getvalue())


class Processes(unittest.TestCase):
    def test_figures_are_names_and_values(self):
        self.assertEqual({"a": 1.5, "b": 2.0},
                         alloc.figures(["printf", "a 1.5\\nb 2\\n"]))

    def test_a_process_that_fails_or_dies_gives_none(self):
        for command, words in (("exit 3", "exit status 3"),
                               ("kill -SEGV $$", "signal 11")):
            with self.assertRaisesRegex(alloc.Failed, words):
                alloc.figures(["sh", "-c", command])


class Goals(unittest.TestCase):
    def test_the_fastest_is_a_peer_and_not_dray_in_other_memory(self):
        values = {"dray": [1], alloc.SHAREABLE: [2], "a": [5], "b": [4]}
        self.assertEqual(("b", 1), alloc.named((alloc.BEST, 1), values))
        self.assertEqual(("a", 0.5), alloc.named(("a", 0.5), values))

    def test_shareable_memory_has_the_same_goal_in_a_row_of_its_own(self):
        values = {"w": {"ns": {"dray": [1], alloc.SHAREABLE: [2], "a": [3]}}}
        self.assertEqual(
            [["row", "r: shareable", "ns", "lower", "a", "0.5"],
             ["sample", "r: shareable", "dray", "2"],
             ["sample", "r: shareable", "a", "3"]],
            printed(alloc.print_shareable, [ROW], values))

    def test_suites_of_other_tests_are_not_compared(self):
        alloc.check_suites({"suite": {"passed": {"a": [9, 9], "b": [7]}}})
        with self.assertRaises(SystemExit):
            alloc.check_suites({"suite": {"passed": {"a": [9], "b": [5]}}})


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tools/lib/report.py makes of samples."""

import contextlib
import io
import os
import sys
import unittest
import xml.etree.ElementTree as tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tools", "lib"))
import report  # noqa: E402


def rows(better, goal, **samples):
    lines = ["target\tboard", "\t".join(["row", "r", "ns", better, *goal])]
    lines += [f"sample\tr\t{name}\t{value}"
              for name, values in samples.items() for value in values]
    return report.rows_of(lines)[0]


def met(*arguments, **samples):
    return rows(*arguments, **samples)[0]["met"]


def outcome(*arguments, **samples):
    return report.outcome(rows(*arguments, **samples)[0])


class Goals(unittest.TestCase):
    def test_lower_is_met_at_the_ratio_and_missed_above(self):
        self.assertTrue(met("lower", ["a", "0.5"], dray=[10], a=[20]))
        self.assertFalse(met("lower", ["a", "0.5"], dray=[11], a=[20]))

    def test_higher_is_met_at_the_ratio_and_missed_below(self):
        self.assertTrue(met("higher", ["a", "0.9"], dray=[90], a=[100]))
        self.assertFalse(met("higher", ["a", "0.9"], dray=[89], a=[100]))

    def test_best_is_the_least_or_the_most_of_the_peers(self):
        samples = {"dray": [10], "a": [20], "b": [5]}
        self.assertEqual(2, rows("lower", ["best", "1"],
                                 **samples)[0]["ratio"])
        self.assertEqual(0.5, rows("higher", ["best", "1"],
                                   **samples)[0]["ratio"])

    def test_no_peer_is_a_bound_of_the_value(self):
        self.assertTrue(met("higher", ["-", "1"], dray=[1]))
        self.assertFalse(met("higher", ["-", "1"], dray=[0]))

    def test_what_lies_within_the_spread_of_either_is_neither(self):
        self.assertEqual("within the spread",
                         outcome("lower", ["a", "1"], a=[10],
                                 dray=[8, 10, 12, 14, 16]))
        self.assertEqual("within the spread",
                         outcome("lower", ["a", "1"], dray=[12],
                                 a=[6, 8, 10, 12, 14]))
        self.assertEqual("MISSED",
                         outcome("lower", ["a", "1"], dray=[13],
                                 a=[6, 8, 10, 12, 14]))
        self.assertEqual("met", outcome("lower", ["a", "1"], dray=[10],
                                        a=[6, 8, 10, 12, 14]))

    def test_one_outlier_is_no_spread(self):
        self.assertEqual("MISSED",
                         outcome("lower", ["a", "1"], a=[10],
                                 dray=[12, 12, 12, 12, 12, 12, 99]))

    def test_no_goal_is_neither_met_nor_missed(self):
        self.assertIsNone(met("lower", [], dray=[1], a=[2]))


class Samples(unittest.TestCase):
    def test_summary_is_what_the_samples_are(self):
        dray = rows("lower", [], dray=[4, 1, 3, 2])[0]["dray"]
        self.assertEqual({"median": 2.5, "min": 1, "max": 4, "n": 4,
                          "spread": 0.75}, dray)

    def test_what_is_wrong_is_not_taken(self):
        for line in ("sample\tother\tdray\t1", "sample\tr\tdray\tx",
                     "row\tr\tns\tlower", "row\ts\tns\tsmaller", "sample\tr",
                     "row\ts\tns\tlower"):
            with self.assertRaises(ValueError, msg=line):
                report.rows_of(["row\tr\tns\tlower", "sample\tr\tdray\t1",
                                line])
        with self.assertRaises(ValueError):
            rows("lower", ["a", "1"], dray=[1], b=[1])
        with self.assertRaises(ValueError):
            report.rows_of([])

    def test_other_lines_are_left_alone(self):
        self.assertEqual(1, len(report.rows_of(
            ["@begin\tx", "row\tr\tns\tlower\r", "", "sample\tr\tdray\t1\r",
             "# progress"])[0]))


class Shown(unittest.TestCase):
    def setUp(self):
        self.data = {"suite": "s", "target": "board", "machine": "m & n",
                     "commit": "c" * 40,
                     "rows": rows("lower", ["a", "0.5"], dray=[11], a=[20])}

    def printed(self, what):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.result = what([self.data])
        return out.getvalue()

    def test_table_says_that_a_goal_is_missed_and_fails(self):
        self.assertIn("0 goals met, 0 within the spread, 1 missed",
                      self.printed(report.table))
        self.assertFalse(self.result)

    def test_drawing_is_xml_with_a_bar_for_each_contender(self):
        drawing = tree.fromstring(self.printed(report.plot))
        bars = [shape for shape in drawing.iter()
                if shape.tag.endswith("rect")]
        self.assertEqual(1 + 2, len(bars))

    def test_page_is_renewed_between_its_marks_alone(self):
        page = "a\n<!-- table s -->\nold\n<!-- end -->\nb\n"
        new = report.between(page, "s", "new\n")
        self.assertEqual("a\n<!-- table s -->\nnew\n<!-- end -->\nb\n", new)
        with self.assertRaises(ValueError):
            report.between(page, "t", "new\n")

    def test_numbers_have_three_digits_or_all_before_the_point(self):
        self.assertEqual(["0", "8", "0.0123", "1.23", "123", "12,346"],
                         [report.number(value) for value in
                          (0, 8, 0.01234, 1.234, 123.4, 12345.6)])


if __name__ == "__main__":
    unittest.main()

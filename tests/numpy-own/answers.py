# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts which operations dray answered, and which NumPy."""
import collections


class Answers:
    """Since the start, and since the start of a test."""

    def __init__(self):
        self.dray = collections.Counter()
        self.numpy = collections.Counter()
        self.begin()

    def begin(self):
        self.reached = 0
        self.missed = []  # operations of dray that NumPy had to answer

    def by_dray(self, name):
        self.dray[name] += 1
        self.reached += 1

    def by_numpy(self, name):
        self.numpy[name] += 1

    def miss(self, name, why):
        self.missed.append(f"{name}: {why}")

    def complaint(self):
        """Why the test that ended says nothing about dray, or None."""
        if self.missed:
            return "dray could not answer " + "; ".join(sorted(set(self.missed)))
        if not self.reached:
            return "no operation of the test reached dray"
        return None


ANSWERS = Answers()

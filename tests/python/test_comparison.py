# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tests/numpy/comparison.py: differences, and runs without evidence."""
import importlib.util
import pathlib

import pytest

COMPARISON = pathlib.Path(__file__).parents[1] / "numpy" / "comparison.py"


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("comparison", COMPARISON)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_equal_outcomes_are_counted_by_what_they_are(runner):
    outcomes = {"a": "passed", "b": "xfailed", "c": "skipped"}
    assert runner.compare(outcomes, dict(outcomes), {}) == (2, 0, 1)


@pytest.mark.parametrize("before, after", [
    ("passed", "failed"), ("passed", "skipped"), ("passed", "xfailed"),
    ("xfailed", "passed"), ("skipped", "passed"), ("failed", "failed"),
    ("failed", "passed"), ("error in setup", "error in setup")])
def test_any_other_pair_of_outcomes_is_a_failure(runner, capsys, before,
                                                 after):
    assert runner.compare({"a": before}, {"a": after}, {}) == (0, 1, 0)
    assert f"a: {before} without, {after} with" in capsys.readouterr().out


def test_a_test_that_ran_only_once_is_a_failure(runner):
    assert runner.compare({"a": "passed"}, {}, {}) == (0, 1, 0)
    assert runner.compare({}, {"a": "passed"}, {}) == (0, 1, 0)


def test_a_difference_is_allowed_only_as_it_is_listed(runner):
    allowed = {"a": ("passed", "xfailed", "the region ends")}
    assert runner.compare({"a": "passed"}, {"a": "xfailed"}, allowed) == (
        1, 0, 0)
    assert runner.compare({"a": "passed"}, {"a": "failed"}, allowed) == (
        0, 1, 0)


def test_a_run_of_its_own_must_pass_but_for_what_is_listed(runner):
    allowed = {"a": ("passed", "failed", "the region ends")}
    assert runner.compare(None, {"a": "failed", "b": "passed"}, allowed) == (
        2, 0, 0)
    assert runner.compare(None, {"a": "passed", "b": "failed"}, allowed) == (
        1, 1, 0)
    assert runner.compare(None, {"a": "error in setup"}, allowed) == (0, 1, 0)


def test_at_most_three_tests_may_end_otherwise(runner):
    allowed = [each for backend in ("host", "kernel")
               for each in runner.allowed_differences(backend).values()]
    assert len(allowed) <= 3
    for before, after, reason in allowed:
        assert before != after and reason


GOOD = {"handler": "dray host", "memory": "", "strays": [], "probed": 1,
        "outcomes": {"a": "passed"},
        "stats": {"peak": 1 << 30, "bad_frees": 0}}


@pytest.mark.parametrize("change, sentence", [
    ({}, None),
    ({"handler": "default_allocator"}, "the handler was default_allocator"),
    ({"probed": 0, "strays": ["a"]}, "1 tests began without the handler"),
    ({"probed": 0}, "only 0 of 1 tests were probed"),
    ({"stats": {"peak": 9, "bad_frees": 0}}, "the pool's peak was 9 bytes"),
    ({"stats": {"peak": 1 << 30, "bad_frees": 2}}, "2 bad frees")])
def test_a_run_without_evidence_is_a_failure(runner, change, sentence):
    wrong = runner.evidence({**GOOD, **change}, "host", 1 << 20)
    assert [w.startswith(sentence) for w in wrong] == (
        [True] if sentence else [])


@pytest.mark.parametrize("backend, memory, right", [
    ("host", "", True), ("host", "[heap]", True),
    ("host", "/memfd:dray (deleted)", False), ("host:shareable", "", False),
    ("host:shareable", "/memfd:dray (deleted)", True),
    ("kernel", "/dmabuf:pool", True)])
def test_a_run_on_another_kind_of_memory_is_a_failure(runner, backend, memory,
                                                      right):
    wrong = runner.evidence({**GOOD, "memory": memory}, backend, 1 << 20)
    assert wrong == ([] if right else [
        f'on {backend} the memory was "{memory}"'])

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A plug-in of pytest: loads NumPy's files over the stand-in, and knows which tests
differ."""
import pathlib
import re

import arrays
import pytest
import standin
import ufuncs
from answers import ANSWERS

# Minutes, since they walk over large arrays in Python, or make 65537; NumPy marks
# others itself.
SLOW = re.compile(r"test_nditer.py::test_(iter_writemasked\[arrs[1245]\]|arbitrary_number.*)")
DIFFERENCES = pathlib.Path(__file__).with_name("differences.txt")


def pytest_addoption(parser):
    parser.addoption("--differences", type=pathlib.Path, default=DIFFERENCES, metavar="FILE",
                     help="the tests that end otherwise")


def differences(path):
    """Reads the lines of the file: each with its pattern, and the "== reason" above it."""
    found, reason = [], None
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            reason = line[3:]
        elif line and not line.startswith("#"):
            pattern = re.escape(line).replace(r"\*", ".*")
            found.append((line, re.compile(pattern), reason))
    return found


def name_of(item):
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


class OwnModule(pytest.Module):
    def _getobj(self):
        return standin.load(self.path)


def pytest_pycollect_makemodule(module_path, parent):
    return OwnModule.from_parent(parent, path=module_path)


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(config, items):
    for item in items:
        if SLOW.fullmatch(name_of(item)):
            item.add_marker(pytest.mark.slow)
    for line, pattern, reason in differences(config.option.differences):
        some = [item for item in items if pattern.fullmatch(name_of(item))]
        for item in some:
            # A test that passes nevertheless is a failure.
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
        if not some:
            raise pytest.UsageError(f"no test is named {line}")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    ANSWERS.begin()
    answers = pyfuncitem.path.name in ufuncs.FILES
    arrays.answer_ufuncs(answers)
    result = yield
    complaint = ANSWERS.complaint()
    if complaint and answers and not ANSWERS.reached and not ANSWERS.missed:
        pytest.skip("ufuncs of numbers, or of types of the test's own")
    if complaint:
        pytest.fail(complaint)
    return result


def pytest_terminal_summary(terminalreporter):
    for who, counts in (("dray", ANSWERS.dray), ("NumPy", ANSWERS.numpy)):
        text = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        terminalreporter.write_line(f"answered by {who}: {text}")
    reasons = {}
    for report in terminalreporter.stats.get("xfailed", []):
        reasons[report.wasxfail] = reasons.get(report.wasxfail, 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1]):
        terminalreporter.write_line(f"differ ({count}): {reason}")

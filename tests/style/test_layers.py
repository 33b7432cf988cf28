# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tools/layers: no include or call goes upward, however it is written."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]

CASES = [
    ("driver/base/node.c", '#include "../engine/job.h"', "includes engine/job.h"),
    ("driver/base/node.c", '#include "base/../engine/job.h"', "includes engine/job.h"),
    ("driver/base/node.c", "#include <engine/job.h>", "includes engine/job.h"),
    ("driver/base/node.c", '# include  "../engine/job.h"', "includes engine/job.h"),
    ("driver/base/node.c", "#include JOB", "includes a macro"),
    ("driver/base/node.c", "void dray_x(void) { dray_job_free(0); }",
     "calls dray_job_free of engine/job.c"),
    ("driver/base/node.c", "void dray_x(void) { dray_workqueue = 0; }",
     "calls dray_workqueue of engine/engine.c"),
    ("driver/base/node.h", "static inline void dray_x(void) { dray_job_free(0); }",
     "calls dray_job_free of engine/job.c"),
    ("driver/base/node.h", "#define dray_x() dray_job_free(0)",
     "calls dray_job_free of engine/job.c"),
    ("driver/heap/more.inc", "", "neither .c nor .h"),
    ("driver/wing/file.c", "", "its room is not in the list"),
    ("driver/base/entry.c", "void dray_x(void) { dray_node_get(0); dray_y(); }\n",
     None),
    ("userspace/core/pool/fit.c", '#include "view/view.h"', "includes view/view.h"),
    ("userspace/core/pool/fit.c", "void dray_x(void) { dray_sum(0, 0, 0, 0, 0); }",
     "calls dray_sum of array/statistics/statistics.c"),
    ("userspace/array/cast/fp_state.c", '#include "base/error.h"',
     "includes core/base/error.h"),
    ("userspace/array/cast/fp_state.c", '#include "private.h"', None),
    ("userspace/python/src/size.c", '#include "private.h"', "includes core/private.h"),
]


@pytest.fixture
def tree(tmp_path):
    for folder in ("driver", "userspace"):
        shutil.copytree(TREE / folder, tmp_path / folder,
                        ignore=shutil.ignore_patterns("*.o", ".*", "*.mod.c"))
    (tmp_path / "tools").mkdir()
    shutil.copy(TREE / "tools/layers", tmp_path / "tools")
    return tmp_path


def check(tree):
    return subprocess.run(
        [sys.executable, TREE / "tools/lib/layers.py", "tools/layers"],
        cwd=tree, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("path, line, said", CASES)
def test_what_goes_upward_is_named(tree, path, line, said):
    file = tree / path
    file.parent.mkdir(exist_ok=True)
    with open(file, "a", encoding="utf-8") as text:
        text.write(line + "\n")
    result = check(tree)
    assert (result.returncode == 0) == (said is None), result.stdout
    assert f"{path}: {said}\n" in result.stdout or said is None


def test_rooms_form_no_circle(tree):
    list_ = tree / "tools/layers"
    list_.write_text(list_.read_text().replace("base:", "base: engine", 1))
    result = check(tree)
    assert result.returncode == 1
    assert "base may not call engine, which is not above it" in result.stderr

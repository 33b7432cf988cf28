# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tools/layers: no include or call goes upward, however it is written, or in a circle."""

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
    ("userspace/core/pool/fit_take.c", '#include "view/view.h"', "includes view/view.h"),
    ("userspace/core/pool/fit_take.c", "void dray_x(void) { dray_sum(0, 0, 0, 0, 0); }",
     "calls dray_sum of array/statistics/statistics.c"),
    ("userspace/array/cast/fp_state.c", '#include "base/error.h"',
     "includes core/base/error.h"),
    ("userspace/array/cast/fp_state.c", '#include "private.h"', None),
    ("userspace/python/src/base/size.c", '#include "private.h"', "includes core/private.h"),
    ("tools/dmactl/base/bar.c", '#include "top/top_live.h"', "includes top/top_live.h"),
    ("tools/dmactl/base/bar.c", "void bar_x(void) { top_live(0); }",
     "calls top_live of top/top_live.c"),
    ("tools/dmactl/base/bar.c", "void *bar_x = (void *)top_live;",
     "calls top_live of top/top_live.c"),
    ("tools/dmactl/base/bar.c", "extern int top_live; int bar_x(void) { return top_live; }",
     "calls top_live of top/top_live.c"),
    # Another thing of the same name is no call.
    ("tools/dmactl/base/bar.c", "static void top_live(void) {} void *bar_x = top_live;",
     None),
    ("tools/dmactl/base/bar.c", "int bar_x(int top_live) { return top_live; }", None),
    ("tools/dmactl/base/bar.c", "int bar_x(int (*top_live)(void)) { return top_live(); }",
     None),
    ("tools/dmactl/base/bar.c", "int bar_x(struct x *x) { return x->top_live(x); }", None),
    ("tools/dmactl/base/bar.c", "/* top_live() */ const char bar_x[] = \"top_live(0)\";",
     None),
]

# A circle of two files by a header of each, by calls, and by a header and a call.
CIRCLES = [
    ('#include "two.h"', 'void two_x(void);', '', 'void one_x(void); void two_x(void) { one_x(); }'),
    ('#include "two.h"', '#include "one.h"', '', ''),
    ('', '', 'void one_y(void) { two_x(); }', 'void two_x(void) { one_x(); }'),
]
ROOMS = ["driver/heap", "userspace/core/pool", "userspace/array/cast",
         "userspace/python/src/array", "tools/dmactl/base"]


@pytest.fixture
def tree(tmp_path):
    for folder in ("driver", "userspace", "tools/dmactl"):
        shutil.copytree(TREE / folder, tmp_path / folder,
                        ignore=shutil.ignore_patterns("*.o", ".*", "*.mod.c"))
    shutil.copy(TREE / "tools/layers", tmp_path / "tools")
    return tmp_path


def check(tree, *sections):
    return subprocess.run(
        [sys.executable, TREE / "tools/lib/layers.py", "tools/layers", *sections],
        cwd=tree, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("path, line, said", CASES)
def test_what_goes_upward_is_named(tree, path, line, said):
    file = tree / path
    file.parent.mkdir(exist_ok=True)
    with open(file, "a", encoding="utf-8") as text:
        text.write(line + "\n")
    result = check(tree, *{str(folder) for folder in Path(path).parents})
    assert (result.returncode == 0) == (said is None), result.stdout
    assert f"{path}: {said}\n" in result.stdout or said is None


def add_circle(tree, room, circle):
    for name, text in zip(("one.h", "two.h", "one.c", "two.c"), circle):
        if name == "one.c":
            text += "\nvoid one_x(void) {}"
        (tree / room / name).write_text(text + "\n", encoding="utf-8")
    section = room if room.endswith("src") else room.rsplit("/", 1)[0]
    place = "" if room == section else room.rsplit("/", 1)[1] + "/"
    return section, f"{place}one {place}two"


def add_line(tree, section, line):
    """Adds a line at the end of a section."""
    list_ = tree / "tools/layers"
    before, after = list_.read_text().split(f"[{section}]")
    after = after.split("\n\n", 1)
    after[0] = after[0].rstrip() + "\n" + line + "\n"
    list_.write_text(before + f"[{section}]" + "\n".join(after))


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("circle", CIRCLES)
def test_circles_are_named_unless_they_are_debts(tree, room, circle):
    section, group = add_circle(tree, room, circle)
    assert check(tree, section).stdout == f"{section}/a circle: {group}\n"
    add_line(tree, section, f"debt: {group.replace(' ', chr(10) + '  ')}: the test")
    result = check(tree, section)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize("section, line, said", [
    ("tools/dmactl", "debt: base/bar base/table: was paid",
     "a debt without its circle: base/bar base/table"),
    ("driver", "debt: base/node heap/heap: was paid",
     "a debt without its circle: base/node heap/heap"),
    ("tools/dmactl", "map: base machine", "map uses nothing of machine, which it may use"),
    ("userspace/core", "memory: base xrt", "memory uses nothing of xrt, which it may use"),
])
def test_the_list_permits_no_more_than_is_used(tree, section, line, said):
    add_line(tree, section, line)
    result = check(tree, section)
    assert (result.returncode, result.stdout) == (1, f"{section}/{said}\n")


def test_rooms_form_no_circle(tree):
    list_ = tree / "tools/layers"
    list_.write_text(list_.read_text().replace("base:", "base: engine", 1))
    result = check(tree)
    assert result.returncode == 1
    assert "base may not call engine, which is not above it" in result.stderr

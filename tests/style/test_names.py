# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A name stands for one thing in the whole tree, so that grep, perf and a backtrace find it.

Functions and structures of driver, userspace and tools are defined in one file each, and a
static function's name has two words at least, the object first."""

import collections
import re
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
FOLDERS = ("driver", "userspace", "tools")
FUNCTION = re.compile(
    r"^(?P<head>(?:(?:DRAY_\w+|__\w+(?:\(\(.*?\)\))?|[A-Za-z_]\w*)[ \t\n*]+)+)"
    r"(?P<name>[a-z_]\w*)\([^;{}]*?\)(?:\s*__\w+(?:\([^)]*\))?)*\s*\n\{", re.MULTILINE)
ATTRIBUTES = {"__attribute__", "__typeof__"}
STRUCTURE = re.compile(r"^(?:static )?(?:const )?(?:struct|union|enum) (\w+) \{", re.MULTILINE)

# Names that two files may define: a hook that several programs or builds have, or one
# meaning that the driver and the library share.
SHARED = {
    "main": "programs",
    "progress_end": "dmactl and replay",
    "ip_receive": "examples of cores", "ip_reset": "examples of cores",
    "ip_begin": "examples of cores",
    "dray_npz_open": "a build without minizip", "dray_npz_close": "a build without minizip",
    "dray_npz_count": "a build without minizip", "dray_npz_name": "a build without minizip",
    "dray_npz_load": "a build without minizip", "dray_npz_save": "a build without minizip",
    "dray_channel_info_call": "a kernel without engines",
    "dray_submit_call": "a kernel without engines", "dray_cancel_call": "a kernel without engines",
    "dray_timeline_call": "a kernel without engines",
    "dray_pci_attach": "a kernel without PCI", "dray_pci_register": "a kernel without PCI",
    "dray_pci_unregister": "a kernel without PCI",
    "outside_d": "processors", "outside_f": "processors",
    "unusual_d": "processors", "unusual_f": "processors",
    "dray_fence_create": "both sides of the kernel interface",
    "dray_stream_release": "both sides of the kernel interface",
    "struct dray_buffer": "both sides of the kernel interface",
    "struct dray_fence": "both sides of the kernel interface",
    "struct dray_node": "both sides of the kernel interface",
    "struct dray_queue": "both sides of the kernel interface",
    "struct dray_stream": "both sides of the kernel interface",
}


def names(files):
    """Returns {name: files that define it} and the static functions of one word."""
    defined, short = collections.defaultdict(set), []
    for path, text in files.items():
        for found in FUNCTION.finditer(text):
            name = found["name"]
            if name in ATTRIBUTES:
                continue
            defined[name].add(path)
            if re.search(r"\bstatic\b", found["head"]) and "_" not in name:
                short.append(f"{path}: {name}()")
        for name in STRUCTURE.findall(text):
            defined[f"struct {name}"].add(path)
    return defined, short


@pytest.fixture(scope="module", name="tree")
def tree_():
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=TREE, capture_output=True,
                            text=True, check=True).stdout.split()
    files = {path: (TREE / path).read_text(encoding="utf-8")
             for path in listed if path.endswith((".c", ".h")) and (TREE / path).exists()}
    return names(files)


def test_a_name_is_defined_once(tree):
    twice = {name: sorted(files) for name, files in tree[0].items() if len(files) > 1}
    assert {name: files for name, files in twice.items() if name not in SHARED} == {}


def test_no_static_function_has_a_name_of_one_word(tree):
    assert tree[1] == []


def test_shared_names_are_used_and_few(tree):
    assert [name for name in SHARED if len(tree[0][name]) < 2] == []
    assert len(SHARED) <= 40


def test_the_search_finds_definitions():
    defined, short = names({
        "py.c": "static PyObject *make(PyObject *self)\n{\n}\n",
        "a.c": "static int take(void)\n{\n}\n\nint dray_b(struct x *x,\n\t   int y)\n{\n}\n",
        "b.h": "static inline __must_check bool\nline_take(int a)\n{\n}\nstruct walk {\n};\n"
               "struct wide {\n} __attribute__((packed));\nint dray_c(void);\n"})
    assert short == ["py.c: make()", "a.c: take()"]
    assert set(defined) == {"make", "take", "dray_b", "line_take", "struct walk", "struct wide"}

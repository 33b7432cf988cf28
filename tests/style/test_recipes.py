# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A recipe of CONTRIBUTING.md names each file that the last thing of its kind is in."""

import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SECTIONS = dict(re.findall(r"^## How to ([^\n]+)\n(.*?)(?=^## |\Z)",
                           (SOURCE / "CONTRIBUTING.md").read_text(),
                           re.MULTILINE | re.DOTALL))

# The recipe, something that it made, and the folders whose files are all of it.
MADE = [
    ("add a heap", r"DRAY_HEAP_CARVEOUT|dray_carveout|carveout\.o", "driver include tools/dmactl"),
    ("add a call", r"dray_heap_map_call|DRAY_IOC_HEAP_MAP|struct dray_heap_map\b|\bheap_map\.o",
     "driver include userspace"),
    ("add an option of a stream", r"options\W+points|DRAY_MAX_POINTS|\bpoints=|\"points\"",
     "include userspace"),
    ("add a data type", r"'M'|\"M\"", "include/dray userspace/core/dtype/*.c"),
    ("add a ufunc", r"\bheaviside\b", "userspace tests/libfuzzer tests/differential docs"),
    ("add an executor of another kind of device", r"libdray[-_]opencl", "userspace/opencl "
     "userspace/core meson.build debian tests/abi/*.py tests/unit/*.py"),
    ("add a quirk of an engine's driver", r"quirk\W+keeps|\bkeeps;|\.keeps = ", "driver"),
    ("add a dmactl command", r"command_reclaim|\"reclaim\"|reclaim\.json", "tools/dmactl"),
    ("change a sentence of dmactl", r"\bcomplain\(", "tools/dmactl userspace/core/memory"),
    ("add a selftest", r"\bquota_race\b", "tests/selftests tests/engine tools/suites"),
]


def named_paths(recipe):
    """Returns an expression of the paths in backticks or links: files, folders, NAME."""
    paths = re.findall(r"`([\w./-]+)`|\]\(([\w./#-]+)\)", SECTIONS[recipe])
    return [re.escape(path).replace("NAME", r"\w+") + (".*" if path.endswith("/") else "$")
            for pair in paths for path in pair if path]


@pytest.mark.parametrize("recipe, made, folders", MADE, ids=[row[0] for row in MADE])
def test_a_recipe_names_all_files(recipe, made, folders):
    found = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "grep", "-lP", made, "--",
                            *folders.split()], cwd=SOURCE, check=True, capture_output=True,
                           text=True).stdout.split()
    named = named_paths(recipe)
    missing = [path for path in found if not any(re.match(name, path) for name in named)]
    assert missing == []


def test_each_recipe_has_an_example():
    recipes = [recipe for recipe in SECTIONS if recipe != "change a limit"]
    assert recipes == [row[0] for row in MADE]


def limits():
    """Yields the rows of the table that "change a limit" links to."""
    text = (SOURCE / "docs/kernel-interface.md").read_text()
    table = text[text.index("### Limits on descriptors"):text.index("### The fence")]
    for row in re.findall(r"^\| `(.*)", table, re.MULTILINE):
        name, value, _, file, pages = [cell.strip(" `") for cell in row.split(" | ")]
        yield name.split("`")[0], value, [file, *re.findall(r"[\w./-]+\.(?:md|\d)\b", pages)]


@pytest.mark.parametrize("name, value, files", limits(), ids=[row[0] for row in limits()])
def test_each_file_has_the_value_of_a_limit(name, value, files):
    assert name in (SOURCE / files[0]).read_text()
    number = re.match(r"\d+", value)
    for file in files if number else []:
        assert re.search(rf"\b{number[0]}\b", (SOURCE / file).read_text()), file

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The manual pages that DRAY_BUILD has made of the public headers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
sys.path.append(str(TREE / "docs/man"))
import reference

BUILD = Path(os.environ["DRAY_BUILD"])
MANUALS = BUILD / "docs/man"
LINK = ".so man3/"


@pytest.fixture(scope="module")
def pages():
    """Text of each page by its name."""
    return {page.stem: page.read_text(encoding="utf-8")
            for page in (MANUALS / "man3").glob("*.3")}


def test_each_exported_function_has_a_page(pages):
    symbols = subprocess.check_output(
        ["nm", "-D", "--defined-only", "--with-symbol-versions",
         *(BUILD / "userspace").glob("*/libdray*.so")],
        text=True)
    exported = set(re.findall(r" T (dray_\w+)@@DRAY_(?!PRIVATE)", symbols))
    assert exported
    assert exported - set(pages) == set()


def test_each_structure_has_a_page(pages):
    text = "".join(header.read_text(encoding="utf-8").split(reference.INSIDE)[0]
                   for header in (TREE / "include/dray").rglob("*.h"))
    structures = set(re.findall(r"^(?:struct|enum) (dray_\w+) {", text, re.MULTILINE))
    assert structures
    assert structures - set(pages) == set()


def test_the_first_page_and_the_table_name_each_header():
    folder = TREE / "include/dray"
    headers = ({str(header.relative_to(folder)) for header in folder.rglob("*.h*")}
               - {"dray.h", "array.h"})
    page = (TREE / "docs/man/libdray.7").read_text(encoding="utf-8")
    table = (TREE / "include/dray/README.md").read_text(encoding="utf-8")
    assert headers - set(re.findall(r"^\.It In dray/(\S+)$", page, re.MULTILINE)) == set()
    assert headers - set(re.findall(r"`(\S+\.h\w*)`", table)) == set()


def test_a_page_names_itself_and_only_pages_that_exist(pages):
    for name, text in pages.items():
        if text.startswith(LINK):
            assert not pages[text[len(LINK):].removesuffix(".3\n")].startswith(LINK), name
            continue
        assert re.search(rf"^\.Nm {name}\b", text, re.MULTILINE), name
        assert set(re.findall(r"^\.(?:It )?Xr (\w+) 3", text, re.MULTILINE)) <= set(pages), name


def test_mandoc_has_no_remark(pages):
    whole = [MANUALS / "man3" / f"{name}.3" for name, text in pages.items()
             if not text.startswith(LINK)]
    said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *whole], text=True,
                          capture_output=True, check=False)
    assert (said.returncode, said.stdout + said.stderr) == (0, "")


SECTIONS = ["DESCRIPTION", "RETURN VALUES", "EXAMPLES", "ERRORS"]


@pytest.mark.parametrize("name, sections", [
    ("dray_buffer_alloc", SECTIONS),
    ("dray_array_empty", SECTIONS),
    ("dray_pool_close", SECTIONS[:1] + SECTIONS[2:3]),
    ("dray_block_ref", SECTIONS[:3]),
    ("dray_memory", SECTIONS[:1] + SECTIONS[2:3]),
])
def test_a_page_has_results_an_example_and_errors(pages, name, sections):
    text = pages[name]
    if text.startswith(LINK):
        text = pages[text[len(LINK):].removesuffix(".3\n")]
    assert [each for each in re.findall("^\\.Sh (.*)", text, re.MULTILINE)
            if each in SECTIONS] == sections


def test_errors_are_a_list(pages):
    page = pages["dray_resource_deallocate"]
    assert page[page.index(".Sh ERRORS"):page.index(".Sh SEE")] == """.Sh ERRORS
.Bl -tag -width Ds
.It \\-EINVAL
no block of this resource, freed already
.El
.Pp
Other errors: those of the resource.
.Pp
Nothing is changed then.
"""


@pytest.mark.parametrize("text, sentence", [
    ("/* plain */\nint dray_thing(void);", "dray_thing() has no comment /** ... */\n"),
    ("/** A thing. */\nvoid *dray_thing(void);",
     "the comment of dray_thing() does not say what it returns: Returns ...\n"),
])
def test_a_function_without_a_comment_is_an_error(tmp_path, text, sentence):
    header = tmp_path / "thing.h"
    header.write_text("/* SPDX */\n/*\n * thing: a thing.\n */\n#ifndef A\n#define A\n\n"
                      f"{text}\n\n#endif\n", encoding="utf-8")
    said = subprocess.run([sys.executable, TREE / "docs/man/reference.py", tmp_path / "man3",
                           TREE / "docs/man/libdray.7", header], text=True,
                          capture_output=True, check=False)
    assert (said.returncode, said.stderr) == (1, sentence)


@pytest.mark.parametrize("program", ["man", "mman"])
@pytest.mark.parametrize("name, prototype", [
    ("dray_copy", "dray_copy(struct dray_queue *queue, const struct dray_view *dst,"),
    ("dray_node_unref", "dray_node_unref(struct dray_node *node);"),
    ("dray_explanation", "dray_explain(struct dray_queue *queue,"),
    ("dray_block_ref", "dray_block_ref(struct dray_block *block);"),
    ("dray_transfer", "#include <dray/transfer.h>"),
])
def test_man_finds_it(program, name, prototype):
    if not shutil.which(program):
        pytest.skip(f"there is no {program}")
    environment = dict(os.environ, LC_ALL="C", MANWIDTH="78", MANPAGER="cat")
    said = subprocess.check_output([program, "-M", MANUALS, "3", name], text=True,
                                   env=environment)
    said = re.sub(".\b", "", said)
    assert prototype in " ".join(said.split())

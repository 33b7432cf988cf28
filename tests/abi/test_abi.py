# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What programs compile in stays as docs/stability.md says."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# pylint: disable=wrong-import-position
import baseline  # noqa: E402
import record  # noqa: E402
import symbols  # noqa: E402
from headers import HEADERS, KERNEL, OPTIONS, PROGRAM, TREE, declarations  # noqa: E402

BUILD = Path(os.environ["DRAY_BUILD"])
PAGE = (TREE / "docs/stability.md").read_text(encoding="utf-8")
SIZE = ("size_t size", "size")
SIZES = [TREE / "userspace/core/base/options.h", TREE / "userspace/array/cast/options.h",
         TREE / "userspace/opencl/opencl.h"]
# The library makes it, and callers read it.
CONSTANT = {"dray_block_allocator"}
STRUCTURES, ENUMS, FUNCTIONS = declarations()
SIZED = {name for name, fields in STRUCTURES.items() if SIZE in fields[:1]} - CONSTANT
KERNELS = set(re.findall(r"^struct (\w+) \{", KERNEL.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_record_agrees_with_the_headers():
    assert record.main([]) is None


@pytest.mark.parametrize("fact, value, said", [
    ("struct dray_view.ndim", "20 int32_t ndim", ["struct dray_view.ndim: 16 int32_t ndim became"]),
    ("struct dray_view", "1056 8", ["struct dray_view: 1048 8 became 1056 8"]),
    ("struct dray_pool_options", "72 8", []),
    ("struct dray_pool_options", "56 8", ["struct dray_pool_options: 64 8 became 56 8"]),
    ("enum dray_order.DRAY_ORDER_C", "2", ["enum dray_order.DRAY_ORDER_C: 0 became 2"]),
    ("enum dray_order.DRAY_ORDER_NEW", "3", []),
    ("function dray_copy", None, ["function dray_copy: "]),
    ("macro DRAY_MAX_NDIM", "65", ["macro DRAY_MAX_NDIM: 64 became 65"]),
])
def test_only_additions_keep_old_programs(fact, value, said):
    _, old = record.read()
    new = {key: kept for key, kept in old.items() if key != fact}
    if value is not None:
        new[fact] = value
    found = record.broken(old, new)
    assert len(found) == len(said)
    assert all(one.startswith(start) for one, start in zip(found, said))


def test_a_released_record_takes_additions_only(monkeypatch, tmp_path):
    _, old = record.read()
    file = tmp_path / "record.txt"
    monkeypatch.setattr(record, "RECORD", file)
    record.write("0.1.0", {**old, "macro DRAY_MAX_NDIM": "32"})
    assert record.main(["--update"]) == ("version 0.1.0 is released, programs rely on it:\n"
                                         "macro DRAY_MAX_NDIM: 32 became 64")
    record.write("0.1.0", {key: value for key, value in old.items() if "DRAY_MAX_NDIM" not in key})
    assert "macro DRAY_MAX_NDIM is new" in record.main([])
    assert record.main(["--update"]) is None
    assert record.main([]) is None
    assert record.read() == ("0.1.0", old)


def test_debian_symbols_agree_with_the_maps():
    assert symbols.main(False) is None


@pytest.mark.skipif(not shutil.which("dpkg-gensymbols"), reason="there is no dpkg-gensymbols")
@pytest.mark.parametrize("library", baseline.LIBRARIES)
def test_a_package_finds_the_symbols_of_the_build(library, tmp_path):
    file = symbols.place(library)
    subprocess.run(
        ["dpkg-gensymbols", f"-p{file.stem}", f"-v{symbols.version(3)}", "-c4", f"-I{file}",
         f"-e{BUILD / baseline.LIBRARIES[library]}.{symbols.version(3)}", f"-O{tmp_path}/said"],
        cwd=TREE, check=True)


def test_structures_in_arguments_begin_with_their_size_or_are_listed():
    named = {name for prototype in FUNCTIONS.values()
             for name in re.findall(r"struct (\w+) \*", prototype)} & set(STRUCTURES)
    assert len(named) > 50 and "dray_pool_options" in SIZED
    listed = set(re.findall(r"`(\w+)`", PAGE))
    assert sorted(set(STRUCTURES) - SIZED - CONSTANT - listed) == []
    assert sorted(listed & SIZED) == []
    assert KERNELS & SIZED == set()


def test_names_of_options_and_results_begin_with_their_size():
    kinds = r"_(options|stats|counts|explanation|plan|functions|limits|description)$"
    assert sorted(name for name in STRUCTURES
                  if re.search(kinds, name) and name not in SIZED) == []


def test_each_structure_with_a_size_has_its_first_version_and_a_test():
    constants = "".join(file.read_text(encoding="utf-8") for file in SIZES)
    tests = "".join(file.read_text(encoding="utf-8")
                    for file in (TREE / "tests/unit").glob("test_o*.c"))
    recorded = {name.lower() for name in re.findall(r"#define (DRAY_\w+)_SIZE_FIRST", constants)}
    assert recorded == SIZED
    # test_opencl.c has the device of OpenCL, which needs a real one.
    assert sorted(name for name in SIZED if not re.search(rf"\b{name}\b", tests)) == []


def test_structures_with_a_size_end_without_padding():
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(
            f'printf("{name} %zu\\n", sizeof(struct {name}) - __builtin_offsetof(struct {name}, '
            f"{last}) - sizeof(((struct {name} *)0)->{last}));\n"
            for name in sorted(SIZED) for _, last in STRUCTURES[name][-1:])
        program = f"{PROGRAM}#include <stdio.h>\nint main(void) {{ {lines} return 0; }}"
        subprocess.run(["cc", "-x", "c", *OPTIONS, "-o", f"{folder}/ends", "-"], input=program,
                       text=True, check=True)
        ends = subprocess.check_output([f"{folder}/ends"], text=True).split("\n")
    assert [line for line in ends if line and not line.endswith(" 0")] == []


@pytest.mark.parametrize("header", [*HEADERS, KERNEL], ids=lambda path: path.name)
def test_each_enum_says_how_to_treat_unknown_values(header):
    text = header.read_text(encoding="utf-8")
    opening = text[:text.index("#ifndef")]
    if "unknown value of" in " ".join(opening.replace(" * ", " ").split()):
        return
    for comment, name in re.findall(r"(?:/\*((?:(?!\*/).)*)\*/\n)?^enum (\w+) \{", text,
                                    re.DOTALL | re.MULTILINE):
        assert "unknown value" in " ".join(comment.replace("\n *", " ").split()), name


def test_the_library_has_the_soname_of_its_version():
    for place in baseline.LIBRARIES.values():
        read = subprocess.check_output(["readelf", "-d", BUILD / place], text=True)
        name = re.search(r"Library soname: \[(.*)\]", read)[1]
        assert name == f"{Path(place).name}.{symbols.version(1)}"


needs_abidiff = pytest.mark.skipif(not shutil.which("abidiff"),
                                   reason="there is no abidiff (Debian: abigail-tools)")


@needs_abidiff
def test_abidiff_finds_no_difference_to_the_baseline():
    if ".debug_info" not in subprocess.check_output(
            ["readelf", "-SW", BUILD / "userspace/core/libdray.so"], text=True):
        pytest.skip("the build has no debug information")
    assert baseline.compare(BUILD) == ""


HEADER = "struct sized { long size; int a, b; };\nenum order { FIRST, SECOND };\n"


@needs_abidiff
@pytest.mark.parametrize("changes, said", [
    ([("FIRST, SECOND", "FIRST, SECOND, THIRD")], ""),
    ([("sized", "dray_none_has_grown"), ("a, b;", "a, b; long more;")], ""),
    ([("a, b;", "a, b; long more;")], "1 data member insertion"),
    ([("FIRST, SECOND", "SECOND, FIRST")], "'order::FIRST' from value '0' to '1'"),
    ([("int a, b;", "long a; int b;")], "type size changed"),
    ([("int call", "int calls")], "1 Removed"),
])
def test_abidiff_allows_new_values_and_structures_that_are_named(tmp_path, changes, said):
    source = HEADER + "int call(struct sized *s, enum order o);\n" \
        "int call(struct sized *s, enum order o) { return s->a + (int)o; }\n"
    libraries = []
    for number, wanted in enumerate((changes[:-1], changes)):
        text = source
        for old, new in wanted:
            assert old in text
            text = text.replace(old, new)
        library = tmp_path / f"{number}.so"
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-x", "c", "-o", library, "-"],
                       input=text, text=True, check=True)
        libraries.append(library)
    found = baseline.differences(*libraries)
    assert said in found and bool(said) == bool(found)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Records what programs compile in: sizes, offsets, values and prototypes.

    record.py               compares the headers with record.txt
    record.py --update      writes record.txt; after a release, with additions only
    record.py --release V   does the same, and notes that version V is released

Needs: cc, on a machine of 64 bits.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from headers import OPTIONS, PROGRAM, constants, declarations

RECORD = Path(__file__).with_name("record.txt")
NONE = "none"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What programs compile in, of 64 bits; tests/abi/record.py writes it.
"""


def questions(structures, enums):
    """Writes a program that prints sizes, offsets and values."""
    yield PROGRAM + "#include <stdio.h>\nint main(void) {\n"
    for name, fields in structures.items():
        yield (f'printf("struct {name}\\t%zu %zu\\n", sizeof(struct {name}), '
               f"_Alignof(struct {name}));\n")
        for declared, field in fields:
            yield (f'printf("struct {name}.{field}\\t%zu {declared}\\n", '
                   f"__builtin_offsetof(struct {name}, {field}));\n")
    for name, values in enums.items():
        yield f'printf("enum {name}\\t%zu\\n", sizeof(enum {name}));\n'
        for value in values:
            yield f'printf("enum {name}.{value}\\t%lld\\n", (long long){value});\n'
    yield "return 0; }\n"


def answers():
    """Returns a line for each fact, by its key."""
    structures, enums, functions = declarations()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/facts"
        subprocess.run(["cc", "-x", "c", *OPTIONS, "-o", program, "-"], check=True, text=True,
                       input="".join(questions(structures, enums)))
        lines = subprocess.check_output([program], text=True).splitlines()
    facts = dict(line.split("\t", 1) for line in lines)
    facts |= {f"function {name}": functions[name] for name in sorted(functions)}
    facts |= {f"macro {name}": value for name, value in sorted(constants().items())}
    return facts


def read():
    """Returns the released version of the record, and its facts."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    facts = dict(line.split("\t", 1) for line in lines if "\t" in line)
    return facts.pop("released", NONE), facts


def may_grow(key, old, new, facts):
    """Whether a structure became longer that begins with its size."""
    return (key.startswith("struct ") and "." not in key
            and facts.get(f"{key}.size") == "0 size_t size"
            and int(new.split()[0]) > int(old.split()[0]))


def broken(old, new):
    """Returns the facts that programs rely on and that are no longer true."""
    return [f"{key}: {value} became {new.get(key, 'nothing')}" for key, value in old.items()
            if key not in new or (new[key] != value
                                  and not may_grow(key, value, new[key], old))]


def write(released, facts):
    RECORD.write_text(HEAD + f"released\t{released}\n" + "".join(
        f"{key}\t{value}\n" for key, value in facts.items()), encoding="utf-8")


def main(arguments):
    released, old = read() if RECORD.exists() else (NONE, {})
    new = answers()
    wrong = broken(old, new)
    if arguments and (released == NONE or not wrong):
        write(arguments[1] if arguments[0] == "--release" else released, new)
        return None
    if arguments:
        return f"version {released} is released, programs rely on it:\n" + "\n".join(wrong)
    added = [f"{key} is new" for key in new if key not in old]
    grown = [f"{key} is longer" for key, value in old.items()
             if new.get(key, value) != value and not wrong]
    if wrong or added or grown:
        return "\n".join([*wrong, *added, *grown, "tests/abi/record.py --update writes them down"])
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

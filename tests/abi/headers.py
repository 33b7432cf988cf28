# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the public headers: structures, enums, functions and constants."""

import re
import subprocess
from pathlib import Path

TREE = Path(__file__).parents[2]
INCLUDE = TREE / "include"
# The headers for MPI and UCX have no part in a library.
HEADERS = [header for folder in ("dray", "dray/array")
           for header in sorted((INCLUDE / folder).glob("*.h")) if header.name not in ("mpi.h", "ucx.h")]
KERNEL = INCLUDE / "uapi/linux/dray.h"
OPTIONS = [f"-I{INCLUDE}", f"-I{INCLUDE}/uapi", "-D_GNU_SOURCE"]
PROGRAM = "".join(f"#include <{header.relative_to(INCLUDE)}>\n" for header in HEADERS)


def preprocessed(*options):
    """Returns the lines of dray's own headers as a compiler sees them."""
    lines = subprocess.run(["cc", "-E", *options, *OPTIONS, "-"], input=PROGRAM, text=True,
                           capture_output=True, check=True).stdout.splitlines()
    ours, kept = False, []
    for line in lines:
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            ours = "/include/dray/" in marker[1]
        elif ours:
            kept.append(line)
    return kept


def without_attributes(text):
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", text)
    return " ".join(re.sub(r"\b__extension__\b|\b__inline\b|_Pragma\([^)]*\)", "", text).split())


def top_level(text):
    """Returns the declarations of a text, each to its semicolon or the end of its body."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "{(") - (sign in "})")
        if depth == 0 and (sign == ";" or (sign == "}" and ") {" in text[start:at])):
            found.append(text[start:at + 1].strip())
            start = at + 1
    return found


def members(body):
    """Returns the declaration and the name of each member, also of unions without a name."""
    found = []
    for part in top_level(body):
        if inner := re.fullmatch(r"(?:union|struct) \{(.*)\} ?;", part):
            found += members(inner[1])
            continue
        declared = part.rstrip(" ;")
        function = re.search(r"\(\*(?:const )?(\w+)\)", declared)
        names = [function[1]] if function else [
            re.search(r"(\w+)(?: ?\[[^]]*\])* ?$", one)[1] for one in declared.split(",")]
        found += [(declared, name) for name in names]
    return found


def declarations():
    """Returns structures and enums by their names, and prototypes of functions by theirs."""
    structures, enums, functions = {}, {}, {}
    lines = [line for line in preprocessed() if not line.startswith("#")]
    for text in top_level(without_attributes("\n".join(lines))):
        if found := re.match(r"struct (\w+) \{(.*)\} ?;", text):
            structures[found[1]] = members(found[2])
        elif found := re.match(r"enum (\w+) \{(.*)\} ?;", text):
            enums[found[1]] = re.findall(r"(\w+)(?: =[^,]*)?(?:,|$)", found[2].strip())
        elif found := re.match(r"(?:extern )?((?!typedef|struct \w+;)[^{=]*?\b(dray_\w+)\(.*?\))"
                               r"(?: ?;| \{)", text):
            functions[found[2]] = found[1]
    return structures, enums, functions


def constants():
    """Returns macros without arguments that the headers define, but for the version."""
    found = {}
    for line in preprocessed("-dD"):
        if defined := re.match(r"#define (DRAY_\w+) (.+)", line):
            if not re.match(r"DRAY_(VERSION|API)|DRAY_\w+_H\b", defined[1]):
                found[defined[1]] = defined[2]
    return found

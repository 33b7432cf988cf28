# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks that includes and calls between rooms go where a list allows.

    layers.py LIST [SECTION]

The list has a section for each folder, "[FOLDER]", "[FOLDER] files" or "[FOLDER] whole",
and in it a line for each room: "ROOM: ROOM...".  A room may include and call itself
and the rooms behind the colon; "ROOM/HEADER" allows the calls, and of the room's
headers only this one, "ROOM/" none.  A room is a folder in the section's folder, or a
folder in such a folder; with "whole", a room is all below a folder in the section's
folder.  Files of the section's folder itself stand above all rooms.  A room's colon
follows only rooms that stand above it in the list, so that rooms form no circle.
Counted as a call is every mention of a function, macro or variable of the project's
that another file defines, so that tables of functions count too.  With "files", calls
between single files may form no circle; a header and its source are two files.  Prints
each violation; fails if there is one.
"""
import os
import re
import sys

PREFIX = "dray_"
NOISE = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" """,
                   re.DOTALL | re.VERBOSE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(.*)', re.MULTILINE)
FUNCTION = re.compile(r"([^;{}()]*)\b(%s\w+)\s*\([^;{}]*\)\s*\{" % PREFIX)
VARIABLE = re.compile(r"([^;{}()=]*)\b(%s\w+)(?:\[\w*\])?\s*(?:=|;)" % PREFIX)


def read_list(path):
    """[(folder, "files" or "whole" or "", {room: rooms})]"""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            section = re.fullmatch(r"\[(\S+)\]( files| whole)?", line)
            room = re.fullmatch(r"(\S+):(.*)", line)
            if section:
                found.append((section[1], (section[2] or "").strip(), {}))
            elif room and found:
                rooms = found[-1][2]
                unknown = {name.split("/")[0] if "/" in name and name not in rooms else name
                           for name in room[2].split()} - set(rooms)
                if unknown:
                    sys.exit(f"{path}: {room[1]} may not call "
                             f"{' '.join(sorted(unknown))}, which is not "
                             "above it")
                rooms[room[1]] = {room[1], *room[2].split()}
            elif line:
                sys.exit(f"{path}: not understood: {line}")
    return found


def outside(text):
    """Removes the text inside braces: a body becomes "{}"."""
    depth, kept = 0, []
    for part in re.split(r"([{}])", text):
        if part == "{":
            depth += 1
        if part == "}":
            depth -= 1
        if depth == 0 or part == "{" and depth == 1:
            kept.append(part)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", "".join(kept),
                  flags=re.MULTILINE)


class File:
    def __init__(self, folder, name, whole):
        self.name = name
        self.room = name.split("/")[0] if whole else os.path.dirname(name)
        with open(os.path.join(folder, name), encoding="utf-8") as text:
            self.text = text.read()
        self.includes = [operand.strip('<>"') if operand[0] in '<"' else None
                         for operand in INCLUDE.findall(
                             re.sub(r"/\*.*?\*/|//.*", "", self.text))
                         for operand in [operand.strip() or "?"]]
        code = NOISE.sub(" ", self.text)
        self.words = set(re.findall(rf"\b{PREFIX}\w+", code))
        self.defines = set(self.definitions(outside(code)))

    def definitions(self, code):
        for head, name in FUNCTION.findall(code):
            if self.name.endswith(".h") or "static" not in head.split():
                yield name
        if self.name.endswith(".c"):
            for head, name in VARIABLE.findall(code):
                words = head.replace("*", " ").split()
                if words and not {"static", "extern"} & {
                        words[0], words[-1]} and words[-1] != "struct":
                    yield name

    def uses(self):
        """Headers mention callees in inline functions and in macros."""
        if self.name.endswith(".c"):
            return self.words
        code = NOISE.sub(" ", self.text)
        bodies = re.findall(r"\{.*?^\}", code, re.DOTALL | re.MULTILINE)
        bodies += re.findall(r"\).*\{.*\}$|^[ \t]*#(?:.*\\\n)*.*$", code,
                             re.MULTILINE)
        return set(re.findall(rf"\b{PREFIX}\w+(?=\s*\()", " ".join(bodies)))


def circles(calls):
    """Groups of files that call one another, by Tarjan."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in calls[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            group = stack[stack.index(name):]
            del stack[stack.index(name):]
            if len(group) > 1:
                found.append(sorted(group))

    for name in calls:
        if name not in index:
            visit(name)
    return found


def allowed(rooms, file, other, included=False):
    """Returns whether FILE may include OTHER, or call it."""
    doors = {name for name in rooms[file.room] if os.path.dirname(name) == other.room}
    return other.room in rooms[file.room] or bool(
        doors if not included else doors & {other.name})


def check(folder, kind, rooms):
    said = []
    rooms[""] = {"", *rooms}
    names = sorted(os.path.relpath(os.path.join(where, name), folder)
                   for where, _, inside in os.walk(folder)
                   for name in inside if re.search(r"\.[ch]$", name))
    said += [f"{os.path.relpath(os.path.join(where, name), folder)}: "
             "neither .c nor .h"
             for where, _, inside in os.walk(folder) for name in inside
             if re.search(r"\.(inc|def|inl|S|cc|cpp|hpp)$", name)]
    files = {name: File(folder, name, kind == "whole") for name in names
             if not name.endswith(".mod.c")}
    owner = {word: file.name for file in files.values()
             for word in file.defines}
    calls = {name: set() for name in files}
    for file in files.values():
        if file.room not in rooms:
            said.append(f"{file.name}: its room is not in the list")
            continue
        for name in file.includes:
            if name is None:
                said.append(f"{file.name}: includes a macro")
                continue
            path = next((path for path in
                         (os.path.normpath(os.path.join(file.room, name)),
                          os.path.normpath(name),
                          *(os.path.join(room, name) for room in rooms if kind == "whole"))
                         if path in files), None)
            if path and not allowed(rooms, file, files[path], included=True):
                said.append(f"{file.name}: includes {path}")
        for word in sorted(file.uses()):
            other = owner.get(word, file.name)
            if other == file.name:
                continue
            calls[file.name].add(other)
            if not allowed(rooms, file, files[other]):
                said.append(f"{file.name}: calls {word} of {other}")
    if kind == "files":
        said += ["a circle of calls: " + " ".join(group)
                 for group in circles(calls)]
    return [f"{folder}/{line}" for line in said]


def main():
    wanted = sys.argv[2:]
    said = [line for folder, kind, rooms in read_list(sys.argv[1])
            if not wanted or folder in wanted
            for line in check(folder, kind, rooms)]
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

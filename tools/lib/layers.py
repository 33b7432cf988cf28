# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks that a list allows all includes and calls, and that they form no circle.

    layers.py LIST [SECTION]

The list contains a section for each folder, "[FOLDER]" or "[FOLDER] whole", and in it a
line for each room: "ROOM: ROOM...".  A room may include and call itself and the rooms
behind the colon; "ROOM/HEADER" allows the calls, and of the room's headers only HEADER,
"ROOM/" none.  A room is a folder in the section's folder, or a folder in such a folder;
with "whole", a room is all below a folder in the section's folder.  Files of the section's
folder itself stand above all rooms.  A room's colon follows only rooms that stand above it
in the list, so that rooms form no circle, and only rooms that it uses.

A header and the source of the same name are a unit.  A unit uses another if it includes
its header, or mentions a function or variable that no file but this other unit defines.
The units of a section form no circle, except the units of a debt: "debt: UNIT...: REASON".
A section that is "whole" leaves circles to the sections of its folders.  Lines that begin
with a space continue the line above.  Prints each violation; fails if there is any.
"""
import os
import re
import sys

CODE = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""",
                  re.DOTALL | re.VERBOSE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(.*)', re.MULTILINE)
MACROS = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
FUNCTION = re.compile(r"(?:\s*[A-Z_0-9]+\([^()]*\))*([^()=]*[\s*])(?![A-Z_0-9]+\b)([A-Za-z_]\w*)\s*\(")
VARIABLE = re.compile(r"([^()=]*[\s*])(?![A-Z_0-9]+\b)([A-Za-z_]\w*)\s*(?:\[[^]]*\]\s*)*(?:=|$)")
BODY = re.compile(r"\)\s*\{[\s\S]*?^\}|\).*\{.*\}$", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.DOTALL)
TOKEN = re.compile(r"[A-Za-z_]\w*|->|\.\d|[^\s\w]|\d\w*")
KEYWORDS = {"return", "else", "case", "goto", "sizeof", "do", "in"}


def lines_of(path):
    """The lines of a list without comments, continued lines joined."""
    with open(path, encoding="utf-8") as text:
        whole = re.sub(r"[ \t]*#.*", "", text.read())
    return [" ".join(line.split()) for line in re.sub(r"\n[ \t]+", " ", whole).split("\n")]


def read_list(path):
    """[(folder, kind, {room: rooms}, {units: reason})]"""
    found = []
    for line in lines_of(path):
        section = re.fullmatch(r"\[(\S+)\]( whole)?", line)
        room = re.fullmatch(r"(\S+):(.*)", line)
        debt = re.fullmatch(r"debt: ([^:]+): (.+)", line)
        if section:
            found.append((section[1], (section[2] or "").strip(), {}, {}))
        elif debt and found:
            found[-1][3][tuple(sorted(debt[1].split()))] = debt[2]
        elif room and room[1] != "debt" and found:
            rooms = found[-1][2]
            unknown = {name.split("/")[0] if "/" in name and name not in rooms else name
                       for name in room[2].split()} - set(rooms)
            if unknown:
                sys.exit(f"{path}: {room[1]} may not call {' '.join(sorted(unknown))}, "
                         "which is not above it")
            rooms[room[1]] = set(room[2].split())
        elif line:
            sys.exit(f"{path}: not understood: {line}")
    return found


def outside(code):
    """Removes macros and the text inside braces: a body becomes "{}"."""
    depth, kept = 0, []
    for part in re.split(r"([{}])", MACROS.sub("", code)):
        if part == "{":
            depth += 1
        if part == "}":
            depth -= 1
        if depth == 0 or part == "{" and depth == 1:
            kept.append(part)
    return "".join(kept)


class File:
    def __init__(self, folder, name, kind):
        self.name = name
        self.unit = name[:-2]
        self.room = name.split("/")[0] if kind == "whole" else os.path.dirname(name)
        with open(os.path.join(folder, name), encoding="utf-8") as text:
            raw = text.read()
        self.includes = [operand.strip('<>"') if operand[:1] in '<"' else None
                         for operand in map(str.strip, INCLUDE.findall(
                             re.sub(r"/\*.*?\*/|//.*", "", raw)))]
        code = CODE.sub(lambda found: " " if found[0][0] == "/" else '""', raw)
        code = ATTRIBUTE.sub("", INCLUDE.sub("", code))
        self.defines, self.own = set(), set()
        self.definitions(outside(code))
        if name.endswith(".h"):
            code = "\n".join(BODY.findall(code) + MACROS.findall(code))
        self.tokens = ["", "", *TOKEN.findall(code), "", ""]

    def definitions(self, code):
        header = self.name.endswith(".h")
        for statement, end in re.findall(r"([^;{}]*)(;|\{\})", code):
            function = FUNCTION.match(statement) if end == "{}" else None
            found = function or VARIABLE.match(statement)
            words = found[1].replace("*", " ").split() if found else []
            if not words or not function and (
                    header or words[-1] in ("struct", "enum", "union") or
                    {"extern", "typedef"} & set(words)):
                continue
            static = "static" in words and not header
            (self.own if static else self.defines).add(found[2])

    def uses(self, names):
        """Returns the names among NAMES that the file uses and neither declares nor
        defines."""
        found = {"call": set(), "use": set(), "declared": set(), "own": set(),
                 "": set()}
        for at, token in enumerate(self.tokens):
            if token in names:
                found[mention(self.tokens, at)].add(token)
        return (found["call"] | found["use"] - found["declared"]) - found["own"] - \
            self.own - self.defines


def mention(tokens, at):
    """Returns how a name is mentioned: "call", "use", "declared", "own" or ""."""
    before, after = tokens[at - 1], tokens[at + 1]
    if before in (".", "->", "struct", "enum", "union", "goto"):
        return ""
    if tokens[at - 2:at] == ["(", "*"] and tokens[at + 1:at + 3] == [")", "("]:
        return "own"
    if after == "(":
        return "call"
    start = back = at - 1
    while tokens[start] not in (";", "{", "}", ""):
        start -= 1
    while tokens[back] == "*":
        back -= 1
    first, second = tokens[start + 1:start + 3]
    list_ = before == "," and is_type(first) and (second == "*" or is_type(second)) and \
        tokens[start:at].count("(") == tokens[start:at].count(")")
    if after in tuple("=;,)[:") and first != "extern" and (list_ or is_type(tokens[back])):
        return "declared"
    return "" if after == ":" and start == at - 1 else "use"


def is_type(token):
    return bool(re.match(r"[A-Za-z_]", token)) and token not in KEYWORDS


def circles(uses):
    """Finds groups of units that use each other, by Tarjan."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(uses[name]):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            group = stack[stack.index(name):]
            del stack[stack.index(name):]
            if len(group) > 1:
                found.append(tuple(sorted(group)))

    for name in uses:
        if name not in index:
            visit(name)
    return found


class Section:
    def __init__(self, folder, kind, rooms, debts):
        self.folder, self.kind, self.rooms, self.debts = folder, kind, rooms, debts
        self.said, self.used = [], set()
        names = sorted(os.path.relpath(os.path.join(where, name), folder)
                       for where, _, inside in os.walk(folder) for name in inside)
        self.said += [f"{name}: neither .c nor .h" for name in names
                      if re.search(r"\.(inc|def|inl|S|cc|cpp|hpp)$", name)]
        self.files = {name: File(folder, name, kind) for name in names
                      if re.search(r"(?<!\.mod)\.[ch]$", name)}
        self.uses = {file.unit: set() for file in self.files.values()}

    def allowed(self, file, other, included=False):
        """Returns whether FILE may include OTHER, or call it."""
        if file.room in ("", other.room):
            return True
        rooms = self.rooms[file.room]
        doors = {name for name in rooms if os.path.dirname(name) == other.room}
        right = {other.room} & rooms or (doors & {other.name} if included else doors)
        self.used |= {(file.room, name) for name in right}
        return bool(right)

    def find(self, file, name):
        """The file that FILE includes by NAME, or None."""
        places = [os.path.dirname(file.name), ""]
        places += list(self.rooms) if self.kind == "whole" else []
        paths = (os.path.normpath(os.path.join(place, name)) for place in places)
        return next((self.files[path] for path in paths if path in self.files), None)

    def check_file(self, file, owners):
        if file.room and file.room not in self.rooms:
            self.said.append(f"{file.name}: its room is not in the list")
            return
        for name in file.includes:
            if name is None:
                self.said.append(f"{file.name}: includes a macro")
                continue
            other = self.find(file, name)
            if other and not self.allowed(file, other, included=True):
                self.said.append(f"{file.name}: includes {other.name}")
            if other:
                self.uses[file.unit].add(other.unit)
        for word in sorted(file.uses(owners)):
            other = owners.get(word, [file])
            if len({one.unit for one in other}) > 1 or other[0].unit == file.unit:
                continue
            self.uses[file.unit].add(other[0].unit)
            if not self.allowed(file, other[0]):
                self.said.append(f"{file.name}: calls {word} of {other[0].name}")

    def check(self):
        owners = {}
        for file in self.files.values():
            for word in file.defines:
                owners.setdefault(word, []).append(file)
        for file in self.files.values():
            self.check_file(file, owners)
        self.said += [f"{room} uses nothing of {name}, which it may use"
                      for room, names in self.rooms.items() for name in sorted(names)
                      if (room, name) not in self.used]
        found = circles({unit: used - {unit} for unit, used in self.uses.items()}) \
            if self.kind != "whole" else []
        self.said += ["a circle: " + " ".join(group) for group in found
                      if group not in self.debts]
        self.said += ["a debt without its circle: " + " ".join(group)
                      for group in self.debts if group not in found]
        return [f"{self.folder}/{line}" for line in self.said]


def main():
    wanted = sys.argv[2:]
    said = [line for folder, kind, rooms, debts in read_list(sys.argv[1])
            if not wanted or folder in wanted
            for line in Section(folder, kind, rooms, debts).check()]
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

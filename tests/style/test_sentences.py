# SPDX-License-Identifier: Apache-2.0 OR MIT
"""No code decides by the words of a sentence or by the name of a handler.

Sentences are for people and may change: programs decide by an error code and by
dray_last_failure(), in Python by the class and the errno of an exception."""

import ast
import re
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
FOLDERS = ("userspace", "tools")

# Functions of C that compare texts, and look for texts in others.
COMPARES = re.compile(
    r"\b(strn?(?:case)?cmp|str(?:case)?str|str(?:n|r|rn)?chr(?:nul)?|str(?:c?spn|pbrk)|strv?sep"
    r"|mem(?:cmp|mem|r?chr)|sscanf|fnmatch|regexec|\w*(?:starts|begins|ends)_\w+"
    r"|PyUnicode_(?:Replace|Contains|Find|FindChar|Tailmatch|Count|Partition|Split"
    r"|RichCompare|Compare\w*|EqualTo\w*))\s*\(")
# A sentence, by its function, by the usual name of a variable, and by a place in it.
SENTENCES = r"\bdray_last_error\s*\(\s*\)|\w*sentence\w*|\bhandler\w*\s*(?:->|\.)\s*name\b"
PLACE = r"(?:{})\s*\[[^]]*\]\s*[!=]="
# Variables that get a sentence or a handler's name.
COPIES = (r"\b(\w+)\s*=\s*(?:{0})",
          r"\b(?:snprintf|strn?cpy|strlcpy|memcpy|PyOS_snprintf)\s*\(\s*(\w+)\b[^;]*(?:{0})")


def without_text(text):
    """Drops comments, and the contents of strings; lines stay."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"',
                  lambda found: '""' if found[0][0] == '"' else "\n" * found[0].count("\n"),
                  text, flags=re.DOTALL)


def arguments(text, start):
    """Returns the text between a parenthesis before @start and its end."""
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[start:end]


def functions(text):
    """Yields the place and the text of each function, and of what lies between."""
    start = 0
    for end in [*(found.end() for found in re.finditer(r"^}.*\n", text, re.MULTILINE)), len(text)]:
        yield start, text[start:end]
        start = end


def search_c(source):
    """Returns the lines of C that decide by words."""
    text, found = without_text(source), set()
    for start, part in functions(text):
        names = {name for copy in COPIES
                 for name in re.findall(copy.format(SENTENCES), part)}
        sentence = "|".join([SENTENCES, *(rf"\b{name}\b" for name in names)])
        places = [call.start() for call in COMPARES.finditer(part)
                  if re.search(sentence, arguments(part, call.end()))]
        places += [place.start() for place in re.finditer(PLACE.format(sentence), part)]
        found.update(text.count("\n", 0, start + place) + 1 for place in places)
    return sorted(found)


# Methods of a text that look into it, and of re and its patterns.
METHODS = {"startswith", "endswith", "find", "rfind", "index", "rindex", "count", "partition",
           "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix", "replace"}
MATCHES = {"match", "search", "fullmatch", "findall", "finditer", "sub", "split"}


class Words(ast.NodeVisitor):
    """Finds the lines of Python that decide by the text of an exception."""

    def __init__(self, tree):
        self.caught = {node.name for node in ast.walk(tree)
                       if isinstance(node, ast.ExceptHandler) and node.name}
        self.copies, self.found = set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and self.is_sentence(node.value):
                self.copies |= {name.id for name in node.targets if isinstance(name, ast.Name)}
        self.visit(tree)

    def is_caught(self, node):
        return isinstance(node, ast.Name) and node.id in self.caught

    def is_sentence(self, node):
        if isinstance(node, ast.Name):
            return node.id in self.copies
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            return (name == "last_error"
                    or name in ("str", "repr", "format") and any(map(self.is_caught, node.args))
                    or isinstance(node.func, ast.Attribute) and self.is_sentence(node.func.value))
        if isinstance(node, ast.JoinedStr):
            return any(isinstance(part, ast.FormattedValue) and self.is_caught(part.value)
                       for part in node.values)
        if isinstance(node, ast.Attribute):
            return (node.attr in ("args", "strerror", "message") and self.is_caught(node.value))
        return isinstance(node, ast.Subscript) and self.is_sentence(node.value)

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        constants = [side for side in sides
                     if isinstance(side, (ast.Constant, ast.Tuple, ast.List, ast.Set))
                     and getattr(side, "value", True) is not None]
        if any(map(self.is_sentence, sides)) and constants:
            self.found.add(node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node):
        method = getattr(node.func, "attr", "")
        if (method in METHODS and self.is_sentence(node.func.value)
                or method in MATCHES and any(map(self.is_sentence, node.args))):
            self.found.add(node.lineno)
        self.generic_visit(node)


def search_python(source):
    return sorted(Words(ast.parse(source)).found)


def sources(*endings):
    return [path for folder in FOLDERS for path in sorted((TREE / folder).rglob("*"))
            if path.suffix in endings]


@pytest.mark.parametrize("search, least, endings", [
    (search_c, 500, (".c", ".h", ".cc", ".hpp")), (search_python, 25, (".py", ".pyi"))],
    ids=["C", "Python"])
def test_no_source_decides_by_the_words_of_a_sentence(search, least, endings):
    paths = sources(*endings)
    assert len(paths) > least
    assert [f"{path.relative_to(TREE)}:{line}" for path in paths
            for line in search(path.read_text(encoding="utf-8"))] == []


BAD_C = [
    'if (strstr(dray_last_error(), "according to the rule"))',
    'if (error == -EINVAL && strstr(sentence, "rule"))',
    'if (ret == -EINVAL && !strncmp(dray_last_error(), "Cannot cast", 11))',
    'const char *after = strstr(frame->sentences[i], " after ");',
    'return !strncmp(handler->name, "dray ", 5) &&',
    "return !strcmp(pool->handler.name,\n\"dray host\");",
    'const char *why = dray_last_error();\nif (strcasestr(why, "memory"))',
    'snprintf(kept, sizeof(kept), "%s", dray_last_error());\nreturn memmem(kept, 5, x, 2);',
    'name = handler->name;\nif (fnmatch("dray *", name, 0))',
    "if (dray_last_error()[0] == 'C')",
    "if (sentence[3] != 'x')",
    "named = PyUnicode_Replace(sentence, flag, keyword, 1);",
]
GOOD_C = [
    'if (ret == -EINVAL && dray_last_failure() == DRAY_FAILURE_CASTING)',
    'if (ret && !*dray_last_error())',
    'if (!*sentence)\nsentence = strerror(-error);',
    'if (!strcmp(name, "sentence"))',
    '/* strstr(dray_last_error(), "rule") */',
    'fprintf(stderr, "%s: strstr(sentence)\\n", dray_last_error());',
    'static void f(void)\n{\nwhy = dray_last_error();\n}\nint g(void)\n{\nreturn strcmp(why, "a");\n}',
    'buffer = PyUnicode_DecodeUTF8(sentence, strlen(sentence), "replace");',
]
CATCH = "try:\n    f()\nexcept OSError as error:\n    "
BAD_PYTHON = [
    CATCH + "if 'rule' in str(error): g()",
    CATCH + "if str(error) == 'no': g()",
    CATCH + "if error.args[0].startswith('Cannot'): g()",
    CATCH + "if error.args == ('no',): g()",
    CATCH + "if 'memory' in error.strerror: g()",
    CATCH + "if re.search('no memory', str(error)): g()",
    CATCH + "if PATTERN.match(f'{error}'): g()",
    CATCH + "text = str(error).lower()\n    if 'rule' in text: g()",
    "if 'memory' in dray.last_error(): g()",
    "why = _dray.last_error()\nif why.startswith('Cannot'): g()",
]
GOOD_PYTHON = [
    CATCH + "if error.errno == errno.ENODEV: print(str(error))",
    CATCH + "if error.args[0] is not None: g()",
    CATCH + "print(f'{error.strerror}, {error}')",
    CATCH + "raise ValueError(str(error)) from error",
    "if 'rule' in str(value): g()",
    "note = dray.last_error()\nif note not in notes: notes.append(note)",
]


@pytest.mark.parametrize("search, source", [
    *((search_c, source) for source in BAD_C), *((search_python, source) for source in BAD_PYTHON)])
def test_a_decision_by_words_is_found(search, source):
    assert len(search(source)) == 1


@pytest.mark.parametrize("search, source", [
    *((search_c, source) for source in GOOD_C),
    *((search_python, source) for source in GOOD_PYTHON)])
def test_a_decision_by_a_code_is_not_found(search, source):
    assert search(source) == []


def test_a_line_is_named():
    assert search_c("/* a\n * b */\n\n" + BAD_C[0] + "\n\n" + BAD_C[2]) == [4, 6]
    assert search_python("\n" + BAD_PYTHON[0]) == [5]

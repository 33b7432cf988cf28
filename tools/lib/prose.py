# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures how comments and pages read, as docs/writing.md asks.

    prose.py           fails if a folder or a file misses its limit
    prose.py FILE...   prints the figures of these files

Counts pronouns that stand for a missing noun (MISSING), words that open a condition
(CONDITION), and the words of FILE_LIMITS, per 1000 words.  Ignores code, `quoted words`,
links and tables written by tools/bench.  Also names each line with a phrase of RIDDLE;
in C, strings of at least four words are sentences too.

prose-debts.txt lists the files above FILE_LIMITS: a file above them that is not listed
fails, and so does a listed file within them.
"""
import re
import subprocess
import sys

# Each row: its name, its files, the most missing nouns and the least conditions
# per 1000 words.
ROOMS = [
    ("driver", ["driver"], 3, 6),
    ("include", ["include"], 3, 6),
    ("userspace", ["userspace"], 3, 6),
    ("tools", ["tools"], 3, 6),
    ("docs", ["docs", "tests/README.md", ":(top,glob)*.md",
              ":(exclude)README.md"], 3, 6),
    ("README", ["README.md"], 3, 6),
    ("examples", ["examples", "dts", "debian", "dkms.conf", "meson.build",
                  ":(exclude)debian/copyright"], 3, 3),
]
MISSING = re.compile(
    r"\b(?:what(?:ever)?|who(?:ever|m|se)?|nobody(?:'s)?)\b", re.IGNORECASE)
CONDITION = re.compile(r"\b(?:if|when)\b", re.IGNORECASE)
# The most in each file of more words than FILE_WORDS; stand-ins and faint verbs are three
# times as frequent as in liburing, libgpiod, RMM and ndtypes.
FILE_WORDS = 120
FILE_LIMITS = [
    ("what/who", MISSING, 3),
    ("one/that of", re.compile(r"\b(?:ones?|that of|those of)\b", re.IGNORECASE), 5),
    ("has/take/give/go/come/tell", re.compile(
        r"\b(?:has|have|had|takes?|taken|gives?|given|goe?s?|comes?|tells?|told)\b",
        re.IGNORECASE), 18),
]
DEBTS = "tools/lib/prose-debts.txt"
# Phrases to avoid, in all sentences and in strings.
RIDDLE = re.compile(
    r"(?<!there )\b(?:is|are|was|were)\s+no\s+(?!longer|more|less|slower|larger)|"
    r"\bwhere\s+(?:there\s+(?:is|are)|no|nothing)\b|\beven where\b|"
    r"\bnames? no\b|\b(?:has|have|had) not\b(?=\W*$|[,.;:])",
    re.IGNORECASE)
STRING_RIDDLE = re.compile(
    rf"{RIDDLE.pattern}|{MISSING.pattern}|\bnowhere\b|^a .* of no\b",
    re.IGNORECASE)
C_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/|//([^\n]*)', re.DOTALL)
# Adjacent strings, as one: a macro between them stands for a number.
C_STRINGS = re.compile(
    r"/\*.*?\*/|//[^\n]*|#include[^\n]*|'\\?.'|"
    r'("(?:\\.|[^"\\\n])*"(?:\s*(?:[A-Z]\w+\s*)?"(?:\\.|[^"\\\n])*")*)',
    re.DOTALL)
SENTENCE_WORDS = 4
HASH_COMMENT = re.compile(r'(?:^|[ \t])[ \t]*#(?!!)([^\n]*)|"""(.*?)"""',
                          re.MULTILINE | re.DOTALL)
MARKDOWN_CODE = re.compile(
    r"<!--\s*table .*?<!--\s*end\s*-->|<!--.*?-->|^```.*?^```|"
    r"^(?:    |\t)[^\n]*|`[^`]*`|\]\([^)]*\)",
    re.MULTILINE | re.DOTALL)


def groups(pattern, text):
    """The text inside each match."""
    return " ".join(part for found in pattern.findall(text)
                    for part in found if part)


def prose(path):
    """The sentences of a file, or None if it has none."""
    name = path.rpartition("/")[2]
    kind = name.rpartition(".")[2] if "." in name else ""
    if kind in ("png", "svg", "json", "patch"):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if kind in ("c", "h", "dts", "dtsi", "dtso"):
        return groups(C_COMMENT, text)
    if kind == "md":
        return MARKDOWN_CODE.sub(" ", text)
    if kind.isdigit():
        return re.sub(r"^\.(?:\\\"|[A-Z]).*|\\f[A-Z]|^'.*", " ", text,
                      flags=re.MULTILINE)
    if (kind == "yaml" or name == "control"
            or not kind and not text.startswith("#")):
        return re.sub(r"^ *[\w-]+:", " ", text, flags=re.MULTILINE)
    if kind in ("py", "pyi", "sh", "bash", "awk", "build", "conf", "postinst",
                "postrm") or not kind:
        return groups(HASH_COMMENT, text)
    return None


def sentences(path):
    """The strings of a C file that people read: each with its line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for found in C_STRINGS.finditer(text):
        said = re.sub(r'"\s*(?:[A-Z]\w+\s*)?"|\\n', " ", found[1] or "")
        said = " ".join(said[1:-1].split())
        if len(re.findall(r"[A-Za-z']{2,}", said)) >= SENTENCE_WORDS:
            yield text.count("\n", 0, found.start()) + 1, said


def riddles(path, text):
    """Lists the comments and the strings with a phrase to avoid."""
    for at in RIDDLE.finditer(text):
        around = text[max(0, at.start() - 30):at.end() + 30]
        yield f'{path}: "{" ".join(around.split())}"'
    if path.endswith((".c", ".h")):
        for line, said in sentences(path):
            if STRING_RIDDLE.search(said):
                yield f'{path}:{line}: "{said}"'


def rates(text):
    """Words, missing nouns and conditions per 1000 of them, and the limits exceeded."""
    words = len(re.findall(r"[A-Za-z']+", text))

    def rate(pattern):
        return 1000 * len(pattern.findall(text)) / max(words, 1)

    over = [f"{rate(pattern):.0f} {name}, at most {most}"
            for name, pattern, most in FILE_LIMITS
            if words > FILE_WORDS and rate(pattern) > most]
    return words, rate(MISSING), rate(CONDITION), over


def tracked(paths):
    """The tree's files, tracked or new."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-co", "-z",
         "--exclude-standard", "--deduplicate", "--", *paths],
        capture_output=True, check=True).stdout.decode()
    return [path for path in listed.split("\0") if path]


def show(name, words, missing, condition, note=""):
    print(f"{name}: {words} words, {missing:.1f} what/who, "
          f"{condition:.1f} if/when per 1000{note}")


def texts(paths):
    """The comments of each file, and the strings of each C file, by name."""
    found = {}
    for path in paths:
        try:
            found[path] = prose(path) or ""
        except FileNotFoundError:
            continue
        if path.endswith((".c", ".h")):
            found[path + " strings"] = " ".join(
                said for _, said in sentences(path))
    return found


def check():
    """True if each room and each of its longer files is within the limits."""
    with open(DEBTS, encoding="utf-8") as file:
        debts = [line for line in file.read().splitlines() if line[0] != "#"]
    complaints = [] if debts == sorted(set(debts)) else [f"{DEBTS}: sort it"]
    good, owed = True, set()
    for room, paths, most, least in ROOMS:
        found = texts(tracked(paths))
        comments = " ".join(text for name, text in found.items()
                            if not name.endswith(" strings"))
        figures = rates(comments)[:3]
        met = figures[1] <= most and figures[2] >= least
        show(room, *figures,
             "" if met else f": at most {most} and at least {least}")
        good = good and met
        for name, text in found.items():
            if not name.endswith(" strings"):
                complaints += riddles(name, text)
            over = rates(text)[-1]
            if over:
                owed.add(name)
                if name not in debts:
                    complaints.append(f"{name}: {'; '.join(over)} per 1000 words")
    complaints += [f"{DEBTS}: {name} is within the limits, delete the line"
                   for name in debts if name not in owed]
    print("".join(f"  {complaint}\n" for complaint in complaints), end="")
    print(f"debts: {len(debts)} files")
    return good and not complaints


if len(sys.argv) > 1:
    for argument in sys.argv[1:]:
        for about, said in texts([argument]).items():
            if said or about == argument:
                *numbers, above = rates(said)
                show(about, *numbers, "".join(f"; {each}" for each in above))
        for riddle in riddles(argument, prose(argument) or ""):
            print("  " + riddle)
else:
    sys.exit(not check())

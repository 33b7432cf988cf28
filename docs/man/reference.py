# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes section-3 manual pages of the public headers.

    reference.py FOLDER PAGE HEADER...

A page documents the functions that a header declares without a blank line between
them, and the types and constants in front of these.  Further names lead to the
page by a link.  Each header gets a page of its own, dray_transfer(3) for
dray/transfer.h, with its opening comment and a list of its functions.

The headers' form: a comment /** ... */ lies directly before the declaration it
describes; "@name:" begins a parameter, "Errors:" the errors, and a line with a
tab a row of a table.  A comment between blank lines describes the functions
behind it.  A function without a comment is an error.  The pages get
the date of the manual page PAGE.

RETURN VALUES are the sentences "Returns ..." and clauses "; returns ..."; a
function without these returns an int, 0 or a negative errno.  ERRORS is a list, if
the errors are "-ECODE (reason)" or "as another function".  EXAMPLES is the code in
the opening comment: paragraphs with a tab, and a semicolon at the end of a line.  A page
of functions that it does not call refers to the header's page.
"""
import re
import sys
import textwrap
from pathlib import Path

# By the folder of a header, or its name
LIBRARIES = {"array": "libdray-array", "opencl.h": "libdray-opencl"}
# Begins the functions of a header that only its own functions call
INSIDE = "/* All below is how. */"
# Lines for compilers, with the comment in front of them.
COMPILERS = re.compile(
    r"(?:/\*(?:(?!\*/).)*\*/\n)?(?:#if(?:def| defined).*?#endif\n|#define DRAY_(?:API|INLINED)(?:[^\n]*\\\n)*[^\n]*\n)|"
    r"(?m:^)(?:DRAY_ABI\([^;]*;|(?:DRAY_NAMESAKE_|#undef|#include)[^\n]*)\n", re.DOTALL)
TOKEN = re.compile(r"/\*.*?\*/|#(?:[^\n]|(?<=\\)\n)*|\n[ \t]*(?=\n)|[{}();]|[^/#\n{}();]+|\s",
                   re.DOTALL)


# Items of a sentence "Errors: ...": a code, and errors of others
CODE = re.compile(r"(?:also |and |else |or )*(-E\w+(?:(?: and | or |/)-E\w+)*)(?: \((.*)\)| (.*))?")
# Codes that a header leaves without words
PLAIN = {"-ENOMEM": "not enough memory", "-EINTR": "a signal arrived first",
         "-ETIME": "the timeout is over", "-ECHILD": "the object belongs to the parent process"}
OTHER = re.compile(r"^(?:also |and |else |or )*(?=as |(?:the )?errors |an error |[\w()]+(?: and [\w()]+)?$)")


class Chunk:
    """Comments and declarations of a header between two blank lines."""

    def __init__(self, tokens):
        self.text = "".join(tokens).strip("\n")
        self.functions = []     # (name, declaration, comment)
        self.types = []
        comment, declaration, depth = "", "", 0
        for token in tokens:
            if not depth and not declaration.strip() and token[:2] in ("/*", "#d"):
                comment = token if token[:2] == "/*" else comment
                continue
            declaration += token
            depth += (token in "{(") - (token in ")}")
            if not depth and (token == ";" or token == "}" and "DRAY_INLINED(" in declaration):
                self.add(" ".join(declaration.split()), comment)
                comment, declaration = "", ""

    def add(self, declaration, comment):
        declared = re.match(r"(?:struct|enum) (\w+) {|typedef .*?(dray_\w+)\(", declaration)
        if declared:
            # Structures of other protocols have no page.
            name = declared[1] or declared[2]
            self.types += [name] if name.startswith("dray_") else []
        elif "(" in declaration and not declaration.startswith("DRAY_BUILTIN("):
            name = re.search(r"(dray_\w+) ?\(", declaration.replace("DRAY_INLINED(", ""))[1]
            if not comment.startswith("/**"):
                sys.exit(f"{name}() has no comment /** ... */")
            self.functions.append((name, declaration, comment))


def chunks(text):
    """The header's chunks, behind its opening comment and guard."""
    found, tokens, depth = [], [], 0
    for token in TOKEN.findall(text):
        depth += (token in "{(") - (token in ")}")
        if token.startswith("\n") and not depth and tokens:
            if token != "\n" or tokens[-1] == "\n":
                found.append(tokens)
                tokens = []
                continue
        tokens.append(token)
    return [Chunk(tokens) for tokens in found + [tokens] if "".join(tokens).strip()]


def paragraphs(comment):
    """The comment's paragraphs, each a list of lines without the stars."""
    lines = [re.sub(r"^ \* ?", "", line).rstrip()
             for line in re.sub(r"^/\*\*?\n?| ?\*/$", "", comment).split("\n")]
    text = "\n".join(lines).strip("\n ")
    text = re.sub(r"(^|\n|\.\s+)(?=Errors:)", r"\1\n\n", text)
    text = re.sub(r"\n(?=@\w+:)", "\n\n", text)
    return [each.split("\n") for each in re.split(r"\n{2,}", text) if each.strip()]


def escape(text):
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w-])-(?=E[A-Z]|\d)", r"\-", text)
    text = re.sub(r"@(\w+)", r"\\fI\1\\fP", text)
    text = re.sub(r"\b(dray_\w+)\(\)", r"\\fB\1\\fP()", text)
    return re.sub(r"^(?=[.'])", r"\\&", text)


def table(lines):
    """Rows "<tab>term<tab>text", with more tabs in front of text that goes on."""
    rows = []
    for line in lines:
        row = re.match(r"\t([^\t]+)\t+(.+)$", line) or \
            re.match(r"\t(\"[^\"]+\"|-E\w+$) ?(.*)$", line)
        if row:
            rows.append(row.groups())
        elif line.startswith("\t\t") and rows:
            rows[-1] += (line.strip(),)
        else:
            return [".Bd -literal -offset indent",
                    *(escape(each.expandtabs(8).strip()) for each in lines), ".Ed"]
    said = [".Bl -tag -width Ds -compact"]
    for term, *text in rows:
        said += [f".It {escape(term)}".replace('"', r"\(dq"), *filled(text)]
    return said + [".El"]


def sentences(lines):
    return re.split(r"(?:(?<=[.?])|(?<=[.?]\)))\s+(?=\W?[A-Z])", " ".join(lines))


def filled(lines):
    """Text, each sentence on lines of its own."""
    return [escape(line) for sentence in sentences(lines) for line in textwrap.wrap(
        sentence, 78, break_long_words=False, break_on_hyphens=False)]


def outside(text, sign):
    """The parts of a text between signs, a pattern, that are in no parentheses."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        found = re.compile(sign).match(text, place)
        if found and not depth and place >= start:
            parts.append(text[start:place].strip())
            start = found.end()
    return parts + [text[start:].strip()]


def prose(lines):
    """A paragraph: text, and tables in it."""
    said = []
    while lines:
        tabbed = lines[0].startswith("\t")
        count = next((number for number, line in enumerate(lines)
                      if line.startswith("\t") != tabbed), len(lines))
        said += table(lines[:count]) if tabbed else filled(lines[:count])
        lines = lines[count:]
    return said


def failures(lines):
    """Errors as a list of codes, if each of them is of such a form."""
    first, *rest = outside(" ".join(lines), r"\.(?=\s|$)\s*")
    items = outside(" ".join(first.split()), "[,;] ")
    codes = [CODE.fullmatch(item) for item in items]
    others = [item for item, code in zip(items, codes) if not code]
    if len(items) == len(others) or not all(map(OTHER.match, others)):
        return prose(lines)
    said = [".Bl -tag -width Ds"]
    for code in filter(None, codes):
        said += [f".It {escape(code[1])}", *filled([code[2] or code[3] or PLAIN.get(code[1], "")])]
    said.append(".El")
    if others:
        named = ", ".join(re.sub("^(?:the )?errors ", "those ", OTHER.sub("", other))
                          for other in others)
        said += [".Pp", *filled([f"Other errors: {named}."])]
    rest = [f"{sentence}." for sentence in rest if sentence]
    return said + [".Pp"] * bool(rest) + filled(rest)


def returned(name, declaration, comment):
    """The text of RETURN VALUES."""
    kind = re.sub(r"DRAY_API |DRAY_INLINED\(|static inline ", "", declaration).split(name)[0].strip()
    said = [found[0][:1].upper() + found[0][1:] for lines in paragraphs(comment)
            if not re.match(r"@|Errors:|\t", lines[0])
            for found in (re.search("^Returns .*|(?<=[;:] )returns .*", " ".join(each.split()))
                          for each in sentences(lines)) if found]
    if kind == "void":
        return []
    if not said and kind != "int":
        sys.exit(f"the comment of {name}() does not say what it returns: Returns ...")
    return filled(said or ["Returns 0, or a negative errno."])


def sections(comment):
    """(description, errors) of a function, both as lines of mdoc."""
    texts, errors, listed = ([], []), False, False
    for lines in paragraphs(comment):
        begins = lines[0].startswith("Errors:")
        parameter = re.match(r"@(\w+):\s*(.*)", lines[0])
        if listed and not parameter:
            texts[errors].append(".El")
        errors |= begins
        said = texts[errors]
        if parameter:
            # An indented line continues the text; a table has rows of its own.
            rest = lines[1:]
            if not any(re.match(r"\t[^\t]+\t", line) for line in rest):
                rest = [line.strip() for line in rest]
            said += [] if listed else [".Bl -tag -width Ds"]
            said += [f".It Fa {parameter[1]}", *prose([parameter[2], *rest])]
        elif begins:
            lines[0] = lines[0].removeprefix("Errors:").strip()
            said += failures(lines[not lines[0]:])
        else:
            said += [".Pp"] * bool(said and lines[0][0] != "\t") + prose(lines)
        listed = bool(parameter)
    if listed:
        texts[errors].append(".El")
    return texts


def summary(comment):
    """The first clause of a comment, to stand behind a page's names."""
    text = " ".join(" ".join(paragraphs(comment)[0]).split())
    text = re.split(r"[.:;](?:\s|$)", re.sub(r" \([^)]*\)", "", text))[0]
    text = text if text[1:2].isupper() else text[:1].lower() + text[1:]
    return text.replace("@", "").replace('"', r"\(dq")


def synopsis(declaration):
    """A function's prototype in mdoc."""
    text = re.sub(r"DRAY_INLINED\((.*?)\) ?{.*", r"\1", declaration)
    text = re.sub(r"DRAY_API |static inline | __attribute__.*", "", text.rstrip(";"))
    kind, name, arguments = re.match(r"(.*?)(dray_\w+) ?\((.*)\)$", text).groups()
    said = [f'.Fa "{argument}"' for argument in outside(arguments, ",")]
    return [f'.Ft "{kind.strip()}"', f".Fo {name}", *said, ".Fc"]


def page(date, name, names, brief, body, text, room):
    """A whole page; the functions that it names in text come under SEE ALSO."""
    others = set(re.findall(r"\bdray_\w+(?=\(\))", text)) & room["known"] - set(names)
    others |= {room["name"]} - {name}
    also = [f".Xr {other} 3 ," for other in sorted(others)] + [".Xr libdray 7"]
    listed = [f".Nm {each} ," for each in names[:-1]] + [f".Nm {names[-1]}"]
    return "\n".join([r".\" SPDX-License-Identifier: Apache-2.0 OR MIT",
                      r".\" Made of a header by docs/man/reference.py.",
                      f".Dd {date}", f".Dt {name.upper()} 3", ".Os", ".Sh NAME", *listed,
                      f".Nd {brief}", ".Sh LIBRARY",
                      "{0} ({0}, \\-l{1})".format(room["library"], room["library"][3:]),
                      ".Sh SYNOPSIS", f".In dray/{room['header']}", *body,
                      ".Sh SEE ALSO", *also, ""])


def literal(chunks_of_types):
    """Types and constants as the header has them."""
    text = "\n\n".join(each.text for each in chunks_of_types
                        if not re.fullmatch(r"(struct \w+;\s*)+", each.text))
    if not text:
        return []
    lines = text.expandtabs(8).replace("\\", "\\e").split("\n")
    return [".Sh TYPES AND CONSTANTS", ".Bd -literal -compact", *lines, ".Ed"]


def is_code(lines):
    return lines[0][0] == "\t" and any(line.endswith(";") for line in lines)


def example(opening):
    """The code in an opening comment, as lines of C."""
    found = [line.removeprefix("\t") for lines in paragraphs(opening) if is_code(lines)
             for line in ["", *lines]]
    return found[1:]


def examples(room, names=()):
    """The header's example; a page of functions that it does not call names its page."""
    if names and room["example"] and not any(
            re.search(rf"\b{name}\(", line) for name in names for line in room["example"]):
        return [".Sh EXAMPLES", "See", f".Xr {room['name']} 3 ."]
    lines = [re.sub(r"^(?=[.'])", r"\\&", line.expandtabs(8).replace("\\", "\\e"))
             for line in room["example"]]
    return [".Sh EXAMPLES", ".Bd -literal -offset indent", *lines, ".Ed"] if lines else []


def part(title, texts):
    """A section with texts of functions, by text the functions' names."""
    body = []
    for text, names in texts.items():
        if text:
            listed = ", ".join(f"{each}()" for each in names)
            body += [f".Ss {listed}"] * (len(texts) > 1) + [*text]
    return [f".Sh {title}", *body] if body else []


def function_page(date, chunk, types, section, room):
    names = [name for name, _, _ in chunk.functions]
    body = [line for _, declaration, _ in chunk.functions for line in synopsis(declaration)]
    body.append(".Sh DESCRIPTION")
    several = len(names) > 1
    values, errors = {}, {}
    for name, declaration, comment in chunk.functions:
        description, failed = sections(comment)
        body += [f".Ss {name}()"] * several + description
        values.setdefault((*returned(name, declaration, comment),), []).append(name)
        errors.setdefault((*failed,), []).append(name)
    if section:
        body += [".Ss All of these functions" if several else ".Pp", *sections(section)[0]]
    body += part("RETURN VALUES", values) + examples(room, names) + part("ERRORS", errors)
    return page(date, names[0], names, summary(chunk.functions[0][2]), body + literal(types),
                chunk.text + section, room)


def room_page(date, opening, groups, types, room):
    title, *rest = paragraphs(opening)
    brief = summary("\n".join(title).split(": ", 1)[1])
    title[0] = title[0].split(": ", 1)[1]
    title[0] = title[0][:1].upper() + title[0][1:]
    body = [".Sh DESCRIPTION", *prose(title)]
    for lines in rest:
        if not is_code(lines):
            body += [".Pp"] * (lines[0][0] != "\t") + prose(lines)
    body += [".Ss Functions", ".Bl -tag -width Ds -compact"]
    for chunk in groups:
        for name, _, comment in chunk.functions:
            body += [f".It Xr {name} 3", escape(summary(comment))]
    return page(date, room["name"], [room["name"]], brief,
                body + [".El"] + examples(room) + literal(types), opening, room)


def header_pages(date, header, text, known):
    """(pages, links) of a header, by name: texts, and names of pages."""
    opening = re.search(r"/\*\n.*?\*/", text, re.DOTALL)
    if not opening:
        return {}, {}
    room = {"header": header, "known": known, "name": f"dray_{Path(header).stem}",
            "library": LIBRARIES.get(header.split("/")[0], "libdray"),
            "example": example(opening[0])}
    text = text[opening.end():].split(INSIDE)[0]
    text = COMPILERS.sub("", text.split("\n", 3)[3])
    pages, links, types, section, groups = {}, {}, [], "", []
    for chunk in chunks(text):
        if chunk.functions:
            groups.append(chunk)
            name, *others = [each for each, _, _ in chunk.functions]
            pages[name] = function_page(date, chunk, types, section, room)
            links |= {other: name for each in types for other in each.types
                      if other not in known}
            links |= dict.fromkeys(others, name)
            types = []
        elif re.fullmatch(r"/\*[^*](?:(?!\*/).)*\*/", chunk.text, re.DOTALL):
            section = chunk.text
        elif not chunk.text.startswith("#endif"):
            types.append(chunk)
            section = ""
    pages[room["name"]] = room_page(date, opening[0], groups, types, room)
    return pages, links


def main(folder, dated, *headers):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    date = re.search(r"^\.Dd (.*)$", Path(dated).read_text(encoding="utf-8"), re.MULTILINE)[1]
    texts = {re.search(r"(array/)?[^/]*$", header)[0]: Path(header).read_text(encoding="utf-8")
             for header in headers}
    known = set(re.findall(r"\b(dray_\w+)\(", "".join(texts.values())))
    pages, links = {}, {}
    for header, text in texts.items():
        more_pages, more_links = header_pages(date, header, text, known)
        pages |= more_pages
        links |= more_links
    for name, target in links.items():
        pages.setdefault(name, f".so man3/{target}.3\n")
    for name, text in pages.items():
        (folder / f"{name}.3").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

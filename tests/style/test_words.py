# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The words of docs/architecture.md and of the rooms' READMEs: fifteen for the whole, and
each defined in one place."""

import collections
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURE = SOURCE / "docs/architecture.md"
TABLE = re.compile(r"^\| word \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


def words(page):
    """Returns the words that the table of a page defines."""
    found = []
    for table in TABLE.findall(page.read_text() + "\n"):
        for row in table.splitlines():
            found += row.split("|")[1].strip().split(", ")
    return found


def rooms():
    return [page for folder in ("driver", "userspace", "tools")
            for page in (SOURCE / folder).rglob("README.md")]


def test_fifteen_words_are_enough_for_a_first_change():
    assert len(words(ARCHITECTURE)) == 15


def test_a_word_is_defined_once():
    places = collections.defaultdict(list)
    for page in [ARCHITECTURE, *rooms()]:
        for word in words(page):
            places[word].append(str(page.relative_to(SOURCE)))
    assert len(places) > 70
    assert {word: pages for word, pages in places.items() if len(pages) > 1} == {}


def test_the_picture_fits_a_screen():
    text = ARCHITECTURE.read_text()
    picture = text[text.index("## The picture"):text.index("## Principles")]
    assert 30 < picture.count("\n") <= 50

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures of dmactl map: compared with references, and the two forms with each
other.

To renew the references after a change that is meant: dmactl-scripted map HEAP -o
FILE with the options below, and look at them.
"""

import os
import resource
import shutil
import signal
import subprocess
import xml.etree.ElementTree as xml

import pytest
from PIL import Image, ImageChops, ImageStat

from conftest import SCRIPTED, TREE, misused, run, shown

REFERENCES = TREE / "tests/dmactl/pictures"
SMALL = ["--width", "480", "--height", "320"]
NAMESPACE = "{http://www.w3.org/2000/svg}"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def draw(folder, form, *arguments, scene="plain", options=SMALL):
    file = folder / f"map.{form}"
    assert shown("map", *arguments, *options, "-o", file, scene=scene) == ""
    return file


def pixels(file):
    return Image.open(file).convert("RGB")


def rendered(svg, folder):
    """The SVG's pixels, drawn by another program."""
    assert shutil.which("rsvg-convert"), "it is missing: apt install librsvg2-bin"
    file = folder / "rendered.png"
    subprocess.run(["rsvg-convert", svg, "-o", file], check=True)
    return pixels(file)


def difference(one, other):
    """Mean of all channels, and the part of pixels that clearly differ."""
    assert one.size == other.size
    found = ImageChops.difference(one, other)
    mean = sum(ImageStat.Stat(found).mean) / 3
    grey = found.convert("L").point(lambda value: value > 40 and 255)
    return mean, ImageStat.Stat(grey).mean[0] / 255


def shapes(svg, name):
    return list(xml.parse(svg).getroot().iter(NAMESPACE + name))


def tooltips(svg):
    """(title, rectangle) of each group."""
    return [(group.find(NAMESPACE + "title").text,
             group.find(NAMESPACE + "rect").attrib)
            for group in shapes(svg, "g")]


@pytest.mark.parametrize("name, scene, arguments", [
    ("plain", "plain", ["reserved"]),
    ("shared", "plain", ["other"]),
    ("hostile", "hostile", ["reserved", "--by", "user"]),
])
def test_a_picture_is_as_its_reference(name, scene, arguments, tmp_path):
    svg = draw(tmp_path, "svg", *arguments, scene=scene)
    assert svg.read_text() == (REFERENCES / f"{name}.svg").read_text()
    png = draw(tmp_path, "png", *arguments, scene=scene)
    assert png.read_bytes().startswith(SIGNATURE)
    mean, differing = difference(pixels(png),
                                 pixels(REFERENCES / f"{name}.png"))
    # other versions of cairo round the edges of letters otherwise
    assert mean < 1 and differing < 0.002


@pytest.mark.parametrize("scene, options", [
    ("plain", SMALL), ("held", []), ("hostile", []), ("many", []),
    ("many", SMALL), ("many", ["--width", "3000", "--height", "900"]),
    ("many", ["--width", "320", "--height", "280"])])
def test_both_forms_show_the_same(scene, options, tmp_path):
    svg = draw(tmp_path, "svg", "reserved", scene=scene, options=options)
    png = pixels(draw(tmp_path, "png", "reserved", scene=scene,
                      options=options))
    other = rendered(svg, tmp_path)
    # letters differ, which are many in a small picture
    mean, differing = difference(png, other)
    assert mean < 10 and differing < 0.08
    checked = 0
    for _, rectangle in tooltips(svg):
        x, y, width, height = (float(rectangle[key]) for key in (
            "x", "y", "width", "height"))
        colour = tuple(bytes.fromhex(rectangle["fill"][1:]))
        middle = (int(x + width / 2), int(y + height / 2))
        assert png.getpixel(middle) == colour == other.getpixel(middle)
        checked += 1
    assert checked >= (100 if scene == "many" else 9)


def test_tooltips_tell_each_buffer(tmp_path):
    titles = [title for title, _ in tooltips(
        draw(tmp_path, "svg", "reserved"))]
    for title in ("python3 101 root: 1.0M at 0B, id 1, frame",
                  "python3 gone root: 2.0M at 5.0M, id 2, frame",
                  "others: 29.0M at 23.0M", "quarantine: 8.0M at 11.0M",
                  "free"):
        assert title in titles


def test_parts_are_as_wide_as_their_bytes(tmp_path):
    found = tooltips(draw(tmp_path, "svg", "reserved", options=[]))
    free = next(float(rectangle["width"]) for title, rectangle in found
                if title == "free")
    first = float(found[0][1]["width"])
    # of a row of 4 MiB the first buffer has one
    assert abs(first * 3 - free) <= 3


@pytest.mark.parametrize("options", [
    [], SMALL, ["--width", "16384", "--height", "16384"]])
def test_a_picture_of_many_buffers_is_bounded(options, tmp_path):
    svg = draw(tmp_path, "svg", "reserved", scene="many", options=options)
    assert svg.stat().st_size < 3 << 20
    width, height = map(int, shapes(svg, "svg")[0].attrib["viewBox"].split()[2:])
    for _, rectangle in tooltips(svg):
        assert float(rectangle["x"]) + float(rectangle["width"]) <= width
        assert float(rectangle["y"]) + float(rectangle["height"]) <= height


def test_a_narrow_picture_aggregates(tmp_path):
    titles = [title for title, _ in tooltips(
        draw(tmp_path, "svg", "reserved", scene="many"))]
    assert len(titles) < 10000
    assert any(title.startswith("several, the largest of worker")
               for title in titles)


def test_names_are_text_in_xml(tmp_path):
    svg = draw(tmp_path, "svg", "reserved", scene="hostile")
    text = svg.read_bytes().decode()
    assert [char for char in text if char < " " and char != "\n"] == []
    titles = [title for title, _ in tooltips(svg)]
    assert any("\\x1b[2Jgone\\x5c" in title for title in titles)
    # with a locale that takes all bytes for letters it is still UTF-8
    xml.fromstring(shown("map", "-o", "-", scene="hostile",
                         environment={"LC_ALL": "C"}))


def test_standard_output_gets_the_same_svg(tmp_path):
    assert shown("map", "reserved", *SMALL, "-o", "-") == draw(
        tmp_path, "svg", "reserved").read_text()


def test_several_heaps_share_a_picture(tmp_path):
    svg = draw(tmp_path, "svg", options=[])
    assert shapes(svg, "svg")[0].attrib["height"] == "1280"
    texts = [text.text for text in shapes(svg, "text")]
    assert texts.count("reserved of dray0: 64.0M") == 1
    assert texts.count("other of dray0: 64.0M") == 1


@pytest.mark.parametrize("option, size", [
    ("--height", "1120 by 559"), ("--width", "319 by 1280")])
def test_a_picture_has_room_for_its_heaps(option, size):
    side = size.split(" by ")[option == "--height"]
    assert run(SCRIPTED, "map", "-o", "-", option, side) == misused(
        f"{size} pixels do not suit 2 heaps: each needs 320 by 280, and a "
        "picture has at most 16384 by 16384")


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_heap_without_a_range_is_drawn_as_text(form, tmp_path):
    assert draw(tmp_path, form, "pages").stat().st_size > 500


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_file_has_the_mode_that_umask_gives(form, tmp_path):
    old = os.umask(0o027)
    try:
        file = draw(tmp_path, form, "reserved")
    finally:
        os.umask(old)
    assert file.stat().st_mode & 0o7777 == 0o640


def test_a_file_with_attributes_keeps_them(tmp_path):
    file = draw(tmp_path, "svg", "reserved")
    try:
        os.setxattr(file, "user.dray.test", b"1")
    except OSError as error:
        pytest.skip(f"no attributes in {tmp_path}: {error}")
    drawn = file.read_bytes()
    file.write_text("old")
    assert draw(tmp_path, "svg", "reserved") == file
    assert file.read_bytes() == drawn
    assert os.getxattr(file, "user.dray.test") == b"1"


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_file_that_cannot_be_written_leaves_the_old_one(form, tmp_path):
    file = tmp_path / f"map.{form}"
    file.write_text("old")

    def no_large_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    assert run(SCRIPTED, "map", "-o", file, preexec_fn=no_large_files) == (
        1, "", f"dmactl: cannot write '{file}': File too large\n")
    assert [(file.name, file.read_text())] == [
        (entry.name, entry.read_text()) for entry in tmp_path.iterdir()]


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_folder_that_is_not_there_is_named(form, tmp_path):
    file = tmp_path / f"none/map.{form}"
    assert run(SCRIPTED, "map", "-o", file) == (
        1, "", f"dmactl: cannot write '{file}': No such file or directory\n")


def test_lost_standard_output_is_a_failure():
    with open("/dev/full", "wb") as full:
        assert run(SCRIPTED, "map", "-o", "-", stdout=full) == (
            1, "", "dmactl: cannot write all of the output: "
            "No space left on device\n")


def test_without_cairo_a_png_says_how_to_get_it(tmp_path):
    (tmp_path / "libcairo.so.2").write_text("")
    (tmp_path / "old").mkdir()
    file = tmp_path / "old/map.png"
    path = f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    assert run(SCRIPTED, "map", "-o", file,
               environment={"LD_LIBRARY_PATH": path}) == (
        1, "", "dmactl: PNG needs libcairo.so.2: install libcairo2, or write "
        "an .svg\n")
    assert list(file.parent.iterdir()) == []

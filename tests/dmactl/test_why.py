# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl why over scripted heaps: the answer, the owners of the memory, ways out."""

import json

import pytest

import schema
from conftest import SCRIPTED, document, run

MIB = 1 << 20

FRAGMENTED = """\
no: reserved: the heap is fragmented, its longest free run is 4194304 bytes

HEAP      TYPE      ANSWER  REASON
reserved  reserved  no      the heap is fragmented, its longest free run is 4194304 bytes

needed: 16.0M of heap reserved, at offset 0B, if these 8.0M are given back:
ID  SIZE  NEEDED   PID  COMM     USER  NAME
 1  1.0M    1.0M   101  python3  root  frame
 2  2.0M    2.0M  gone  python3  root  frame
 -     -    5.0M     -  -        -     (quarantine: freed, but the pages are still in use)

would help:
  end process 101 (python3), which holds 1: kill 101
  find the process that keeps 2; its owner is gone: dmactl leaks
  wait: 5.0M are freed, but something still holds the pages, such as an I/O in flight
  a smaller size: 4194304 bytes (4.0M) at most
  another heap: --heap new
"""

LIKELY = """\
likely: heap new of dray0 would serve it, or one before it

HEAP      TYPE      ANSWER      REASON
reserved  reserved  no          the heap is fragmented, its longest free run is 4194304 bytes
other     cma       likely not  the heap is full, 0 bytes are free; others use this memory too, and may not make room
pages     pages     no          the page allocator's largest piece is 5242880 bytes
new       77        likely      dmactl does not know this type of heap
"""


def why(*words, **more):
    result = run(SCRIPTED, "why", *words, **more)
    assert result.error == ""
    return result.code, result.out


def answer(*words, **more):
    """The document, which its schema describes; and the exit code agrees."""
    result = run(SCRIPTED, "why", *words, "--json", **more)
    assert result.error == ""
    found = json.loads(result.out)
    schema.check("why", found)
    assert result.code == (0 if found["answer"] in ("yes", "likely") else 3)
    return found


@pytest.mark.parametrize("words, code, text", [
    (["4M"], 0, "yes: heap reserved of dray0 would serve it\n"),
    (["6M"], 0, LIKELY),
    (["16M", "--heap", "reserved"], 3, FRAGMENTED),
    (["0"], 3, "no: dray0: the size must be from 1 to 18446744073709547520 "
     "bytes\n")], ids=["yes", "likely", "no", "nothing"])
def test_the_answer_is_text(words, code, text):
    assert why(*words) == (code, text)


@pytest.mark.parametrize("words, heap, reason, limit", [
    (["4M"], "reserved", None, None),
    (["4M", "-n", "dray1"], "reserved", None, None),
    (["4M", "--heap", "reserved", "--align", "8M"], "reserved", None, None),
    (["4M", "--heap", "pages"], "pages", None, None),
    (["17M", "--heap", "reserved"], None, "full", 16 * MIB),
    (["5M", "--heap", "reserved"], None, "fragmented", 4 * MIB),
    (["4M", "--heap", "reserved", "--mask", "0x400fffff"], None, "mask",
     0x400fffff),
    (["4M", "--heap", "reserved", "--mask", "30"], None, "mask", 2**30 - 1),
    (["4M", "--heap", "reserved", "--align", "32M"], None, "alignment",
     8 * MIB),
    (["1M", "--heap", "reserved", "--align", "128M"], None, "alignment",
     64 * MIB),
    (["1M", "--align", "3"], None, "alignment", "9223372036854775808"),
    (["65M", "--heap", "reserved"], None, "size", 64 * MIB),
    (["6M", "--heap", "pages"], None, "order", 5 * MIB),
    (["4M", "--mode", "coherent"], None, "mode", 0),
    (["48M", "--heap", "reserved"], None, "quota", 48 * MIB)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_each_limit_is_named_with_its_value(words, heap, reason, limit):
    found = answer(*words)
    refusal = found["refusal"]
    assert found["heap"] == heap
    assert (refusal and (refusal["reason"], refusal["limit"])) == (
        reason and (reason, limit))
    assert (found["would_help"] == []) == (heap is not None)


def helps(found):
    return [(way["kind"], way["command"]) for way in found["would_help"]]


@pytest.mark.parametrize("words, scene, ways", [
    (["6M", "--heap", "reserved"], "held",
     [("end-process", "kill 101"), ("reclaim", "dmactl reclaim 2"),
      ("smaller-size", None), ("other-heap", None)]),
    (["4M", "--heap", "reserved", "--align", "32M"], "plain",
     [("ask-root", None), ("lower-alignment", None)]),
    (["4M", "--heap", "reserved", "--mask", "30"], "plain",
     [("other-heap", None), ("higher-mask", None)]),
    (["48M", "--heap", "reserved"], "plain",
     [("smaller-size", None),
      ("raise-limit",
       "echo 50335744 >/sys/class/dray-heap/reserved/user_limit")]),
    (["4M", "--mode", "coherent"], "plain", [("other-mode", None)]),
    (["65M", "--heap", "reserved"], "plain",
     [("smaller-size", None), ("larger-region", None)])],
    ids=["held", "others", "mask", "limit", "mode", "size"])
def test_what_would_help(words, scene, ways):
    assert [way for way in helps(answer(*words, scene=scene))
            if way[0] != "find-keeper"] == ways


def test_a_request_that_helps_is_one_that_succeeds():
    for words, better in ((["5M"], ["4M"]), (["48M"], ["4M"])):
        found = answer(*words, "--heap", "reserved")
        assert f"{4 * MIB} bytes" in [
            way["text"] for way in found["would_help"]
            if way["kind"] == "smaller-size"][0]
        assert answer(*better, "--heap", "reserved")["answer"] == "yes"


def test_buffers_of_others_have_no_owner():
    needed = answer("30M", "--heap", "reserved")
    assert needed["refusal"]["reason"] == "full"
    needed = answer("4M", "--heap", "reserved", "--align", "32M")["needed"]
    assert (needed["holders"], needed["others"]) == ([], 4 * MIB)
    assert "(buffers that you may not see)" in why(
        "4M", "--heap", "reserved", "--align", "32M")[1]


def test_a_mask_that_needs_a_right():
    found = answer("4M", "--mask", "0x40110000", "--heap", "reserved",
                   scene="others")
    assert found["refusal"]["reason"] == "permission"
    assert found["refusal"]["limit"] == 2**30 - 1
    assert ("right", None) in helps(found)


@pytest.mark.parametrize("words, error", [
    (["much"], "'much' is not a size"),
    (["1M", "--align", "x"], "'x' is not a size"),
    (["1M", "--mask", "65"], "'65' is not a mask"),
    (["1M", "--mask", "0xg"], "'0xg' is not a mask"),
    (["1M", "--mode", "warm"], "no mode 'warm': there are cached"),
    ([], "why:")], ids=["size", "align", "bits", "mask", "mode", "nothing"])
def test_a_wrong_command_line_exits_2(words, error):
    result = run(SCRIPTED, "why", *words)
    assert (result.code, result.out) == (2, "")
    assert result.error.startswith(f"dmactl: {error}")


@pytest.mark.parametrize("words, fail, error", [
    (["1M", "--heap", "none"], None,
     "dmactl: no heap 'none' on dray0; its heaps: reserved, other, pages, new\n"),
    (["1M"], "heap:5",
     "dmactl: dray0: cannot read its heaps: scripted heap: Input/output "
     "error\n"),
    (["1M"], "map:19", "dmactl: dray0 disappeared while dmactl was reading it\n"),
    (["1M", "--heap", "x"], "heap:5",
     "dmactl: dray0: cannot read a heap: scripted heap: Input/output error\n")],
    ids=["no heap", "heap", "gone", "name"])
def test_a_failure_exits_1_with_a_sentence(words, fail, error):
    assert run(SCRIPTED, "why", *words, fail=fail) == (1, "", error)


def test_an_older_module_without_maps_is_only_likely():
    assert answer("4M", "--heap", "reserved", fail="map:25")["answer"] == \
        "likely"
    assert answer("70M", "--heap", "reserved", fail="map:25")["answer"] == "no"

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""registers, and registers and interrupts in nodes.  The stand-in's registers have their
offset as a value, and it says what was written; tests/streams has the board's."""

import json

import pytest

import schema
from conftest import SCRIPTED, run


def said(*words, **more):
    result = run(SCRIPTED, *words, scene="registers", **more)
    assert result.code == 0, result.error
    return result


def test_nodes_lists_registers_and_interrupts():
    parts = said("nodes").out.split("\n\n")
    assert [line.split() for line in parts[-2].splitlines()] == [
        ["NODE", "REGISTERS", "SIZE", "MAPPABLE"], ["dray0", "control", "8.0K", "4.0K"]]
    assert [line.split() for line in parts[-1].splitlines()] == [
        ["NODE", "INTERRUPT", "COUNT"], ["dray0", "done", "7"]]


def test_json_of_nodes_has_both():
    document = json.loads(said("nodes", "--json").out)
    schema.check("nodes", document)
    assert document["nodes"][0]["registers"] == [
        {"name": "control", "size": 8192, "mappable": 4096}]
    assert document["nodes"][0]["interrupts"] == [{"name": "done", "count": 7}]
    assert document["nodes"][1]["registers"] == []


@pytest.mark.parametrize("offset", ["0x10", "16", "0016"])
def test_a_register_is_read(offset):
    assert said("registers", "read", "control", offset).out == "0xabc00010\n"


def test_a_register_is_written():
    result = said("registers", "write", "control", "4", "0xffffffff")
    assert (result.out, result.error) == ("", "written: ffffffff at 4\n")


@pytest.mark.parametrize("words, value", [(["read", "control", "8"], 0xabc00008),
                                          (["write", "control", "8", "7"], 7)])
def test_json_has_the_value(words, value):
    document = json.loads(said("registers", *words, "--json").out)
    schema.check(f"registers-{words[0]}", document)
    assert document == {"node": "dray0", "area": "control", "offset": 8, "value": value}


@pytest.mark.parametrize("words, sentence", [
    (["read", "control", "x"], "the offset 'x' is not a number up to 0xffffffffffffffff, as 16 or 0x10"),
    (["read", "control", ""], "the offset '' is not a number"),
    (["read", "control", "+4"], "the offset '+4' is not a number"),
    (["read", "control", "4K"], "the offset '4K' is not a number"),
    (["read", "control", "0x10000000000000000"], "the offset '0x10000000000000000' is not a number"),
    (["write", "control", "0", "4294967296"], "the value '4294967296' is not a number up to 0xffffffff,"),
    (["write", "control", "0", "0x"], "the value '0x' is not a number"),
])
def test_a_text_that_is_no_number_is_refused(words, sentence):
    result = run(SCRIPTED, "registers", *words, scene="registers")
    assert result.code == 2 and sentence in result.error and not result.out


@pytest.mark.parametrize("words", [["read", "other", "0"], ["read", "control", "4096"]])
def test_a_failure_names_the_node(words):
    result = run(SCRIPTED, "registers", *words, scene="registers")
    assert result.code == 1 and "dray0" in result.error

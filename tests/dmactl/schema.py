# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares a document with its schema, which must describe each member and refuse mutants."""

import json

import jsonschema

from conftest import TREE

FOLDER = TREE / "tools/dmactl/schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Members that buffers and attachments do not share, and those of a chosen column
APART = {"attachments", "device_reads_only", "exporter", "heap", "mapped", "mode", "sync_bytes",
         "sync_ns"}
OWNED = {"address_given", "age_ns", "comm", "held", "id", "kind", "name", "node", "owner_gone",
         "pid", "size", "transfers", "uid", "user"}
EVENT = {"bytes", "call", "channel", "condemned", "context", "device", "direction", "error",
         "for_cpu", "frame", "heap", "id", "kind", "limit", "name", "node", "ns", "offset", "pid",
         "point", "queue", "reason", "runs", "seqno", "size", "transfers"}
# The members without which a document is valid; each other member is required.
OPTIONAL = {
    "arrays": {"asked", "kind", "lent_to", "offset", "shape", "site", "size", "state", "transfers",
               "type"},
    "dump": {"file", "hex"},
    "leaks": APART,
    "list": APART | OWNED,
    "list-all": {"devices", "exporter", "holders", "id", "inode", "name", "references", "size"},
    "map": {"age_ns", "comm", "name", "owner_gone", "pid", "uid", "user"},
    "show": APART,
    "test": {"copy", "fill", "memcpy", "memset"},
    "top": {"allocated_per_second", "attachments", "buffers", "busy", "comm", "memory",
            "moved_per_second", "pid", "state", "synced_per_second", "transfers_per_second", "uid",
            "user"},
    "trace": EVENT,
    "why": APART | {"length", "offset"},
}


def parts_of(schema):
    yield schema
    for value in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(value, (dict, list)):
            yield from parts_of(value)


def shortened(document):
    """A copy; of each list the first two and the last element."""
    if isinstance(document, dict):
        return {name: shortened(value) for name, value in document.items()}
    if isinstance(document, list):
        return [shortened(value) for value in document[:2] + document[2:][-1:]]
    return document


def places_of(document):
    """Each object with each of its members."""
    if isinstance(document, dict):
        for name, value in list(document.items()):
            yield document, name
            yield from places_of(value)
    elif isinstance(document, list):
        for value in document:
            yield from places_of(value)


def mutants_of(name, document):
    """Wrong copies of a document; a sentence says what is wrong with each."""
    mutant = shortened(document)
    for place, member in list(places_of(mutant)):
        value = place[member]
        for wrong in [{"unknown": 0}] + (["1x"] if isinstance(value, int) else []):
            place[member] = wrong
            yield f"{member} is {wrong}", mutant
        del place[member]
        if member not in OPTIONAL.get(name, ()):
            yield f"no {member}", mutant
        place[member] = value
        place["unknown"] = 0
        yield f"an unknown member beside {member}", mutant
        del place["unknown"]


def check(name, document):
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert schema["$schema"] == DIALECT and schema["$id"] == f"urn:dray:dmactl:{name}"
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    for part in parts_of(schema):
        if isinstance(part, dict) and "properties" in part:
            assert part["additionalProperties"] is False
            for member in part["properties"].values():
                assert member["description"]
    validator = kind(schema)
    validator.validate(document)
    for wrong, mutant in mutants_of(name, document):
        assert not validator.is_valid(mutant), f"{name}: {wrong}"

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares a document with its schema, which must describe each member."""

import json

import jsonschema

from conftest import TREE

FOLDER = TREE / "tools/dmactl/schema"


def parts_of(schema):
    yield schema
    for value in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(value, (dict, list)):
            yield from parts_of(value)


def check(name, document):
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    for part in parts_of(schema):
        if isinstance(part, dict) and "properties" in part:
            assert part["additionalProperties"] is False
            for member in part["properties"].values():
                assert member["description"]
    kind(schema).validate(document)

"""The table `[tool.unmoved.gate]`: its variables in the environment, and what is wrong with its values beyond their
types. Who wins is config.py's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, get_origin

import msgspec

from codemods.schema.gate import RULES, GatePolicy
from codemods.schema.pages import CODES
from codemods.schema.pages_deltas import DELTA_CODES
from codemods.schema.toml_check import did_you_mean, shown
from codemods.schema.toml_text import KeyPath

GATE = "gate"
GATE_KEYS = {field.encode_name: field.type for field in msgspec.structs.fields(GatePolicy)}


def of_gate(key: str) -> str:
    return f"{GATE}.{key}"


def variable(key: str) -> str:
    return "UNMOVED_" + key.upper().replace("-", "_").replace(".", "_")


def gate_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    for key, kind in GATE_KEYS.items():
        value = environ.get(variable(of_gate(key)), "")
        if value and kind != dict[str, str]:
            is_number = get_origin(kind) is Annotated and value.isdecimal()
            yield key, value.split(os.pathsep) if get_origin(kind) is tuple else int(value) if is_number else value


def gate_complaints(policy: GatePolicy) -> Iterator[tuple[KeyPath, str, str, str]]:
    for key, texts in (("claims", policy.claims), ("always", policy.always), ("out-of-scope", policy.out_of_scope)):
        for index, text in enumerate(texts):
            if not text.strip():
                yield (GATE, key, index), "bad-value", f"`{key}` has an empty pattern", "leave it out"
    for index, text in enumerate(policy.claims):
        why = _not_a_pattern(text)
        if why:
            message = f"`claims` has {shown(text)}, which is no regular expression: {why}"
            yield (GATE, "claims", index), "bad-value", message, "mend it"
    known = (*CODES, *DELTA_CODES, *RULES)
    for key, table in (("warn", policy.warn), ("ignore", policy.ignore)):
        for rule, why in table.items():
            at: KeyPath = (GATE, key, rule)
            if rule not in known:
                yield at, "unknown-rule", f"`{key}` names {shown(rule)}, which is no rule", did_you_mean(rule, known)
            elif not why.strip():
                yield at, "no-reason", f"`{key}` names {shown(rule)} without a reason", "say why it need not pass"
    for key, places in (("specs", policy.specs), ("recordings", policy.recordings)):
        for index, place in enumerate(places):
            if not place or PurePosixPath(place).is_absolute() or ".." in PurePosixPath(place).parts:
                message = f"`{key}` has {shown(place)}, which is no path below the root"
                yield (GATE, key, index), "bad-value", message, "write a relative path"


def _not_a_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        return str(error)
    return ""

"""The published JSON schemas: of what commands print, of plan files, of certificates, of the configuration. Made from
the structs, so they can't say anything else; a test compares the files in codemods/schema with what is made here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from codemods import schema
from codemods.plan.load import STEP_KINDS, target_aliases
from codemods.prove.spec import SpecFile
from codemods.report.gate_baseline import BaselineFile
from codemods.report.gate_model import GateReport
from codemods.report.model import ConfigReport, ErrorReport, ExplainReport, RunReport, SuggestReport
from codemods.report.prove_model import ProveReport
from codemods.report.verify_model import VerifyReport
from codemods.schema.certificate import Certificate
from codemods.schema.config import Config
from codemods.schema.plan import Plan, StepBase
from codemods.schema.recording import Recording, RecordReport, ReplayReport

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REPORTS = {
    "apply": RunReport,
    "suggest": SuggestReport,
    "verify": VerifyReport,
    "prove": ProveReport,
    "gate": GateReport,
    "explain": ExplainReport,
    "record": RecordReport,
    "replay": ReplayReport,
    "show-config": ConfigReport,
}
_FILES = {
    "plan-file": Plan,
    "spec-file": SpecFile,
    "config": Config,
    "certificate": Certificate,
    "recording": Recording,
    "gate-baseline": BaselineFile,
}


def published() -> Mapping[str, bytes]:
    """File name -> bytes. What a command prints is its report or an error."""
    made: dict[str, dict[str, Any]] = {}
    for name, report in _REPORTS.items():
        (one, error), definitions = msgspec.json.schema_components([report, ErrorReport], ref_template="#/$defs/{name}")
        made[name] = {"anyOf": [one, error], "$defs": definitions}
    for name, kind in _FILES.items():
        made[name] = msgspec.json.schema(kind)
    for step in STEP_KINDS.values():
        _allow_aliases(made["plan-file"]["$defs"][step.__name__], step)
    return {
        f"{name}.schema.json": msgspec.json.format(
            msgspec.json.encode({"$schema": _DIALECT, "title": f"unmoved {name}", **_tidy(body)}, order="deterministic")
        )
        + b"\n"
        for name, body in made.items()
    }


def _tidy(value: Any) -> Any:
    """Docstrings without their indentation, which not every Python and msgspec takes off by itself."""
    if isinstance(value, dict):
        return {
            key: inspect.cleandoc(part) if key == "description" and isinstance(part, str) else _tidy(part)
            for key, part in value.items()
        }
    return [_tidy(part) for part in value] if isinstance(value, list) else value


def _allow_aliases(definition: dict[str, Any], step: type[StepBase]) -> None:
    """A plan may name a step's target by other keys than the struct's own; exactly one of them must be there."""
    own = step.target_key
    definition["required"] = [key for key in definition["required"] if key != own]
    for alias in target_aliases(step):
        definition["properties"][alias] = definition["properties"][own]
    definition["oneOf"] = [{"required": [key]} for key in (own, *target_aliases(step))]


def write_schemas() -> None:
    """Put the schemas beside the structs; for whoever changed one."""
    for name, body in published().items():
        (Path(schema.__file__).parent / name).write_bytes(body)

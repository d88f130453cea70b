"""A plan file to a Plan: what is misspelt, missing or of the wrong kind is refused here, all at once, with its line.

Only the plan's own text is looked at; whether the tree has what it names is found out when the steps are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

import msgspec

from codemods.plan.wellformed import complaints
from codemods.schema.errors import PlanError, UnmovedError
from codemods.schema.plan import Move, Plan, Step, StepBase
from codemods.schema.toml_check import Problem, TomlProblems, check_table, did_you_mean, shown
from codemods.schema.toml_text import BadToml, KeyPath, TomlText

STEP_KINDS: dict[str, type[StepBase]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Step)}

# A definition that moves may be named for what it is.
_MORE_ALIASES: dict[type[StepBase], tuple[str, ...]] = {Move: ("function", "class", "constant")}


class UnreadablePlan(PlanError):
    """The plan file is missing, is not a file, or is not UTF-8 text."""

    code = "unreadable-plan"


class InvalidPlan(TomlProblems, PlanError):
    """The plan's text is not a plan. `problems` lists every reason."""

    code = "invalid-plan"


def load_plan(path: Path | str) -> Plan:
    """Raises UnreadablePlan or InvalidPlan."""
    return parse_plan(read_toml_file(Path(path), UnreadablePlan, "plan"), str(path))


def read_toml_file(path: Path, error: type[UnmovedError], what: str) -> str:
    """The text of a file a person wrote. Raises `error` when it can't be had."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise error(f"there is no {what} file here", fix="check the path", path=str(path)) from None
    except IsADirectoryError:
        raise error(f"this is a directory, not a {what} file", fix="name the file in it", path=str(path)) from None
    except UnicodeDecodeError as bad:
        line = bad.object[: bad.start].count(b"\n") + 1
        raise error(
            f"byte {bad.object[bad.start]:#04x} is not UTF-8", fix="save the file as UTF-8", path=str(path), line=line
        ) from bad
    except OSError as bad:
        reason = bad.strerror or str(bad)
        raise error(
            f"the {what} file can't be read: {reason}", fix="mend that, then run again", path=str(path)
        ) from bad


def parse_plan(text: str, path: str) -> Plan:
    """Raises InvalidPlan. `path` is what messages call the text."""
    try:
        document = TomlText(text)
    except BadToml as bad:
        problem = Problem(code="bad-toml", line=bad.line, message=f"not TOML: {bad.message}", fix="mend the syntax")
        raise InvalidPlan(path, [problem]) from bad
    raw = dict(document.value)
    steps = raw.get("step")
    tables = steps if isinstance(steps, list) and all(isinstance(step, dict) for step in steps) else None
    plan_keys = raw if tables is None else {**raw, "step": []}
    problems = list(check_table(plan_keys, Plan, name="a plan", at=(), line_of=document.line_of))
    problems += _check_heading(raw, document)
    found: list[Step] = []
    for index, table in enumerate(tables or ()):
        step = _step(table, ("step", index), document)
        if isinstance(step, StepBase):
            found.append(step)
        else:
            problems += step
    if tables == []:
        problems.append(
            Problem(code="empty-plan", line=document.line_of(("step",)), message="no step", fix="add a [[step]]")
        )
    if problems:
        raise InvalidPlan(path, problems)
    return Plan(id=str(raw["id"]), title=str(raw.get("title", "")), step=tuple(found))


def step_from(raw: Mapping[str, object], place: str) -> Step:
    """A step from single keys, as the command line gives them. Raises InvalidPlan naming `place`."""
    step = _step(raw, (), None)
    if not isinstance(step, StepBase):
        raise InvalidPlan(place, step)
    return step


def _check_heading(raw: Mapping[str, object], document: TomlText) -> list[Problem]:
    """`id` and `title` become lines of commit messages, so they have to be one line each."""
    problems = []
    for key in ("id", "title"):
        value = raw.get(key)
        if isinstance(value, str) and (not value.isprintable() or (key == "id" and not value.strip())):
            problems.append(
                Problem(
                    code="bad-value",
                    line=document.line_of((key,)),
                    message=f"`{key}` of a plan is {shown(value)}, but goes into commit messages",
                    fix="write one line of text",
                )
            )
    return problems


def _step(raw: Mapping[str, object], at: KeyPath, document: TomlText | None) -> Step | list[Problem]:
    """The step, or everything that is wrong with it."""

    def line_of(path: KeyPath) -> int:
        return document.line_of(path) if document else 0

    do = raw.get("do")
    kind = STEP_KINDS.get(do) if isinstance(do, str) else None
    if kind is None:
        message = f"`do` is {shown(do)}, which is no operation" if "do" in raw else "a step needs `do`"
        fix = did_you_mean(do if isinstance(do, str) else "", STEP_KINDS)
        code = "unknown-operation" if "do" in raw else "missing-key"
        return [Problem(code=code, line=line_of((*at, "do")), message=message, fix=fix)]
    given = {key: value for key, value in raw.items() if key != "do"}
    named, problems, spelt = _own_target_key(given, kind, at, line_of)

    def line_as_written(path: KeyPath) -> int:
        here = path[len(at) :]
        return line_of((*at, spelt, *here[1:]) if here[:1] == (kind.target_key,) else path)

    elsewhere = {key: other for other, cls in reversed(STEP_KINDS.items()) for key in cls.__struct_fields__}
    problems += check_table(
        named, kind, name=str(do), at=at, line_of=line_as_written, also=["target"], elsewhere=elsewhere
    )
    if problems:
        return problems
    step: Step = msgspec.convert(named, kind)  # type: ignore[assignment]
    return [
        Problem(code=bad.code, line=line_as_written((*at, *bad.at)), message=bad.message, fix=bad.fix)
        for bad in complaints(step)
    ] or step


def target_aliases(kind: type[StepBase]) -> tuple[str, ...]:
    """Other keys that may name what a step works on."""
    return ("target", *_MORE_ALIASES.get(kind, ()))


def _own_target_key(
    given: Mapping[str, object], kind: type[StepBase], at: KeyPath, line_of: Callable[[KeyPath], int]
) -> tuple[dict[str, object], list[Problem], str]:
    """The keys with the target under the step's own key, and how it was spelt."""
    own = kind.target_key
    aliases = target_aliases(kind)
    spelt = [key for key in given if key == own or key in aliases]
    named = {own if key in aliases else key: value for key, value in given.items()}
    if len(spelt) < 2:
        return named, [], spelt[0] if spelt else own
    problem = Problem(
        code="same-key-twice",
        line=line_of((*at, spelt[1])),
        message=f"`{spelt[0]}` and `{spelt[1]}` both say what {kind.__struct_config__.tag} works on",
        fix=f"keep `{own}`",
    )
    return named, [problem], spelt[0]

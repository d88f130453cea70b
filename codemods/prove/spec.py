"""Specs of pairs, `*.toml` files: to pairs, or to everything that is wrong with the text, with its lines.

    schema = 1
    old-tree = "before"            # a directory beside the spec, or "git:REV"; left out: the root
    new-tree = "after"

    [[pair]]
    old = "srv.runner:Runner.bind"
    new = "srv.numa:bind"
    domains = { rank = "int 0..7", "os.environ['BIND']" = 'one_of ["", "0-3|4-7"]', "srv.numa:nodes()" = "list of int" }
    # "*" = "opaque": of the inputs that are not named, none has a domain, whatever the code shows of them
    same = { "self.ps.rank" = "self.rank" }    # new = "old": two names of one input
    focus = ["srv.numa:bind"]      # mutants of these functions alone count; left out: of all that run
    recordings = ["golden/bind"]   # calls that `unmoved record` has seen; beside the spec

    [[pair.delta]]
    code = "D3"
    where = "local_omp_cpuid"
    why = "nobody uses a runner whose binding failed"

    [[pair.accepted]]
    id = "boundary:bind:2f0c1a9b7e:1"
    why = "equal only for an empty list, which raises above"

Reads the recordings and looks at no tree: whether there is what a spec names, who proves it finds out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from codemods.plan.load import read_toml_file
from codemods.prove.concrete import ALL
from codemods.prove.domains_spec import BadDomain, parse_domain
from codemods.prove.observed import Observed, observed_calls
from codemods.prove.references import check_reference, is_dotted
from codemods.prove.survivors import Accepted, read_accepted
from codemods.schema.errors import ConfigError
from codemods.schema.pages_deltas import DELTA_CODES
from codemods.schema.prove import AcceptedMutant, DeclaredDelta, Pair, PairKind
from codemods.schema.refs import BadReference
from codemods.schema.toml_check import Problem, TomlProblems, check_table, did_you_mean, shown
from codemods.schema.toml_text import BadToml, KeyPath, TomlText

LineOf = Callable[[KeyPath], int]
_GIT = "git:"


class UnreadableSpec(ConfigError):
    """The spec file is missing, is not a file, or is not UTF-8 text."""

    code = "unreadable-spec"


class InvalidSpec(TomlProblems, ConfigError):
    """The spec's text is no spec. `problems` lists every reason."""

    code = "invalid-spec"


class PairTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[pair]]`: the keys mean what those of a Pair mean. recordings: files or directories of `unmoved record`,
    relative to the spec; the calls of the old side in them are tried first."""

    old: str
    new: str
    kind: Literal["callable", "class", "import"] = "callable"
    domains: dict[str, str] = {}
    same: dict[str, str] = {}
    real: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    recordings: tuple[str, ...] = ()
    delta: tuple[DeclaredDelta, ...] = ()
    accepted: tuple[Accepted, ...] = ()


class SpecFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A spec file as it is written. old_tree, new_tree: a directory, relative to the file, or `git:REV`; "" for the
    root that is worked on."""

    schema: Literal[1]
    old_tree: str = ""
    new_tree: str = ""
    pair: tuple[PairTable, ...]


class Spec(Struct, frozen=True, kw_only=True):
    """A spec that was read. lines: where each pair begins. Trees: `git:REV`, a path, or "" for the root."""

    path: str
    old_tree: str
    new_tree: str
    pairs: tuple[Pair, ...]
    lines: tuple[int, ...]


def load_spec(path: Path, today: dt.date | None = None) -> Spec:
    """today: for declarations that have passed. Raises UnreadableSpec or InvalidSpec."""
    return parse_spec(read_toml_file(path, UnreadableSpec, "spec"), str(path), today)


def parse_spec(text: str, path: str, today: dt.date | None = None) -> Spec:
    """`path` is what messages call the text, and where trees are looked for. Raises InvalidSpec."""
    try:
        document = TomlText(text)
    except BadToml as bad:
        problem = Problem(code="bad-toml", line=bad.line, message=f"not TOML: {bad.message}", fix="mend the syntax")
        raise InvalidSpec(path, [problem]) from bad
    raw = _with_plain_dates(document.value)
    problems = list(check_table(raw, SpecFile, name="a spec", at=(), line_of=document.line_of))
    if not problems:
        problems = [*_doubts(msgspec.convert(raw, SpecFile), raw, document.line_of, today or _today(), path)]
    if problems:
        raise InvalidSpec(path, problems)
    spec = msgspec.convert(raw, SpecFile)
    return Spec(
        path=path,
        old_tree=_tree(spec.old_tree, path),
        new_tree=_tree(spec.new_tree, path),
        pairs=tuple(_pair(each, path) for each in spec.pair),
        lines=tuple(document.line_of(("pair", index)) for index in range(len(spec.pair))),
    )


def is_spec(text: str) -> bool:
    """Whether a TOML text means to be a spec: it is one by its keys, however wrong they may be."""
    try:
        keys = TomlText(text).value.keys()
    except BadToml:
        return False
    return "pair" in keys or "schema" in keys


def _today() -> dt.date:
    return dt.datetime.now(tz=dt.timezone.utc).date()


def _tree(text: str, path: str) -> str:
    return text if not text or text.startswith(_GIT) else str(Path(path).parent / text)


def _recorded(table: PairTable, path: str) -> Observed:
    """Raises ConfigError."""
    places = [Path(path).parent / each for each in table.recordings]
    return observed_calls(places, table.old) if places else ()


def _pair(table: PairTable, path: str) -> Pair:
    return Pair(
        old=table.old,
        new=table.new,
        kind=PairKind(table.kind),
        domains=table.domains,
        same=table.same,
        real=table.real,
        focus=table.focus,
        observed=_recorded(table, path),
        deltas=table.delta,
        accepted=tuple(AcceptedMutant(id=each.id, why=each.why) for each in table.accepted),
        origin="spec",
    )


def _with_plain_dates(raw: Mapping[str, object]) -> dict[str, object]:
    """TOML has dates of its own, which `until` may be written as."""

    def plain(value: object) -> object:
        if isinstance(value, Mapping):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        return value.isoformat() if type(value) is dt.date else value

    return {key: plain(value) for key, value in raw.items()}


def _doubts(spec: SpecFile, raw: Mapping[str, object], line_of: LineOf, today: dt.date, path: str) -> Iterator[Problem]:
    """What is wrong with texts that have the right type."""
    if not spec.pair:
        yield Problem(code="empty-spec", line=line_of(("pair",)), message="no pair", fix="add a [[pair]]")
    for key, tree in (("old-tree", spec.old_tree), ("new-tree", spec.new_tree)):
        if tree.strip() != tree or tree == _GIT:
            message = f"`{key}` is {shown(tree)}, which names no tree"
            yield _problem(line_of((key,)), message, 'write a directory, relative to this file, or "git:REV"')
    tables = raw["pair"]
    known: set[tuple[str, str, str]] = set()
    for index, pair in enumerate(spec.pair):
        at: KeyPath = ("pair", index)
        if (pair.old, pair.new, pair.kind) in known:
            message = f"{pair.old} and {pair.new} are a pair of this spec already"
            yield _problem(line_of(at), message, "put both into one [[pair]]", code="duplicate")
        known.add((pair.old, pair.new, pair.kind))
        yield from _reference_doubts(pair, at, line_of)
        yield from _input_doubts(pair, at, line_of)
        yield from _recording_doubts(pair, path, line_of((*at, "recordings")))
        yield from _delta_doubts(pair.delta, at, line_of, today)
        assert isinstance(tables, list)
        yield from read_accepted(tables[index].get("accepted", []), _below(line_of, at))[1]


def _below(line_of: LineOf, at: KeyPath) -> LineOf:
    return lambda path: line_of((*at, *path))


def _problem(line: int, message: str, fix: str, *, code: str = "bad-value") -> Problem:
    return Problem(code=code, line=line, message=message, fix=fix)


def _reference_doubts(pair: PairTable, at: KeyPath, line_of: LineOf) -> Iterator[Problem]:
    for side, text in (("old", pair.old), ("new", pair.new)):
        bad = _bad_reference(text, PairKind(pair.kind))
        if bad is not None:
            yield _problem(line_of((*at, side)), f"`{side}` of a pair: {bad.message}", bad.fix, code=bad.code)


def _bad_reference(text: str, kind: PairKind) -> BadReference | None:
    try:
        check_reference(text, kind)
    except BadReference as bad:
        return bad
    return None


def _input_doubts(pair: PairTable, at: KeyPath, line_of: LineOf) -> Iterator[Problem]:
    for name, domain in pair.domains.items():
        line = line_of((*at, "domains", name))
        if not name.strip():
            yield _problem(line, "`domains` has an empty name", "name an input: `rank`, `self.args.host`")
        if name == ALL and domain != "opaque":
            yield _problem(line, f"`domains` gives {shown(ALL)} {shown(domain)}", f'{ALL} can only be "opaque"')
            continue
        try:
            parse_domain(domain, name=name)
        except BadDomain as bad:
            yield _problem(line, bad.message, bad.fix, code=bad.code)
    for name, other in pair.same.items():
        if not name.strip() or not other.strip():
            line = line_of((*at, "same", name))
            yield _problem(line, "`same` has an empty name", 'write new = "old": `rank = "self.tp_rank"`')
    for index, module in enumerate(pair.real):
        if not is_dotted(module):
            line = line_of((*at, "real", index))
            yield _problem(line, f"`real` has {shown(module)}, which names no module", "write its dotted name")
    for index, name in enumerate(pair.focus):
        wrong = _bad_reference(name, PairKind.CALLABLE)
        if wrong is not None:
            line = line_of((*at, "focus", index))
            yield _problem(line, f"`focus` of a pair: {wrong.message}", wrong.fix, code=wrong.code)


def _recording_doubts(pair: PairTable, path: str, line: int) -> Iterator[Problem]:
    if pair.recordings and pair.kind != "callable":
        message = f"`recordings` are of calls, and this pair is of kind {shown(pair.kind)}"
        yield _problem(line, message, "name them with a pair of callables")
        return
    try:
        _recorded(pair, path)
    except ConfigError as bad:
        where = f"{bad.path}: " if bad.path else ""
        yield _problem(line, f"`recordings`: {where}{bad.message}", bad.fix, code=bad.code)


def _delta_doubts(
    deltas: tuple[DeclaredDelta, ...], pair: KeyPath, line_of: LineOf, today: dt.date
) -> Iterator[Problem]:
    known: set[tuple[str, str]] = set()
    for index, delta in enumerate(deltas):
        at = (*pair, "delta", index)
        if delta.code not in DELTA_CODES:
            fix = f"{did_you_mean(delta.code, DELTA_CODES)}; `unmoved explain` has a page on each"
            yield _problem(line_of((*at, "code")), f"{shown(delta.code)} is no difference", fix, code="unknown-delta")
        if not delta.where.strip():
            message = f"`where` of {shown(delta.code)} is empty, which would declare every one of them"
            yield _problem(line_of((*at, "where")), message, "write a part of its message, or its path:line")
        if not delta.why.strip():
            message = f"{shown(delta.code)} is declared without a reason"
            yield _problem(line_of((*at, "why")), message, "say why it is meant, and harmless", code="no-reason")
        if (delta.code, delta.where) in known:
            message = f"{shown(delta.code)} at {shown(delta.where)} is declared twice"
            yield _problem(line_of(at), message, "leave one of the tables", code="duplicate")
        known.add((delta.code, delta.where))
        yield from _until_doubts(delta, (*at, "until"), line_of, today)


def _until_doubts(delta: DeclaredDelta, at: KeyPath, line_of: LineOf, today: dt.date) -> Iterator[Problem]:
    if not delta.until:
        return
    try:
        last = dt.date.fromisoformat(delta.until)
    except ValueError:
        yield _problem(line_of(at), f"`until` is {shown(delta.until)}, which is no date", "write it as YYYY-MM-DD")
        return
    if last < today:
        yield _problem(
            line_of(at),
            f"the declared {delta.code} at {shown(delta.where)} was good until {delta.until}",
            "mend the difference, or decide anew until when it may stay",
            code="expired-delta",
        )

"""The regression pairs are what they say: running shows the slip and not the mended tree, and the places are there."""

from __future__ import annotations

import ast
import functools
import json
import re

import pytest

from codemods.schema.pages import CODES
from tests.prove.regression_pairs import ROOT, SIDES, Case, Side, load_cases, printed, run_all

GIVEN = (
    "B01 B02 B03 B04 B05 B06 B08 B10 B11 B12 B13 B14 B16 B17 B18 B19 B21 B23 B25 B27 B29 B30 B31 B32 B33 B36 B37 B39 "
    "B42 B43 B46 B49 B51 B52 B53 B56 B58 B62 B64 B67 B68 B70 B71 B72 B74"
)

pytestmark = pytest.mark.cases
each_case = pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)


@each_case
def test_running_tells_the_slip_and_not_the_mended_tree(case: Case) -> None:
    before, after, fixed = (printed()[case.id, side] for side in SIDES)
    assert before.strip()
    assert not before.startswith("exit"), before
    assert not after.startswith("exit"), after
    assert before != after
    assert before == fixed


@each_case
def test_the_mended_tree_is_neither_of_the_others(case: Case) -> None:
    before, after, fixed = (case.tree(side) for side in SIDES)
    assert fixed not in (before, after)
    for path, raw in {**before, **after, **fixed}.items():
        if path.endswith(".py"):
            ast.parse(raw)


@each_case
def test_the_places_are_there(case: Case) -> None:
    assert any(place.role == "slip" for place in case.where.places)
    for place in case.where.places:
        lines = (case.folder / place.side / place.path).read_text().splitlines()
        assert lines[place.line - 1].strip() == place.text, place
        assert case.where.names(place.path, place.line)
    assert not case.where.names("nowhere.py", 1)


@each_case
def test_a_slip_lies_in_what_changed_or_in_what_stays_behind(case: Case) -> None:
    changed = {path for path in case.tree("before") | case.tree("after") if _differs(case, path)}
    for place in case.where.places:
        if place.role == "slip" and place.side != "both":
            assert place.path in changed, place


def _differs(case: Case, path: str) -> bool:
    return case.tree("before").get(path) != case.tree("after").get(path)


@each_case
def test_codes_exist(case: Case) -> None:
    where = case.where
    assert where.deltas
    assert all(re.fullmatch(r"D([1-9]|10|11)", code) for code in where.deltas), where.deltas
    assert set(CODES) >= set(where.readers)
    assert where.execute and where.fixed


@each_case
def test_the_pairs_can_be_found(case: Case) -> None:
    assert case.where.pairs
    for old, new in case.where.pairs:
        assert _is_defined(case, "before", old), old
        assert _is_defined(case, "fixed", new), new


def _is_defined(case: Case, side: Side, reference: str) -> bool:
    """Whether the side has the module, and the first name of the reference in it; the rest may be inherited."""
    module, _, qualname = reference.partition(":")
    stem = module.replace(".", "/")
    tree = case.tree(side)
    raw = tree.get(f"{stem}.py", tree.get(f"{stem}/__init__.py"))
    if raw is None:
        return False
    return not qualname or qualname.partition(".")[0] in _bound(raw)


def _bound(raw: bytes) -> list[str]:
    """The names that a module binds at its top, imports included."""
    names: list[str] = []
    for node in ast.parse(raw).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [name for name in names if name != "*"]


_NAMES_PROBE = """
import importlib, json
for module, names in json.loads({names!r}).items():
    loaded = importlib.import_module(module)
    for name in names:
        value = getattr(loaded, name, None)
        home = getattr(value, "__module__", None)
        print(module + "." + name, type(value).__name__, home, getattr(value, "__qualname__", None))
"""


@functools.cache
def _public_names() -> dict[tuple[str, Side], str]:
    """What the old tree's public names are on each side: kind, module and qualified name, one a line."""
    scripts = []
    for case in load_cases():
        names = {
            path[:-3].replace("/", ".").removesuffix(".__init__"): [n for n in _bound(raw) if not n.startswith("_")]
            for path, raw in case.tree("before").items()
            if path.endswith(".py")
        }
        script = _NAMES_PROBE.format(names=json.dumps(names))
        scripts += [(case, side, script) for side in SIDES if side != "after"]
    return run_all(scripts)


@each_case
def test_the_mended_tree_keeps_every_public_name_and_where_it_is_stored(case: Case) -> None:
    """Else a prover would be right to call it different; what the refactoring renames on purpose is declared."""
    before, fixed = (_public_names()[case.id, side] for side in ("before", "fixed"))
    assert not before.startswith("exit"), before
    gone = [line.split()[0] for line in before.splitlines() if line not in fixed.splitlines()]
    assert [name for name in gone if not any(name in said for said in case.where.declared)] == []


def test_every_given_case_is_here_and_every_kind_has_a_second_shape() -> None:
    assert {path.name for path in ROOT.iterdir()} == {case.id for case in load_cases()}
    given = {case.id: case.kind for case in load_cases() if case.id.startswith("B")}
    ours = [case.kind for case in load_cases() if case.id.startswith("X")]
    assert set(given) == set(GIVEN.split())
    assert set(ours) == set(given.values())
    assert len(ours) >= len(set(ours)) >= 20

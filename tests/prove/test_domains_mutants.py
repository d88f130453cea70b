"""Cases of inferred domains tell apart every seeded slip of the mission helpers' stand-ins, and no safe rewrite.

The comparer is deliberately plain: result, exception, log records, calls of the collaborator, environment,
arguments."""

from __future__ import annotations

import ast
import logging
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codemods.prove.domains import Definition, Hole, materialised
from codemods.prove.domains_cases import cases
from codemods.prove.domains_home import Home
from codemods.prove.domains_infer import domains_of

CASES = Path(__file__).parent.parent / "cases" / "mutants"
BUDGET = 3000
FUNCTIONS = (
    "resolve_backend",
    "parse_addr",
    "resolve_init_method",
    "numa_cpu_lists",
    "pick_cpu_bind",
    "init_cpu_env",
    "check_balance",
)
Observed = tuple[Any, ...]


class Side:
    """One `helpers.py`, parsed and loaded beside a collaborator of its own."""

    def __init__(self, folder: Path, old: str = "", new: str = "") -> None:
        text = (folder / "helpers.py").read_text(encoding="utf-8")
        assert old in text
        text = text.replace(old, new, 1) if old else text
        self.tree = ast.parse(text)
        self.functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        self.collab = types.ModuleType("collab")
        exec((CASES / "base" / "collab.py").read_text(encoding="utf-8"), self.collab.__dict__)
        self.names: dict[str, Any] = {"__name__": "helpers"}
        before = sys.modules.get("collab")
        sys.modules["collab"] = self.collab
        try:
            exec(compile(text, str(folder), "exec", dont_inherit=True), self.names)
        finally:
            sys.modules.pop("collab")
            if before is not None:
                sys.modules["collab"] = before

    def concerned(self, name: str, other: Side) -> bool:
        """Whether a function, one that it calls or a constant that it reads is written differently."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            ours, theirs = _defined(self.tree, at), _defined(other.tree, at)
            if ours is None or theirs is None:
                continue
            if ast.dump(ours) != ast.dump(theirs):
                return True
            waiting.extend(each.id for each in ast.walk(ours) if isinstance(each, ast.Name))
        return False

    def run(self, name: str, case: dict[str, Any], records: list[Any]) -> Observed:
        given = materialised(case, _unexpected)
        self.collab.calls.clear()
        os.environ.pop("LOCAL_SIZE", None)
        records.clear()
        try:
            result: Any = ("returned", self.names[name](**given))
        except Exception as error:  # noqa: BLE001 - whatever the code raises is what it does
            result = ("raised", type(error), str(error))
        done = repr((result, self.collab.calls, os.environ.get("LOCAL_SIZE"), _sorted(given)))
        return done, tuple((each.levelno, each.getMessage()) for each in records)


def _unexpected(value: object) -> Any:
    assert not isinstance(value, Hole), f"every input here has a domain, but {value} came"
    raise AssertionError(value)


def _sorted(given: dict[str, Any]) -> list[Any]:
    return [sorted(value) if isinstance(value, set) else value for value in given.values()]


def _defined(tree: ast.Module, name: str) -> ast.stmt | None:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return node
    return None


def lookup_collab() -> Callable[[str], Definition | None]:
    home = Home(ast.parse((CASES / "base" / "collab.py").read_text(encoding="utf-8")), name="collab")
    return lambda name: home.find(name[len("collab.") :]) if name.startswith("collab.") else None


@pytest.fixture
def records() -> Iterator[list[logging.LogRecord]]:
    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.append(record)

    kept: list[logging.LogRecord] = []
    logger, keeper = logging.getLogger("helpers"), Keeper()
    before = logger.level, logger.propagate
    logger.addHandler(keeper)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield kept
    logger.removeHandler(keeper)
    logger.level, logger.propagate = before
    os.environ.pop("LOCAL_SIZE", None)


def first_difference(
    base: Side, other: Side, records: list[Any], *, seed: int = 0
) -> tuple[str, int, dict[str, Any]] | None:
    """The function, the number of the case and the case that tell the two apart."""
    compared = [name for name in FUNCTIONS if base.concerned(name, other)]
    assert compared, "the two files do the same in the same words"
    for name in compared:
        twin = other.functions[name]
        domains = domains_of(base.functions[name], base.tree, lookup_collab(), other=(twin, other.tree))
        for number, case in enumerate(cases(domains, budget=BUDGET, seed=seed)):
            if base.run(name, case, records) != other.run(name, case, records):
                return name, number, case
    return None


def folders(kind: str) -> list[Path]:
    return sorted((CASES / kind).iterdir())


@pytest.fixture(scope="module")
def base() -> Side:
    return Side(CASES / "base")


@pytest.mark.parametrize("folder", folders("differs"), ids=lambda folder: folder.name)
def test_a_slip_is_told_apart(folder: Path, base: Side, records: list[Any]) -> None:
    assert first_difference(base, Side(folder), records) is not None


@pytest.mark.parametrize("folder", folders("agrees"), ids=lambda folder: folder.name)
def test_a_safe_rewrite_is_not(folder: Path, base: Side, records: list[Any]) -> None:
    assert first_difference(base, Side(folder), records) is None


SLIPS = (
    ('addr.find("]")', 'addr.rfind("]")'),
    ("len(rest) < 2", "len(rest) < 1"),
    ("<= 65535", "< 65535"),
    ("0 <= port", "-1 <= port"),
    ("port = int(text)", "port = int(text.strip() if text.isdigit() else 'x')"),
    ("port = int(text)", "port = int(text, 0)"),
    ("return host, _port(port_text)", "return host.strip(), _port(port_text)"),
    ('if ":" in host and _is_v6(host)', 'if host.startswith(":") and _is_v6(host)'),
    ('raise ValueError(f"Bare IPv6', 'raise TypeError(f"Bare IPv6'),
    ('elastic == "mooncake"', 'elastic and elastic.lower() == "mooncake"'),
    ('if device == "cuda"', 'if device.startswith("cuda")'),
    ("if ib_spec:", "if ib_spec is not None:"),
    ("except Exception:", "except ValueError:"),
    ('found.split(",")', 'list(dict.fromkeys(found.split(",")))'),
    ('found.split(",")', 'found.split(",")[:2]'),
    ('"hpu": "hccl"', '"hpu": "xccl"'),
    ('or "127.0.0.1"', 'or "localhost"'),
    ('h.endswith("]")', "True"),
    ("h = h[1:-1]", "h = h[1:]"),
    ("if _is_v6(h):", 'if ":" in h:'),
    ("if (core, socket) not in first:", "if core not in first:"),
    ("if (core, socket) not in first:", "if True:"),
    ("sorted(by_node)", "sorted(by_node, reverse=True)"),
    ("map(str, sorted(cpus))", "map(str, list(by_node[node].values()))"),
    ('bind == "all"', 'bind.strip() == "all"'),
    ('bind == "all"', 'bind.lower() == "all"'),
    ("assert world <= len(nodes)", "assert world < len(nodes)"),
    ("if world > len(nodes):", "if world >= len(nodes):"),
    ("return parts[rank]", "return parts[rank].strip()"),
    ("return parts[rank]", "return parts[rank % len(parts)]"),
    ("return nodes[rank]", "return nodes[abs(rank)]"),
    ("collab.init_shm(world, rank)", "collab.init_shm(rank, world)"),
    ("local * 0.9:", "local * 0.9 - 1e-12:"),
    ("if world > 1", "if world > 2"),
    ("not draft", "draft"),
)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip[0]} -> {slip[1]}")
@pytest.mark.parametrize("seed", [0, 5])
def test_other_slips_of_these_kinds_are_told_apart(
    slip: tuple[str, str], seed: int, base: Side, records: list[Any]
) -> None:
    assert first_difference(base, Side(CASES / "base", *slip), records, seed=seed) is not None


def test_a_file_agrees_with_itself_under_another_seed(base: Side, records: list[Any]) -> None:
    for name in FUNCTIONS:
        domains = domains_of(base.functions[name], base.tree, lookup_collab())
        for case in cases(domains, budget=200, seed=7):
            assert base.run(name, case, records) == base.run(name, case, records), (name, case)

"""Recordings against functions as they are now: what agrees, what differs and where, and what can not be told."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from codemods.prove.golden import GoldenFile
from codemods.prove.record import record
from codemods.prove.replay import Ran, ReplayRequest, replay
from codemods.schema.recording import Recording, Replayed, ReplayVerdict

OLD = """
import logging, os
log = logging.getLogger(__name__)

class Config:
    def __init__(self, backend): self.backend = backend
    def fast(self): return self.backend == 'nccl'

class Runner:
    def __init__(self, config, rank):
        self.config, self.rank, self.cpus, self.engine = config, rank, None, open(os.devnull)

    def pick(self, nodes, *, offset=0):
        if not nodes:
            raise ValueError('no nodes')
        if self.config.fast():
            log.warning('fast on %d', self.rank)
        self.cpus = [self.rank + offset, *nodes]

    def hand_on(self): return [self.engine, self.rank]

def main():
    for config in (Config('nccl'), Config('gloo')):
        runner = Runner(config, 1)
        runner.pick([3, 4], offset=2)
        runner.hand_on()
        try: runner.pick([])
        except ValueError: pass

if __name__ == '__main__': main()
"""


def recorded(root: Path, module: str, text: str, *targets: str) -> list[GoldenFile]:
    """The recordings of a program."""
    (root / f"{module}.py").write_text(text, encoding="utf-8")
    found = record([f"{module}:{target}" for target in targets], [sys.executable, f"{module}.py"], dict(os.environ), ())
    return [GoldenFile(root / f"{number}.json", each) for number, each in enumerate(found.examples)]


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[GoldenFile]:
    """The four behaviours of Runner.pick."""
    monkeypatch.chdir(tmp_path)
    files = recorded(tmp_path, "program", OLD, "Runner.pick")
    assert len(files) == 4
    return files


def made(**given: Any) -> Recording:
    fields: dict[str, Any] = {"schema": 1, "target": "program:f", "arguments": {}, **given}
    if "raised" not in fields:
        fields.setdefault("returned", None)
    return Recording(**fields)


def replayed(root: Path, files: list[GoldenFile], text: str = "", **asked: Any) -> list[Replayed]:
    return [each.replayed for each in ran(root, files, text, **asked)]


def ran(root: Path, files: list[GoldenFile], text: str = "", **asked: Any) -> list[Ran]:
    if text:
        (root / "program.py").write_text(text, encoding="utf-8")
    return replay(files, ReplayRequest(root=root, **asked), dict(os.environ))[0]


def one(root: Path, recording: Recording, text: str, **asked: Any) -> Replayed:
    (found,) = replayed(root, [GoldenFile(root / "r.json", recording)], text, **asked)
    return found


def verdicts(found: list[Replayed]) -> set[str]:
    return {each.verdict.value for each in found}


def places(found: list[Replayed]) -> set[str]:
    return {difference.place for each in found for difference in each.differences}


def test_an_unchanged_function_agrees(tmp_path: Path, old: list[GoldenFile]) -> None:
    assert verdicts(replayed(tmp_path, old)) == {"agrees"}


@pytest.mark.parametrize(
    ("slip", "instead", "place"),
    [
        ("self.rank + offset, *nodes", "self.rank - offset, *nodes", "write self.cpus[0]"),
        ("self.rank + offset, *nodes", "*nodes, self.rank + offset", "write self.cpus[1]"),
        ("self.cpus = [", "self.cpu = [", "write self.cpu"),
        ("self.cpus = [", "return [", "result"),
        ("raise ValueError('no nodes')", "raise TypeError('no nodes')", "exception.type"),
        ("raise ValueError('no nodes')", "raise ValueError('no node')", "exception.text"),
        ("raise ValueError('no nodes')", "return", "exception"),
        ("log.warning('fast on %d'", "log.error('fast on %d'", "log 1.level"),
        ("log.warning('fast on %d'", "log.warning('fast  on %d'", "log 1.text"),
        ("log.warning('fast on %d', self.rank)", "pass", "log 1"),
        ("if self.config.fast()", "if not self.config.fast()", "log 1"),
        ("if not nodes:", "nodes.append(9)\n        if not nodes:", "write nodes"),
        ("if not nodes:", "os.environ['SLIP'] = '1'\n        if not nodes:", "env SLIP"),
        ("if not nodes:", "nodes = nodes or [1]\n        if not nodes:", "exception"),
    ],
)
def test_a_slip_differs_and_its_place_is_named(
    tmp_path: Path, old: list[GoldenFile], slip: str, instead: str, place: str
) -> None:
    assert OLD.count(slip) == 1
    found = replayed(tmp_path, old, OLD.replace(slip, instead))
    assert "differs" in verdicts(found)
    assert "inconclusive" not in verdicts(found)
    assert place in places(found)


def test_a_difference_shows_both_values(tmp_path: Path, old: list[GoldenFile]) -> None:
    found = replayed(tmp_path, old, OLD.replace("self.rank + offset", "self.rank * 5"))
    shown = [(each.place, each.expected, each.found) for row in found for each in row.differences]
    assert shown == [("write self.cpus[0]", "3", "5")] * 2


MOVED = """
import logging
log = logging.getLogger(__name__)

def pick_cpus(nodes, *, rank, config, offset=0):
    if not nodes:
        raise ValueError('no nodes')
    if config.fast():
        log.warning('fast on %d', rank)
    return [rank + offset, *nodes]
"""


def test_a_method_that_became_a_function_agrees(tmp_path: Path, old: list[GoldenFile]) -> None:
    (tmp_path / "numa.py").write_text(MOVED, encoding="utf-8")
    found = replayed(tmp_path, old, against="numa:pick_cpus")
    assert verdicts(found) == {"agrees"}
    assert {note for each in found for note in each.notes} == {
        "the result is compared with what was written to self.cpus",
        "log records come from numa instead of program",
    }


@pytest.mark.parametrize(
    ("slip", "instead"),
    [
        ("rank + offset", "offset"),
        ("return [rank + offset, *nodes]", "return None"),
        ("if not nodes", "if nodes is None"),
    ],
)
def test_a_slip_in_the_function_that_took_its_place_differs(
    tmp_path: Path, old: list[GoldenFile], slip: str, instead: str
) -> None:
    (tmp_path / "numa.py").write_text(MOVED.replace(slip, instead), encoding="utf-8")
    assert "differs" in verdicts(replayed(tmp_path, old, against="numa:pick_cpus"))


def test_several_writes_are_compared_with_fields(tmp_path: Path) -> None:
    receiver = {"$object": "program:A", "label": "self", "attributes": {"n": 2}}
    recording = made(
        target="program:A.f", receiver="self", arguments={"self": receiver}, writes={"self.x": 2, "self.y": [3]}
    )
    text = (
        "from typing import NamedTuple\nclass A: pass\nclass R(NamedTuple):\n    y: list\n    x: int\n"
        "def good(n): return R([n + 1], n)\ndef bad(n): return R([n], n)\ndef pair(n): return n, [n + 1]\n"
        "def table(n): return {'x': n, 'y': [n + 1]}\ndef half(n): return {'x': n}\n"
    )
    outcome = {name: one(tmp_path, recording, text, against=f"program:{name}").verdict.value
               for name in ("good", "bad", "pair", "table", "half")}  # fmt: skip
    assert outcome == {"good": "agrees", "bad": "differs", "pair": "agrees", "table": "agrees", "half": "differs"}


def test_placeholders_are_compared_by_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = recorded(tmp_path, "program", OLD, "Runner.hand_on")
    assert verdicts(replayed(tmp_path, files)) == {"agrees"}
    other = OLD.replace("[self.engine, self.rank]", "[self.config, self.rank]")
    found = replayed(tmp_path, files, other)
    assert verdicts(found) == {"inconclusive"}  # config was not read, so it is not there
    assert {each.reason for each in found} == {"it needs attribute config of self, which is not recorded"}


def test_what_asks_a_placeholder_is_inconclusive_even_when_it_swallows_the_answer(tmp_path: Path) -> None:
    opaque = {"$opaque": "_io:TextIOWrapper", "label": "x"}
    recording = made(arguments={"x": opaque}, returned=1)
    for body in ("return x.read()", "return x + 1", "return 1 if x.closed else 2", "return len(x)"):
        swallowed = f"def f(x):\n    try:\n        {body}\n    except BaseException:\n        return 1\n"
        found = one(tmp_path, recording, swallowed)
        assert (found.verdict, found.reason[:8]) == (ReplayVerdict.INCONCLUSIVE, "it needs")
    assert one(tmp_path, recording, "def f(x): return 1 if x is not None else 2").verdict is ReplayVerdict.AGREES


def test_an_attribute_that_was_absent_is_absent(tmp_path: Path) -> None:
    receiver = {"$object": "program:A", "label": "self", "attributes": {}}
    text = "class A:\n    def f(self): return getattr(self, 'x', 7)\n"
    known = made(target="program:A.f", receiver="self", arguments={"self": receiver}, absent=("self.x",), returned=7)
    unknown = made(target="program:A.f", receiver="self", arguments={"self": receiver}, returned=7)
    assert one(tmp_path, known, text).verdict is ReplayVerdict.AGREES
    assert one(tmp_path, unknown, text).verdict is ReplayVerdict.INCONCLUSIVE


def test_the_initialiser_is_not_run(tmp_path: Path) -> None:
    receiver = {"$object": "program:A", "label": "self", "attributes": {"x": 3}}
    text = "class A:\n    def __init__(self): raise SystemError\n    def f(self): return self.x\n"
    recording = made(target="program:A.f", receiver="self", arguments={"self": receiver}, returned=3)
    assert one(tmp_path, recording, text).verdict is ReplayVerdict.AGREES


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ("x = 1", "unmatched", "program has no f"),
        ("def f(x): return x", "inconclusive", "nothing is recorded for x"),
        ("raise OSError('no device')", "inconclusive", "program can't be imported: OSError: no device"),
        ("import no_such_module", "inconclusive", "program can't be imported: ModuleNotFoundError"),
        ("import os\ndef f(): os._exit(7)", "inconclusive", "it ended the process with status 7"),
        ("import os\ndef f(): os.abort()", "inconclusive", "it was ended by signal 6"),
        ("import os\nos._exit(0)", "inconclusive", "it ended the process with status 0"),
        ("def f():\n    while True: pass", "inconclusive", "it took more than 2 s"),
        ("def f(): raise SystemExit(1)", "differs", "exception differs"),
        ("def f(): print('x' * 10_000_000)", "agrees", ""),
    ],
)
def test_what_can_not_be_run_never_agrees(tmp_path: Path, text: str, verdict: str, reason: str) -> None:
    found = one(tmp_path, made(), text, timeout_s=2.0)
    assert (found.verdict.value, found.reason[: len(reason)]) == (verdict, reason)


def test_a_module_that_is_gone_is_unmatched(tmp_path: Path) -> None:
    found = one(tmp_path, made(target="gone.away:f"), "x = 1")
    assert (found.verdict.value, found.reason) == ("unmatched", "there is no module gone")


def test_one_that_crashes_does_not_take_the_others_along(tmp_path: Path) -> None:
    text = "import os\ndef f(x): return x if x != 2 else os._exit(1)\n"
    files = [GoldenFile(tmp_path / f"{x}.json", made(arguments={"x": x}, returned=x)) for x in range(5)]
    found = replayed(tmp_path, files, text)
    assert [each.verdict.value for each in found] == ["agrees", "agrees", "inconclusive", "agrees", "agrees"]


def test_what_one_leaves_behind_is_no_difference_of_the_next(tmp_path: Path) -> None:
    text = "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n"
    files = [GoldenFile(tmp_path / f"{x}.json", made(arguments={"x": x}, returned=1)) for x in range(3)]
    assert verdicts(replayed(tmp_path, files, text)) == {"agrees"}


VALUES: list[tuple[Any, str]] = [
    ({"$tuple": [1, 2]}, "x == (1, 2) and type(x) is tuple"),
    ({"$set": [1, 2]}, "x == {1, 2}"),
    ({"$frozenset": ["a"]}, "x == frozenset('a') and type(x) is frozenset"),
    ({"$items": [[1, "a"], [{"$tuple": [1]}, None]]}, "x == {1: 'a', (1,): None}"),
    ({"$bytes": "b'a\\x00'"}, "x == b'a\\0'"),
    ({"$float": "inf"}, "x == float('inf')"),
    ({"$int": str(2**70)}, "x == 2**70"),
    ({"$enum": "program:E.B"}, "x is E.B"),
    ({"$type": "collections:OrderedDict"}, "x is collections.OrderedDict"),
    ({"$function": "posixpath:join"}, "x is os.path.join"),
    ({"$module": "json"}, "x.__name__ == 'json'"),
    ({"$value": "decimal:Decimal", "args": ["1.50"]}, "str(x) == '1.50'"),
    ({"$value": "datetime:date", "args": [2001, 2, 3]}, "x.isoformat() == '2001-02-03'"),
    ({"$value": "pathlib:PosixPath", "args": ["a/b"]}, "x.name == 'b'"),
    ({"$value": "builtins:range", "args": [1, 5, 2]}, "x == range(1, 5, 2)"),
    ({"$value": "builtins:complex", "args": ["(1+2j)"]}, "x == 1 + 2j"),
    ({"$value": "collections:deque", "args": [[1, 2], 5]}, "list(x) == [1, 2] and x.maxlen == 5"),
    ({"$object": "program:P", "label": "x", "attributes": {"a": 1, "b": 2}}, "x == P(2, 1) and x.a == 1"),
    ({"$object": "program:S", "label": "x", "attributes": {"a": 1}}, "x.a == 1 and type(x) is S"),
    ({"at": {"$live": "time-s"}}, "abs(x['at'] - time.time()) < 60"),
    ({"pid": {"$live": "pid"}}, "x['pid'] == os.getpid()"),
    ([[], {"$same": "x[0]"}], "x[0] is x[1]"),
]


def test_values_come_back(tmp_path: Path) -> None:
    text = (
        "import collections, enum, os, time\nfrom typing import NamedTuple\n"
        "class E(enum.Enum):\n    A = 1\n    B = 2\n"
        "class P(NamedTuple):\n    b: int\n    a: int\n"
        "class S:\n    __slots__ = ('a',)\n"
    )
    text += "".join(f"def f{at}(x): return {expression}\n" for at, (_, expression) in enumerate(VALUES))
    files = [
        GoldenFile(tmp_path / f"{at}.json", made(target=f"program:f{at}", arguments={"x": data}, returned=True))
        for at, (data, _) in enumerate(VALUES)
    ]
    found = replayed(tmp_path, files, text)
    assert [(VALUES[at], each.reason) for at, each in enumerate(found) if each.verdict.value != "agrees"] == []


def test_the_tree_of_the_root_is_imported_and_nothing_is_left_in_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "program.py").write_text("def f(): return 1\n")
    (found,) = replayed(tmp_path, [GoldenFile(tmp_path / "r", made(returned=1))], paths=("src",))
    assert found.verdict is ReplayVerdict.AGREES
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["program.py", "src"]


def test_what_only_looks_changed_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that is known by identity, an attribute set to what it was, a private method, a pattern, a logger."""
    monkeypatch.chdir(tmp_path)
    text = (
        "import logging, re\n_UNSET = object()\n"
        "class A:\n"
        "    def __init__(self):\n"
        "        self.last, self.step = None, 2\n"
        "        self.match, self.log = re.compile('a+', re.I), logging.getLogger('deep')\n"
        "    def __private(self): return self.step\n"
        "    def f(self, x=_UNSET):\n"
        "        self.last = None\n"
        "        self.log.warning('here')\n"
        "        return (x is _UNSET, self.__private(), bool(self.match.match('AA')))\n"
        "if __name__ == '__main__': A().f(); A().f(3)\n"
    )
    files = recorded(tmp_path, "program", text, "A.f", "A.__private")
    assert len(files) == 3
    assert [(each.verdict.value, each.reason) for each in replayed(tmp_path, files)] == [("agrees", "")] * 3


def test_what_is_updated_agrees(tmp_path: Path, old: list[GoldenFile]) -> None:
    changed = OLD.replace("self.rank + offset", "self.rank * 5").replace("'no nodes'", "'none'")
    found = ran(tmp_path, old, changed)
    updated = [GoldenFile(each.file.path, each.updated or each.file.recording) for each in found]
    assert sum(each.updated is not None for each in found) == 4
    assert verdicts(replayed(tmp_path, updated)) == {"agrees"}

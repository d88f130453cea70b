"""Real programs, recorded: what is kept of a call, in which processes, and what never is. Each kind of noticing calls
that this Python has is tried."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codemods.prove.record import NothingRecorded, Recorded, record
from codemods.repo.run_program import CannotStart
from codemods.schema.recording import Recording

PROGRAM = Path(__file__).resolve().parents[1] / "cases" / "record" / "recorded_program.py"
ENGINES = ["wrapping", "monitoring"] if sys.version_info >= (3, 12) else ["wrapping"]
Run = Callable[..., Recorded]


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Records the command's calls of the targets, in a directory that has the program."""
    shutil.copy(PROGRAM, tmp_path)
    monkeypatch.chdir(tmp_path)

    def recorded(targets: list[str], *command: str, **environ: str) -> Recorded:
        given = {**os.environ, "UNMOVED_RECORD_BY": request.param, "TMPDIR": "/nowhere", **environ}
        names = [target if ":" in target else f"recorded_program:{target}" for target in targets]
        return record(names, [sys.executable, *command], given, ())

    return recorded


def of(recorded: Recorded, name: str) -> list[Recording]:
    return [each for each in recorded.examples if each.target == f"recorded_program:{name}"]


def one(recorded: Recorded, name: str) -> Recording:
    (found,) = of(recorded, name)
    return found


SCRIPT = ("recorded_program.py",)
MODULE = ("-m", "recorded_program")
IMPORTED = ("-c", "import recorded_program; recorded_program.main([])")


@pytest.mark.parametrize("command", [SCRIPT, MODULE, IMPORTED], ids=["script", "module", "imported"])
def test_a_method_is_recorded_however_its_module_runs(run: Run, command: tuple[str, ...]) -> None:
    found = of(run(["Runner.pick"], *command), "Runner.pick")
    assert len(found) == 5
    first = next(each for each in found if each.arguments["size"] == 3)
    assert first.receiver == "self"
    assert first.arguments == {
        "self": {
            "$object": "recorded_program:Runner",
            "label": "self",
            "attributes": {
                "config": {
                    "$object": "recorded_program:Config",
                    "label": "self.config",
                    "attributes": {"backend": "nccl"},
                },
                "items": [],
                "last": None,
                "lock": {"$opaque": "_thread:lock", "label": "self.lock"},
                "rank": 1,
            },
        },
        "size": 3,
        "scale": 1,
        "*rest": {"$tuple": []},
        "**options": {},
    }
    assert first.returned == {"size": 6, "rest": [], "locked": {"$same": "self.lock"}}
    assert first.writes == {"self.items": [6], "self.last": 7}
    assert (first.raised, first.env_writes, first.logs) == (None, {}, ())


def test_keywords_and_the_environment_are_kept(run: Run) -> None:
    found = of(run(["Runner.pick"], *SCRIPT), "Runner.pick")
    call = next(each for each in found if each.arguments["scale"] == 2)
    assert call.arguments["*rest"] == {"$tuple": ["a", "b"]}
    assert call.arguments["**options"] == {"remember": True}
    assert call.env_writes == {"LAST_SIZE": "2"}
    plain = of(run(["plain"], *SCRIPT, RECORDED_MODE="fast"), "plain")
    assert {each.arguments["mode"]: each.environment for each in plain}["env"] == {"RECORDED_MODE": "fast"}
    assert {each.arguments["mode"]: each.returned for each in plain if each.raised is None} == {"sum": 6, "env": "fast"}


def test_exceptions_and_log_records_are_kept(run: Run) -> None:
    found = [each for each in of(run(["Runner.pick"], *SCRIPT), "Runner.pick") if each.raised]
    assert [(each.raised.type, each.raised.text) for each in found if each.raised] == [
        ("builtins:ValueError", "size -5 of nccl")
    ]
    assert [(log.level, log.logger, log.text) for log in found[0].logs] == [
        ("WARNING", "recorded_program", "no size for nccl")
    ]


def test_every_kind_of_function_is_recorded(run: Run) -> None:
    found = run(["Runner"], *SCRIPT)
    assert one(found, "Runner.numbers").returned == {"$opaque": "builtins:generator", "label": "result"}
    assert one(found, "Runner.numbers").arguments["end"] == 3
    assert one(found, "Runner.later").returned == {"$opaque": "builtins:coroutine", "label": "result"}
    assert one(found, "Runner.name").returned == "nccl-1"
    assert (one(found, "Runner.twice").returned, one(found, "Runner.twice").receiver) == (8, "")
    assert one(found, "Runner.made").arguments["cls"] == {"$type": "recorded_program:Runner"}
    assert all(each.target.startswith("recorded_program:Runner.") for each in found.examples)
    assert found.calls["recorded_program:Runner.pick"] == 5


def test_what_is_of_the_moment_or_secret_is_not_kept(run: Run) -> None:
    found = run(["Runner.where", "Runner.header"], *SCRIPT)
    where = one(found, "Runner.where")
    assert where.returned == {
        "cwd": "<cwd>",
        "pid": {"$live": "pid"},
        "at": "<recorded_program.Runner object at <address>>",
        "now": {"$live": "time-s"},
    }
    header = one(found, "Runner.header")
    assert header.returned == "Bearer <redacted:api_key> for ann"
    assert "secrets are redacted" in header.notes
    assert "0123456789abcdef" not in repr(found.examples)


def test_threads_children_and_forks_are_recorded(run: Run) -> None:
    found = run(["Runner.pick"], *SCRIPT, "threads", "children", "fork")
    backends = [each.arguments["self"]["attributes"]["config"]["attributes"]["backend"] for each in found.examples]
    assert {"nccl", "mpi", "gloo", "child", "forked"} == set(backends)
    assert backends.count("gloo") == 4
    assert found.calls["recorded_program:Runner.pick"] >= 10


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_multiprocessing_are_recorded(run: Run, tmp_path: Path, method: str) -> None:
    (tmp_path / "work.py").write_text(
        "import multiprocessing as mp\n"
        "class W:\n"
        "    def go(self, n): return n\n"
        "def child(q): q.put(W().go('in child'))\n"
        "if __name__ == '__main__':\n"
        f"    c = mp.get_context({method!r}); q = c.SimpleQueue(); p = c.Process(target=child, args=(q,))\n"
        "    p.start(); q.get(); p.join(); W().go(3)\n"
    )
    found = run(["work:W.go"], "work.py")
    assert {(each.target, each.returned) for each in found.examples} == {("work:W.go", 3), ("work:W.go", "in child")}
    assert {each.arguments["self"]["$object"] for each in found.examples} == {"work:W"}


def test_the_program_keeps_its_exit_status_and_is_recorded_when_it_fails(run: Run) -> None:
    found = run(["Runner.twice"], *SCRIPT, "fail")
    assert (found.status, len(found.examples)) == (3, 1)


def test_the_program_does_not_notice(run: Run, tmp_path: Path) -> None:
    """Its path, its own sitecustomize, names, signatures and tracebacks are what they are without a recorder."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import sys\nsys.customized = True\n")
    (tmp_path / "look.py").write_text(
        "import inspect, json, sys\n"
        "import recorded_program\n"
        "from recorded_program import Runner, Config\n"
        "def look():\n"
        "    pick = Runner.pick\n"
        "    caught = ''\n"
        "    try: Runner(Config('x', 1, 'x')).pick(-1)\n"
        "    except ValueError as error: caught = str(error)\n"
        "    return [[p for p in sys.path if 'unmoved' in p], sys.customized, pick.__name__, pick.__qualname__,\n"
        "        str(inspect.signature(pick)), inspect.getsource(pick)[:20],\n"
        "        inspect.iscoroutinefunction(Runner.later),\n"
        "        sorted(vars(recorded_program)), caught, [m for m in sys.modules if m.startswith('codemods')]]\n"
        "open(sys.argv[1], 'w').write(json.dumps(look()))\n"
    )
    path = str(tmp_path / "own")
    run(["Runner"], "look.py", "with", PYTHONPATH=path)
    os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "look.py", "without"], {**os.environ, "PYTHONPATH": path})
    assert (tmp_path / "with").read_text() == (tmp_path / "without").read_text()


def test_many_calls_of_one_behaviour_are_few_examples(run: Run, tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(
        "def f(x, word):\n"
        "    if x == 7001: raise KeyError(x)\n"
        "    return x + 1\n"
        "if __name__ == '__main__':\n"
        "    for x in range(3, 9000):\n"
        "        try: f(x, f'request {x}')\n"
        "        except KeyError: pass\n"
    )
    found = run(["many:f"], "many.py")
    assert 1 <= len(found.examples) <= 4
    assert found.calls == {"many:f": 8997}
    assert found.notes == ["1 calls ended in a way that was new for their inputs, which had not been kept"]


def test_the_number_of_behaviours_is_bounded_and_that_is_said(run: Run, tmp_path: Path) -> None:
    letters = "'abcdefghijklmnopqrstuvwxyz'"
    (tmp_path / "many.py").write_text(
        f"def f(word): return word\nif __name__ == '__main__':\n"
        f"    for a in {letters}:\n        for b in {letters}: f(a + b)\n"
    )
    found = run(["many:f"], "many.py")
    assert len(found.examples) == 64
    assert any("more behaviours than are kept" in note for note in found.notes)


def test_large_deep_and_circular_values_are_cut_and_that_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "big.py").write_text(
        "class Node: pass\n"
        "def f(numbers, text, node, deep): return node\n"
        "if __name__ == '__main__':\n"
        "    node = Node(); node.me = node; node.other = [node]\n"
        "    deep = []\n"
        "    for _ in range(50): deep = [deep]\n"
        "    f(list(range(1000)), 'long ' * 1000, node, deep)\n"
    )
    (found,) = run(["big:f"], "big.py").examples
    assert found.arguments["numbers"] == {"$cut": list(range(32)), "length": 1000}
    assert found.arguments["text"]["length"] == 5000
    assert found.arguments["node"]["attributes"] == {"me": {"$same": "node"}, "other": [{"$same": "node"}]}
    assert found.returned == {"$same": "node"}
    assert len(found.notes) >= 3
    assert len(repr(found)) < 4000


def test_no_code_of_the_program_is_run_for_a_recording(run: Run, tmp_path: Path) -> None:
    (tmp_path / "touchy.py").write_text(
        "import sys\n"
        "ran = []\n"
        "class Touchy:\n"
        "    def __init__(self): self.x = 1\n"
        "    def __getattr__(self, name): ran.append(name); raise AttributeError(name)\n"
        "    def __repr__(self): ran.append('repr'); return 'x'\n"
        "    def __eq__(self, other): ran.append('eq'); return True\n"
        "    def __hash__(self): ran.append('hash'); return 1\n"
        "    def __bool__(self): ran.append('bool'); return True\n"
        "    def __len__(self): ran.append('len'); return 1\n"
        "    def __iter__(self): ran.append('iter'); return iter(())\n"
        "    @property\n"
        "    def p(self): ran.append('p'); return 1\n"
        "def f(a, b): return [a, b, a]\n"
        "if __name__ == '__main__':\n"
        "    for _ in range(100): f(Touchy(), {'t': Touchy()})\n"
        "    sys.exit(len(ran))\n"
    )
    found = run(["touchy:f"], "touchy.py")
    assert found.status == 0
    assert found.examples[0].returned[2] == {"$same": "a"}


@pytest.mark.parametrize(
    ("target", "arguments", "told"),
    [
        ("recorded_program:Runner.absent", SCRIPT, "no call of it was seen"),
        ("elsewhere:f", SCRIPT, "no call of it was seen"),
        ("recorded_program:plain", ("-I", "recorded_program.py"), "no Python of the command took the recorder in"),
    ],
)
def test_nothing_recorded_is_an_error(run: Run, target: str, arguments: tuple[str, ...], told: str) -> None:
    with pytest.raises(NothingRecorded, match=told):
        run([target], *arguments)


def test_a_command_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="no-such-program"):
        record(["a:b"], [str(tmp_path / "no-such-program")], dict(os.environ), ())


def test_a_target_that_was_never_called_is_named(run: Run) -> None:
    found = run(["Runner.twice", "Runner.absent"], *SCRIPT)
    assert found.notes == ["recorded_program:Runner.absent was never called"]


def test_a_killed_program_has_been_recorded(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text(
        "import os, signal\ndef f(x): return x\nif __name__ == '__main__':\n"
        "    f(1)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    found = run(["dies:f"], "dies.py")
    assert (found.status, found.examples[0].returned) == (-9, 1)


def test_decorated_functions_are_recorded_beneath_their_decorators(run: Run, tmp_path: Path) -> None:
    (tmp_path / "decorated.py").write_text(
        "import functools\n"
        "registry = {}\n"
        "def register(f):\n"
        "    @functools.wraps(f)\n"
        "    def outer(*args): return f(*args) + 1\n"
        "    registry[f.__name__] = outer\n"
        "    return outer\n"
        "@register\n"
        "def f(x): return x\n"
        "class A:\n"
        "    @functools.lru_cache\n"
        "    @staticmethod\n"
        "    def g(x): return x\n"
        "    h = g\n"
    )
    command = "import decorated as d; d.registry['f'](5); d.f(6); d.A.h(7)"
    found = run(["decorated:f", "decorated:A.g"], "-c", command)
    results: Any = sorted((each.target, each.returned) for each in found.examples)
    assert results == [("decorated:A.g", 7), ("decorated:f", 5), ("decorated:f", 6)]


def test_a_program_whose_classes_are_made_by_libraries_in_its_names(run: Run, tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(
        "import dataclasses\n"
        "@dataclasses.dataclass\n"
        "class Order: n: int\n"
        "exec('pass')\n"
        "class Service:\n"
        "    def price(self, order): return order.n * 2\n"
        "if __name__ == '__main__': Service().price(Order(3))\n"
    )
    found = run(["orders:Service"], "orders.py")
    assert [(each.target, each.returned) for each in found.examples] == [("orders:Service.price", 6)]

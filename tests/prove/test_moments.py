"""What a module or class holds at the moment of a call is an input: tables that functions fill, objects and classes
whose attributes they set. Loaded they are empty, or hold defaults; a slip in what reads them must show all the same."""

from __future__ import annotations

import pytest

from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=2000, faults=2000, seconds=20.0)
_TABLES = """import itertools, random
from collections import defaultdict, deque

_groups = {}
_cache: dict = {}
_names = []
_seen = set()
_waiting = defaultdict(list)
_ids = itertools.count()
_rng = random.Random(0)
_queue = deque()
_lookup = {"x": []}
SUPPORTED = ["a", "b"]
KINDS = {"a": 1}


def add(name, group):
    _groups[name] = group


def get(name):
    if name in _groups:
        return _groups[name]
    raise KeyError(name)


def find(name):
    return _groups.get(name)


def attempt(name):
    try:
        return _groups[name]
    except KeyError:
        return None


def cached(k, f):
    if k not in _cache:
        _cache[k] = f(k)
    return _cache[k]


def note(n):
    _names.append(n)


def names():
    return [each.upper() for each in _names]


def last():
    return _names[-1] if _names else None


def see(x):
    if x in _seen:
        return False
    _seen.add(x)
    return True


def wait(k, x):
    _waiting[k].append(x)
    return len(_waiting[k])


def number():
    return next(_ids)


def draw():
    return _rng.random()


def push(x):
    _queue.append(x)
    return len(_queue)


def is_kind(x):
    return x in SUPPORTED and KINDS.get(x)


def drop(name):
    group = _groups.pop(name, None)
    if group is not None:
        group.close()


def close():
    for group in _groups.values():
        group.close()
    _groups.clear()


def look(k):
    _lookup["x"].append(k)
    return list(_lookup)


def flush():
    _fill()
    for each in _names:
        each.run()


def _fill():
    _names.append(draw())


def show():
    return f"{len(_names)} {_names}"
"""
_CLASSES = """import dataclasses


@dataclasses.dataclass
class State:
    count: int = 0
    names: list = dataclasses.field(default_factory=list)

    def more(self):
        return self.count + 1


_state = State()


class Group:
    made = 0
    table = {}
    default = None
    LIMIT = 3
    WIDTH = 3
    is_draft = False

    def __init__(self, name):
        Group.made += 1
        self.name = name

    def load(self):
        self.is_draft = True

    def run(self, x):
        if self.is_draft:
            return -x
        return x

    def add(self, k):
        type(self).table[k] = self

    def find(self, k):
        return self.table.get(k)

    def number(self):
        return self.made if self.made > 1 else None

    @classmethod
    def shared(cls):
        if cls.default is None:
            cls.default = cls("x")
        return cls.default

    def limits(self, x):
        return x > self.LIMIT

    def widths(self, x):
        return x > self.WIDTH


class Sub(Group):
    LIMIT = 4


def step():
    _state.count = _state.count + 1
    return _state.count


def many(x):
    if _state.count > 3:
        return x
    return -x


def more():
    return _state.more()
"""
_DIFFERS = [
    ("get", "return _groups[name]\n    raise", "return None\n    raise"),
    ("find", "_groups.get(name)", "_groups.get(name, 0)"),
    ("attempt", "    except KeyError:\n        return None", "    except KeyError:\n        return 0"),
    ("cached", "if k not in _cache", "if True"),
    ("cached", "    return _cache[k]", "    return None"),
    ("note", "_names.append(n)", "_names.insert(0, n)"),
    ("names", "each.upper()", "each.lower()"),
    ("last", "_names[-1]", "_names[0]"),
    ("see", "return False", "return None"),
    ("see", "_seen.add(x)", "pass"),
    ("wait", "append(x)", "append(k)"),
    ("draw", "_rng.random()", "_rng.random() + 1"),
    ("push", "_queue.append(x)", "_queue.appendleft(x)"),
    ("is_kind", "KINDS.get(x)", "KINDS.get(x, 0)"),
    ("is_kind", '["a", "b"]', '["a"]'),
    ("drop", "group.close()\n\n\ndef close", "group.stop()\n\n\ndef close"),
    ("drop", "_groups.pop(name, None)", "_groups.get(name, None)"),
    ("close", "    _groups.clear()\n", "    pass\n"),
    ("close", "for group in _groups.values()", "for group in list(_groups.values())[1:]"),
    ("look", "return list(_lookup)", 'return ["x"]'),
    ("flush", "    _fill()\n    for each in _names:\n        each.run()\n",
     "    for each in _names:\n        each.run()\n    _fill()\n"),
    ("show", "{len(_names)}", "{len(_names) + 1}"),
]  # fmt: skip
_AGREES = [
    ("get", "if name in _groups:\n        return _groups[name]\n    raise KeyError(name)", "return _groups[name]"),
    ("find", "_groups.get(name)", "_groups[name] if name in _groups else None"),
    ("attempt", "try:\n        return _groups[name]\n    except KeyError:\n        return None",
     "return _groups.get(name)"),
    ("cached", "    if k not in _cache:\n        _cache[k] = f(k)\n    return _cache[k]",
     "    if k in _cache:\n        return _cache[k]\n    made = f(k)\n    _cache.update({k: made})\n    return made"),
    ("note", "_names.append(n)", "_names.extend([n])"),
    ("last", "_names[-1] if _names else None", "None if not _names else _names[len(_names) - 1]"),
    ("see", "    if x in _seen:\n        return False\n    _seen.add(x)\n    return True",
     "    if x not in _seen:\n        _seen.update([x])\n        return True\n    return False"),
    ("number", "return next(_ids)", "n = next(_ids)\n    return n"),
    ("is_kind", "x in SUPPORTED", 'x in ["a", "b"]'),
    ("drop", "group = _groups.pop(name, None)", "group = _groups.get(name)\n    _groups.pop(name, None)"),
    ("close", "    _groups.clear()\n", "    for k in list(_groups):\n        del _groups[k]\n"),
    ("flush", "    for each in _names:\n", "    for each in list(_names):\n"),
]  # fmt: skip
_OF_CLASSES = [
    ("many", "return -x\n\n\ndef more", "return x\n\n\ndef more", "differs"),
    ("many", "    if _state.count > 3:\n        return x\n    return -x", "    return x if _state.count > 3 else -x",
     "agrees"),
    ("step", "_state.count = _state.count + 1", "_state.count = _state.count + 2", "differs"),
    ("more", "return _state.more()", "return 1", "differs"),
    ("State.more", "self.count + 1", "1", "differs"),
    ("Group.run", "return -x\n        return x", "return x\n        return x", "differs"),
    ("Group.find", "self.table.get(k)", "None", "differs"),
    ("Group.find", "self.table.get(k)", "self.table[k] if k in self.table else None", "agrees"),
    ("Group.number", "self.made if self.made > 1 else None", "None", "differs"),
    ("Group.shared", "if cls.default is None", "if True", "differs"),
    ("Group.shared", "if cls.default is None", "if not (cls.default is not None)", "agrees"),
    ("Group.limits", "x > self.LIMIT", "x > 3", "differs"),
    ("Group.widths", "x > self.WIDTH", "x > 3", "agrees"),
    ("Group.__init__", "Group.made += 1", "pass", "differs"),
    ("Group.__init__", "Group.made += 1", "Group.made = Group.made + 1", "agrees"),
]  # fmt: skip


def _proved(old: dict[str, str], new: dict[str, str], name: str) -> PairResult:
    sides = [
        Side(label, FileSet(MemoryTree({path: text.encode() for path, text in files.items()})))
        for label, files in (("old", old), ("new", new))
    ]
    twins = Twins(sides[0], sides[1], ["m.py"])
    return prove_pair(twins, Pair(old=f"m:{name}", new=f"m:{name}"), _OPTIONS)


def _of(text: str, name: str, before: str, after: str) -> PairResult:
    assert text.count(before) >= 1
    return _proved({"m.py": text}, {"m.py": text.replace(before, after)}, name)


@pytest.mark.parametrize(("name", "before", "after"), _DIFFERS)
def test_a_slip_in_what_a_table_is_used_for_shows(name: str, before: str, after: str) -> None:
    found = _of(_TABLES, name, before, after)
    assert found.verdict is ProofVerdict.DIFFERS, found.reason


@pytest.mark.parametrize(("name", "before", "after"), _AGREES)
def test_the_same_content_in_other_words_is_no_difference(name: str, before: str, after: str) -> None:
    found = _of(_TABLES, name, before, after)
    assert found.verdict is ProofVerdict.AGREES, (found.reason, found.deltas)


@pytest.mark.parametrize(("name", "before", "after", "verdict"), _OF_CLASSES)
def test_what_objects_and_classes_hold_by_then(name: str, before: str, after: str, verdict: str) -> None:
    found = _of(_CLASSES, name, before, after)
    assert found.verdict.value == verdict, (found.reason, found.deltas)


_HOME = """TABLE = {}
STATE = None
KINDS = {"a": 1}


def use(k):
    return TABLE.get(k)


def state():
    return STATE is None


def kind(k):
    return KINDS[k] if k in KINDS else None
"""
_OTHER = """import m
from m import TABLE


def fill(k, v):
    TABLE[k] = v


def set_state(v):
    m.STATE = v


def register(k):
    def made(f):
        m.KINDS[k] = f
        return f

    return made
"""


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("use", "TABLE.get(k)", "None"),
        ("state", "STATE is None", "True"),
        ("kind", "KINDS[k] if k in KINDS else None", '1 if k == "a" else None'),
    ],
)
def test_what_another_module_changes_is_an_input_only_where_there_is_one(name: str, before: str, after: str) -> None:
    old, new = {"m.py": _HOME}, {"m.py": _HOME.replace(before, after)}
    assert _proved(old, new, name).verdict is ProofVerdict.AGREES
    assert _proved(old | {"other.py": _OTHER}, new | {"other.py": _OTHER}, name).verdict is ProofVerdict.DIFFERS


_IN_PLACE = """_count = 0
_whole = None


def step():
    global _count
    _count = _count + 1
    _count = _count + 2
    return _count


def grow(x):
    global _whole
    _whole = _whole + x
    return _whole
"""


def test_a_number_is_not_changed_in_place() -> None:
    """Of a value that nobody knows, `a += b` may be another thing than `a = a + b`; not of one that was a number."""
    new = _IN_PLACE.replace("_count = _count +", "_count +=").replace("_whole = _whole +", "_whole +=")
    assert _proved({"m.py": _IN_PLACE}, {"m.py": new}, "step").verdict is ProofVerdict.AGREES
    assert _proved({"m.py": _IN_PLACE}, {"m.py": new}, "grow").verdict is ProofVerdict.DIFFERS

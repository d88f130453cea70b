"""A tuple becomes a struct: the function, its returns and annotation, each form of caller; and what is refused."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from codemods.schema.plan import ResultStruct
from codemods.source.files import FileSet
from codemods.transforms import result_struct
from codemods.transforms.transform import Planned
from tests.support.trees import check, codes, tree

TRANSFORM = result_struct.TRANSFORM


def step(**keys: Any) -> ResultStruct:
    return ResultStruct(**{"function": "m:f", "name": "Made", **keys})


def planned(text: str, **keys: Any) -> Planned:
    return TRANSFORM.plan(tree(text), step(**keys))


DEFINITION = "# file: m.py\ndef f(n):\n    a, b = n, 2\n    return a, b\n"
DEFINED = """\
# file: m.py
import msgspec


class Made(msgspec.Struct, frozen=True, kw_only=True):
    a: object
    b: object


def f(n):
    a, b = n, 2
    return Made(a=a, b=b)
"""


def caller(body: str, rest: str) -> None:
    """What becomes of a function that calls `m.f`."""
    before = f"{DEFINITION}# file: n.py\nimport m\n\n\ndef g(self, x):\n{body}"
    check(TRANSFORM, step(), before, f"{DEFINED}# file: n.py\nimport m\n\n\ndef g(self, x):\n{rest}")


CALLERS = {
    "unpacked": (
        "    y, self.z = m.f(x)  # why\n    return y\n",
        "    result = m.f(x)  # why\n    y = result.a\n    self.z = result.b\n    return y\n",
    ),
    "in brackets": (
        "    [y, (z, w)] = m.f(x)\n    return y\n",
        "    result = m.f(x)\n    y = result.a\n    z, w = result.b\n    return y\n",
    ),
    "starred": (
        "    y, *z = m.f(x)\n    *v, w = m.f(y)\n    return z\n",
        """\
    result = m.f(x)
    y = result.a
    z = [result.b]
    result = m.f(y)
    v = [result.a]
    w = result.b
    return z
""",
    ),
    "indexed": ("    return m.f(x)[0] + (m.f(x))[-1]\n", "    return m.f(x).a + (m.f(x)).b\n"),
    "handed on": ("    return m.f(x)\n", "    result = m.f(x)\n    return result.a, result.b\n"),
    "dropped": ("    m.f(x)\n", "    m.f(x)\n"),
    "name taken": (
        "    y, z = m.f(x)\n    result = z\n    return result\n",
        "    result_2 = m.f(x)\n    y = result_2.a\n    z = result_2.b\n    result = z\n    return result\n",
    ),
    "over several lines": (
        "    y, z = m.f(\n        x,\n    )\n    return y\n",
        "    result = m.f(\n        x,\n    )\n    y = result.a\n    z = result.b\n    return y\n",
    ),
    "kept": (
        "    t = m.f(x)\n    y, z = t\n    return t[0], t[1], y\n",
        "    t = m.f(x)\n    y = t.a\n    z = t.b\n    return t.a, t.b, y\n",
    ),
    "shared line": (
        "    if x: y, z = m.f(x); return y\n    else: return m.f(x)\n",
        """\
    if x: result = m.f(x); y = result.a; z = result.b; return y
    else: result = m.f(x); return result.a, result.b
""",
    ),
    "targets with effects": (
        "    x[0], x.y = m.f(x)\n",
        "    result = m.f(x)\n    x[0] = result.a\n    x.y = result.b\n",
    ),
}


@pytest.mark.parametrize("name", CALLERS)
def test_callers(name: str) -> None:
    caller(*CALLERS[name])


def run(files: FileSet) -> object:
    """What `n.g` comes to, and what it did to its arguments."""
    modules = {}
    for name in ("m", "n"):
        modules[name] = ModuleType(name)
        text = files.read(f"{name}.py").decode().replace("import m\n", "")
        vars(modules[name]).update({"m": modules.get("m"), "__name__": name})
        exec(compile(text, name, "exec"), vars(modules[name]))
    me, thing = SimpleNamespace(), Thing()
    return modules["n"].g(me, thing), vars(me), dict(thing), vars(thing)


class Thing(dict[object, object]):
    """An argument that takes items and attributes; one is like the other, whatever it holds."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    def __hash__(self) -> int:  # type: ignore[override]
        return 1


# The two left out unpack and add up the argument itself, which is no pair and no number.
@pytest.mark.parametrize("name", sorted({*CALLERS} - {"in brackets", "indexed"}))
def test_callers_do_the_same(name: str) -> None:
    before = tree(f"{DEFINITION}# file: n.py\nimport m\n\n\ndef g(self, x):\n{CALLERS[name][0]}")
    planned_ = TRANSFORM.plan(before, step())
    assert planned_.files is not None
    assert run(planned_.files) == run(before)


def test_a_file_without_a_newline_at_its_end() -> None:
    caller("    y, z = m.f(x)", "    result = m.f(x)\n    y = result.a\n    z = result.b")


def test_a_coroutine_and_its_callers() -> None:
    check(
        TRANSFORM,
        step(),
        "# file: m.py\nasync def f():\n    a = b = 1\n    return a, b\n\n\n"
        "async def g():\n    x, y = await f()\n    return (await f())[0]\n",
        "# file: m.py\nimport msgspec\n\n\nclass Made(msgspec.Struct, frozen=True, kw_only=True):\n"
        "    a: object\n    b: object\n\n\nasync def f():\n    a = b = 1\n    return Made(a=a, b=b)\n\n\n"
        "async def g():\n    result = await f()\n    x = result.a\n    y = result.b\n    return (await f()).a\n",
    )


def test_a_method_its_annotation_and_its_types() -> None:
    check(
        TRANSFORM,
        step(function="m:C.f", fields=("size", "name"), types={"name": "str | None"}),
        '''\
# file: m.py
"""Doc."""

import os

from lib import Thing


# About C.
class C:
    @staticmethod
    def f(n: int) -> "tuple[int, str]":
        return (
            n + 1,  # one more
            ("a"),
        )

    def g(self) -> int:
        if self.x:
            return self.f(1)[0]
        size, _ = C.f(2)
        return size
''',
        '''\
# file: m.py
"""Doc."""

import os

import msgspec
from lib import Thing


class Made(msgspec.Struct, frozen=True, kw_only=True):
    size: object
    name: str | None


# About C.
class C:
    @staticmethod
    def f(n: int) -> Made:
        return Made(
            size=n + 1,  # one more
            name=("a"),
        )

    def g(self) -> int:
        if self.x:
            return self.f(1).size
        result = C.f(2)
        size = result.size
        _ = result.name
        return size
''',
    )


@pytest.mark.parametrize(
    ("signature", "body", "fields"),
    [
        ("a: int, b: str", "return a, b", "    a: int\n    b: str\n"),
        ("a: int, b", "return a, b", "    a: int\n    b: object\n"),
        ("a, b) -> tuple[int, list[str]]:#(", "return a, b", "    a: int\n    b: list[str]\n"),
        ("a, b) -> Tuple[int, str]:#(", "return a, b", "    a: int\n    b: str\n"),
        ("a, b) -> tuple[int, ...]:#(", "return a, b", "    a: object\n    b: object\n"),
        ("self, n", "return self.a, n.b", "    a: object\n    b: object\n"),
        ("n", "a: float = n\n    b = 1\n    return a, b", "    a: float\n    b: int\n"),
        ("a, b", "if a:\n        return a, b\n    a = 1\n    return a, b", "    a: object\n    b: object\n"),
    ],
)
def test_fields_and_types(signature: str, body: str, fields: str) -> None:
    head = f"def f({signature}):" if ":#(" not in signature else f"def f({signature.removesuffix('#(')}"
    found = planned(f"# file: m.py\nfrom typing import Tuple\n\n\n{head}\n    {body}\n")
    assert found.files is not None, found.refusals
    assert f"kw_only=True):\n{fields}\n" in found.files.read("m.py").decode()


def test_recursion_hands_the_struct_on() -> None:
    check(
        TRANSFORM,
        step(),
        "# file: m.py\ndef f(a, b):\n    if a:\n        return f(a - 1, b)\n    x, y = f(0, b)\n    return a, b\n",
        "# file: m.py\nimport msgspec\n\n\nclass Made(msgspec.Struct, frozen=True, kw_only=True):\n"
        "    a: object\n    b: object\n\n\ndef f(a, b):\n    if a:\n        return f(a - 1, b)\n"
        "    result = f(0, b)\n    x = result.a\n    y = result.b\n    return Made(a=a, b=b)\n",
    )


def test_results_with_names_may_be_listed_in_another_order() -> None:
    """Once `fields` renamed each result to the one beside it."""
    before = f"{DEFINITION}# file: n.py\nimport m\n\n\ndef g():\n    x, y = m.f(1)\n    return x - y\n"
    after = DEFINED.replace("    a: object\n    b: object\n", "    b: int\n    a: object\n")
    use = "    result = m.f(1)\n    x = result.a\n    y = result.b\n    return x - y\n"
    check(
        TRANSFORM,
        step(fields=("b", "a"), types={"b": "int"}),
        before,
        f"{after}# file: n.py\nimport m\n\n\ndef g():\n{use}",
    )


def test_a_long_return_is_laid_out() -> None:
    names = [f"a_rather_long_name_{number}" for number in range(4)]
    text = (
        f"# file: m.py\ndef f({', '.join(names[:2])},\n      {', '.join(names[2:])}):\n    return {', '.join(names)}\n"
    )
    found = planned(text)
    assert found.files is not None
    made = found.files.read("m.py").decode()
    assert "    return Made(\n" + "".join(f"        {name}={name},\n" for name in names) + "    )\n" in made


def test_at_module_level_the_struct_gets_a_private_name() -> None:
    check(
        TRANSFORM,
        step(),
        f"{DEFINITION}# file: n.py\nfrom m import f as made\n\nx, y = made(1)\n",
        f"{DEFINED}# file: n.py\nfrom m import f as made\n\n_result = made(1)\nx = _result.a\ny = _result.b\n",
    )


@pytest.mark.parametrize(
    ("use", "line"),
    [
        ("    for y in m.f(x): pass\n", 5),
        ("    return len(m.f(x))\n", 5),
        ("    return m.f(x) == (1, 2)\n", 5),
        ("    return [*m.f(x)]\n", 5),
        ("    h(*m.f(x))\n", 5),
        ("    y, = m.f(x)\n", 5),
        ("    y, z, w = m.f(x)\n", 5),
        ("    y = z, w = m.f(x)\n", 5),
        ("    return m.f(x)[x]\n", 5),
        ("    return m.f(x)[2]\n", 5),
        ("    return m.f(x)[:1]\n", 5),
        ("    return x or m.f(x)\n", 5),
        ("    t = m.f(x)\n    return t\n", 6),
        ("    t = m.f(x)\n    return lambda: len(t)\n", 6),
        ("    t = m.f(x)\n    t = t[0]\n", 5),
        ("    map(m.f, x)\n", 5),
        ("    (y := m.f(x))\n", 5),
        ("    class K:\n        y, z = m.f(x)\n", 6),
        ("    yield m.f(x)\n", 5),
    ],
)
def test_other_uses_are_refused_with_their_place(use: str, line: int) -> None:
    found = planned(f"{DEFINITION}# file: n.py\nimport m\n\n\ndef g(self, x):\n{use}")
    assert [(refusal.code, refusal.path, refusal.line) for refusal in found.refusals] == [
        ("result-used-otherwise", "n.py", line)
    ]


@pytest.mark.parametrize(
    ("definition", "keys", "code"),
    [
        ("def f(n):\n    return n\n", {}, "not-a-tuple"),
        ("def f(n):\n    if n:\n        return n, 1\n", {"fields": ("a", "b")}, "not-a-tuple"),
        ("def f(n):\n    if n:\n        return n, 1\n    return\n", {"fields": ("a", "b")}, "not-a-tuple"),
        ("def f(n):\n    if n:\n        return n, 1\n    return n, 1, 2\n", {}, "not-a-tuple"),
        ("def f(n):\n    return *n, 1\n", {}, "not-a-tuple"),
        ("def f(n):\n    return g(n)\n", {}, "not-a-tuple"),
        ("def f(n):\n    yield n\n    return n, 1\n", {}, "U113"),
        ("def f(n):\n    return n, 1\n", {}, "fields-needed"),
        ("def f(n):\n    return n, n\n", {}, "fields-needed"),
        ("def f(n):\n    return n, 1\n", {"fields": ("a",)}, "fields-mismatch"),
        ("def f(n):\n    return n, 1\n", {"fields": ("a", "a")}, "fields-mismatch"),
        ("def f(a, b):\n    return a, b\n", {"fields": ("b", "c")}, "fields-mismatch"),
        ("def f(n):\n    return n, 1\n", {"fields": ("a", "class")}, "bad-name"),
        ("def f(a, b):\n    return a, b\n", {"types": {"c": "int"}}, "unknown-field"),
        ("def f(a, b):\n    return a, b\n", {"types": {"a": "Missing"}}, "bad-type"),
        ("def f(a, b):\n    return a, b\n\n\nclass Late: ...\n", {"types": {"a": "Late"}}, "bad-type"),
        ("def f(a, b):\n    return a, b\n", {"types": {"a": "not a type"}}, "bad-type"),
        ("Made = 1\n\n\ndef f(a, b):\n    return a, b\n", {}, "U107"),
        ("def f(a, b):\n    return a, b\n", {"name": "a b"}, "bad-name"),
    ],
)
def test_refused(definition: str, keys: dict[str, Any], code: str) -> None:
    found = planned(f"# file: m.py\n{definition}", **keys)
    assert found.files is None
    assert code in [refusal.code for refusal in found.refusals]
    assert all(refusal.settle for refusal in found.refusals)


OVERRIDDEN = """\
# file: m.py
class C:
    def f(self, a, b):
        return a, b
class D(C):
    def f(self, a, b):
        return 1, 2
"""
PROPERTY = """\
# file: m.py
class C:
    @property
    def f(self):
        return self.a, self.b
"""
PATCHED = """\
# file: test_m.py
from unittest import mock
def test():
    with mock.patch("m.f", return_value=(1, 2)): pass
"""
ANY_RECEIVER = """\
# file: m.py
class C:
    def f(self, a, b):
        return a, b
class K:
    def f(self): ...
def g(x):
    y, z = x.f(1, 2)
"""


@pytest.mark.parametrize(
    ("text", "keys", "expected"),
    [
        ("# file: m.py\n@cache\ndef f(a, b):\n    return a, b\n", {}, ["stop U112"]),
        (OVERRIDDEN, {"function": "m:C.f"}, ["stop U104"]),
        (PROPERTY, {"function": "m:C.f"}, ["stop U112"]),
        (f"{DEFINITION}{PATCHED}", {}, ["stop U111"]),
        (ANY_RECEIVER, {"function": "m:C.f"}, ["stop U115"]),
    ],
)
def test_stopped_until_accepted(text: str, keys: dict[str, Any], expected: list[str]) -> None:
    found = planned(text, **keys)
    assert found.files is not None, found.refusals
    assert codes(found) == expected

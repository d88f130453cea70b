"""Which globals functions bind anew is found in the statements that say so; the others are passed over."""

from __future__ import annotations

import ast

import pytest

from codemods.source.nodes import children
from codemods.verify import rebinding
from codemods.verify.rebinding import ANY, rebound_in

CASES = {
    "def f():\n    globals()['x'] = 1\n": {"x"},
    "class C:\n    def f(self):\n        if self.a:\n            globals().update(x=1)\n        return 2\n": {"x"},
    "import sys\nme = sys.modules[ __name__ ]\n# sys.modules[__name__]\ndef f(): setattr(\n  me, 'x', 1)\n": {"x"},
    "import sys\nme = sys.modules[__name__]\ndef g(): pass\ndef f():\n    me.x = 1\n": {"x"},
    "@d(lambda: globals().pop('x'))\n\n\ndef f(): pass\n": {"x"},
    "def f(a):\n    match a:\n        case 1:\n            exec(a)\n": {ANY},
    "def f(a):\n    try: pass\n    except A: g.__globals__['x'] = 1\n    return globals\n# globals\n": {"x"},
    "def f(a):\n    ｅｘｅｃ(a)\n# exec(\n": {ANY},
    "def f(a):\n    return \\\n        vars(m)\nimport sys\nm = sys.modules[__name__]\ndef g(): vars(m)['x'] = 1\n": {
        ANY,
        "x",
    },
    "def f():\n    return globals()['x']\n": set(),
}


@pytest.mark.parametrize("text", CASES)
def test_what_is_passed_over_binds_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, tree = text.encode(), ast.parse(text)
    found = rebound_in(raw, tree)
    assert found == CASES[text]
    assert rebound_in(raw.replace(b"\n", b"\r\n"), tree) == found
    monkeypatch.setattr(rebinding._Touched, "__contains__", lambda *_: True)
    assert rebound_in(raw, tree) == found


def test_statements_without_a_word_of_it_are_not_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f():\n    globals()['x'] = 1\n" + "def g(a):\n    return [a.b for c in a]\n" * 50
    entered = []

    def noted(node: ast.AST) -> list[ast.AST]:
        entered.append(node)
        return children(node)

    monkeypatch.setattr(rebinding, "children", noted)
    assert rebound_in(text.encode(), ast.parse(text)) == {"x"}
    assert len(entered) < 20

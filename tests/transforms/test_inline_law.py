"""A law: whatever is inlined without a hazard evaluates the same things, in the same order, to the same value.

Forwarders and calls are drawn from shapes that people write; every evaluation with an effect leaves a trace. What is
stopped for its order may be harmless: the statistics show how often."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import event, given, settings
from hypothesis import strategies as st

from codemods.schema.hazards import Severity
from codemods.schema.plan import InlineMethod
from codemods.transforms.inline_function import TRANSFORM
from tests.support.trees import tree

HEAD = """\
# file: m.py
TRACE = []
LIMIT = 3


def act(name, value=1):
    TRACE.append(name)
    box.n += 1
    return value


class Box:
    def __init__(self):
        self.n = 1

    @property
    def seen(self):
        return self.n


box = Box()
"""

Text = st.SearchStrategy[str]


def _bodies(parameters: tuple[str, ...]) -> Text:
    atoms = st.sampled_from([*parameters, *parameters, "LIMIT", "2", "box.n", "act('body')", "act('inner', 0)"])
    return st.recursive(atoms, _grown, max_leaves=5)


def _grown(inner: Text) -> Text:
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(lambda two: f"{two[0]} + {two[1]}"),
        pair.map(lambda two: f"({two[0]}) * ({two[1]})"),
        pair.map(lambda two: f"({two[0]} or {two[1]})"),
        st.tuples(inner, inner, inner).map(lambda three: f"({three[0]} if {three[1]} else {three[2]})"),
        pair.map(lambda two: f"add({two[0]}, y={two[1]})"),
        inner.map(lambda one: f"-({one})"),
        inner.map(lambda one: f"sum([{one} for _ in range(2)])"),
        inner.map(lambda one: f"int(f'{{{one}}}')"),
        inner.map(lambda one: f"(lambda: {one})()"),
    )


ARGUMENTS = st.sampled_from(
    ["1", "-1", "k", "k + 1", "box.n", "box.seen", "act('a')", "act('b', 2)", "0", "(k if k else 0)"]
)
CONTEXTS = st.sampled_from(
    ["{}", "{} * 2", "-{}", "[{}]", "add({}, 1)", "{} or 5", "str({})", "not {}", "({})", "f'{{{}}}'"]
)
CALLS: st.SearchStrategy[Callable[[str, str], str]] = st.sampled_from(
    [
        lambda a, b: f"f({a}, {b})",
        lambda a, b: f"f({a}, q={b})",
        lambda a, b: f"f(q={b}, p={a})",
        lambda a, _: f"f({a})",
        lambda a, b: f"f(\n        {a},  # why\n        {b},\n    )",
    ]
)
ADD = "\n\ndef add(x, y):\n    return x + y\n"


@st.composite
def modules(draw: st.DrawFn) -> str:
    body = draw(_bodies(("p", "q")))
    calls = [draw(CALLS)(draw(ARGUMENTS), draw(ARGUMENTS)) for _ in range(draw(st.integers(1, 2)))]
    returned = ", ".join(draw(CONTEXTS).replace("{}", call).replace("{{", "{").replace("}}", "}") for call in calls)
    return f"{HEAD}{ADD}\n\ndef f(p, q=2):\n    return {body}\n\n\ndef go(k):\n    return {returned}\n"


def outcome(text: str) -> object:
    space: dict[str, object] = {}
    exec(compile(text, "m.py", "exec"), space)  # the text is ours
    go = space["go"]
    assert callable(go)
    return [called(go, number) for number in (0, 3)], space["TRACE"]


def called(function: Callable[[int], object], number: int) -> str:
    try:
        return repr(function(number))
    except (TypeError, ValueError, OverflowError) as error:
        return type(error).__name__


def is_python(text: str) -> bool:
    try:
        compile(text, "m.py", "exec")
    except SyntaxError:
        return False
    return True


@settings(max_examples=150)
@given(modules())
def test_inlining_keeps_what_is_evaluated_and_when(text: str) -> None:
    before = text.partition("\n")[2]
    if not is_python(before):
        return  # a drawn f-string may need Python 3.12
    planned = TRANSFORM.plan(tree(text), InlineMethod(method="m:f"))
    if planned.files is None:
        event("refused " + planned.refusals[0].code)
        return
    after = planned.files.read("m.py").decode()
    assert "def f(" not in after
    is_stopped = any(each.severity is not Severity.NOTE for each in planned.hazards)
    is_same = outcome(before) == outcome(after)
    event(f"stopped: {is_stopped}, same: {is_same}")
    assert is_same or is_stopped

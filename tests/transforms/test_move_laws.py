"""Laws of a move, on generated modules that really run: no function text is lost or changed, and every caller gets what it
got before, after every commit."""

from __future__ import annotations

import ast
import codecs
import importlib
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import event, given, settings
from hypothesis import strategies as st

from codemods.plan.check import run_plan
from codemods.schema.config import Settings
from codemods.schema.plan import ExtractMethod, Move, Plan
from codemods.schema.progress import Silent
from codemods.source.files import FileSet, MemoryTree

Files = dict[str, bytes]

HELPERS = {
    "util.py": "K = 5\n\n\ndef helper(x):\n    return x * 2\n",
    "stars.py": "K = 77\n\n\ndef star_f(x):\n    return x - 1\n",
    "pkg/__init__.py": "",
    "pkg/mod.py": "def deep(x):\n    return x - 3\n",
}
# What a module may have at its top, with expressions that use it.
HEADS = [
    ("import math", "math.floor(x + 0.5)"),
    ("from math import ceil as up", "up(x + 0.5)"),
    ("import os.path", "len(os.path.sep)"),
    ("from util import K, helper", "helper(x) + K"),
    ("import util as ut", "ut.helper(x)"),
    ("from pkg import mod", "mod.deep(x)"),
    ("from pkg.mod import deep", "deep(x)"),
    ("import pkg.mod", "pkg.mod.deep(x)"),
    ("from stars import *", "star_f(x)"),
    ("try:\n    import json as js\nexcept ImportError:\n    js = None", "len(js.dumps(x))"),
    ("try:\n    import gone_zzz\n\n    HAVE = True\nexcept ImportError:\n    HAVE = False", "(2 if HAVE else 1)"),
    ("STATE = {}", "len(STATE)"),
    ("import logging\n\nlogger = logging.getLogger(__name__)", "(logger.debug('x') or x)"),
]
OURS = frozenset({"aa", "bb", "u0", "u1", "u2", "util", "stars", "pkg", "fresh"})
OTHERS = [
    "x",
    "max(x, 2)",
    "len(f'{x:>{4}}')",
    "(lambda y: y + x)(1)",
    "len('''a\n   b''')",
    "sum(i for i in range(x))",
]
CALLERS = [
    "import {module}\n\n\ndef run():\n    return {module}.{name}(2), list(map({module}.{name}, [1, 2]))\n",
    "import {module} as m\n\n\ndef run():\n    return m.{name}(2)\n",
    "from {module} import {top} as q\n\n\ndef run():\n    return q{rest}(2)\n",
    "from {module} import {top}\n\nDONE = {name}(3)\n\n\ndef run():\n    return DONE, {name}(2)\n",
    "def run():\n    from {module} import {top}\n\n    return {name}(2)\n",
    "def run():\n    import {module}\n\n    return {module}.{name}(2)\n",
]


@st.composite
def bodies(draw: st.DrawFn, terms: list[str]) -> list[str]:
    chosen = draw(st.lists(st.sampled_from(terms + OTHERS), min_size=1, max_size=3))
    shapes = [
        [f"return {' + '.join(chosen)}"],
        ["# why", f"y = {chosen[0]}", *(f"y = y + {each}" for each in chosen[1:]), "return y"],
        ['"""Doc."""', "if x > 1:", f"    return {chosen[-1]}", f"return {chosen[0]}"],
    ]
    return draw(st.sampled_from(shapes))


def block(header: list[str], body: list[str], pad: str) -> str:
    text = "\n".join([*header, *("    " + line for line in body)])
    lines = text.split("\n")
    frozen = [index for index, line in enumerate(lines) if line.startswith("   b")]  # inside a string
    return "\n".join(line if index in frozen else pad + line for index, line in enumerate(lines))


@st.composite
def modules(draw: st.DrawFn, name: str) -> tuple[str, list[str]]:
    """A module's text, and the qualified names of its functions."""
    heads = draw(st.lists(st.sampled_from(HEADS), unique=True, max_size=4))
    terms = [use for _, use in heads]
    names: list[str] = []
    parts = ["\n".join(head for head, _ in heads)] if heads else []
    for number in range(draw(st.integers(1, 3))):
        own = [f"{each}(x)" for each in names]
        if draw(st.booleans()):
            names.append(f"f_{name}_{number}")
            parts.append(block([f"def {names[-1]}(x):"], draw(bodies(terms + own)), ""))
            continue
        methods = []
        for inner in range(draw(st.integers(1, 2))):
            names.append(f"A_{name}_{number}.m_{name}_{inner}")
            header = ["@staticmethod", f"def m_{name}_{inner}(x):"]
            methods.append(block(header, draw(bodies(terms + own)), "    "))
        parts.append(f"class A_{name}_{number}:\n" + "\n\n".join(methods))
    return "\n\n\n".join(parts) + "\n", names


@st.composite
def trees(draw: st.DrawFn) -> tuple[Files, str]:
    """A tree, and the function of `aa` that moves."""
    first, names = draw(modules("a"))
    second, _ = draw(modules("b"))
    files = {**HELPERS, "aa.py": first, "bb.py": second}
    moved = draw(st.sampled_from(names))
    for number in range(3):
        name = moved if number == 0 else draw(st.sampled_from(names))
        top, _, rest = name.partition(".")
        text = draw(st.sampled_from(CALLERS))
        files[f"u{number}.py"] = text.format(module="aa", name=name, top=top, rest=f".{rest}" if rest else "")
    raw = {path: text.encode() for path, text in files.items()}
    for path in ("aa.py", "bb.py"):
        how = draw(st.sampled_from(["", "", "crlf", "bom", "open"]))
        if how == "crlf":
            raw[path] = raw[path].replace(b"\n", b"\r\n")
        elif how == "bom":
            raw[path] = b"\xef\xbb\xbf" + raw[path]
        elif how == "open":
            raw[path] = raw[path].rstrip(b"\n")
    return raw, moved


def results(files: Files) -> str:
    """What the callers return, in one import of everything."""
    with tempfile.TemporaryDirectory() as folder:
        for path, raw in files.items():
            (Path(folder) / path).parent.mkdir(exist_ok=True)
            (Path(folder) / path).write_bytes(raw)
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            return repr([importlib.import_module(name).run() for name in ("u0", "u1", "u2")])
        finally:
            sys.path.remove(folder)
            for name in [each for each in sys.modules if each.partition(".")[0] in OURS]:
                del sys.modules[name]


def function_texts(files: Files) -> Counter[str]:
    """Every function of the modules as code, without decorators and without the class around it."""
    found: Counter[str] = Counter()
    for path, raw in files.items():
        if path in ("u0.py", "u1.py", "u2.py"):
            continue
        for node in ast.walk(ast.parse(raw.removeprefix(codecs.BOM_UTF8))):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []
                found[ast.unparse(node)] += 1
    return found


@settings(max_examples=60, deadline=None)
@given(
    tree=trees(),
    to=st.sampled_from(["fresh", "bb", "pkg.fresh", "util"]),
    call=st.sampled_from(["module", "name"]),
    is_kept=st.booleans(),
)
def test_callers_get_what_they_got(tree: tuple[Files, str], to: str, call: str, is_kept: bool) -> None:
    files, name = tree
    step: ExtractMethod | Move = (
        ExtractMethod(method=f"aa:{name}", to=to, call=call, wrapper=is_kept)  # type: ignore[arg-type]
        if "." in name
        else Move(definition=f"aa:{name}", to=to, call=call, reexport=is_kept)  # type: ignore[arg-type]
    )
    before = results(files)
    plan = Plan(id="law", step=(step,))
    result = run_plan(FileSet(MemoryTree(files)), plan, Settings(), Silent())
    event("refused " + result.refusals[0].code if result.refusals else "moved")
    now = dict(files)
    for draft in result.steps[0].commits:
        for change in draft.changes:
            assert change.after is not None
            now[change.path] = change.after
        assert results(now) == before, draft.subject
    if result.steps[0].commits:
        names_before = Counter(text.partition("(")[0] for text in function_texts(files).elements())
        assert Counter(text.partition("(")[0] for text in function_texts(now).elements()) == names_before
        again = run_plan(FileSet(MemoryTree(now)), plan, Settings(), Silent())
        assert not again.refusals
        assert not again.steps[0].commits


@settings(max_examples=40, deadline=None)
@given(text=modules("a"), to=st.sampled_from(["fresh", "util"]))
def test_no_function_text_is_lost(text: tuple[str, list[str]], to: str) -> None:
    """The other functions keep every character; the moved one differs at most by an import that it needs."""
    source, names = text
    name = next((each for each in names if "." not in each), "")
    if not name:
        return
    files = {path: raw.encode() for path, raw in {**HELPERS, "aa.py": source}.items()}
    plan = Plan(id="law", step=(Move(definition=f"aa:{name}", to=to),))
    result = run_plan(FileSet(MemoryTree(files)), plan, Settings(), Silent())
    now = dict(files)
    for draft in result.steps[0].commits:
        now.update({change.path: change.after for change in draft.changes if change.after is not None})
    lost = function_texts(files) - function_texts(now)
    assert all(each.startswith(f"def {name}(") for each in lost)
    for each in lost:
        moved = next(other for other in function_texts(now) if other.startswith(f"def {name}("))
        own = each.splitlines()
        kept = [line for line in moved.splitlines() if line in own or not line.strip().startswith("from ")]
        assert kept == own

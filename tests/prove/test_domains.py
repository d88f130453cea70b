"""What is inferred about a function's inputs: tables of a function and the domains it has."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from codemods.prove.domains import (
    Bool,
    Domain,
    Either,
    Float,
    Int,
    ListOf,
    Maybe,
    Member,
    OneOf,
    Opaque,
    Record,
    Text,
    Tie,
    Tied,
    TupleOf,
    inner_of,
)
from codemods.prove.domains_home import lookup_in
from codemods.prove.domains_infer import constants_of, domains_of
from codemods.prove.domains_spec import spelled
from codemods.source.files import FileSet, MemoryTree
from codemods.source.parse import Function, load

HEAD = """
from __future__ import annotations
import enum, re, json, ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Literal, NamedTuple, NewType, Optional, Tuple, TypedDict, Union
TABLE = {"cuda": "nccl", "npu": "hccl"}
KINDS = ("a", "b")
LIMIT = 4 * 8
WORD = re.compile(r"[a-z]+:\\d+")
Rank = NewType("Rank", int)
Names = List[str]
class Color(enum.Enum):
    RED = 1
    BLUE = 2
@dataclass
class Point:
    x: int
    y: Optional[str] = None
    made: int = field(init=False)
class Row(TypedDict, total=False):
    a: int
class Pair(NamedTuple):
    left: int
    right: Point
class Busy:
    def __init__(self, x: int) -> None: self.x = connect(x)
"""


def function_in(text: str, name: str = "f") -> tuple[Function, ast.Module]:
    tree = ast.parse(text)
    found = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    )
    return found, tree


def inferred(text: str, **options: Any) -> dict[str, Domain]:
    function, tree = function_in(HEAD + text)
    return domains_of(function, tree, name="m", **options)


@pytest.mark.parametrize(
    ("annotation", "spelling"),
    [
        ("str", "text"),
        ("int", "int"),
        ("float", "float"),
        ("bool", "bool"),
        ("bytes", "bytes"),
        ("None", "none"),
        ("'str'", "text"),
        ("Any", "opaque"),
        ("torch.Tensor", "opaque"),
        ("Busy", "opaque"),
        ("Optional[int]", "optional int"),
        ("int | None", "optional int"),
        ("Union[str, int]", "text or int"),
        ("Union[str, None, int]", "optional text or int"),
        ("list[int]", "list of int"),
        ("List['Point']", "list of record {x=int, y=optional text}"),
        ("set[str]", "set of text"),
        ("frozenset[int]", "frozenset of int"),
        ("Tuple[int, str]", "(int, text)"),
        ("tuple[int, ...]", "tuple of int"),
        ("Dict[str, List[int]]", "dict of text to list of int"),
        ("Literal['x', 'y']", "one_of ['x', 'y']"),
        ("Literal['x', None]", "optional one_of ['x']"),
        ("Rank", "int"),
        ("Names", "list of text"),
        ("Row", "record {a=int}"),
    ],
)
def test_an_annotation_gives_the_domain(annotation: str, spelling: str) -> None:
    assert spelled(inferred(f"def f(v: {annotation}): pass")["v"]) == spelling


def test_classes_of_the_tree_are_described_by_reference() -> None:
    found = inferred("def f(c: Color, p: Pair, q: Path): pass")
    assert found["c"] == OneOf((Member("m:Color", "RED"), Member("m:Color", "BLUE")))
    pair = found["p"]
    assert isinstance(pair, Record) and pair.ref == "m:Pair"
    point = pair.fields[1].domain
    assert isinstance(point, Record) and point.ref == "m:Point"
    assert [field.name for field in point.fields] == ["x", "y"]
    assert found["q"] == Record((), "pathlib:Path")


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("def f(v=3): pass", Int(hints=(3,))),
        ("def f(v=True): pass", Bool()),
        ("def f(v='a'): pass", Text(exact=("a",))),
        ("def f(v=1.5): pass", Float(hints=(1.5,))),
        ("def f(v: int = None): pass", Maybe(Int())),
        ("def f(v=Color.RED): pass", OneOf((Member("m:Color", "RED"), Member("m:Color", "BLUE")))),
        ("def f(v: int): return v < LIMIT", Int(hints=(32,))),
        ("def f(v: str): return v in KINDS", Text(exact=("a", "b"))),
        ("def f(v: str): return v in ('c', 'd')", Text(exact=("c", "d"))),
        ("def f(v: str): return TABLE.get(v)", Text(exact=("cuda", "npu"))),
        ("def f(v: str): return TABLE[v]", Text(exact=("cuda", "npu"))),
        ("def f(v: str): return v.split('|')", Text(separators=("|",))),
        ("def f(v: str): return v.startswith(('[', '{'))", Text(starts=("[", "{"))),
        (
            "def f(v: str):\n for p in v.split(','):\n  if p.strip() == 'all': pass",
            Text(separators=(",",), pieces=("all",)),
        ),
        ("def f(v: str): return WORD.fullmatch(v)", Text(patterns=("[a-z]+:\\d+",))),
        ("def f(v: str): return re.match('a+', v)", Text(patterns=("a+",))),
        ("def f(v: str): return json.loads(v)", Text(styles=("json",))),
        ("def f(v: str): return g(v)\ndef g(w): return ipaddress.ip_address(w)", Text(styles=("address",))),
        ("def f(v: str): return 0 <= int(v) <= 9", Text(numbers=(0, 9), styles=("number",))),
        ("def f(host: str): pass", Text(styles=("address",))),
        ("def f(v):\n match v:\n  case 'a' | 'b': pass", Text(exact=("a", "b"))),
        ("def f(v): return v.lower()", Text()),
        ("def f(v): return v * 0.5", Float()),
        ("def f(v): return v == 3", Int(hints=(3,))),
        ("def f(v):\n for each in v: each.strip()", ListOf(Text())),
        ("def f(v):\n for a, b in v: a.strip(), b + 1", ListOf(TupleOf((Text(), Int())))),
        ("def f(v): return v[0].strip()", ListOf(Text(), sizes=(1,))),
        ("def f(v): return len(v) > 2 and v[0] == 5", ListOf(Int(hints=(5,)), sizes=(2, 1))),
        ("def f(v): return isinstance(v, str) or isinstance(v, int)", Either((Text(), Int()))),
        ("def f(v): return v.connect(1)", Opaque()),
        ("def f(v): return bool(v)", Opaque()),
        ("def f(v): return g(v)", Opaque()),
    ],
)
def test_defaults_constants_and_use(text: str, domain: Domain) -> None:
    assert inner_of(inferred(text)["v" if "v" in text.partition(")")[0] else "host"]) == domain


@pytest.mark.parametrize(
    ("body", "ties"),
    [
        ("return a == len(b)", (Tie("len(b)"),)),
        ("parts = c.split('|')\n    assert a == len(parts)", (Tie("len(c.split('|'))"),)),
        ("return b[a]", (Tie("b", "index"),)),
        ("return a in b", (Tie("b", "member"),)),
        ("return a < d * 2", (Tie("d * 2"),)),
        ("return a < len(open(c).read())", ()),
    ],
)
def test_an_input_is_tied_to_what_it_is_compared_with(body: str, ties: tuple[Tie, ...]) -> None:
    found = inferred(f"def f(a: int, b: List[int], c: str, d: int):\n    {body}\n")["a"]
    assert (found.ties if isinstance(found, Tied) else ()) == ties


def test_attributes_of_self_are_inputs_where_they_hold_plain_values() -> None:
    found = inferred(
        """
class Args:
    host: str
    port: int = 80
class Runner:
    LIMIT = 3
    def __init__(self, args: Args, rank: int):
        self.args = args
        self.rank = rank
    def f(self, bind: str):
        self.helper(self.rank)
        if self.args.host.startswith("[") and self.args.port > self.LIMIT: pass
        return self.model.layers, self.name == "x"
    def helper(self, rank): return rank < 8
"""
    )
    assert list(found) == ["bind", "self.rank", "self.args.host", "self.args.port", "self.name"]
    assert found["self.rank"] == Int(hints=(8,))
    assert found["self.args.host"] == Text(starts=("[",), styles=("address",))
    assert found["self.name"] == Text(exact=("x",))


def test_the_twin_adds_its_constants_and_its_annotations() -> None:
    old, old_tree = function_in("class C:\n def f(self):\n  return self.s.mode == 'a' or self.n")
    new, new_tree = function_in("def f(*, mode: str, n: int):\n  return mode == 'b' or n")
    one_way = domains_of(new, new_tree, other=(old, old_tree))
    assert one_way["mode"] == Text(exact=("b", "a"))
    other_way = domains_of(old, old_tree, other=(new, new_tree))
    assert other_way["self.s.mode"] == Text(exact=("a", "b"))
    assert other_way["self.n"] == Int()


def test_names_are_found_in_other_files_of_the_tree() -> None:
    files = FileSet(
        MemoryTree(
            {
                "p/__init__.py": b"from p.kinds import Kind, check\n",
                "p/kinds.py": b"import enum\nWORDS = {'x', 'y'}\nclass Kind(str, enum.Enum):\n    A = 'a'\n"
                b"def check(word): return word in WORDS\n",
                "p/use.py": b"from p import Kind, check\ndef f(kind: Kind, word: str): return check(word)\n",
            }
        )
    )
    tree = load(files, "p/use.py").tree
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    found = domains_of(function, tree, lookup_in(files, "p/use.py"))
    assert found["kind"] == OneOf((Member("p.kinds:Kind", "A"),))
    word = found["word"]
    assert isinstance(word, Text) and sorted(word.exact) == ["x", "y"]


def test_recursion_in_code_classes_and_aliases_ends() -> None:
    found = inferred(
        "X = Union[int, List['X']]\n@dataclass\nclass Node:\n    below: List['Node']\n"
        "class A(B): pass\nclass B(A): pass\ndef f(v: X, n: Node, a: A): return f(v, n, a) or g(n)\n"
        "def g(n): return f(n, n, n)"
    )
    assert set(found) == {"v", "n", "a"}


def test_the_constants_of_a_function_are_those_it_compares_with() -> None:
    function, tree = function_in("def f(a, b):\n 'doc'\n log('message')\n return a == 'x' or b > 3 or a.split(';')")
    found = constants_of(function, tree)
    assert (found.texts, found.numbers, found.separators) == (("x",), (3,), (";",))

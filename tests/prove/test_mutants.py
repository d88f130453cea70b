"""Each rule's mutants, as the whole list of texts that take a function's place; and what is left alone."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.prove.mutants import Kind, Mutant, mutants_of
from codemods.schema.errors import UnmovedError


def made(source: str, *kinds: Kind, of: str = "f") -> list[Mutant]:
    found = mutants_of(source, of)
    return sorted((each for each in found if each.kind in kinds), key=lambda each: (each.start, each.end, each.after))


def changed_lines(source: str, *kinds: Kind, of: str = "f") -> list[str]:
    """Of each mutant the lines that the original lacks, joined; what is only taken away reads `-line`."""
    found = []
    for mutant in made(source, *kinds, of=of):
        before, after = source.splitlines(), mutant.applied(source).splitlines()
        new = [line.strip() for line in after if line not in before]
        old = [f"-{line.strip()}" for line in before if line not in after]
        found.append("; ".join(new or old))
    return found


def body(*lines: str, head: str = "def f(a, b, c):") -> str:
    return head + "\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


ONE_LINE = [
    (Kind.COMPARISON, "g(a < b)", {"g(a >= b)"}),
    (Kind.COMPARISON, "g(a <= b > c)", {"g(a > b > c)", "g(a <= b <= c)"}),
    (Kind.COMPARISON, "g((a) not  in (b))", {"g((a) in (b))"}),
    (Kind.COMPARISON, "g(a is not b)", {"g(a is b)"}),
    (Kind.COMPARISON, "g(a == b, b != c)", {"g(a != b, b != c)", "g(a == b, b == c)"}),
    (Kind.BOUNDARY, "g(0 <= a < b)", {"g(0 < a < b)", "g(0 <= a <= b)"}),
    (Kind.TRUTH, "g(a.x is None)", {"g((not a.x))"}),
    (Kind.TRUTH, "g(a is not None)", {"g(a)"}),
    (Kind.TRUTH, "g(1 if a or not b.x else 2)", {"g(1 if (a is not None) or not b.x else 2)"}
     | {"g(1 if a or not (b.x is not None) else 2)"}),
    (Kind.BOOLEAN, "g(a and b or not c)", {"g(a or b or not c)", "g(a and b and not c)", "g(a and b or c)"}),
    (Kind.BOOLEAN, "g(1 if a() else 2)", {"g(1 if not a() else 2)"}),
    (Kind.CONDITION, "g(1 if a else 2)", {"g(1 if True else 2)", "g(1 if False else 2)"}),
    (Kind.CONDITION, "g([x for x in a if(x)])", {"g([x for x in a if(True)])", "g([x for x in a if(False)])"}),
    (Kind.OPERAND, "g(a and b == 1 and c)", {"g(((b == 1) and c))", "g((a and c))", "g((a and (b == 1)))"}),
    (Kind.OPERAND, "g(a & b)", {"g(a)", "g(b)"}),
    (Kind.CONSTANT, "g(7)", {"g(8)", "g(6)"}),
    (Kind.CONSTANT, "g(0.5)", {"g(1.5)", "g(-0.5)"}),
    (Kind.CONSTANT, "g('é', None)", {"g('é_', None)", "g('', None)", "g('é', 1)"}),
    (Kind.CONSTANT, "g('', b'')", {"g('mutated', b'')", "g('', b'mutated')"}),
    (Kind.CONSTANT, "g(True, a is None, ...)", {"g(False, a is None, ...)"}),
    (Kind.ARITHMETIC, "g(a + b, c // 2)", {"g(a - b, c // 2)", "g(a + b, c / 2)"}),
    (Kind.ARITHMETIC, "g('x' + a, 'n: %s' % b, [a] + b)", set()),
    (Kind.ARITHMETIC, "a.n += b", {"a.n -= b", "a.n = b"}),
    (Kind.UNARY, "g(-a, ~b)", {"g(a, ~b)", "g(-a, b)"}),
    (Kind.ARGUMENT_SWAP, "g(a, b, *c)", {"g(b, a, *c)"}),
    (Kind.ARGUMENT_SWAP, "g(x=a, y=b, **c)", {"g(x=b, y=a, **c)"}),
    (Kind.ARGUMENT_DROP, "g(a, (b))", {"g(a)"}),
    (Kind.ARGUMENT_DROP, "g(x=(a), )", {"g()"}),
    (Kind.ARGUMENT_DROP, "g(x=a, *b)", {"g(*b)"}),
    (Kind.ARGUMENT_DROP, "g(a, x=(b), **c)", {"g(a, **c)", "g(a, x=(b))"}),
    (Kind.CALL_TWIN, "g(a.rsplit(':'), min(b))", {"g(a.split(':'), min(b))", "g(a.rsplit(':'), max(b))"}),
    (Kind.CALL_UNWRAP, "g(sorted(a), b.strip())", {"g(a, b.strip())", "g(sorted(a), b)"}),
    (Kind.CALL_DROP, "g(a)", {"pass"}),
    (Kind.LOG_LEVEL, "logger.warning(a)", {"logger.error(a)"}),
    (Kind.LOG_LEVEL, "self.log.info(a)", {"self.log.warning(a)"}),
    (Kind.LOG_LEVEL, "catalog.info(a)", set()),
    (Kind.NAME_SWAP, "g(a, [b])", {"g(b, [b])", "g(a, [a])"}),
    (Kind.NAME_SWAP, "g(a, math.pi)", set()),
    (Kind.ATTRIBUTE_SWAP, "a.x, a.y.z = b.p, b.q", {"a.x, a.y.z = b.q, b.q", "a.x, a.y.z = b.p, b.p"}),
    (Kind.RANGE, "g(range(a.n), range(3))", {"g(range(a.n + 1), range(3))", "g(range(a.n - 1), range(3))"}),
    (Kind.SLICE, "g(a[1:b])", {"g(a[:b])", "g(a[1:])", "g(a[1:b + 1])", "g(a[1:b - 1])"}),
    (Kind.SLICE, "g(a[(b):])", {"g(a[:])", "g(a[(b + 1):])", "g(a[(b - 1):])"}),
    (Kind.F_STRING, "g(f'x{a!r}', f'{b}')", {"g(f'{a!r}', f'{b}')", "g(f'x', f'{b}')", "g(f'x{a}', f'{b}')"}
     | {"g(\"\", f'{b}')", "g(f'x{a!r}', f'')"}),
    (Kind.VALUE, "x = g(a)", {"x = None"}),
    (Kind.VALUE, "x = 5", set()),
    (Kind.STATEMENT_DROP, "a = g(a)", {"pass"}),
    (Kind.STATEMENT_DROP, "a[0] = b", {"pass"}),
    (Kind.STATEMENT_DROP, "assert a", {"pass"}),
    (Kind.RETURN, "return a", {"return None"}),
    (Kind.RETURN, "return(a.x)", {"return(None)", "(a.x)"}),
    (Kind.RETURN, "return", {"return 1"}),
    (Kind.RETURN, "return'x'", {"return None"}),
    (Kind.RAISE_DROP, "raise a", {"pass"}),
    (Kind.EXCEPTION, "raise KeyError(a) from b", {"raise RuntimeError(a) from b", "raise KeyError(a)"}),
    (Kind.EXCEPTION, "raise RuntimeError", {"raise ValueError"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "line", "wanted"), ONE_LINE, ids=[f"{k.value}: {line}" for k, line, _ in ONE_LINE])
def test_a_line(kind: Kind, line: str, wanted: set[str]) -> None:
    found = changed_lines(body(line), kind)
    assert sorted(found) == sorted(wanted)


BLOCKS = [
    (Kind.HANDLER, ["try:", "    a()", "except (KeyError, OSError) as e:", "    b(e)"],
     ["except () as e:", "except (KeyError,) as e:", "except (OSError,) as e:", "except Exception as e:"]),
    (Kind.HANDLER, ["try:", "    a()", "except:", "    b()"], ["except ():", "except Exception:"]),
    (Kind.HANDLER, ["try:", "    a()", "except Exception:", "    b()"], ["except ():", "except BaseException:"]),
    (Kind.LOOP, ["for x in a:", "    if x:", "        break", "    b(x)"], ["continue", "pass"]),
    (Kind.LOOP, ["for x in a:", "    if x:", "        continue"], ["break"]),
    (Kind.LOOP, ["while True:", "    if a():", "        break"], []),
    (Kind.WITH_DROP, ["with a, (b()) as c:  # why", "    c()"], ["if [a, c := b()]:  # why"]),
    (Kind.WITH_DROP, ["with a as (b, c):", "    c()"], []),
    (Kind.CONDITION, ["while a:", "    b()"], ["while False:"]),
    (Kind.CONDITION, ["if a:", "    pass", "elif b:", "    c()"],
     ["if False:", "if True:", "elif False:", "elif True:"]),
    (Kind.BOOLEAN, ["if a:", "    pass", "elif b:", "    c()"], ["if not a:", "elif not b:"]),
    (Kind.STATEMENT_DROP, ["if a:", "    b = c"], ["pass"]),
    (Kind.STATEMENT_DROP, ["for x in a:", "    b(x)"], ["pass"]),
    (Kind.EARLY_RETURN, ["a()", "if b:", "    return c", "b()"], ["return", "return"]),
    (Kind.EARLY_RETURN, ["if a: b(); c()", "c()"], ["return", "if a: return; b(); c()"]),
    (Kind.RETURN, ["if a:", "    return", "b()"], ["pass", "return 1"]),
    (Kind.RETURN, ["if a:", "    return b", "return c"], ["pass", "return None", "return None"]),
    (Kind.RETURN, ["yield a", "if b:", "    return", "c()"], ["pass"]),
    (Kind.STATEMENT_DROP, ["yield a"], []),
    (Kind.STATEMENT_DROP, ["yield a", "yield b"], ["pass", "pass"]),
    (Kind.CALL_DROP, ["await a()", "g((yield))"], ["pass"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "lines", "wanted"), BLOCKS)
def test_a_block(kind: Kind, lines: list[str], wanted: list[str]) -> None:
    found = changed_lines(body(*lines, head="async def f(a, b, c):"), kind)
    assert sorted(found) == sorted(wanted)


def swapped(*lines: str) -> list[list[str]]:
    source = body(*lines)
    found = made(source, Kind.STATEMENT_SWAP)
    return [[line.strip() for line in each.applied(source).splitlines()[1:]] for each in found]


def test_neighbours_change_places_with_their_comments_where_they_were() -> None:
    assert swapped("a.x = b  # one", "# two", "if c:", "    g()") == [
        ["if c:", "g()  # one", "# two", "a.x = b"],
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("x = 1", "g(a)"),  # nobody can see it
        ("x = g(a)", "g(x)"),  # only a name without a value
        ("g(a)", "return b"),  # as good as a dropped call
        ("g(a)", "pass"),
        ("import os", "g(a)"),
        ("g(a)", "g(a)"),
    ],
)
def test_an_order_that_does_not_matter_is_kept(lines: tuple[str, str]) -> None:
    assert swapped(*lines) == []


def test_an_order_that_matters_is_changed() -> None:
    assert swapped("b = a", "g(b)") == [["g(b)", "b = a"]]


def test_decorators_are_dropped_with_their_line() -> None:
    cache = "    @cache(\n        1\n    )\n"
    source = f"class C:\n    @property  # why\n    # kept\n{cache}    @final\n    def f(self):\n        return 1\n"
    found = [each.applied(source) for each in made(source, Kind.DECORATOR_DROP, of="C.f")]
    assert found == [
        source.replace("    @property  # why\n", ""),
        source.replace(cache, ""),
    ]


def test_defaults_of_parameters_are_constants_too() -> None:
    assert changed_lines("def f(a, b=None, *, c='x'):\n    pass\n", Kind.CONSTANT) == [
        "def f(a, b=1, *, c='x'):",
        "def f(a, b=None, *, c=''):",
        "def f(a, b=None, *, c='x_'):",
    ]


def test_what_only_people_and_type_checkers_read_is_left_alone() -> None:
    source = '''
__all__ = ["a", "b"]
__all__ += ["c"]
__all__.append("d")
if TYPE_CHECKING:
    from x import y
    Z = 1
def f(a: Literal[1], b: "str") -> Optional[Literal["q"]]:
    """Doc."""
    x: Literal[3]
    y = cast("int", a)
    ...
    return y
'''
    for qualname in ("", "f"):
        for mutant in mutants_of(source, qualname):
            assert mutant.kind not in (Kind.CONSTANT, Kind.CALL_DROP), mutant


def test_names_are_swapped_only_for_what_has_a_value_there() -> None:
    source = body("if a:", "    x = 1", "else:", "    g(a)", "for y in b:", "    g(y)", "z = 3", "g(b, z)")
    swaps = {(each.line, each.before, each.after) for each in made(source, Kind.NAME_SWAP)}
    assert swaps == {
        (2, "a", "b"), (5, "a", "b"), (6, "b", "a"), (7, "y", "a"), (7, "y", "b"),
        (9, "b", "a"), (9, "b", "z"), (9, "z", "a"), (9, "z", "b"),
    }  # fmt: skip


def test_names_of_other_scopes_are_not_mixed_up() -> None:
    source = "def f(self, a):\n    import b\n    c = [d for d in a]\n    e = lambda h: h\n    return g(c, e, b, self)\n"
    swaps = {(each.before, each.after) for each in made(source, Kind.NAME_SWAP)}
    assert swaps == {("d", "a"), ("h", "a"), ("h", "c"), ("c", "e"), ("c", "a"), ("e", "a"), ("e", "c")}


def test_attributes_are_swapped_for_those_used_alike() -> None:
    lines = ["self.a = self.b", "self.c = self.d", "self.go(self.stay())", "g.x(g.y)"]
    source = "class C:\n    def f(self):\n" + textwrap.indent("\n".join(lines), "        ") + "\n"
    swaps = {(each.before, each.after) for each in made(source, Kind.ATTRIBUTE_SWAP, of="C.f")}
    assert swaps == {("a", "c"), ("c", "a"), ("b", "d"), ("d", "b"), ("go", "stay"), ("stay", "go")}


def test_a_field_of_an_f_string_has_mutants_that_every_python_can_read() -> None:
    source = "def f(a, b):\n    return f'é {a[\"k\"]} {b + 1:>{a}}'\n".replace('"k"', "1")
    inside = [each for each in mutants_of(source, "f") if each.kind is not Kind.F_STRING and each.column > 14]
    assert {(each.kind, each.before, each.after) for each in inside} >= {
        (Kind.NAME_SWAP, "a", "b"),
        (Kind.NAME_SWAP, "b", "a"),
        (Kind.CONSTANT, "1", "2"),
        (Kind.ARITHMETIC, "+", "-"),
    }
    assert not [each for each in inside if set(each.after) & set("'\"\\{}")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("lead", ["", "\ufeff", "# coding: latin-1\n"])
def test_places_count_characters_whatever_the_file_is_written_in(newline: str, lead: str) -> None:
    text = "é = 'ü'\ndef f(a, ö):\n    'ß'; g('ä', a < ö)\n    if a:\n        return 'x'\n    return 'y'\n"
    source = (lead + text).replace("\n", newline)
    first = 2 if lead.startswith("#") else 1
    mutant = made(source, Kind.BOUNDARY)[0]
    assert (mutant.line, mutant.column) == (first + 2, 19)
    assert mutant.applied(source) == source.replace("a < ö", "a <= ö")
    for each in mutants_of(source, "f"):
        assert source[each.start : each.end] == each.before
        ast.parse(each.applied(source).lstrip("\ufeff"))


def test_only_the_wanted_lines() -> None:
    source = body("a.x = 1", "b.x = [", "    2,", "    3,", "]", "c.x = 4")
    for lines, wanted in (({2}, {"1"}), ({4}, {"2"}), ({5, 7}, {"3", "4"}), (set(), set())):
        found = {each.before for each in mutants_of(source, "f", lines=lines) if each.kind is Kind.CONSTANT}
        assert found == wanted


def test_the_same_id_where_lines_move_another_where_the_statement_changes() -> None:
    source = body("g(a < b)", "g(a < b)", "g(c)")
    ids = {each.id for each in mutants_of(source, "f")}
    moved = "import x\n\n\n" + source.replace("    g(c)", "    # why\n\n    g( c )")
    assert {each.id for each in mutants_of(moved, "f")} == ids
    other = {each.id for each in mutants_of(source.replace("g(c)", "g(c, 1)"), "f")}
    assert other & ids == {each.id for each in mutants_of(source, "f", lines={2, 3}) if each.id in other}
    assert {each.id.rsplit(":", 1)[1] for each in made(source, Kind.BOUNDARY)} == {"1", "2"}


TREE = '''
LIMIT = 3
class C:
    n = 4
    @property
    def x(self): return 5
    @x.setter
    def x(self, v): self.y = 6
    class D:
        def z(self): return 7
def outer(q=8):
    def inner(): return 9
    return inner
if LIMIT:
    def either(): return 10
else:
    def either(): return 11
@overload
def many(a: int): ...
@overload
def many(a: str): return 12
def many(a): return 13
'''  # fmt: skip


@pytest.mark.parametrize(
    ("qualname", "wanted"),
    [
        ("LIMIT", "3"),
        ("C", "4 5 6 7"),
        ("C.n", "4"),
        ("C.x", "5 6"),
        ("C.D.z", "7"),
        ("outer", "8 9"),
        ("outer.<locals>.inner", "9"),
        ("outer.inner", "9"),
        ("either", "10 11"),
        ("many", "13"),
        ("", "3 4 8"),
    ],
)
def test_what_a_name_stands_for(qualname: str, wanted: str) -> None:
    constants = made(TREE, Kind.CONSTANT, of=qualname)
    assert list(dict.fromkeys(each.before for each in constants)) == wanted.split()


def test_the_symbol_is_the_definition_around() -> None:
    found = {each.before: each.symbol for each in made(TREE, Kind.CONSTANT, of="C")}
    assert found == {"4": "C", "5": "C.x", "6": "C.x", "7": "C.D.z"}


@pytest.mark.parametrize(
    ("source", "qualname", "code"),
    [
        ("def f(): pass\n", "g", "unknown-definition"),
        ("def f(): pass\n", "f.g", "unknown-definition"),
        ("def f(:\n", "f", "unparsable"),
        ("x = '\udc80'\n", "x", "not-text"),
    ],
)
def test_what_can_not_be_mutated_is_said(source: str, qualname: str, code: str) -> None:
    with pytest.raises(UnmovedError) as error:
        mutants_of(source, qualname)
    assert error.value.code == code


def test_a_mutant_says_what_and_where_in_one_line() -> None:
    source = body("if a < b:", "    g(", "        1,", "    )")
    for mutant in mutants_of(source, "f"):
        assert "\n" not in mutant.description and len(mutant.description) < 200
    assert made(source, Kind.BOUNDARY)[0].description == "`<` becomes `<=` in `if a < b: ...`"
    assert made(source, Kind.CALL_DROP)[0].description == "without `g( 1, )`"

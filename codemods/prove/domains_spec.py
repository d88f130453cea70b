"""Domains as a spec writes them, one line of text each, and back.

int | int 0..65535 | float 0.. | bool | text | text with ":", "[" | bytes | none | opaque
address | path | json | lines | number | url | date | words       texts of that kind, broken ones among them
one_of ["a", 1, true] | regex "[a-z]+" | optional text | text or int
list of int | list 1..4 of text | set of int | tuple of text | (int, text) | dict of text to int
record {a=int, b=optional text}         a dictionary; `records {...}` is a list of them
int near len(nodes) | int index nodes | text member names         in a relation to other inputs"""

from __future__ import annotations

import ast
import re
from typing import Any, NoReturn

from codemods.prove.domains import (
    STYLES,
    Bool,
    Bytes,
    DictOf,
    Domain,
    Either,
    Field,
    Float,
    Int,
    ListOf,
    Matching,
    Maybe,
    OneOf,
    Opaque,
    Record,
    Text,
    Tie,
    Tied,
    TupleOf,
    unite,
)
from codemods.prove.domains_levels import MAKERS
from codemods.prove.domains_ties import is_workable, names_in
from codemods.schema.errors import UnmovedError
from codemods.schema.toml_check import nearest

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<range>\.\.)"""
    r"""|(?P<number>[-+]?(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<mark>[][{}(),=:]))"""
)
_SIMPLE: dict[str, Domain] = {
    "bool": Bool(),
    "bytes": Bytes(),
    "none": OneOf((None,)),
    "opaque": Opaque(),
    **{style: Text(styles=(style,)) for style in STYLES},
}
_TIES = ("near", "index", "member")
KNOWN = ("int", "float", "text", *_SIMPLE, "one_of", "regex", "optional", *MAKERS, "dict", "record", "records")


class BadDomain(UnmovedError):
    """A spec's domain that can't be read. name: the input it is for."""

    code = "bad-domain"


class UnknownDomain(BadDomain):
    """A word that names no domain."""

    code = "unknown-domain"


def parse_domain(text: str, *, name: str = "", path: str = "", line: int = 0) -> Domain:
    """The domain that a text spells. name, path, line: what it is for and where it stands, for the error."""
    reader = _Reader(text, name, path, line)
    domain = reader.domain()
    reader.finish()
    return domain


class _Reader:
    def __init__(self, text: str, name: str, path: str, line: int) -> None:
        self.text, self.name, self.path, self.line = text, name, path, line
        self.at = 0
        self.kind, self.token = "", ""
        self.start = 0
        self.next()

    def next(self) -> str:
        """Moves on; gives the token that it leaves."""
        before = self.token
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            rest = self.text[self.at :].strip()
            self.kind, self.token = ("", "") if not rest else ("rest", rest)
            self.start = len(self.text) - len(self.text[self.at :].lstrip())
            return before
        self.kind, self.token = str(found.lastgroup), str(found.group(str(found.lastgroup)))
        self.start, self.at = found.start(str(found.lastgroup)), found.end()
        return before

    def fail(self, needed: str, *, kind: type[BadDomain] = BadDomain, fix: str = "") -> NoReturn:
        owner = f"the domain of `{self.name}`" if self.name else "the domain"
        found = f"`{self.token}` at column {self.start + 1}" if self.token else "its end"
        message = f"{owner}, `{self.text}`, has {found} where {needed} must be"
        raise kind(message, fix=fix or "see `domains` in the documentation of specs", path=self.path, line=self.line)

    def expect(self, token: str) -> None:
        if self.token != token:
            self.fail(f"`{token}`")
        self.next()

    def takes(self, token: str) -> bool:
        if self.token != token or self.kind == "text":
            return False
        self.next()
        return True

    def finish(self) -> None:
        if self.token:
            self.fail("the end")

    def domain(self) -> Domain:
        choices = [self.one()]
        while self.takes("or"):
            choices.append(self.one())
        found = unite(choices) if len(choices) > 1 else choices[0]
        ties: list[Tie] = []
        while self.kind == "word" and self.token in _TIES:
            ties.append(self.tie(self.token))
        return Tied(found, tuple(ties)) if ties else found

    def tie(self, kind: str) -> Tie:
        """`near EXPRESSION`, to the end of the text."""
        expression = self.text[self.at :].strip()
        self.next()
        try:
            names = names_in(expression) if is_workable(expression) else ()
        except SyntaxError:
            names = ()
        if not names:
            self.fail(
                "an expression over other inputs", fix="use their names, numbers, len, min, max, arithmetic, .split"
            )
        self.kind, self.token, self.at = "", "", len(self.text)
        return Tie(ast.unparse(ast.parse(expression, mode="eval")), kind)

    def one(self) -> Domain:
        if self.takes("("):
            items = [self.domain()]
            while self.takes(","):
                if self.token != ")":
                    items.append(self.domain())
            self.expect(")")
            return TupleOf(tuple(items))
        if self.kind != "word":
            self.fail("the name of a domain", fix=f"write one of: {', '.join(KNOWN)}")
        if self.token not in KNOWN:
            close = nearest(self.token, KNOWN)
            hint = f"did you mean `{close}`? " if close else ""
            self.fail("the name of a domain", kind=UnknownDomain, fix=f"{hint}the names are: {', '.join(KNOWN)}")
        if self.token == "regex":
            return self.regex()
        word = self.next()
        if word in _SIMPLE:
            return _SIMPLE[word]
        if word == "int":
            low, high = self.range(int)
            return Int((), low, high)
        if word == "float":
            low, high = self.range(float)
            return Float((), low, high)
        if word == "text":
            return self.marks()
        if word == "one_of":
            return OneOf(tuple(self.values()))
        if word == "optional":
            return unite([OneOf((None,)), self.one()])
        return self.container(word)

    def container(self, word: str) -> Domain:
        if word == "dict":
            self.expect("of")
            key = self.one()
            self.expect("to")
            return DictOf(key, self.one())
        if word in {"record", "records"}:
            record = Record(tuple(self.fields()))
            return record if word == "record" else ListOf(record)
        low, high = self.range(int)
        self.expect("of")
        return ListOf(self.one(), word, (), low or 0, high)

    def range(self, make: Any) -> tuple[Any, Any]:
        """`0..5`, `0..`, `..5`, or nothing."""
        low = high = None
        if self.kind == "number":
            low = self.number(make)
            if self.kind != "range":
                self.fail("`..`")
        if self.kind == "range":
            self.next()
            high = self.number(make) if self.kind == "number" else None
            if low is not None and high is not None and low > high:
                self.fail(f"a range that is not empty ({low} is more than {high})")
        return low, high

    def number(self, make: Any) -> Any:
        try:
            value = make(self.token)
        except ValueError:
            self.fail("a whole number")
        self.next()
        return value

    def marks(self) -> Domain:
        """`with ":", "["`: what such texts are assembled with."""
        if not self.takes("with"):
            return Text()
        found = [self.quoted()]
        while self.token == "," and self.takes(","):
            found.append(self.quoted())
        return Text(separators=tuple(found))

    def quoted(self) -> str:
        if self.kind != "text":
            self.fail("a quoted text")
        return str(ast.literal_eval(self.next()))

    def regex(self) -> Domain:
        self.next()
        rest = self.text[self.start :]
        if self.kind == "text":
            pattern = self.raw()
        else:
            pattern = rest.strip()
            self.kind, self.token, self.at = "", "", len(self.text)
        try:
            re.compile(pattern)
        except re.error as error:
            raise BadDomain(
                f"the regular expression of `{self.name or self.text}` can't be read: {error}",
                fix="mend the pattern",
                path=self.path,
                line=self.line,
            ) from error
        if not pattern:
            self.fail("a regular expression")
        return Matching(pattern)

    def raw(self) -> str:
        """A quoted pattern: backslashes are the pattern's own."""
        return self.next()[1:-1]

    def values(self) -> list[Any]:
        self.expect("[")
        found: list[Any] = []
        while not (self.token == "]" and self.kind == "mark"):
            found.append(self.value())
            if not self.takes(","):
                break
        if not found:
            self.fail("a value")
        self.expect("]")
        return found

    def value(self) -> Any:
        words = {"true": True, "false": False, "none": None, "True": True, "False": False, "None": None}
        if self.kind == "text":
            return self.quoted()
        if self.kind == "number":
            return self.number(int if re.fullmatch(r"[-+]?\d+", self.token) else float)
        if self.token in words:
            return words[self.next()]
        return self.fail("a quoted text, a number, true, false or none")

    def fields(self) -> list[Field]:
        self.expect("{")
        found: list[Field] = []
        while self.kind in {"word", "text"}:
            name = self.quoted() if self.kind == "text" else self.next()
            self.expect("=")
            found.append(Field(name, self.domain()))
            if not self.takes(","):
                break
        self.expect("}")
        return found


def spelled(domain: Domain) -> str:
    """The domain as a spec would write it. What only inference finds out (constants of the code) is left out."""
    if isinstance(domain, Tied):
        tie = domain.ties[0]
        return f"{spelled(domain.inner)} {tie.kind} {tie.expression}"
    if isinstance(domain, Maybe):
        return f"optional {spelled(domain.inner)}"
    if isinstance(domain, Either):
        return " or ".join(spelled(each) for each in domain.choices)
    if isinstance(domain, (Int, Float)):
        bounds = "" if domain.low is None and domain.high is None else f" {_bound(domain.low)}..{_bound(domain.high)}"
        return ("int" if isinstance(domain, Int) else "float") + bounds
    if isinstance(domain, Text):
        marks = ", ".join(repr(mark) for mark in domain.separators)
        return domain.styles[0] if domain.styles else f"text with {marks}" if marks else "text"
    if isinstance(domain, Matching):
        return f"regex {domain.pattern}"
    if isinstance(domain, OneOf):
        names = {None: "none", True: "true", False: "false"}
        shown = (names[each] if each is None or isinstance(each, bool) else repr(each) for each in domain.values)
        return "none" if domain.values == (None,) else f"one_of [{', '.join(shown)}]"
    return _spelled_container(domain)


def _spelled_container(domain: Domain) -> str:
    if isinstance(domain, ListOf):
        is_free = domain.low == 0 and domain.high is None
        bounds = "" if is_free else f" {domain.low}..{_bound(domain.high)}"
        return f"{domain.kind}{bounds} of {spelled(domain.item)}"
    if isinstance(domain, TupleOf):
        return f"({', '.join(spelled(each) for each in domain.items)})"
    if isinstance(domain, DictOf):
        return f"dict of {spelled(domain.key)} to {spelled(domain.value)}"
    if isinstance(domain, Record):
        names = (each.name if each.name.isidentifier() else repr(each.name) for each in domain.fields)
        fields = (f"{name}={spelled(each.domain)}" for name, each in zip(names, domain.fields, strict=True))
        return "record {" + ", ".join(fields) + "}"
    return {Bool: "bool", Bytes: "bytes"}.get(type(domain), "opaque")


def _bound(value: float | None) -> str:
    return "" if value is None else str(value)

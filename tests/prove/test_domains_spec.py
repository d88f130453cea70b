"""Domains as specs write them: what each text means, and what an error says."""

from __future__ import annotations

import pytest

from codemods.prove.domains import (
    Bool,
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
    Record,
    Text,
    Tie,
    Tied,
    TupleOf,
)
from codemods.prove.domains_guess import with_hints
from codemods.prove.domains_spec import KNOWN, BadDomain, UnknownDomain, parse_domain, spelled


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("text", Text()),
        ("int", Int()),
        ("int 0..65535", Int((), 0, 65535)),
        ("int -5..", Int((), -5, None)),
        ("int ..5", Int((), None, 5)),
        ("float 0.5..1", Float((), 0.5, 1.0)),
        ("bool", Bool()),
        ("none", OneOf((None,))),
        ('one_of ["a", 1, 1.5, true, none]', OneOf(("a", 1, 1.5, True, None))),
        ("list of int", ListOf(Int())),
        ("list 1..4 of text", ListOf(Text(), "list", (), 1, 4)),
        ("set of int 0..3", ListOf(Int((), 0, 3), "set")),
        ("optional text", Maybe(Text())),
        ("optional list of optional int", Maybe(ListOf(Maybe(Int())))),
        ("text or int", Either((Text(), Int()))),
        ("text or none", Maybe(Text())),
        ("address", Text(styles=("address",))),
        ("path", Text(styles=("path",))),
        ("json", Text(styles=("json",))),
        ("lines", Text(styles=("lines",))),
        ("text with ':', \"[\"", Text(separators=(":", "["))),
        ("(int, text)", TupleOf((Int(), Text()))),
        ("dict of text to list of int", DictOf(Text(), ListOf(Int()))),
        ("record {a=int, b=text}", Record((Field("a", Int()), Field("b", Text())))),
        (
            "records {a=int 0..1, 'b c'=optional text}",
            ListOf(Record((Field("a", Int((), 0, 1)), Field("b c", Maybe(Text()))))),
        ),
        (r"regex \d+:[a-z]", Matching(r"\d+:[a-z]")),
        (r'list of regex "\d,\d"', ListOf(Matching(r"\d,\d"))),
        ("int near len(nodes)", Tied(Int(), (Tie("len(nodes)"),))),
        ("int index bind.split('|')", Tied(Int(), (Tie("bind.split('|')", "index"),))),
    ],
)
def test_a_text_gives_a_domain_and_the_domain_the_text(text: str, domain: Domain) -> None:
    assert parse_domain(text) == domain
    assert parse_domain(spelled(domain)) == domain


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "its end where the name of a domain"),
        ("list of", "its end where the name of a domain"),
        ("list int", "`int` at column 6 where `of`"),
        ("int 0", "its end where `..`"),
        ("int 5..1", "a range that is not empty (5 is more than 1)"),
        ("int 0.5..1", "`0.5` at column 5 where a whole number"),
        ("one_of []", "`]` at column 9 where a value"),
        ("one_of [a]", "`a` at column 9 where a quoted text"),
        ("int text", "`text` at column 5 where the end"),
        ("record {a int}", "`int` at column 11 where `=`"),
        ("int ~", "`~` at column 5 where the end"),
        ("regex [a", "can't be read"),
        ("int near open('x')", "an expression over other inputs"),
        ("int near 5", "an expression over other inputs"),
    ],
)
def test_an_error_says_where_and_what_was_needed(text: str, found: str) -> None:
    with pytest.raises(BadDomain) as caught:
        parse_domain(text, name="rank", path="specs/a.toml", line=4)
    assert found in str(caught.value)
    assert str(caught.value).startswith("bad-domain: specs/a.toml:4: ")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownDomain) as caught:
        parse_domain("list of adress", name="host")
    assert "did you mean `address`?" in caught.value.fix
    assert all(name in caught.value.fix for name in KNOWN)


@pytest.mark.parametrize(
    ("spec", "inferred", "together"),
    [
        ("int 0..9", Tied(Int((3,)), (Tie("n"),)), Tied(Int((3,), 0, 9), (Tie("n"),))),
        ("text", Maybe(Text(separators=(",",))), Text(separators=(",",))),
        ("optional address", Text(exact=("x",)), Maybe(Text(exact=("x",), styles=("address",)))),
        ("list 2..3 of int", ListOf(Int((7,)), sizes=(2,)), ListOf(Int((7,)), "list", (2,), 2, 3)),
        ("one_of ['a']", Text(exact=("b",)), OneOf(("a",))),
        ("int", Text(exact=("b",)), Int()),
    ],
)
def test_a_spec_rules_and_the_code_adds_its_constants(spec: str, inferred: Domain, together: Domain) -> None:
    assert with_hints(parse_domain(spec), inferred) == together

"""Answers held to a grammar: whatever the model wants, what comes out parses, validates and ends where it may."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.schema.errors import BadRequest
from engine.schema.sampling import SamplingParams

pytest.importorskip("llguidance")
jsonschema = pytest.importorskip("jsonschema")

from engine.sampling.grammar import GrammarFailed, Grammars, Matcher  # noqa: E402

END, START, PADDED = 256, 257, 272
WORDS: list[str | bytes] = [
    '{"',
    '":',
    '"}',
    "true",
    "[[",
    "é".encode()[1:] + b'"',
    "日本".encode(),
    b"\xe6\x97",
    b"12",
    b" \n",
]
TOKENS = [*(bytes([each]) for each in range(256)), b"", b""]
TOKENS += [each if isinstance(each, bytes) else each.encode() for each in WORDS]


def grammars(**options: Any) -> Grammars:
    given_options = {"special": {START}, "end_ids": {END}, "vocab_size": PADDED, **options}
    return Grammars(TOKENS, encode=lambda text: list(text.encode()), **given_options)


GRAMMARS = grammars()


def matcher(grammar: Grammars = GRAMMARS, **options: Any) -> Matcher:
    made = grammar.compile(SamplingParams(**options))
    assert made is not None
    return made


def allowed(mask: bytes) -> list[int]:
    return [each for each in range(8 * len(mask)) if mask[each >> 3] >> (each & 7) & 1]


def text_of(tokens: Sequence[int]) -> bytes:
    return b"".join(TOKENS[each] for each in tokens if each < len(TOKENS))


def write(made: Matcher, seed: int, *, ends: Sequence[int] = (END,), most: int = 600) -> list[int]:
    """An answer of a model that knows nothing: any token that is allowed, in the end those that close things."""
    rng, out = random.Random(seed), list[int]()
    while len(out) < most:
        ids = allowed(made.mask())
        assert ids and max(ids) < len(TOKENS) and START not in ids
        assert made.is_complete or not set(ids) & set(ends)
        closers = [each for each in ids if each in (END, *b'"}]n')] if len(out) > 40 or rng.random() < 0.3 else []
        plain = [each for each in ids if not text_of([each]).isspace()] if rng.random() < 0.8 else []
        out.append(rng.choice(closers or plain or ids))
        made.accept(out[-1])
        if out[-1] in ends:
            return out
    raise AssertionError(text_of(out))


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "é", None, 3]}, "maxItems": 3, "minItems": 1},
        "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
    "required": ["name", "tags", "next"],
    "additionalProperties": False,
}
SCHEMAS: list[Any] = [
    PERSON,
    {"type": "object"},
    {"type": "number", "exclusiveMinimum": -3, "maximum": 4.5},
    {"type": "string", "pattern": "^[à-é日]{2,5}$"},
    {"type": "array", "prefixItems": [{"type": "boolean"}, {"const": {"x": "y"}}], "items": False, "minItems": 2},
    {"$defs": {"e": {"type": "string", "format": "date"}}, "type": "array", "items": {"$ref": "#/$defs/e"}},
]
REGEXES = [
    r"\d{3}-[a-f]+",
    r"[\d_]+\w/\n\.?",
    "(é|日本)+x?",
    "",
    r"[^a]{0,9}",
    r"(yes|no)(, (yes|no)){0,3}\.",
    "^a{2}$",
]


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(SCHEMAS), st.integers(0, 2**32))
def test_every_answer_is_valid_json_of_its_schema(schema: Any, seed: int) -> None:
    out = write(matcher(json_schema=json.dumps(schema)), seed)
    jsonschema.validate(json.loads(text_of(out).decode("utf-8")), schema)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(REGEXES), st.integers(0, 2**32))
def test_every_answer_matches_its_expression(regex: str, seed: int) -> None:
    assert re.fullmatch(regex, text_of(write(matcher(regex=regex), seed)).decode("utf-8"), re.DOTALL | re.ASCII)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([{"json_schema": json.dumps(PERSON)}, {"regex": "(é|日本)+x?", "stop_token_ids": (ord("x"),)}]),
    st.integers(0, 2**32),
)
def test_what_is_undone_leaves_no_trace(options: dict[str, Any], seed: int) -> None:
    rng, made, plain = random.Random(seed), matcher(**options), matcher(**options)
    for _ in range(12):
        before = made.mask(), made.is_complete, made.is_done
        assert before == (plain.mask(), plain.is_complete, plain.is_done)
        count = rng.randrange(4)
        for _ in range(count):
            made.accept(rng.choice(allowed(made.mask())))
        made.rollback(count)
        token = rng.choice(allowed(made.mask()))
        made.accept(token)
        plain.accept(token)
        if plain.is_done:
            break
    with pytest.raises(ValueError, match="can't be undone"):
        made.rollback(99)


def state(made: Matcher) -> tuple[bool, bool, list[int]]:
    """Whether it is complete and done, and what may follow."""
    return made.is_complete, made.is_done, allowed(made.mask())


def test_characters_may_be_cut_into_bytes() -> None:
    made = matcher(regex="é+")
    assert state(made) == (False, False, [0xC3])
    made.accept(0xC3)
    assert state(made) == (False, False, [0xA9])
    made.accept(0xA9)
    assert state(made) == (True, False, [0xC3, END])
    made.accept(END)
    assert state(made) == (True, True, [END])


def test_a_token_that_is_not_allowed_is_refused_and_changes_nothing() -> None:
    made = matcher(regex="ab")
    for token in (ord("b"), END, START, 9999):
        with pytest.raises(GrammarFailed, match=f"token {token} can't follow"):
            made.accept(token)
    made.accept(ord("a"))
    made.accept(ord("b"))
    assert made.is_complete and made.is_done


def test_each_of_several_ends_ends_a_complete_answer() -> None:
    two = grammars(end_ids={END, START}, special=set())
    made = matcher(two, regex="a")
    assert not set(allowed(made.mask())) & {END, START}
    made.accept(ord("a"))
    assert allowed(made.mask()) == [END, START]


def test_a_stop_token_that_is_text_waits_until_the_answer_is_complete() -> None:
    made = matcher(regex="b?c+", stop_token_ids=(ord("c"), ord("q")))
    assert allowed(made.mask()) == [ord("b")]
    made.accept(ord("b"))
    assert allowed(made.mask()) == [ord("c")]  # nothing else could follow
    made.accept(ord("c"))
    assert {ord("c"), ord("q"), END} == set(allowed(made.mask()))
    made.accept(ord("q"))
    assert state(made) == (True, True, [END])
    made.rollback(1)
    assert state(made)[:2] == (True, False)


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("regex", "(", "unclosed group"),
        ("regex", "a(?=b)", "look-around"),
        ("regex", r"[^\x00-\x{10FFFF}]", "no answer could satisfy"),
        ("json_schema", "{", "line 1"),
        ("json_schema", "3", "object"),
        ("json_schema", '{"type": "person"}', "Invalid type: person"),
        ("json_schema", '{"enum": []}', "empty"),
        ("json_schema", '{"$ref": "#/nowhere"}', "/nowhere"),
        ("json_schema", '{"type": "string", "pattern": "("}', "unclosed group"),
        ("json_schema", '{"not": {}, "x-guidance": {"lenient": true}}', "not"),
        ("json_schema", "[" * 99999, "recursion"),
    ],
)
def test_what_can_not_be_held_is_refused_with_the_reason(field: str, text: str, reason: str) -> None:
    with pytest.raises(BadRequest, match=re.escape(reason)) as caught:
        GRAMMARS.compile(SamplingParams(**{field: text}))  # type: ignore[arg-type]
    assert caught.value.field == field and len(str(caught.value)) < 500


def test_masks_along_drafts() -> None:
    made = matcher(regex="ab?c")
    masks = made.masks([ord("a"), ord("c"), END, ord("x"), END])
    assert [allowed(each) for each in masks] == [[ord("a")], [ord("b"), ord("c")], [END], [END], [END], [END]]
    assert state(made) == (False, False, [ord("a")]) and made.masks([]) == (made.mask(),)


def test_no_grammar_is_no_matcher_and_a_model_without_an_end_has_none() -> None:
    assert GRAMMARS.compile(SamplingParams()) is None
    with pytest.raises(BadRequest, match="no token that ends"):
        grammars(end_ids={99999})


def test_matchers_of_one_grammar_do_not_share_their_state() -> None:
    first, second = matcher(regex="ab"), matcher(regex="ab")
    first.accept(ord("a"))
    assert allowed(second.mask()) == [ord("a")]


def test_masks_reach_the_sampler() -> None:
    torch = pytest.importorskip("torch")
    from engine.sampling.masks import unpack
    from engine.sampling.sampler import Row, sample

    made, out = matcher(regex="[0-9]{2}"), list[int]()
    logits = torch.randn(1, PADDED, generator=torch.Generator().manual_seed(1))
    for position in range(3):
        mask = unpack(made.mask(), PADDED)
        assert mask.nonzero().flatten().tolist() == allowed(made.mask())
        # min_tokens is more than the grammar has: the end comes all the same, and nothing that is not allowed.
        params = SamplingParams(temperature=position % 2, min_tokens=9)
        row = Row(params=params, seed=1, position=position, output=tuple(out), end_ids=frozenset({END}), allowed_V=mask)
        out.append(sample(logits, [row])[0].token_id)
        made.accept(out[-1])
    assert re.fullmatch(b"[0-9]{2}", text_of(out)) and out[-1] == END
    assert unpack(b"\x81", 12).tolist() == [True, *[False] * 6, True, *[False] * 4]
    assert unpack(b"\xff\xff", 3).tolist() == [True] * 3

"""What of a value never gets into a recording as it is."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from codemods.prove.record_shape import behaviour, quick, text_shape
from codemods.prove.record_values import WHOLE, Capture
from codemods.prove.redact import Rules

ENVIRON = {"HOME": "/home/ann", "TMPDIR": "/scratch/tmp", "DEPLOY_TOKEN": "tok-en-77-abc", "PWD": "/work/site"}


def rules(*patterns: str) -> Rules:
    return Rules(patterns, ENVIRON, "/work/site")


def captured(value: Any, label: str = "x", *patterns: str) -> Any:
    return Capture(rules(*patterns)).value(value, label)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("password", "hunter2"),
        ("db_passwd", "hunter2"),
        ("apiKey", "abc"),
        ("API_KEY", "abc"),
        ("hf_token", "abc"),
        ("Authorization", "abc"),
        ("clientSecret", "abc"),
        ("key", "abc"),
        ("session_cookie", "abc"),
    ],
)
def test_a_secret_is_known_by_its_name(name: str, text: str) -> None:
    assert captured({name: text}) == {name: f"<redacted:{name}>"}
    assert captured({name: [text]}) == {name: [f"<redacted:{name}>"]}
    assert text not in repr(captured({name: text.encode()}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 5),
        ("tokenizer", "gpt2"),
        ("keyboard", "us"),
        ("token_ids", [1, 2]),
        ("monkey", "x"),
        ("author", "x"),
    ],
)
def test_what_only_sounds_alike_is_kept(name: str, value: object) -> None:
    assert captured({name: value}) == {name: value}


def test_a_password_of_digits_is_hidden_too() -> None:
    assert captured({"pin": 1234, "password": 1234})["password"] == {
        "$opaque": "builtins:int",
        "label": "redacted:password",
    }


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-0123456789abcdefABCDEF",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "hf_abcdefghijklmnopqrst",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
        "qZ8vT3nL0pXw7RkB2mYd5JhC9sFgA1eU4iOt",
        "tok-en-77-abc",  # the environment has it under a name that tells
    ],
)
def test_a_secret_is_known_by_its_look(secret: str) -> None:
    shown = captured(f"use {secret} here")
    assert secret not in shown
    assert shown.startswith("use <redacted:")
    assert shown.endswith("> here")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefgh12", "Authorization: Bearer <redacted:value>"),
        ("postgres://ann:hunter2@db/x", "postgres://ann:<redacted:value>@db/x"),
        ("login password=hunter2 ok", "login password=<redacted:value> ok"),
        ("sha 0123456789abcdef0123456789abcdef01234567", "sha 0123456789abcdef0123456789abcdef01234567"),
        ("model_executor/layers/attention/backends", "model_executor/layers/attention/backends"),
        ("<a.B object at 0x7f31deadbeef>", "<a.B object at <address>>"),
        ("/scratch/tmp/tmpab12/x.sock", "<tmp>/*/x.sock"),
        ("/tmp/pytest-of-ann/pytest-12/tmpab_12cd/x0", "<tmp>/*/pytest-*/*/x*"),
        ("/tmp/abc, /home/ann/x", "<tmp>/*, <home>/x"),
        ("/work/site/a.py and /work/sites", "<cwd>/a.py and /work/sites"),
        ("2026-12-01 08:12:13,123 begun", "<time> begun"),
        ("pid=4711 and process 12", "pid=<number> and process <number>"),
        ("id 6f9619ff-8b86-d011-b42d-00cf4fc964ff", "id <uuid>"),
        ("nothing of that, 12 of 100", "nothing of that, 12 of 100"),
    ],
)
def test_text_of_the_moment_and_secrets_in_text(text: str, shown: str) -> None:
    assert captured(text) == shown
    assert captured(shown) == shown


def test_a_secret_met_under_its_name_is_hidden_everywhere() -> None:
    capture = Capture(rules())
    capture.value({"password": "correct horse"}, "x")
    assert capture.value("login with correct horse", "result") == "login with <redacted:password>"


def test_more_names_can_be_given_and_taken_back() -> None:
    assert captured({"session_id": "s1"}, "x", "session_*") == {"session_id": "<redacted:session_id>"}
    assert captured({"token": "the"}, "x", "!token") == {"token": "the"}


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("x", time.time(), "time-s"),
        ("x", int(time.time()), "time-int"),
        ("x", time.time_ns(), "time-ns"),
        ("pid", os.getpid(), "pid"),
        ("started_at", time.monotonic(), "clock"),
        ("elapsed", 0.25, "duration"),
    ],
    ids=["seconds", "whole seconds", "nanoseconds", "pid", "clock", "duration"],  # the same in every worker
)
def test_numbers_of_the_moment_are_told(name: str, value: float, kind: str) -> None:
    assert captured({name: value}) == {name: {"$live": kind}}


@pytest.mark.parametrize("value", [0.5, 17, 1e12, -3.0, 8080])
def test_other_numbers_are_kept(value: float) -> None:
    assert captured({"value": value}) == {"value": value}


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (3, 500, True),
        (0, 1, False),
        (-3, 3, False),
        (1, True, False),
        (1, 1.0, False),
        (None, 0, False),
        ("nccl", "gloo", False),
        ("fp16", "fp8", False),
        ("request 17", "request 4711", True),
        ("req-8f3a9c", "req-77ab1d", True),
        ([3], [4, 5], False),
        ([3, 4], [5, 6, 7], True),
        ([3, 4], [5, "a"], False),
        ({"a": 3}, {"a": 4}, True),
        ({"a": 3}, {"b": 3}, False),
        ((3, 4), [3, 4], False),
    ],
)
def test_when_two_values_are_one_behaviour(one: Any, other: Any, is_same: bool) -> None:
    found = [
        behaviour({"target": "m:f", "arguments": {"x": captured(value)}, "returned": None}) for value in (one, other)
    ]
    assert (found[0] == found[1]) is is_same
    if not is_same and type(one) is not list:  # of a list only both ends are looked at in passing
        assert quick(one, WHOLE) is not quick(other, WHOLE)
        assert (quick(one, WHOLE), type(quick(one, WHOLE))) != (quick(other, WHOLE), type(quick(other, WHOLE)))


def test_a_long_text_has_a_short_shape() -> None:
    assert len(text_shape("word " * 1000)) < 100

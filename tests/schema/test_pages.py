"""The hazard pages: complete, and each example does what its page says, because both versions are run here."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from codemods.schema.page import Page
from codemods.schema.pages import CODES, PAGES
from codemods.schema.pages_deltas import DELTA_CODES, DELTA_PAGES
from codemods.schema.plan import Step

RUN = """
try:
    from main import run
    print(repr(run()))
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def files_of(text: str) -> dict[str, str]:
    parts = re.split(r"^# file: (\w+\.py)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)) if len(parts) > 1 else {"main.py": text}


def outcome(text: str, directory: Path) -> str:
    for name, body in files_of(text).items():
        (directory / name).write_text(body, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-S", "-c", RUN], cwd=directory, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_every_code_has_its_page() -> None:
    assert list(CODES) == [f"U{number}" for number in range(101, 122)]
    assert all(PAGES[code].code == code for code in CODES)
    assert list(DELTA_CODES) == [f"D{number}" for number in range(1, 12)]
    assert all(page.severity is not None for page in PAGES.values())
    assert all(page.severity is None for page in DELTA_PAGES.values())


EVERY = {**PAGES, **DELTA_PAGES}


@pytest.mark.parametrize("page", EVERY.values(), ids=EVERY)
def test_the_example_changes_behaviour_as_the_page_says(page: Page, tmp_path: Path) -> None:
    example = page.example
    for number, (text, said) in enumerate([(example.before, example.was), (example.after, example.now)]):
        for body in files_of(text).values():
            ast.parse(body)
        directory = tmp_path / str(number)
        directory.mkdir()
        # What Python adds to the message of a cyclic import, with the file's path, is not part of the page.
        assert outcome(text, directory).partition(" (most likely due to a circular import)")[0] == said
    assert example.before != example.after
    assert example.was != example.now


@pytest.mark.parametrize("page", EVERY.values(), ids=EVERY)
def test_the_page_is_whole(page: Page) -> None:
    assert 2 <= len(re.findall(r"[.!](?: |\Z)", page.text)) <= 5
    assert page.title.startswith("`") or page.title[0].islower()
    assert page.settle
    keys = {key for kind in get_args(Step) for key in kind.__struct_fields__}
    if page.code in DELTA_PAGES:
        assert [way.key for way in page.settle][-1] == "[[pair.delta]]"
        keys = {"[[pair.delta]]"}
    assert {way.key for way in page.settle} <= keys | {""}

"""The message of a commit: git reads the trailers back, and no word is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.commit.message import BadMessage, message, wrapped
from codemods.schema.result import Phase
from tests.support.repository import change, draft, make_repository, run_git

CHANGE = change("a.py", None, b"")


def test_the_whole_message() -> None:
    made = message(
        "leaf-helpers", 3, draft(CHANGE, subject="Make f static", body="make-static f\n\n- x", phase=Phase.PREP)
    )
    assert made == (
        "Make f static\n\nmake-static f\n\n- x\n\nUnmoved-Plan: leaf-helpers\nUnmoved-Step: 3\nUnmoved-Phase: prep\n"
    )


def test_without_a_body_the_trailers_follow_the_subject() -> None:
    made = message("p", 1, draft(CHANGE, subject="S", body="\n"))
    assert made == "S\n\nUnmoved-Plan: p\nUnmoved-Step: 1\nUnmoved-Phase: move\n"


def test_git_reads_the_trailers_back(tmp_path: Path) -> None:
    make_repository(tmp_path)
    body = "Closes: nothing\n\nNote: a body that looks like trailers\nMore: of it"
    made = message("p", 12, draft(CHANGE, body=body, phase=Phase.POST))
    said = run_git(tmp_path, "interpret-trailers", "--parse", stdin=made.encode())
    assert said == "Unmoved-Plan: p\nUnmoved-Step: 12\nUnmoved-Phase: post\n"


def test_a_long_subject_stays_whole() -> None:
    subject = "Move " + "x" * 90
    assert message("p", 1, draft(CHANGE, subject=f"  {subject} ")).split("\n")[0] == subject


@pytest.mark.parametrize("text", ["", " ", "a\nb", "a\rb", "a\0b", "a\u2028b", "\x1b[31mred"])
def test_what_is_not_one_line_is_refused(text: str) -> None:
    with pytest.raises(BadMessage, match="subject of step 2"):
        message("p", 2, draft(CHANGE, subject=text))
    with pytest.raises(BadMessage, match="id of the plan"):
        message(text, 2, draft(CHANGE))


def test_long_lines_are_wrapped_and_code_is_not() -> None:
    item = "- self.server_args becomes the parameter server_args, because it is read at three places"
    code = "    result = numa_utils.init_threads_binding(server_args=self.server_args, tp_size=self.tp_size)"
    path = "sglang/srt/distributed/device_communicators/" + "pynccl_allocator" * 3 + ".py"
    assert wrapped(f"{item}\n\n{code}\nIn {path} it is\nshort") == (
        "- self.server_args becomes the parameter server_args, because it is read\n"
        "  at three places\n"
        "\n"
        f"{code}\n"
        "In\n"
        f"{path}\n"
        "it is\n"
        "short"
    )


WORDS = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=90)


@given(lines=st.lists(st.lists(WORDS, max_size=30).map(" ".join), max_size=4))
def test_wrapping_keeps_every_word_and_breaks_where_it_can(lines: list[str]) -> None:
    done = wrapped("\n".join(lines))
    assert done.split() == "\n".join(lines).split()
    for line in done.split("\n"):
        assert len(line) <= 72 or len(line.split()) <= 2  # at most a list mark and one word that is too long

"""Spec files: what they mean, and everything that is refused, with its line."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from codemods.prove.spec import InvalidSpec, UnreadableSpec, is_spec, load_spec, parse_spec
from codemods.schema.prove import AcceptedMutant, DeclaredDelta, Pair, PairKind

TODAY = dt.date(2026, 6, 1)
HEAD = 'schema = 1\n[[pair]]\nold = "a:C.f"\nnew = "b:f"\n'

WHOLE = """\
schema = 1
old-tree = "before"
new-tree = "git:HEAD"

[[pair]]
old = "srv.runner:Runner.bind"
new = "srv/numa.py:bind"
domains = { rank = "int 0..7", "os.environ['BIND']" = 'one_of ["", "0-3"]' }
same = { rank = "self.tp_rank" }
real = ["xml.etree"]

[[pair.delta]]
code = "D3"
where = "local_omp_cpuid"
why = "nobody uses a runner whose binding failed"
until = 2026-06-01

[[pair.accepted]]
id = "boundary:bind:2f0c1a9b7e:1"
why = "equal only for an empty list"

[[pair]]
old = "srv.numa"
new = "srv.numa"
kind = "import"
"""


def test_a_whole_spec() -> None:
    spec = parse_spec(WHOLE, "specs/numa.toml", TODAY)
    assert (spec.old_tree, spec.new_tree) == ("specs/before", "git:HEAD")
    assert spec.lines == (5, 22)
    assert spec.pairs == (
        Pair(
            old="srv.runner:Runner.bind",
            new="srv/numa.py:bind",
            domains={"rank": "int 0..7", "os.environ['BIND']": 'one_of ["", "0-3"]'},
            same={"rank": "self.tp_rank"},
            real=("xml.etree",),
            deltas=(
                DeclaredDelta(
                    code="D3",
                    where="local_omp_cpuid",
                    why="nobody uses a runner whose binding failed",
                    until="2026-06-01",
                ),
            ),
            accepted=(AcceptedMutant(id="boundary:bind:2f0c1a9b7e:1", why="equal only for an empty list"),),
            origin="spec",
        ),
        Pair(old="srv.numa", new="srv.numa", kind=PairKind.IMPORT, origin="spec"),
    )


def test_trees_may_be_left_out() -> None:
    spec = parse_spec(HEAD, "x/y.toml", TODAY)
    assert (spec.old_tree, spec.new_tree) == ("", "")


def delta(code: str = "D3", where: str = "x", why: str = "meant", until: str = "") -> str:
    return f'[[pair.delta]]\ncode = "{code}"\nwhere = "{where}"\nwhy = "{why}"\n' + (
        f"until = {until}\n" if until else ""
    )


def accepted(mutant: str = "boundary:f:2f0c1a9b7e:1", why: str = "equal") -> str:
    return f'[[pair.accepted]]\nid = "{mutant}"\nwhy = "{why}"\n'


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("schema = ", "bad-toml", 1, "not TOML"),
        (HEAD.replace("schema = 1\n", ""), "missing-key", 1, "needs `schema`"),
        (HEAD.replace("= 1", "= 2"), "wrong-type", 1, "`schema` of a spec is 2"),
        ("schema = 1\n", "missing-key", 1, "needs `pair`"),
        ("schema = 1\npair = []\n", "empty-spec", 2, "no pair"),
        ("old_tree = 'x'\n" + HEAD, "unknown-key", 1, "`old_tree`"),
        ("old-tree = 'git:'\n" + HEAD, "bad-value", 1, "names no tree"),
        (HEAD + "kinds = 'class'\n", "unknown-key", 5, "did you mean `kind`?"),
        (HEAD + "kind = 'reader'\n", "bad-value", 5, "callable, class, import"),
        (HEAD + "origin = 'hand'\n", "unknown-key", 5, "`origin`"),
        (HEAD.replace("b:f", "b.f"), "bad-reference", 4, "`new` of a pair"),
        (HEAD + "kind = 'import'\n" + "", "bad-reference", 3, "names no module"),
        (HEAD + "domains = { x = 3 }\n", "wrong-type", 5, "a table of texts"),
        (HEAD + "domains = { x = 'imt' }\n", "unknown-domain", 5, "did you mean `int`?"),
        (HEAD + "[pair.domains]\ny = 'int'\nx = 'list of'\n", "bad-domain", 7, "`x`"),
        (HEAD + "same = { x = ' ' }\n", "bad-value", 5, "empty name"),
        (HEAD + "real = ['json', 'a-b']\n", "bad-value", 5, "names no module"),
        (HEAD + delta(code="D12"), "unknown-delta", 6, "did you mean `D"),
        (HEAD + delta(code="U119"), "unknown-delta", 6, "no difference"),
        (HEAD + delta(where=" "), "bad-value", 7, "would declare every one"),
        (HEAD + delta(why=" "), "no-reason", 8, "without a reason"),
        (HEAD + delta() + delta(), "duplicate", 9, "declared twice"),
        (HEAD + delta(until="2026-05-31"), "expired-delta", 9, "good until 2026-05-31"),
        (HEAD + delta(until="'soon'"), "bad-value", 9, "no date"),
        (HEAD + delta(until="2026-05-31T10:00:00"), "wrong-type", 9, "`until`"),
        (HEAD + "[[pair.delta]]\ncode = 'D3'\nwhere = 'x'\n", "missing-key", 5, "needs `why`"),
        (HEAD + accepted(why=""), "no-reason", 7, "without a reason"),
        (HEAD + accepted(mutant="boundry:f:2f0c1a9b7e:1"), "bad-value", 6, "did you mean `boundary`?"),
        (HEAD + accepted() + accepted(), "duplicate", 9, "accepted twice"),
        (HEAD + "[[pair]]\nold = 'a:C.f'\nnew = 'b:f'\n", "duplicate", 5, "a pair of this spec already"),
    ],
)
def test_what_is_refused(text: str, code: str, line: int, words: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        parse_spec(text, "s.toml", TODAY)
    found = [(problem.code, problem.line) for problem in caught.value.problems]
    assert (code, line) in found
    assert words in str(caught.value)


def test_everything_is_said_at_once() -> None:
    with pytest.raises(InvalidSpec) as caught:
        parse_spec(HEAD + delta(code="D12", why="") + accepted(why=""), "s.toml", TODAY)
    assert [problem.line for problem in caught.value.problems] == [6, 8, 11]
    assert caught.value.path == "s.toml"


@pytest.mark.parametrize("until", ["2026-06-01", "'2026-06-01'", "2026-06-02"])
def test_a_declaration_is_good_on_its_last_day(until: str) -> None:
    [pair] = parse_spec(HEAD + delta(until=until), "s.toml", TODAY).pairs
    assert pair.deltas[0].until == until.strip("'")


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSpec, match="no spec file"):
        load_spec(tmp_path / "none.toml")
    (tmp_path / "s.toml").write_text(HEAD, encoding="utf-8")
    assert load_spec(tmp_path / "s.toml").pairs[0].new == "b:f"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(HEAD, True), ("[[pair]]\n", True), ("schema = 3\n", True), ('id = "p"\n[[step]]\n', False), ("= 3", False)],
)
def test_a_spec_is_known_by_its_keys(text: str, expected: bool) -> None:
    assert is_spec(text) is expected

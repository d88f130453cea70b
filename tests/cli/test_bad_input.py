"""What people give the command by mistake, through the real command line: a clear error with the next move, exit 2 (130
for Ctrl-C), no traceback, and nothing changed: the bytes and modes of the tree, the index, the refs are the same.

Every run asks for JSON, which goes to stdout; what people read goes to stderr in the same run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.command import Ended, Forked
from tests.support.repository import make_repository, run_git, snapshot, write_files
from tests.support.small_tree import APPLY, BIND, BRANCH, CALLER, CHANGED, FILES, IN_PLACE, MOVE, PLAN, RENAME, SOURCE

NO_PYTHON = b"def broken(:\n"


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    with Forked(tmp_path_factory.mktemp("streams")) as running:
        yield running


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("template"), FILES)


@pytest.fixture
def place(tmp_path: Path, template: Path) -> Path:
    """A directory to be in: a plan, and the repository `root`."""
    shutil.copytree(template, tmp_path / "root", symlinks=True)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


class Told(NamedTuple):
    """One reason, from either kind of JSON."""

    code: str
    path: str
    line: int
    message: str
    next: str


def reasons(said: Ended) -> list[Told]:
    """Whatever stdout lists: refusals of steps, problems of a plan, or the one error."""
    document = json.loads(said.out)
    found: list[Mapping[str, Any]] = [row for step in document.get("steps", ()) for row in step["refusals"]]
    if "error" in document:
        found = document["error"]["problems"] or [document["error"]]
        found = [{"path": document["error"]["path"], **row} for row in found]
    return [
        Told(row["code"], row["path"], row["line"], row["message"], row.get("fix") or row["settle"]) for row in found
    ]


def fails(
    forked: Forked, place: Path, arguments: tuple[str, ...], code: str, *words: str, leave_out: Sequence[str] = ()
) -> None:
    """Runs the command, which must refuse for one reason that says `words`, and leave everything as it was."""
    before = snapshot(place, leave_out=leave_out)
    said = forked(*arguments, "--format", "json", cwd=place)
    assert said.status == 2, said
    [told] = reasons(said)
    assert told.code == code
    text = f"{told.path}:{told.line}: {told.message}; {told.next}"
    assert [word for word in words if word not in text] == [], text
    assert told.next
    for word in (code, told.next) if "error" in json.loads(said.out) else ("refused",):
        assert word in said.err
    assert "Traceback" not in said.err
    assert "internal" not in said.err
    assert snapshot(place, leave_out=leave_out) == before


@pytest.mark.parametrize(
    ("plan", "code", "words"),
    [
        (PLAN.replace('bind"\nto', 'bnd"\nto'), "unknown-definition", ["Runner.bnd", "did you mean bind?"]),
        (PLAN.replace("Runner", "Runer"), "unknown-definition", ["Runer", "did you mean Runner?"]),
        (PLAN.replace("Runner.", ""), "unknown-definition", ["pkg/runner.py", "did you mean Runner.bind?"]),
        (PLAN.replace("runner:", "runer:"), "unknown-module", ["pkg.runer", "pkg.runner"]),
        (PLAN.replace("pkg.runner:Runner", "pkg/runner.py:Runer"), "unknown-definition", ["did you mean Runner?"]),
        (PLAN.replace("pkg.numa", "no.such.place"), "unknown-package", ["'no.such'", "make it first"]),
        (PLAN.replace("pkg.numa", "pkg.numa.deep"), "unknown-package", ["'pkg.numa'"]),
        (PLAN.replace("pkg.numa", "1x.y"), "bad-value", ["1x.y", "plan.toml:6:", "package.module"]),
        (MOVE.replace(":call", ":cal"), "unknown-definition", ["cal", "did you mean call?"]),
        (MOVE.replace("pkg.numa", "pkg.sub.deep"), "unknown-package", ["'pkg.sub'"]),
        (RENAME.replace(":call", ":cal"), "unknown-definition", ["'cal'", ", call"]),
    ],
)
def test_a_name_that_names_nothing(forked: Forked, place: Path, plan: str, code: str, words: list[str]) -> None:
    (place / "plan.toml").write_text(plan, encoding="utf-8")
    fails(forked, place, BRANCH, code, *words)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("pkg.runner:Runner.bnd", "--to", "pkg.numa"), "unknown-definition", ["did you mean bind?"]),
        (("pkg.runner:Runer", "--suggest"), "unknown-definition", ["did you mean Runner?"]),
        (("pkg.runner:Runner.bind", "--to", "no.such.place"), "unknown-package", ["'no.such'"]),
        (("nonsense", "--to", "pkg.numa"), "bad-reference", ["'nonsense'", "package.module:Class.method"]),
        (("pkg.runner:Runner.bind",), "usage-error", ["--to"]),
        (("pkg.runner:Runner.bind", "--do", "extract-metod"), "unknown-operation", ["`extract-method`"]),
    ],
)
def test_a_target_that_can_not_be_planned(
    forked: Forked, place: Path, arguments: tuple[str, ...], code: str, words: list[str]
) -> None:
    fails(forked, place, ("plan", *arguments, "--root", "root"), code, *words)


TWICE = b"class Runner:\n    def bind(self):\n        return 1\n\n    def bind(self, count):\n        return count\n"
BOTH = TWICE.replace(b"    def bind(self, ", b"\n\nclass Runner:\n    def bind(self, ")


@pytest.mark.parametrize("arguments", [IN_PLACE, BIND])
@pytest.mark.parametrize("source", [TWICE, BOTH], ids=["method", "class"])
def test_an_ambiguous_name(forked: Forked, place: Path, arguments: tuple[str, ...], source: bytes) -> None:
    write_files(place, {"root/pkg/runner.py": source})
    fails(forked, place, arguments, "ambiguous-definition", "pkg/runner.py", "2 definitions (lines", "different names")


@pytest.mark.parametrize(
    ("plan", "code", "words"),
    [
        (PLAN + "wraper = true\n", "unknown-key", ["plan.toml:7:", "`wraper`", "`wrapper`"]),
        (PLAN + 'call = "modul"\n', "bad-value", ["plan.toml:7:", '"modul"', "`module`"]),
        (PLAN + 'wrapper = "yes"\n', "wrong-type", ["plan.toml:7:", '"yes"', "true or false"]),
        (PLAN.replace("extract-method", "extract-metod"), "unknown-operation", ["plan.toml:4:", "`extract-method`"]),
        (PLAN.replace('id = "bind"\n', ""), "missing-key", ["plan.toml:1:", "`id`"]),
        (PLAN.replace("[[step]]", "[step]"), "wrong-type", ["plan.toml:3:", "a list of tables"]),
        (PLAN + 'accept = { U999 = "x" }\n', "unknown-hazard", ["plan.toml:7:", "U999", "U121"]),
        (PLAN.replace("]]", "]"), "bad-toml", ["plan.toml:3:", "not TOML"]),
        ("id = 1\nid = 2\n", "bad-toml", ["plan.toml:2:"]),
        ('id = "é"\n'.encode("latin-1"), "unreadable-plan", ["plan.toml:1:", "0xe9", "UTF-8"]),
        (PLAN.encode("utf-16"), "unreadable-plan", ["plan.toml:1:", "UTF-8"]),
    ],
)
def test_a_plan_with_a_typo(forked: Forked, place: Path, plan: str | bytes, code: str, words: list[str]) -> None:
    (place / "plan.toml").write_bytes(plan.encode() if isinstance(plan, str) else plan)
    fails(forked, place, IN_PLACE, code, *words)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("apply", "no.toml", "--root", "root"), "unreadable-plan", ["no.toml", "no plan file", "check the path"]),
        (("apply", "root", "--root", "root"), "unreadable-plan", ["root", "directory", "name the file"]),
        (("apply", "plan.toml/x", "--root", "root"), "unreadable-plan", ["plan.toml/x", "Not a directory"]),
        (("apply", "plan.toml", "--root", "gone"), "config-error", ["gone is not a directory", "--root"]),
        (("plan", "a:b", "--to", "c", "--root", "gone"), "config-error", ["gone is not a directory"]),
        (("apply", "plan.toml", "--root", "plan.toml"), "config-error", ["plan.toml is not a directory"]),
        (("apply", "plan.toml", "--root", "empty"), "unknown-module", ["pkg.runner", "--root"]),
        ((*BIND[:-1], "empty"), "unknown-module", ["pkg.runner", "--root"]),
    ],
)
def test_a_plan_or_a_root_that_is_not_there(
    forked: Forked, place: Path, arguments: tuple[str, ...], code: str, words: list[str]
) -> None:
    (place / "empty").mkdir()
    fails(forked, place, arguments, code, *words)


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        ({"pkg/runner.py": SOURCE + NO_PYTHON}, "unparsable", ["pkg/runner.py:15:", "invalid syntax", "mend the file"]),
        ({"pkg/caller.py": CALLER + NO_PYTHON}, "unparsable", ["pkg/caller.py:6:", "exclude it"]),
        ({"pkg/numa.py": NO_PYTHON}, "unparsable", ["pkg/numa.py:1:"]),
        ({"pkg/other.py": b"def f(x):\n    x.bind(3)\n" + NO_PYTHON}, "unparsable", ["pkg/other.py:3:"]),
        ({"pkg/caller.py": CALLER + b"# \xe4\n"}, "not-text", ["pkg/caller.py:6:", "0xe4", "save it as UTF-8"]),
        ({"pkg/runner.py": SOURCE.replace(b"Runs", b"L\xe4uft")}, "not-text", ["pkg/runner.py", "save it as UTF-8"]),
        ({"pkg/runner.py": b"# coding: nonsense\n" + SOURCE}, "not-text", ["pkg/runner.py", "nonsense"]),
        ({"pkg/caller.py": CALLER + b"\0"}, "not-text", ["pkg/caller.py", "NUL byte"]),
    ],
)
def test_a_file_that_can_not_be_read_as_python(
    forked: Forked, place: Path, files: dict[str, bytes], code: str, words: list[str]
) -> None:
    write_files(place / "root", files)
    fails(forked, place, IN_PLACE, code, *words)
    if "pkg/runner.py" in files:
        fails(forked, place, BIND, code, *words)


def test_what_does_not_concern_the_plan_does_not_matter(forked: Forked, place: Path) -> None:
    odd = {"pkg/odd.py": NO_PYTHON, "pkg/latin.py": b"# \xe4\n", "pkg/nul.py": b"\0", "pkg/two.py": b"print 'bind'\n"}
    write_files(place / "root", odd)
    before = snapshot(place / "root")
    said = forked(*IN_PLACE, "--format", "json", cwd=place)
    assert (said.status, json.loads(said.out)["written"]) == (0, True)
    after = snapshot(place / "root")
    assert [path for path in before if before[path] != after[path]] == CHANGED


@pytest.mark.parametrize("arguments", [IN_PLACE, BRANCH])
def test_a_declared_encoding_is_kept(forked: Forked, place: Path, arguments: tuple[str, ...]) -> None:
    latin = b"# -*- coding: latin-1 -*-\r\n" + SOURCE.replace(b"Runs", b"L\xe4uft").replace(b"\n", b"\r\n")
    write_files(place / "root", {"pkg/runner.py": latin})
    run_git(place / "root", "commit", "-q", "-a", "-m", "latin")
    assert forked(*arguments, cwd=place).status == 0
    after = place / "root/pkg/runner.py"
    if arguments == BRANCH:
        assert after.read_bytes() == latin
        after = place / "after"
        run_git(place / "root", "worktree", "add", "-q", str(after), "split")
        after = after / "pkg/runner.py"
    expected = latin.replace(b"from pkg import config", b"from pkg import numa")
    expected = expected.replace(b"self.bind(1)", b"numa.bind(1, rank=self.rank)")
    method = b"    def bind(self, count):\r\n        return self.rank + count + config.BASE\r\n\r\n"
    assert after.read_bytes() == expected.replace(method, b"")


def test_reports_for_people_say_the_same(forked: Forked, place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace('bind"\nto', 'bnd"\nto'), encoding="utf-8")
    said = forked(*IN_PLACE, cwd=place)
    assert said.status == 2
    for word in ("unknown-definition", "'Runner.bnd'", "did you mean bind?", "nothing was written"):
        assert word in said.out + said.err
    said = forked("apply", "no.toml", cwd=place)
    assert (said.status, said.out) == (2, "")
    assert said.err == "error: unreadable-plan  no.toml\n  there is no plan file here\n  fix: check the path\n"


Prepare = Callable[[Path], object]


def edited(root: Path) -> None:
    write_files(root, {"pkg/caller.py": CALLER + b"# mine\n"})


def staged(root: Path) -> None:
    edited(root)
    run_git(root, "add", "-A")


def untracked(root: Path) -> None:
    write_files(root, {"pkg/new.py": b"def f(runner):\n    return runner.bind(3)\n"})


def shallow(root: Path) -> None:
    run_git(root, "commit", "-q", "--allow-empty", "-m", "second")
    run_git(root, "clone", "-q", "--depth=1", root.as_uri(), "clone")
    shutil.move(root / "clone", root.parent / "clone")
    shutil.rmtree(root)
    (root.parent / "clone").rename(root)


def unborn(root: Path) -> None:
    shutil.rmtree(root / ".git")
    run_git(root, "init", "-q")


def in_conflict(root: Path) -> None:
    run_git(root, "branch", "other")
    for branch in ("other", "main"):
        run_git(root, "switch", "-q", branch)
        write_files(root, {"pkg/config.py": branch.encode()})
        run_git(root, "commit", "-q", "-a", "-m", branch)
    run_git(root, "merge", "other", check=False)


@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "words"),
    [
        (edited, BRANCH, "dirty-tree", ["pkg/caller.py", "commit or stash", "--base"]),
        (staged, BRANCH, "dirty-tree", ["pkg/caller.py"]),
        (edited, IN_PLACE, "dirty-tree", ["pkg/caller.py", "--allow-dirty"]),
        (staged, IN_PLACE, "dirty-tree", ["pkg/caller.py"]),
        (untracked, IN_PLACE, "dirty-tree", ["pkg/new.py", "--allow-dirty"]),
        (lambda root: run_git(root, "checkout", "-q", "--detach"), BRANCH, "detached-head", ["git switch", "--base"]),
        (shallow, BRANCH, "shallow-clone", ["git fetch --unshallow", "--base"]),
        (unborn, BRANCH, "unborn-head", ["git commit"]),
        (unborn, IN_PLACE, "dirty-tree", ["in no commit"]),
        (in_conflict, BRANCH, "unfinished-operation", ["merge", "git merge --abort"]),
        (lambda root: shutil.rmtree(root / ".git"), BRANCH, "not-a-repository", ["git init", "--in-place"]),
        (lambda root: run_git(root, "branch", "split"), BRANCH, "branch-exists", ["split exists", "another name"]),
        (lambda root: run_git(root, "branch", "split/a"), BRANCH, "branch-exists", ["split/a"]),
        (None, (*APPLY, "--branch", "a..b"), "bad-branch-name", ["'a..b'", "such as"]),
        (None, (*APPLY, "--branch=-x"), "bad-branch-name", ["'-x'"]),
        (None, (*APPLY, "--branch="), "bad-branch-name", ["''"]),
        (None, (*BRANCH, "--base", "nope"), "no-such-revision", ["'nope'", "commit hash"]),
    ],
)
def test_a_repository_that_is_not_fit(
    forked: Forked, place: Path, prepare: Prepare | None, arguments: tuple[str, ...], code: str, words: list[str]
) -> None:
    if prepare is not None:
        prepare(place / "root")
    fails(forked, place, arguments, code, *words)


@pytest.mark.parametrize("prepare", [shallow, lambda root: run_git(root, "checkout", "-q", "--detach")])
def test_a_base_settles_where_to_start(forked: Forked, place: Path, prepare: Prepare) -> None:
    prepare(place / "root")
    before = snapshot(place / "root"), (place / "root/.git/index").read_bytes()
    assert forked(*BRANCH, "--base", "HEAD", cwd=place).status == 0
    assert (snapshot(place / "root"), (place / "root/.git/index").read_bytes()) == before
    assert run_git(place / "root", "rev-list", "--count", "HEAD..split").strip() == "2"


def linked(path: str) -> Prepare:
    """Puts a file out of the root and a symlink to it in its place."""

    def prepare(root: Path) -> None:
        (root / path).rename(root.parent / "outside.py")
        (root / path).symlink_to(root.parent / "outside.py")
        run_git(root, "commit", "-q", "-a", "-m", "link")

    return prepare


@pytest.mark.parametrize(
    ("prepare", "code", "words"),
    [
        (lambda root: (root / "pkg/caller.py").chmod(0o444), "read-only", ["pkg/caller.py", "chmod u+w"]),
        (lambda root: (root / "pkg").chmod(0o555), "read-only", ["pkg/caller.py", "chmod u+w"]),
        (linked("pkg/numa.py"), "leaves-root", ["pkg/numa.py", "outside.py", "name the real file"]),
        (linked("pkg/runner.py"), "leaves-root", ["pkg/runner.py", "outside.py", "name the real file"]),
        (lambda root: write_files(root, {".unmoved_cache": b""}), "source-error", [".unmoved_cache", "remove"]),
    ],
)
def test_a_place_that_is_not_to_be_written(
    forked: Forked, place: Path, prepare: Prepare, code: str, words: list[str]
) -> None:
    prepare(place / "root")
    try:
        fails(forked, place, IN_PLACE, code, *words)
    finally:
        (place / "root/pkg").chmod(0o755)


def test_a_branch_leaves_a_symlink_alone(forked: Forked, place: Path) -> None:
    linked("pkg/numa.py")(place / "root")
    # Objects that nothing points to are no change; git clears them away.
    words = ("pkg/numa.py", "symlink", "name the real file")
    fails(forked, place, BRANCH, "not-in-base", *words, leave_out=["root/.git/objects"])

"""What `unmoved prove` is to look at: a target of the command line to changes, each two trees and the pairs to prove.

A range is taken commit by commit, as `verify` takes it, a plan step by step. Pairs that somebody names are proved from
end to end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from codemods.cli.prove_derivations import Derivations
from codemods.cli.prove_derived import Change, changed_paths, derived, stepped
from codemods.cli.prove_frozen import is_partial, partial_change
from codemods.cli.prove_trees import GIT, PLAN, Trees, with_dotted_names
from codemods.cli.session import Session, UsageProblem
from codemods.prove.references import check_reference
from codemods.repo.ranges import resolve_range
from codemods.repo.store import empty_tree
from codemods.schema.errors import SourceError
from codemods.schema.prove import Pair, PairKind
from codemods.source.files import FileSet
from codemods.source.modules import modules_of
from codemods.verify.change import TreeChange

if TYPE_CHECKING:
    # What reads specs is loaded where there is one: it knows all mutants and domains, which takes its time.
    from codemods.prove.spec import Spec

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Asked(NamedTuple):
    """What the command line asks for. is_whole: a range as one change. cache_dir: None for no cache."""

    targets: tuple[str, ...]
    by_hand: tuple[tuple[str, str], ...] = ()
    specs: tuple[Path, ...] = ()
    takes_all: bool = False
    is_whole: bool = False
    cache_dir: Path | None = None


class _Target(NamedTuple):
    """changes: with the pairs that follow from them. ends: the first tree and the last one. names: of those two, as
    somebody could name them again."""

    changes: Iterable[Change]
    ends: Callable[[], TreeChange]
    names: tuple[str, str]


def changes_of(session: Session, asked: Asked, trees: Trees) -> Iterator[Change]:
    """In the order in which they were made."""
    targets = [text for text in asked.targets if not text.endswith(".toml")]
    files = [Path(text) for text in asked.targets if text.endswith(".toml")]
    if targets and files:
        raise UsageProblem(
            f"{targets[0]} and {files[0]} are two kinds of target", fix=f"give a spec as --spec {files[0]}"
        )
    plan = files[0] if len(files) == 1 and not _means_spec(files[0]) else None
    specs = _loaded([*asked.specs, *(() if plan else files)])
    if plan is not None:
        return _with_named(_steps(session, plan, trees), asked, specs)
    if len(targets) > 2:
        raise UsageProblem(f"{len(targets)} targets are too many", fix="name one range, or two directories")
    if len(targets) == 2:
        return _with_named(_directories((targets[0], targets[1]), asked, trees), asked, specs)
    if targets:
        return _with_named(_commits(session, targets[0], asked, trees), asked, specs)
    if not specs and not asked.by_hand:
        raise UsageProblem(
            "nothing to prove is named", fix="name a range A..B, a commit, two directories, a plan or a spec, or --pair"
        )
    return _alone(asked, specs, trees)


def _means_spec(path: Path) -> bool:
    from codemods.plan.load import read_toml_file
    from codemods.prove.spec import UnreadableSpec, is_spec

    return is_spec(read_toml_file(path, UnreadableSpec, "plan or spec"))


def _loaded(paths: Sequence[Path]) -> list[Spec]:
    if not paths:
        return []
    from codemods.prove.spec import load_spec

    return [load_spec(path) for path in paths]


# -- pairs that somebody named


def _by_hand(asked: Asked) -> list[Pair]:
    found = []
    for old, new in asked.by_hand:
        kind = PairKind.CALLABLE if ":" in old or ":" in new else PairKind.IMPORT
        for text in (old, new):
            check_reference(text, kind)
        found.append(Pair(old=old, new=new, kind=kind, origin="hand"))
    return found


def _alone(asked: Asked, specs: Sequence[Spec], trees: Trees) -> Iterator[Change]:
    """Pairs by hand, within the root; pairs of specs, on the trees that these name."""
    groups: dict[tuple[str, str], list[Pair]] = {}
    if asked.by_hand:
        groups["", ""] = _by_hand(asked)
    for spec in specs:
        groups.setdefault((spec.old_tree, spec.new_tree), []).extend(spec.pairs)
    for names, pairs in groups.items():
        if is_partial(names) and all(pair.origin == "spec" for pair in pairs):
            found = partial_change(trees, pairs, names)
        else:
            found = named("", trees.change(*names), pairs, names)
        label = "" if len(groups) == 1 else f"{names[0] or 'the root'} to {names[1] or 'the root'}"
        yield found._replace(label=label)


def named(label: str, change: TreeChange, pairs: Iterable[Pair], names: tuple[str, str]) -> Change:
    """A change of which only these pairs are asked for."""
    dotted = tuple(with_dotted_names(_with_kind(pair, change.new), change.old, change.new) for pair in pairs)
    changed = tuple(sorted(changed_paths(change)))
    return Change(label, change.old, change.new, changed, dotted, old_name=names[0], new_name=names[1])


def _with_kind(pair: Pair, new: FileSet) -> Pair:
    """Whether a name given by hand is a class's is known when the tree is."""
    module, _, qualname = pair.new.partition(":")
    path = modules_of(new).path_of(module.removeprefix("./"))
    if pair.origin != "hand" or not qualname or path is None:
        return pair
    try:
        scope: ast.AST | None = ast.parse(new.read(path))
    except (SyntaxError, ValueError, SourceError):
        return pair  # who proves it has the words for that
    for part in qualname.split("."):
        inside = [each for each in ast.walk(scope) if isinstance(each, _DEFINITIONS)] if scope is not None else []
        scope = next((each for each in inside if each.name == part), None)
    return replace(pair, kind=PairKind.CLASS) if isinstance(scope, ast.ClassDef) else pair


def _with_named(target: _Target, asked: Asked, specs: Sequence[Spec]) -> Iterator[Change]:
    """With --pair, the pairs that are named and no others. Else the derived ones, with what a spec says of them; what a
    spec names and nothing asked for comes last."""
    if asked.by_hand:
        pairs = [*_by_hand(asked), *(pair for spec in specs for pair in spec.pairs)]
        yield named("", target.ends(), pairs, target.names)
        return
    left = [pair for spec in specs for pair in spec.pairs]
    used: set[int] = set()
    for change in target.changes:
        known = {}
        for number, pair in enumerate(left):
            dotted = with_dotted_names(pair, change.old, change.new)
            known[dotted.old, dotted.new, dotted.kind] = (number, dotted)
        pairs = []
        for pair in change.pairs:
            number, pair = known.get((pair.old, pair.new, pair.kind), (-1, pair))
            pairs.append(pair)
            used.add(number)
        yield change._replace(pairs=tuple(pairs))
    left = [pair for number, pair in enumerate(left) if number not in used]
    if left:
        yield named("specs", target.ends(), left, target.names)


# -- targets


def _directories(names: tuple[str, str], asked: Asked, trees: Trees) -> _Target:
    for name in names:
        if not Path(name).is_dir():
            raise UsageProblem(f"{name} is not a directory", fix="name two directories, or one commit or range A..B")

    def changes() -> Iterator[Change]:
        yield derived("", trees.change(*names), names, takes_all=asked.takes_all)

    return _Target(changes(), lambda: trees.change(*names), names)


def _commits(session: Session, text: str, asked: Asked, trees: Trees) -> _Target:
    if Path(text).is_dir() and ".." not in text.replace("../", ""):
        raise UsageProblem(f"{text} is a directory, and one alone has no change", fix="name the other one")
    found = resolve_range(session.root, text)
    if ".." in text:
        start, _, tip = text.partition("..")
        names = (f"{GIT}{start or 'HEAD'}", f"{GIT}{tip or 'HEAD'}")
    else:
        names = (f"{GIT}{text}^", f"{GIT}{text}")

    def changes() -> Iterator[Change]:
        if asked.is_whole:
            yield derived("", ends(), names, takes_all=asked.takes_all)
            return
        store, derivations = trees.store(found.git_dir), Derivations(session, asked.cache_dir)
        for oid in found.commits:
            commit = store.commit(oid)
            label = oid if len(found.commits) > 1 else ""
            olds = [store.commit(parent).tree for parent in commit.parents] or [empty_tree(oid)]
            both = (f"{GIT}{commit.parents[0]}" if commit.parents else "", f"{GIT}{oid}")
            against = [trees.commits(found.git_dir, old, commit.tree) for old in olds]
            yield derivations.derived(label, against, [*olds, commit.tree], both, takes_all=asked.takes_all)

    def ends() -> TreeChange:
        if ".." not in text and not trees.store(found.git_dir).commit(found.commits[0]).parents:
            raise UsageProblem(f"{text} is the first commit, so there is no old side", fix="name a range A..B")
        return trees.change(*names)

    return _Target(changes(), ends, names)


def _steps(session: Session, path: Path, trees: Trees) -> _Target:
    with session.progress() as progress:
        steps = trees.planned(path, progress)
    names = (f"{PLAN}{path}@0", f"{PLAN}{path}@{len(steps)}")

    def ends() -> TreeChange:
        old, new = steps[0].before, steps[-1].after
        return TreeChange(old=old, new=new, changes=new.changes_since(old))

    return _Target(stepped(steps, path), ends, names)

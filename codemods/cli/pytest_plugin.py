"""Specs of pairs as tests of pytest: each pair is one item, so that `pytest -n auto` spreads them.

Nothing happens unless it is asked for: with `--unmoved-specs PATH` or `unmoved_specs` in pytest's configuration, files
`*.equivalence.toml` below are collected; so is one that is named on the command line. A pair passes when it agrees; one
that is inconclusive has not passed. Nothing else of a run of pytest changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    # This file is loaded by every run of pytest where unmoved is installed, so it loads little itself.
    from codemods.cli.config import Resolved
    from codemods.cli.prove_trees import Trees
    from codemods.prove.options import ProveOptions
    from codemods.prove.spec import Spec
    from codemods.report.prove_model import PairRow
    from codemods.schema.prove import Pair

SUFFIX = ".equivalence.toml"
_SEPARATOR = "->"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("unmoved", "equivalence of old and new code")
    group.addoption(
        "--unmoved-specs",
        action="append",
        default=[],
        metavar="PATH",
        help=f"Prove the pairs of this spec, or of all *{SUFFIX} below this directory. Repeatable.",
    )
    group.addoption("--unmoved-seconds", type=float, metavar="S", help="Time for one pair. Default: 60.")
    group.addoption("--unmoved-mutants", type=int, metavar="N", help="Mutants of one pair, 0 for none. Default: 60.")
    parser.addini("unmoved_specs", f"directories, or files, with specs (*{SUFFIX}) to prove", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "equivalence: a pair of a spec, proved by unmoved")
    asked = [_place(config, text) for text in config.getoption("unmoved_specs")]
    ini: list[Path] = list(config.getini("unmoved_specs"))
    for place in (*asked, *ini):
        if not place.exists():
            raise pytest.UsageError(f"unmoved: there is no spec at {place}")
    config.stash[_PLACES] = _Places(asked, ini)
    # A worker of pytest-xdist reads the same command line as the run, and comes to the same places here.
    is_narrowed = config.args_source is pytest.Config.ArgsSource.ARGS
    _extend(config, [*asked, *(() if is_narrowed else ini)])


def _place(config: pytest.Config, text: str) -> Path:
    return Path(os.path.abspath(config.invocation_params.dir / text))


def _extend(config: pytest.Config, places: Iterable[Path]) -> None:
    """Places that no argument leads to become arguments: pytest collects only below those."""
    for place in places:
        known = [_place(config, argument.partition("::")[0]) for argument in config.args]
        if not any(place == each or each in place.parents for each in known):
            config.args.append(str(place))


class _Places:
    """Where specs are looked for."""

    def __init__(self, asked: list[Path], ini: list[Path]) -> None:
        self._all = (*asked, *ini)

    def has(self, path: Path) -> bool:
        """A file that is named may have any name."""
        return path in self._all or (path.name.endswith(SUFFIX) and any(each in path.parents for each in self._all))


_PLACES = pytest.StashKey[_Places]()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecCollector | None:
    is_named = file_path.name.endswith(SUFFIX) and parent.session.isinitpath(file_path)
    if not is_named and not parent.config.stash[_PLACES].has(file_path):
        return None
    made: SpecCollector = SpecCollector.from_parent(parent, path=file_path)
    return made


class SpecCollector(pytest.File):
    """One spec file."""

    def collect(self) -> Iterator[Equivalence]:
        from codemods.prove.spec import load_spec

        spec = load_spec(self.path)
        for pair, line in zip(spec.pairs, spec.lines, strict=True):
            item: Equivalence = Equivalence.from_parent(self, name=_name(pair), spec=spec, pair=pair, line=line)
            yield item

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *rest: Any) -> Any:
        return _words(excinfo.value) or super().repr_failure(excinfo, *rest)


def _name(pair: Pair) -> str:
    """No two pairs of a spec share one."""
    name = pair.new if pair.old == pair.new else f"{pair.old}{_SEPARATOR}{pair.new}"
    return name if pair.kind.value == "callable" else f"{name}[{pair.kind.value}]"


class Equivalence(pytest.Item):
    """One pair."""

    def __init__(self, *, spec: Spec, pair: Pair, line: int, **given: Any) -> None:
        super().__init__(**given)
        self.spec, self.pair, self.line = spec, pair, line
        self.add_marker("equivalence")

    def runtest(self) -> None:
        row = _workbench(self.config).prove(self.spec, self.pair)
        self.user_properties += [
            ("verdict", row.verdict.value),
            ("level", row.level.value),
            ("paths", row.paths),
            ("faults", row.faults),
            ("cases", row.cases),
            ("mutants", f"{row.mutants.killed}/{row.mutants.total}"),
        ]
        if row.verdict.value != "agrees":
            from codemods.cli.asserting import NotEquivalent

            raise NotEquivalent(row)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return _words(excinfo.value) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name


def _words(error: BaseException) -> str:
    """An error in the words of the command; "" for one that is none of ours."""
    from codemods.cli.asserting import NotEquivalent, words_of
    from codemods.schema.errors import UnmovedError

    if isinstance(error, NotEquivalent):
        return words_of(error.row)
    return str(error) if isinstance(error, UnmovedError) else ""


class _Workbench:
    """What the items of a process share: the configuration of unmoved, and trees that are read once."""

    def __init__(self, config: pytest.Config) -> None:
        from codemods.cli.asserting import usual_options
        from codemods.cli.config import load_config
        from codemods.cli.prove_trees import Trees

        self._resolved: Resolved = load_config(config.rootpath, os.environ, {}, ())
        self.trees: Trees = Trees(config.rootpath, self._resolved.settings)
        seconds, mutants = config.getoption("unmoved_seconds"), config.getoption("unmoved_mutants")
        given = {"seconds": seconds, "mutants": mutants}
        self._options: ProveOptions = usual_options(
            self._resolved, {key: value for key, value in given.items() if value is not None}
        )

    def prove(self, spec: Spec, pair: Pair) -> PairRow:
        from codemods.cli.asserting import proved

        return proved(self.trees, (spec.old_tree, spec.new_tree), pair, self._options)


_WORKBENCH = pytest.StashKey[_Workbench]()


def _workbench(config: pytest.Config) -> _Workbench:
    if _WORKBENCH not in config.stash:
        config.stash[_WORKBENCH] = _Workbench(config)
    return config.stash[_WORKBENCH]


def pytest_unconfigure(config: pytest.Config) -> None:
    if _WORKBENCH in config.stash:
        config.stash[_WORKBENCH].trees.__exit__()

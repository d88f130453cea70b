"""Recording a program: runs it with a recorder in every Python process it starts, and gathers what they saw.

The recorder gets in through `sitecustomize` on PYTHONPATH. A Python that ignores the environment (-I, -E, -S), or is
older than 3.10, is not recorded, and that is said when nothing was. What the examples mean for files is golden.py's."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

import codemods.prove
from codemods.prove.golden import checked
from codemods.repo.run_program import run_program
from codemods.repo.scratch import scratch_directory
from codemods.schema.errors import ConfigError
from codemods.schema.recording import Recording

_BOOTSTRAP = '''\
"""Starts the recorder of `unmoved record` and then whatever else is called sitecustomize."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _start():
    import types

    package = types.ModuleType("_unmoved_recorder")
    package.__path__ = [{package!r}]
    sys.modules["_unmoved_recorder"] = package
    from _unmoved_recorder.record_start import start

    start({config!r})


def _others():
    import importlib.machinery
    import importlib.util

    sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if sys.version_info >= (3, 10):
    try:
        _start()
    except Exception as error:
        with open({failed!r}, "a") as file:
            file.write("%s: %s\\n" % (type(error).__name__, error))
    _others()
'''


class NothingRecorded(ConfigError):
    """The program ran, and no call of a target was seen."""

    code = "nothing-recorded"


class Recorded(Struct, frozen=True, kw_only=True):
    """What a run gave: examples, some of them of one behaviour. status: of the program. notes: what was not kept."""

    examples: list[Recording]
    calls: dict[str, int]
    status: int
    notes: list[str]


class _Line(Struct, kw_only=True):
    """One line of the spool."""

    started: int = 0
    recording: dict[str, object] = {}
    behaviour: str = ""
    calls: dict[str, int] = {}
    missed: int = 0
    problems: dict[str, int] = {}


def record(
    targets: Sequence[str], argv: Sequence[str], environ: Mapping[str, str], redact: Sequence[str],
    *, output_to_stderr: bool = False,
) -> Recorded:  # fmt: skip
    """Run a command and gather the calls of `targets`. Raises CannotStart, NothingRecorded."""
    with scratch_directory() as scratch:
        folder = scratch.resolve()
        spool, path, config = folder / "spool", folder / "path", folder / "config.json"
        spool.mkdir()
        path.mkdir()
        config.write_text(json.dumps({"targets": list(targets), "spool": str(spool), "redact": list(redact)}))
        package = str(Path(codemods.prove.__file__).parent)
        (path / "sitecustomize.py").write_text(
            _BOOTSTRAP.format(package=package, config=str(config), failed=str(folder / "failed"))
        )
        inherited = environ.get("PYTHONPATH", "")
        given = {**environ, "PYTHONPATH": os.pathsep.join([str(path), *([inherited] if inherited else [])])}
        status = run_program(argv, given, output_to_stderr=output_to_stderr)
        failed = (folder / "failed").read_text().splitlines() if (folder / "failed").exists() else []
        lines = [line for file in sorted(spool.iterdir()) for line in _lines(file)]
    if failed:
        lines.append(_Line(problems={f"a process was not recorded, {failed[0]}": len(failed)}))
    return _gathered(lines, targets, status)


def _lines(file: Path) -> list[_Line]:
    """A process that was killed may have left half a line."""
    whole = [raw for raw in file.read_bytes().splitlines(keepends=True) if raw.endswith(b"\n")]
    return [msgspec.json.decode(raw, type=_Line) for raw in whole]


def _gathered(lines: Sequence[_Line], targets: Sequence[str], status: int) -> Recorded:
    examples: dict[bytes, Recording] = {}
    calls: dict[str, int] = {}
    problems: dict[str, int] = {}
    for line in lines:
        if line.recording:
            one = checked(msgspec.convert(line.recording, Recording))
            examples[msgspec.json.encode(one)] = one
        for target, number in line.calls.items():
            calls[target] = calls.get(target, 0) + number
        for text, number in line.problems.items():
            problems[text] = problems.get(text, 0) + number
    if not examples:
        raise _nothing(targets, status, calls, is_started=any(line.started for line in lines), problems=problems)
    missed = sum(line.missed for line in lines)
    notes = [f"{text} ({number} times)" for text, number in sorted(problems.items())]
    if missed:
        notes.append(f"{missed} calls ended in a way that was new for their inputs, which had not been kept")
    seen = {each.target for each in examples.values()}
    for target in targets:
        if target not in seen and not any(name.rpartition(".")[0] == target for name in seen):
            notes.append(f"{target} was never called")
    return Recorded(examples=[examples[key] for key in sorted(examples)], calls=calls, status=status, notes=notes)


def _nothing(
    targets: Sequence[str], status: int, calls: Mapping[str, int], *, is_started: bool, problems: Mapping[str, int]
) -> NothingRecorded:
    named = ", ".join(targets)
    if not is_started:
        why = "no Python of the command took the recorder in"
        fix = "run a Python from 3.10 on, without -I, -E and -S, that keeps PYTHONPATH"
    elif sum(calls.values()):
        why = f"calls were seen but none could be kept ({', '.join(problems) or 'for no reason that is known'})"
        fix = "report it with the command"
    else:
        why = "no call of it was seen"
        fix = "look at the module and the name, and give the program something to do that calls it"
    return NothingRecorded(f"{named}: {why}; the program ended with status {status}", fix=fix)

"""The rules of the house that import-linter can't hold: sizes, docstrings, who prints, who starts processes.

Each rule is tried on a small offender too, so that a rule which stopped seeing anything is noticed."""

from __future__ import annotations

import ast

import pytest

from tests.support import house
from tests.support.house import Source

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60
# Written as such classes grow, to be taken apart by our own commands: what the codemods are shown on.
GOD_CLASSES = {"engine/runner/model_runner.py"}

OURS = house.sources("codemods", "engine")


def test_there_is_something_to_check() -> None:
    assert {source.path.partition("/")[0] for source in OURS} == {"codemods", "engine"}


def test_files_are_small() -> None:
    sizes = {source.path: house.num_lines(source) for source in OURS if source.path not in GOD_CLASSES}
    assert {path: lines for path, lines in sizes.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_small() -> None:
    sizes = dict(function for source in OURS if source.path not in GOD_CLASSES for function in house.functions(source))
    assert {place: lines for place, lines in sizes.items() if lines > MAX_FUNCTION_LINES} == {}


def test_every_module_has_a_docstring() -> None:
    assert [source.path for source in OURS if not ast.get_docstring(source.tree)] == []


def test_only_the_command_line_prints() -> None:
    others = [source for source in OURS if not source.path.startswith(("codemods/cli/", "engine/cli/"))]
    assert [place for source in others for place in house.printing(source)] == []


def test_only_repo_the_host_floor_and_pip_start_processes() -> None:
    others = [
        source
        for source in OURS
        if not source.path.startswith(("codemods/repo/", "engine/host/", "engine/loader/pull.py"))
    ]
    assert [place for source in others for place in house.starting(source)] == []


def test_codemods_needs_neither_torch_nor_the_engine() -> None:
    found = [
        f"{source.path}:{line} imports {name}"
        for source in house.sources("codemods")
        for line, name in house.imported(source)
        if name.partition(".")[0] in {"torch", "engine", "numpy"}
    ]
    assert found == []


def test_sizes_are_counted_as_an_editor_shows_them() -> None:
    source = Source.of("m.py", "@f\ndef a():\n    def b():\n        pass\n\n    return b\n")
    assert house.num_lines(source) == 6
    assert sorted(house.functions(source)) == [("m.py:2 a", 5), ("m.py:3 b", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "print(1)",
        "def f():\n    import typer",
        "from click import echo",
        "from rich import print",
        "import sys\nsys.stderr.write('x')",
        "import sys\nout = sys.stdout",
        "from sys import __stdout__",
    ],
)
def test_printing_is_seen(text: str) -> None:
    assert len(house.printing(Source.of("m.py", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "def f():\n    from subprocess import run",
        "import multiprocessing.pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "import os\nos.system('x')",
        "import os\nos.execvp('x', [])",
        "from os import popen",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
    ],
)
def test_starting_a_process_is_seen(text: str) -> None:
    assert len(house.starting(Source.of("m.py", text))) == 1


@pytest.mark.parametrize(
    "text", ["import os\nos.path.join('a')", "def sprint(): ...\nsprint()", "import sys\nsys.path"]
)
def test_what_only_looks_alike_is_not_seen(text: str) -> None:
    source = Source.of("m.py", text)
    assert house.printing(source) + house.starting(source) == []

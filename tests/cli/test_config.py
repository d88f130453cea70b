"""Configuration: who wins, and what is refused with which next move."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemods.cli.config import InvalidConfig, Resolved, load_config
from codemods.schema.config import Settings
from codemods.schema.errors import ConfigError


def load(
    root: Path, environ: dict[str, str] | None = None, given: dict[str, object] | None = None, *options: str
) -> Resolved:
    return load_config(root, environ or {}, given or {}, options)


def origins(resolved: Resolved) -> dict[str, str]:
    return {setting.key: setting.origin for setting in resolved.shown() if not setting.key.startswith("gate.")}


def test_without_any_configuration(tmp_path: Path) -> None:
    resolved = load(tmp_path)
    assert resolved.settings == Settings(exclude=(), source_roots=(), line_length=88, accept={})
    assert resolved.config.format == "text"
    assert set(origins(resolved).values()) == {"default", "command line"}


def test_command_line_beats_environment_beats_file(tmp_path: Path) -> None:
    (tmp_path / "unmoved.toml").write_text(
        'format = "json"\nline-length = 70\nexclude = ["a"]\nsource-roots = ["./python/", "."]\n', encoding="utf-8"
    )
    environ = {"UNMOVED_LINE_LENGTH": "80", "UNMOVED_EXCLUDE": os.pathsep.join(["b", "c"]), "UNMOVED_FORMAT": ""}
    resolved = load(tmp_path, environ, {"format": "text"}, "line-length = 90")
    assert resolved.settings == Settings(exclude=("b", "c"), source_roots=("python", ""), line_length=90)
    assert origins(resolved) == {
        "root": "command line",
        "exclude": "environment",
        "source-roots": str(tmp_path / "unmoved.toml"),
        "line-length": "command line",
        "accept": "default",
        "redact": "default",
        "real": "default",
        "format": "command line",
    }


def test_the_tables_of_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.black]\nline-length = 99\n[tool.unmoved.accept]\nU110 = "nobody filters our logs"\n', encoding="utf-8"
    )
    resolved = load(tmp_path)
    assert resolved.settings.accept == {"U110": "nobody filters our logs"}
    assert resolved.settings.line_length == 99
    assert origins(resolved)["line-length"].endswith("pyproject.toml [tool.black]")


@pytest.mark.parametrize(
    ("name", "text", "length"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n[tool.black]\nline-length = 99\n", 100),
        ("ruff.toml", "line-length = 110\n", 110),
        (".ruff.toml", "line-length = 'wide'\n", 88),
        ("ruff.toml", "line-length = \n", 88),
        ("pyproject.toml", "[tool]\nruff = 3\n", 88),
    ],
)
def test_the_line_length_of_the_trees_formatter(tmp_path: Path, name: str, text: str, length: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert load(tmp_path).settings.line_length == length


REFUSED = [
    # file, text, code, line, in the message, in the fix
    ("unmoved.toml", "\nexlude = []\n", "unknown-key", 2, "`exlude`", "`exclude`"),
    ("pyproject.toml", "[tool.unmoved]\nline_length = 9\n", "unknown-key", 2, "`line_length`", "`line-length`"),
    ("pyproject.toml", "[tool]\nunmoved = 3\n", "wrong-type", 2, "no table", "make it one"),
    ("pyproject.toml", "[tool.unmoved\n", "bad-toml", 1, "not TOML", "syntax"),
    ("unmoved.toml", "line-length = 7\n", "wrong-type", 1, "from 20 to 1000", "change"),
    ("unmoved.toml", "line-length = true\n", "wrong-type", 1, "true, but must be a whole number", "change"),
    ("unmoved.toml", 'format = "yaml"\n', "bad-value", 1, '"yaml"', "text, json"),
    ("unmoved.toml", '[accept]\nU999 = "x"\n', "unknown-hazard", 2, "U999", "unmoved explain"),
    ("unmoved.toml", '[accept]\nU101 = ""\n', "bad-value", 2, "no reason", "write why"),
    ("unmoved.toml", 'source-roots = [\n"src",\n"../up"]\n', "bad-value", 3, "../up", "relative path"),
    ("unmoved.toml", 'exclude = [" "]\n', "bad-value", 1, "empty pattern", "leave it out"),
]


@pytest.mark.parametrize(("name", "text", "code", "line", "message", "fix"), REFUSED)
def test_refused_in_a_file(tmp_path: Path, name: str, text: str, code: str, line: int, message: str, fix: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfig) as caught:
        load(tmp_path)
    [problem] = caught.value.problems
    assert (problem.code, problem.line) == (code, line)
    assert caught.value.path == str(tmp_path / name)
    assert message in problem.message
    assert fix in problem.fix


@pytest.mark.parametrize(
    ("environ", "options", "words"),
    [
        ({"UNMOVED_LINE_LENGTH": "wide"}, (), ["environment", "`UNMOVED_LINE_LENGTH`", '"wide"']),
        ({"UNMOVED_FORMAT": "jsno"}, (), ["environment", "`UNMOVED_FORMAT`", "did you mean `json`?"]),
        ({}, ("line-lenght=3",), ["--config", "`line-lenght`", "did you mean `line-length`?"]),
        ({}, ("line-length",), ["--config", "not KEY=VALUE", "line-length=100"]),
    ],
)
def test_refused_elsewhere(tmp_path: Path, environ: dict[str, str], options: tuple[str, ...], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environ, {}, *options)
    assert [word for word in words if word not in str(caught.value)] == []


def test_two_files_that_configure_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.unmoved]\n", encoding="utf-8")
    (tmp_path / "unmoved.toml").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="keep one of them"):
        load(tmp_path)


def test_the_root_must_be_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a directory"):
        load(tmp_path / "nothing")


def test_the_root_may_come_from_the_environment(tmp_path: Path) -> None:
    resolved = load_config(None, {"UNMOVED_ROOT": str(tmp_path)}, {}, ())
    assert resolved.root == tmp_path
    assert origins(resolved)["root"] == "environment"

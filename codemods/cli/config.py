"""Who decides each setting: the command line, then the environment, then unmoved.toml or [tool.unmoved], then defaults.

Reads the files at the root only. A key nobody knows is an error wherever it stands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from codemods.cli.config_gate import GATE, GATE_KEYS, gate_complaints, gate_environment, of_gate, variable
from codemods.plan.load import read_toml_file
from codemods.plan.wellformed import accepted_codes
from codemods.schema.config import DEFAULT_LINE_LENGTH, Config, Setting, Settings
from codemods.schema.errors import ConfigError
from codemods.schema.toml_check import Problem, TomlProblems, check_table, shown
from codemods.schema.toml_text import BadToml, KeyPath, TomlText

_LISTS = ("exclude", "source-roots", "redact", "real")
_DEFAULT = "default"


class UnreadableConfig(ConfigError):
    """A configuration file can't be read as text."""

    code = "unreadable-config"


class InvalidConfig(TomlProblems, ConfigError):
    """A configuration file, variable or option is not what it should be. `problems` lists every reason."""

    code = "invalid-config"


class TwoConfigs(ConfigError):
    """unmoved.toml and [tool.unmoved] both exist."""

    code = "two-configs"


class Resolved(Struct, frozen=True, kw_only=True):
    """The configuration of one run; `origins` says of each key who decided."""

    root: Path
    config: Config
    line_length: int
    origins: dict[str, str]

    @property
    def settings(self) -> Settings:
        config = self.config
        return Settings(
            exclude=config.exclude,
            source_roots=config.source_roots,
            line_length=self.line_length,
            accept=config.accept,
        )

    def shown(self) -> list[Setting]:
        config = self.config
        gate = msgspec.to_builtins(config.gate)
        values: dict[str, bool | int | str | list[str] | dict[str, str]] = {
            "root": str(self.root),
            "exclude": list(config.exclude),
            "source-roots": list(config.source_roots),
            "line-length": self.line_length,
            "accept": config.accept,
            "redact": list(config.redact),
            "real": list(config.real),
            "format": config.format,
            **{of_gate(key): list(value) if isinstance(value, tuple) else value for key, value in gate.items()},
        }
        return [Setting(key=key, value=value, origin=self.origins[key]) for key, value in values.items()]


def load_config(
    asked_root: Path | None, environ: Mapping[str, str], given: Mapping[str, object], options: Sequence[str]
) -> Resolved:
    """asked_root: of --root. given: values of options of their own. options: `KEY=VALUE` texts of --config, in TOML.

    Raises ConfigError."""
    root, root_origin = _root(asked_root, environ)
    if not root.is_dir():
        raise ConfigError(f"{root} is not a directory", fix="name the directory of the tree with --root")
    layers = [*_files(root), ("environment", _environment(environ)), ("command line", {**_options(options), **given})]
    values: dict[str, object] = {}
    keys = [field.encode_name for field in msgspec.structs.fields(Config) if field.encode_name != GATE]
    origins = dict.fromkeys([*keys, *map(of_gate, GATE_KEYS)], _DEFAULT)
    gate: dict[str, object] = {}
    for origin, layer in layers:
        own = layer.get(GATE, {})
        assert isinstance(own, Mapping)  # it was checked
        gate.update(own)
        values.update(layer)
        origins.update(dict.fromkeys([*map(of_gate, own), *(key for key in layer if key != GATE)], origin))
    values[GATE] = gate
    config = msgspec.convert(values, Config)
    config = msgspec.structs.replace(config, source_roots=tuple(_plain(path) for path in config.source_roots))
    length, length_origin = config.line_length, origins["line-length"]
    if length is None:
        length, length_origin = _formatter_line_length(root)
    origins |= {"line-length": length_origin, "root": root_origin}
    return Resolved(root=root, config=config, line_length=length, origins=origins)


def _root(asked: Path | None, environ: Mapping[str, str]) -> tuple[Path, str]:
    if asked is not None:
        return asked, "command line"
    if environ.get("UNMOVED_ROOT"):
        return Path(environ["UNMOVED_ROOT"]), "environment"
    return Path("."), _DEFAULT


def _files(root: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    own = root / "unmoved.toml"
    project = root / "pyproject.toml"
    from_project = _project_table(project) if project.exists() else None
    if own.exists():
        if from_project is not None:
            raise TwoConfigs(
                f"{own.name} and [tool.unmoved] in {project.name} both configure this tree",
                fix="keep one of them",
                path=str(own),
            )
        document = _document(own)
        yield str(own), _checked(document.value, str(own), (), document)
    elif from_project is not None:
        yield str(project), _checked(from_project, str(project), ("tool", "unmoved"), _document(project))


def _project_table(project: Path) -> Mapping[str, object] | None:
    document = _document(project)
    found = (_table(document, "tool") or {}).get("unmoved")
    if found is not None and not isinstance(found, Mapping):
        line = document.line_of(("tool", "unmoved"))
        problem = Problem(code="wrong-type", line=line, message="`tool.unmoved` is no table", fix="make it one")
        raise InvalidConfig(str(project), [problem])
    return found


def _document(path: Path) -> TomlText:
    try:
        return TomlText(read_toml_file(path, UnreadableConfig, "configuration"))
    except BadToml as bad:
        problem = Problem(code="bad-toml", line=bad.line, message=f"not TOML: {bad.message}", fix="mend the syntax")
        raise InvalidConfig(str(path), [problem]) from bad


def _table(document: TomlText, *keys: str) -> Mapping[str, object] | None:
    """The table at `keys`; None where there is none."""
    found: object = document.value
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _environment(environ: Mapping[str, str]) -> Mapping[str, object]:
    """Lists are parted by the system's path separator; empty means not set. `accept` needs reasons, so a file."""
    raw: dict[str, object] = {}
    for key in ("exclude", "source-roots", "line-length", "redact", "real", "format"):
        value = environ.get(variable(key), "")
        if value:
            is_number = key == "line-length" and value.isdecimal()
            raw[key] = value.split(os.pathsep) if key in _LISTS else int(value) if is_number else value
    gate = dict(gate_environment(environ))
    names = {key: variable(key) for key in raw} | {key: variable(of_gate(key)) for key in gate}
    return _checked(raw | ({GATE: gate} if gate else {}), "environment", (), None, names=names)


def _options(options: Sequence[str]) -> Mapping[str, object]:
    raw: dict[str, object] = {}
    for option in options:
        try:
            document = TomlText(option)
        except BadToml as bad:
            raise ConfigError(
                f"--config {shown(option)} is not KEY=VALUE in TOML: {bad.message}",
                fix="write for example --config 'line-length=100' or --config 'exclude=[\"build\"]'",
            ) from bad
        for key, value in document.value.items():
            known = raw.get(key)
            is_table = isinstance(value, Mapping) and isinstance(known, Mapping) and key == GATE
            raw[key] = {**known, **value} if is_table else value  # type: ignore[dict-item]
    return _checked(raw, "--config", (), None)


def _checked(
    raw: Mapping[str, object],
    place: str,
    at: KeyPath,
    document: TomlText | None,
    names: Mapping[str, str] | None = None,
) -> Mapping[str, object]:
    """`raw` when it is right; else raises InvalidConfig. `names` are the spellings to show for keys."""

    def line_of(path: KeyPath) -> int:
        return document.line_of(path) if document else 0

    problems = list(check_table(raw, Config, name="the configuration", at=at, line_of=line_of))
    if not problems:
        problems = [
            Problem(code=code, line=line_of((*at, *path)), message=message, fix=fix)
            for path, code, message, fix in _complaints(msgspec.convert(raw, Config))
        ]
    if problems and names:
        problems = [_renamed(problem, names) for problem in problems]
    if problems:
        raise InvalidConfig(place, problems)
    return raw


def _renamed(problem: Problem, names: Mapping[str, str]) -> Problem:
    message = problem.message
    for key, name in names.items():
        message = message.replace(f"`{key}`", f"`{name}`")
    return msgspec.structs.replace(problem, message=message)


def _complaints(config: Config) -> Iterator[tuple[KeyPath, str, str, str]]:
    for bad in accepted_codes(config.accept):
        yield bad.at, bad.code, bad.message, bad.fix
    for index, root in enumerate(config.source_roots):
        path = PurePosixPath(root)
        if not root or path.is_absolute() or ".." in path.parts:
            message = f"`source-roots` has {shown(root)}, which is not a directory below the root"
            yield ("source-roots", index), "bad-value", message, 'write a relative path, for example "src"'
    for index, pattern in enumerate(config.exclude):
        if not pattern.strip():
            yield ("exclude", index), "bad-value", "`exclude` has an empty pattern", "leave it out"
    for index, pattern in enumerate(config.redact):
        if not pattern.strip("! "):
            yield ("redact", index), "bad-value", "`redact` has an empty name", "leave it out"
    for index, module in enumerate(config.real):
        if not all(part.isidentifier() for part in module.split(".")):
            message = f"`real` has {shown(module)}, which names no module"
            yield ("real", index), "bad-value", message, "write its dotted name"
    yield from gate_complaints(config.gate)


def _plain(path: str) -> str:
    """`./python/` is `python`, the root itself is ""."""
    found = PurePosixPath(path).as_posix()
    return "" if found == "." else found


def _formatter_line_length(root: Path) -> tuple[int, str]:
    """What the tree's own formatter goes by. Its files are not ours, so what is wrong in them is not our business."""
    for name, *keys in (
        ("ruff.toml",),
        (".ruff.toml",),
        ("pyproject.toml", "tool", "ruff"),
        ("pyproject.toml", "tool", "black"),
    ):
        if not (root / name).is_file():
            continue
        try:
            table = _table(_document(root / name), *keys) or {}
        except ConfigError:
            continue
        length = table.get("line-length")
        if isinstance(length, int) and not isinstance(length, bool) and length >= 20:
            return length, f"{root / name}" + (f" [{'.'.join(keys)}]" if keys else "")
    return DEFAULT_LINE_LENGTH, _DEFAULT

"""The engine's command line: options as the engine has them, errors in one line with a fix."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("zmq")

from engine.cli import options
from engine.cli.app import main
from engine.config.server_args import ServerArgs
from engine.schema.errors import BadConfig

ROOT = Path(__file__).resolve().parents[3]


def test_every_option_of_the_engine_has_a_help_and_is_one_of_the_commands() -> None:
    assert list(options.HELP) and set(options.HELP) == set(ServerArgs.__struct_fields__)

    @options.server_options
    def command(args: ServerArgs, own: int = 1) -> int:
        return own + args.tp_size

    parameters = inspect.signature(command).parameters
    assert next(iter(parameters)) == "own" and set(parameters) == {"own", *ServerArgs.__struct_fields__}


def test_options_become_arguments() -> None:
    plain = msgspec.structs.asdict(ServerArgs())
    assert options.make_args({**plain, "lora_paths": None, "lora_target_modules": None}) == ServerArgs()
    given = {**plain, "enable_lora": True, "lora_paths": ["a=/x", "b=/y=z"], "lora_target_modules": ["q_proj"]}
    made = options.make_args(given)
    assert made.lora_paths == (("a", Path("/x")), ("b", Path("/y=z"))) and made.lora_target_modules == ("q_proj",)
    for wrong in ("a", "=x", "a="):
        with pytest.raises(BadConfig, match="NAME=FOLDER"):
            options.make_args({**given, "lora_paths": [wrong]})


def test_limits_of_the_server_are_all_options() -> None:
    pytest.importorskip("fastapi")
    from engine.cli.serve import serve
    from engine.server.limits import Limits

    parameters = inspect.signature(serve).parameters
    for field in msgspec.structs.fields(Limits):
        assert parameters[field.name].default == field.default, field.name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "No such command 'nope'"),
        (["generate"], "Missing argument"),
        (["generate", "x", "--tp-size", "two"], "--tp-size"),
        (["generate", "x", "--block-tokens", "0"], "block_tokens=0; give at least 1"),
        (["generate", "x", "--model", "nope"], "no package is known for 'nope'"),
        (["generate", "x", "--lora", "a"], "NAME=FOLDER"),
        (["generate", ""], "prompt: it is empty"),
        (["generate", "x", "--json-schema", "/nowhere"], "json_schema: /nowhere can't be read"),
        (["serve", "--model", "nope"], "no package is known"),
        (["serve", "--api-key-file", "/nowhere", "--model", str(ROOT)], "/nowhere can't be read"),
        (["chat", "--top-k", "x"], "--top-k"),
        (["bench", "--requests", "0"], "a load of nothing"),
        (["model", "pull", "nope"], "no package is known"),
        (["model", "pull"], "Missing argument"),
    ],
)
def test_what_can_not_be_done_is_said_in_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == "" and words in found.err
    assert found.err.count("\n") == 1 and ": " in found.err and "; " in found.err


@pytest.mark.parametrize("command", [[], ["generate"], ["chat"], ["serve"], ["bench"], ["model"], ["model", "pull"]])
def test_help_is_there(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "Usage: python -m engine" in capsys.readouterr().out


def test_models_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINE_CACHE_DIR", str(tmp_path))
    assert main(["model", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["name"]: each["is_here"] for each in found} == {"smollm2-135m-instruct": False, "gemma3-270m": False}
    assert main(["model", "list"]) == 0
    assert "no: `model pull` fetches it" in capsys.readouterr().out


def test_looking_at_the_engine_loads_nothing() -> None:
    code = (
        "import engine, sys; heavy = {'torch', 'zmq', 'msgspec', 'numpy'} & set(sys.modules); assert not heavy, heavy;"
        "from engine import SamplingParams; assert 'torch' not in sys.modules;"
        "import engine.cli.app; assert 'torch' not in sys.modules and 'fastapi' not in sys.modules"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

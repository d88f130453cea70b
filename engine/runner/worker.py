"""The process of one rank that does not drive: it loads its share, then does what the driver says until that goes
away. A step that fails ends it: the ranks are out of step then, and none of them could go on."""

from __future__ import annotations

import logging
import os
import socket

from msgspec import structs

from engine.config.env import read_env
from engine.distributed import parallel_state
from engine.host.memory_saver import WEIGHTS
from engine.host.processes import begin
from engine.runner.calls import CALLS
from engine.runner.kinds import runner_kind
from engine.runner.model_runner import ModelRunner
from engine.runner.wire import (
    INTERNAL,
    Answer,
    Broken,
    Do,
    EngineInfo,
    Hello,
    Loaded,
    Made,
    RankSpec,
    Step,
    Wire,
    fault_of,
    spec_of,
)
from engine.schema.errors import EngineError

log = logging.getLogger(__name__)
CONTROL = "engine/control"  # where the first rank leaves the driver's address for those on other machines


def connect(control: tuple[str, int], token: str, rank: int) -> Wire:
    wire = Wire(socket.create_connection(control, timeout=60.0))
    wire.connection.settimeout(None)
    wire.send(Hello(rank=rank, token=token))
    return wire


def serve(spec: RankSpec) -> int:
    """Until the driver is gone or says quit; the exit status."""
    rank = spec.pp_rank * spec.args.tp_size + spec.tp_rank
    wire = connect(spec.control, spec.token, rank) if spec.control is not None else None
    try:
        runner = make_runner(spec)
    except Exception as error:
        log.error("rank %d could not start: %s", rank, error, exc_info=needs_trace(error))
        if wire is not None:
            wire.send(Broken(fault_of(error)))
        return 1
    if wire is not None and rank == 0:
        parallel_state.tell(CONTROL, f"{wire_host(spec)} {spec.token}")
    elif wire is None:
        host, port, token = parallel_state.ask(CONTROL).split(" ")
        wire = connect((host, int(port)), token, rank)
    wire.send(Loaded(info=info_of(runner)))
    status = loop(runner, wire)
    parallel_state.destroy()
    return status


def wire_host(spec: RankSpec) -> str:
    assert spec.control is not None
    return f"{spec.control[0]} {spec.control[1]}"


def make_runner(spec: RankSpec) -> ModelRunner:
    return runner_kind(spec.args.device)(
        spec.args,
        tp_rank=spec.tp_rank,
        pp_rank=spec.pp_rank,
        local_rank=spec.local_rank,
        local_size=spec.local_size,
        dist_port=spec.dist_port,
    )


def info_of(runner: ModelRunner) -> EngineInfo:
    return EngineInfo(
        model=runner.server_args.name,
        vocab_size=runner.model_config.vocab_size,
        context=runner.model_config.max_position,
        num_blocks=runner.num_blocks,
        block_tokens=runner.server_args.block_tokens,
        num_window_blocks=getattr(runner.kv_cache, "num_window_blocks", 0),  # MLX's cache is another
        window=runner.model_config.window,
    )


def loop(runner: ModelRunner, wire: Wire) -> int:
    while True:
        message = wire.to_rank()
        try:
            if isinstance(message, Step):
                output = runner.execute(message.step)
                if output is not None:
                    wire.send(Made(output))
            elif isinstance(message, Do):
                wire.send(answer(runner, message))
            else:
                return 0
        except Exception as error:
            log.error("rank %d: a step failed: %s", runner.rank, error, exc_info=needs_trace(error))
            wire.send(Broken(fault_of(error)))
            return 1


def needs_trace(error: Exception) -> bool:
    """An error of ours says what to do."""
    return not isinstance(error, EngineError)


def answer(runner: ModelRunner, message: Do) -> Answer:
    """What a call gave, or the error of that call. A RuntimeError is a device's or a peer's, and the end of the
    rank."""
    assert message.method in CALLS, "the driver checks it"
    try:
        value = getattr(runner, message.method)(**message.arguments)
        if message.method in ("wake_up", "resume_memory_occupation") and value["are_weights_lost"]:
            restore_draft(runner)
        return Answer(value=value)
    except EngineError as error:
        return Answer(fault=fault_of(error))
    except RuntimeError:
        raise
    except Exception as error:
        log.exception("rank %d: a call failed: method=%s", runner.rank, message.method)
        return Answer(fault=structs.replace(fault_of(error), code=INTERNAL))


def restore_draft(runner: ModelRunner) -> None:
    """The weights of the model that guesses ahead, which were released with those of its target: nobody updates them,
    so they are on disk as they were."""
    draft = runner.draft_runner
    if draft is not None and WEIGHTS not in runner.sleeping:
        draft.update_weights_from_disk(draft.server_args.model)


def main() -> int:
    spec = spec_of(begin())
    level = read_env(os.environ).log_level.upper()
    logging.basicConfig(level=level, format=f"%(asctime)s {spec.pp_rank}.{spec.tp_rank} %(name)s %(message)s")
    return serve(spec)


if __name__ == "__main__":
    # Threads of collectives and compilers may still wait for peers that are gone: nothing here is worth waiting for.
    os._exit(main())

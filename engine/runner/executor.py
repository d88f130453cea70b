"""All ranks of a run as one: a step goes to every rank, one answer comes back. A run of one rank stays in this process;
one of several has a process a rank, started here, on other nodes by `follow`, or all of them by torchrun."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from engine.config.env import EnvSettings, read_env
from engine.config.server_args import ServerArgs, check
from engine.distributed import parallel_state
from engine.distributed.addresses import worker_bind_host
from engine.distributed.ports import claimed_port
from engine.host.processes import Child
from engine.runner import calls, worker
from engine.runner.kinds import runner_kind
from engine.runner.model_runner import ModelRunner
from engine.runner.ranks import Ranks
from engine.runner.wire import Answer, Do, EngineInfo, Loaded, Made, Quit, RankSpec, Step, error_of
from engine.schema.errors import BadConfig, EngineDead, EngineError
from engine.schema.frames import encode
from engine.schema.step import StepInput, StepOutput


class Executor:
    """Starts the ranks, and ends them. Raises the EngineError of whichever rank fails; after one that ended a rank,
    EngineDead for good."""

    def __init__(self, server_args: ServerArgs) -> None:
        args = self.server_args = check(server_args)
        self._runner: ModelRunner | None = None
        self._ranks: Ranks | None = None
        self._output_rank = (args.pp_size - 1) * args.tp_size
        if is_follower(args):
            raise BadConfig("this process is no driver", fix="call engine.runner.executor.follow in it")
        try:
            self.info = self._start(args)
        except BaseException:
            self.shutdown()
            raise

    def _start(self, args: ServerArgs) -> EngineInfo:
        if args.world_size == 1:
            self._runner = runner_kind(args.device)(args)
            return worker.info_of(self._runner)
        with contextlib.ExitStack() as claims:  # until every rank has loaded, so has met the others
            port = args.base_port
            if args.dist_init_addr is None and not _torchrun(read_env(os.environ), args):
                port = claims.enter_context(claimed_port(port))
            return self._start_ranks(args, port)

    def _start_ranks(self, args: ServerArgs, port: int) -> EngineInfo:
        ranks = self._ranks = Ranks(host=worker_bind_host(args.dist_init_addr))
        if _torchrun(read_env(os.environ), args):
            self._runner = worker.make_runner(torchrun_spec(args))
            parallel_state.tell(worker.CONTROL, f"{ranks.address[0]} {ranks.address[1]} {ranks.token}")
            others = set(range(1, args.world_size))
        else:
            for spec in node_specs(args, port=port, control=ranks.address, token=ranks.token):
                rank = spec.pp_rank * args.tp_size + spec.tp_rank
                ranks.children[rank] = _start_rank(spec)
            others = set(range(args.world_size))
        ranks.accept(set(ranks.children), timeout_s=args.dist_timeout)
        ranks.accept(others, timeout_s=args.dist_timeout)
        loaded = ranks.receive(others, timeout_s=args.dist_timeout)
        first = loaded[min(loaded)]
        assert isinstance(first, Loaded)
        return first.info

    def execute(self, step: StepInput) -> StepOutput:
        output = None
        if self._ranks is not None:
            self._ranks.send(Step(step))
        if self._runner is not None:
            output = self._local(self._runner, step)
        if output is None:
            assert self._ranks is not None, "a rank that is alone answers"
            made = self._ranks.receive({self._output_rank}, timeout_s=self.server_args.dist_timeout)[self._output_rank]
            assert isinstance(made, Made)
            output = made.output
        return output

    def _local(self, runner: ModelRunner, step: StepInput) -> StepOutput | None:
        try:
            return runner.execute(step)
        except EngineError:
            raise
        except RuntimeError as error:
            if self._ranks is not None:
                self._ranks.diagnose(error)
            raise EngineDead(f"a step failed: {error}", fix="see the log, and start the engine again") from error

    def call(self, method: str, **arguments: Any) -> list[Any]:
        """Something else than a step, on every rank; what each answered, by rank. What does not fit the method is
        refused before any rank hears of it."""
        given = calls.check(runner_kind(self.server_args.device), method, arguments)
        message = Do(method=method, arguments=given)
        answers: dict[int, Answer] = {}
        if self._ranks is not None:
            self._ranks.send(message)
        if self._runner is not None:
            answers[0] = worker.answer(self._runner, message)
        if self._ranks is not None:
            others = set(range(self.server_args.world_size)) - answers.keys()
            for rank, each in self._ranks.receive(others, timeout_s=self.server_args.dist_timeout).items():
                assert isinstance(each, Answer)
                answers[rank] = each
        for rank in sorted(answers):
            fault = answers[rank].fault
            if fault is not None:
                raise error_of(fault, rank=rank if len(answers) > 1 else None)
        return [answers[rank].value for rank in sorted(answers)]

    def shutdown(self) -> None:
        """End every rank. Again and again is fine."""
        ranks, self._ranks, self._runner = self._ranks, None, None
        if ranks is not None:
            ranks.close(Quit())
        parallel_state.destroy()


def is_follower(args: ServerArgs) -> bool:
    """Whether this process only computes: the driver is another node's, or torchrun's first."""
    env = read_env(os.environ)
    return bool(env.world_rank) if _torchrun(env, args) else args.node_rank > 0


def follow(args: ServerArgs) -> int:
    """Compute until the driver ends: this process's rank under torchrun, else all ranks of this node. The exit status:
    of the first rank that failed."""
    args = check(args)
    if _torchrun(read_env(os.environ), args):
        return worker.serve(torchrun_spec(args))
    children = [_start_rank(spec) for spec in node_specs(args)]
    try:
        statuses = [each.wait() for each in children]
    finally:
        for each in children:
            each.stop(0.1)
    return next((each for each in statuses if each), 0)


def node_specs(
    args: ServerArgs, *, port: int | None = None, control: tuple[str, int] | None = None, token: str = ""
) -> list[RankSpec]:
    """The ranks of this node: nodes take ranks in order. port: where they meet, if that is this machine alone."""
    count = args.world_size // args.nnodes
    return [
        RankSpec(
            args=args,
            tp_rank=rank % args.tp_size,
            pp_rank=rank // args.tp_size,
            local_rank=rank - args.node_rank * count,
            local_size=count,
            dist_port=args.base_port if port is None else port,
            control=control,
            token=token,
        )
        for rank in range(args.node_rank * count, (args.node_rank + 1) * count)
    ]


def torchrun_spec(args: ServerArgs) -> RankSpec:
    env = read_env(os.environ)
    rank, local_rank = env.world_rank, env.local_rank
    assert rank is not None
    return RankSpec(
        args=args,
        tp_rank=rank % args.tp_size,
        pp_rank=rank // args.tp_size,
        local_rank=rank if local_rank is None else local_rank,
        local_size=env.local_world_size or args.world_size,
        dist_port=args.base_port,
    )


def _torchrun(env: EnvSettings, args: ServerArgs) -> bool:
    return args.world_size > 1 and env.world_rank is not None and env.world_size is not None


def _start_rank(spec: RankSpec) -> Child:
    # Ranks of one machine share its cores; a rank that sets its own threads does so afterwards.
    share = max((os.cpu_count() or 1) // spec.local_size, 1)
    return Child("engine.runner.worker", encode(spec), environ={"OMP_NUM_THREADS": str(share)})

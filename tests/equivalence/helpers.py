"""Each helper that left the runner: where its original is kept, what it has become, and how both are called.

The replacement is called as the runner calls it: through the method that stayed behind, or with what the runner's call
gives. So a slip in what is handed over is seen too."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from tests.equivalence.stage import Fault, Seen, Stage, is_same
from tests.support.branches import Branches
from tests.support.frozen import Text, current, frozen, load

RUNNER = "engine/runner/model_runner.py"


class Helper(Struct, frozen=True, kw_only=True):
    """name: of the function. pieces: of its module, what it has been split into since. late, reworded: see
    stage.is_same.
    wrapper: whether a method of that name stayed behind."""

    plan: str
    method: str
    path: str
    name: str
    pieces: tuple[str, ...] = ()
    late: frozenset[str] = frozenset()
    reworded: tuple[str, str] | None = None
    wrapper: bool = False

    @property
    def alias(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".py")


class Twins:
    """Both sides of one helper, loaded once, on one stage. names: what stands in for names of either module."""

    def __init__(
        self,
        helper: Helper,
        stage: Stage,
        names: Mapping[str, Any],
        *,
        edited: Text | None = None,
        runner: Text | None = None,
    ) -> None:
        """edited, runner: the helper's module and the runner's with a slip in them."""
        self.helper, self.stage = helper, stage
        before, after = frozen(helper.plan, RUNNER), edited or current(helper.path)
        self.old = load(before, f"ModelRunner.{helper.method}", names)
        functions: dict[str, Callable[..., Any]] = {helper.name: load(after, helper.name, names)}
        space = functions[helper.name].__globals__
        functions |= {piece: space[piece] for piece in helper.pieces}
        self.function = functions[helper.name]
        self.new = self.function
        if helper.wrapper:
            module = types.SimpleNamespace(**{helper.name: self.function})
            self.new = load(runner or current(RUNNER), f"ModelRunner.{helper.method}", {helper.alias: module})
        self.branches_old = Branches({f"ModelRunner.{helper.method}": self.old}, before.text)
        self.branches_new = Branches(functions, after.text)
        self.num_failed_calls = 0
        self.late_seen: set[str] = set()
        self.was_reworded = False

    def compare(
        self,
        world: Mapping[str, Any],
        fields: Mapping[str, Callable[[], Any]] | None = None,
        *,
        call_old: Callable[[Callable[..., Any], Any], Any] = lambda function, runner: function(runner),
        call_new: Callable[[Callable[..., Any], Any], Any] = lambda function, runner: function(runner),
        fault: tuple[int, type[BaseException]] | None = None,
    ) -> tuple[Seen, Seen]:
        """Raises AssertionError that names the helper and what differs."""
        methods = {self.helper.method: self.old}
        old = self.stage.run(
            self.old, world, fields, call=call_old, methods=methods, fault=fault, through=self.branches_old
        )
        new = self.stage.run(self.new, world, fields, call=call_new, fault=fault, through=self.branches_new)
        found = is_same(old, new, late=self.helper.late, reworded=self.helper.reworded)
        self.was_reworded |= old.raised != new.raised
        home = self.helper.path.removesuffix(".py").replace("/", ".")
        told = f"{home}:{self.helper.name} differs from its original in {dict(world)!r}:"
        assert not found, "\n".join([told, *found])
        for one, other in zip(old.loggers, new.loggers, strict=True):
            assert one == other or (one, other) == ("engine.runner.model_runner", home), (one, other)
        if old.raised is not None:
            self.late_seen |= old.writes.keys() - new.writes.keys()
        return old, new

    def compare_with_faults(self, world: Mapping[str, Any], **given: Any) -> None:
        """The world as it is, and with each call on a collaborator failing in turn."""
        old, _ = self.compare(world, **given)
        for at in range(old.num_calls):
            for kind in (Fault, AssertionError, OSError):
                self.compare(world, fault=(at, kind), **given)
                self.num_failed_calls += 1

    def check_reached(self, unreached_old: Mapping[str, str], unreached_new: Mapping[str, str]) -> None:
        """Every branch of both sides was taken, but for those named with a reason; a name that is stale fails too."""
        for side, branches, named in (
            ("original", self.branches_old, unreached_old),
            ("replacement", self.branches_new, unreached_new),
        ):
            missing = branches.missing()
            unnamed = [each for each in missing if not any(text in each for text in named)]
            assert not unnamed, f"{self.helper.name}: the {side} has branches that no world reached: {unnamed}"
            stale = [text for text in named if not any(text in each for each in missing)]
            assert not stale, f"{self.helper.name}: reached, though named as out of reach: {stale}"
        assert self.was_reworded == (self.helper.reworded is not None), (
            "an exception that was said to be reworded is not"
        )
        assert self.late_seen == self.helper.late, f"declared late {set(self.helper.late)}, seen {self.late_seen}"


BINDING = Helper(
    plan="leaf-helpers",
    method="init_threads_binding",
    path="engine/host/numa.py",
    name="init_threads_binding",
    late=frozenset({"local_omp_cpuid"}),
    wrapper=True,
)
CUBLAS = Helper(
    plan="leaf-helpers", method="init_cublas", path="engine/host/cublas.py", name="init_cublas", wrapper=True
)
TORCH_TP = Helper(
    plan="leaf-helpers",
    method="apply_torch_tp",
    path="engine/layers/model_parallel.py",
    name="apply_torch_tp",
    wrapper=True,
)
SYMMETRIC = Helper(
    plan="leaf-helpers",
    method="prealloc_symmetric_memory_pool",
    path="engine/distributed/symmetric_memory.py",
    name="prealloc_symmetric_memory_pool",
)
LANGUAGE = Helper(
    plan="leaf-helpers",
    method="resolve_language_model",
    path="engine/loader/language_model.py",
    name="resolve_language_model",
)
SPAN = Helper(
    plan="leaf-helpers",
    method="_build_step_span_name",
    path="engine/runner/profiling.py",
    name="build_step_span_name",
)
BOOTSTRAP = Helper(
    plan="torch-distributed",
    method="init_torch_distributed",
    path="engine/distributed/bootstrap.py",
    name="init_torch_distributed",
    pieces=(
        "_take_device",
        "_resolve_backend",
        "_resolve_dist_init_method",
        "_set_all_reduce_flags",
        "_join_world",
        "_init_cpu_threads_env",
        "_init_parallel_groups",
        "_prewarm_nccl",
        "_check_tp_memory_balance",
    ),
    late=frozenset({"tp_group", "pp_group", "attention_tp_group"}),
    reworded=(
        "make tp_size * pp_size the number of processes",
        "let one launcher number the ranks, or unset RANK and WORLD_SIZE",
    ),
    wrapper=True,
)

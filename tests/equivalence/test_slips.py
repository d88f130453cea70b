"""The equivalence tests can fail: each kind of slip, in any helper or in the method that stayed behind, is noticed,
with a message that names the helper. What changes nothing is not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from collections.abc import Callable
from typing import NamedTuple

from tests.equivalence import bootstrap
from tests.equivalence import test_leaf_helpers as leaf
from tests.equivalence import test_threads_binding as binding
from tests.equivalence.helpers import (
    BINDING,
    BOOTSTRAP,
    CUBLAS,
    LANGUAGE,
    RUNNER,
    SPAN,
    SYMMETRIC,
    TORCH_TP,
    Helper,
    Twins,
)
from tests.equivalence.test_bootstrap import check_bootstrap
from tests.support.frozen import Text, current


class Way(NamedTuple):
    """How a helper is compared."""

    helper: Helper
    twins: Callable[..., Twins]
    check: Callable[[Twins], None]


def check_language(pair: Twins) -> None:
    for shape in leaf.SHAPES:
        leaf.check_language(pair, shape)


BIND = Way(BINDING, binding.twins, binding.check_binding)
BOOT = Way(BOOTSTRAP, bootstrap.twins, check_bootstrap)
CUBL = Way(CUBLAS, leaf.cublas, leaf.check_cublas)
DTEN = Way(TORCH_TP, leaf.torch_tp, leaf.check_torch_tp)
SYMM = Way(SYMMETRIC, leaf.symmetric, leaf.check_symmetric)
LANG = Way(LANGUAGE, leaf.language, check_language)
NAME = Way(SPAN, leaf.span, leaf.check_spans)

# what kind of slip, where, what is written there, what the slip makes of it
SLIPS = [
    ("a comparison", BIND, "if local_size < num_nodes:", "if local_size == num_nodes:"),
    ("a boundary", BOOT, "if tp_size > 1 and not is_draft_worker:", "if tp_size >= 1 and not is_draft_worker:"),
    ("a boundary far down", SYMM, "server_args.symm_mem_prealloc_bytes <= 0", "server_args.symm_mem_prealloc_bytes < 0"),
    ("a negation", BOOT, "not server_args.disable_custom_all_reduce", "server_args.disable_custom_all_reduce"),
    ("or for and", BOOT, 'device == "cuda" and not server_args', 'device == "cuda" or not server_args'),
    ("a constant", CUBL, "b = torch.ones((16, 16)", "b = torch.ones((16, 32)"),
    ("another type of numbers", CUBL, "dtype = torch.float16", "dtype = torch.bfloat16"),
    ("another text to compare with", BOOT, 'if device == "npu" and', 'if device == "hpu" and'),
    ("another default", BOOT, "env.host_ip or LOOPBACK", 'env.host_ip or "0.0.0.0"'),
    ("another exception", BOOT, "raise BadConfig(text, fix", "raise RuntimeError(text, fix"),
    ("no cause", BOOT, "machine than it has devices\",\n        ) from error", "machine than it has devices\",\n        ) from None"),
    ("a narrower except", BOOT, "except (RuntimeError, AssertionError)", "except RuntimeError"),
    ("a wider except", BOOT, "except ImportError", "except Exception"),
    ("the text of an exception", BIND, "parts for {local_size} ranks", "parts for {local_rank} ranks"),
    ("the level of a log record", BIND, 'log.warning("threads: unbound', 'log.info("threads: unbound'),
    ("what a log record says", DTEN, "tp_size, rank)", "rank, tp_size)"),
    ("a dropped call", BOOT, "    device_handle.synchronize()\n", "    pass\n"),
    ("a call done twice", SYMM, "    device_handle.synchronize()\n", "    device_handle.synchronize()\n" * 2),
    ("calls in another order", BOOT, 'get_group("pp")', 'get_group("attention_tp")'),
    ("swapped arguments", DTEN, "tensor_parallel(model, device_mesh)", "tensor_parallel(device_mesh, model)"),
    ("a dropped argument", BOOT, 'parallel_state.share_memory("tp", timeout=server_args.dist_timeout)',
     'parallel_state.share_memory("tp")'),
    ("another attribute", BOOT, "cp_size=server_args.attn_cp_size", "cp_size=server_args.dp_size"),
    ("another result", LANG, "return resolve_language_model(inner)", "return inner"),
    ("a dropped result", BIND, "    return local_omp_cpuid", "    return None"),
    ("names in another order", LANG, '"language_model", "text_model"', '"text_model", "language_model"'),
    ("an aggregate", NAME, "max(each.end", "min(each.end"),
    ("a condition that is too wide", NAME, "(ForwardMode.EXTEND, ForwardMode.MIXED)", "(ForwardMode.EXTEND, ForwardMode.DECODE)"),
    ("another place in a list", BIND, "local_omp_cpuid = parts[local_rank]", "local_omp_cpuid = parts[0]"),
    ("rounding", BIND, "share = ids[at * len(ids) // len(mates)", "share = ids[at * (len(ids) // len(mates))"),
    ("an environment variable", BOOT, 'os.environ["LOCAL_SIZE"] = str(local_size)', 'os.environ["LOCAL_SIZE"] = str(world_size)'),
    ("a with left out", SYMM, "with forward_stream_context(), symmetric_pool(", "with symmetric_pool("),
    ("a write to the wrong field", BOOT, "shared.hccl_comm_name =", "shared.hccl_name ="),
    ("ranks for sizes", BOOT, "hccl.get_hccl_comm_name(rank)", "hccl.get_hccl_comm_name(tp_size)"),
    ("memory of another time", BOOT, "_check_tp_memory_balance(tp_group=tp_group, after_bytes=after_bytes",
     "_check_tp_memory_balance(tp_group=tp_group, after_bytes=before_bytes"),
]  # fmt: skip
IN_THE_RUNNER = [
    ("swapped keywords", BIND, "local_size=self.local_size, local_rank=self.local_rank, rank",
     "local_size=self.local_rank, local_rank=self.local_size, rank"),
    ("groups mixed up", BOOT, "self.pp_group = result.pp_group", "self.pp_group = result.tp_group"),
    ("a group that is not kept", BOOT, "        self.attention_tp_group = result.attention_tp_group\n", ""),
    ("another field", DTEN, "model=self.model", "model=self.language_model"),
    ("the place of another device", CUBL, "device_handle=self.device_handle)", "device_handle=self.device)"),
]  # fmt: skip
HARMLESS = [
    ("another name", LANG, "        inner = getattr(model, name, None)\n        if isinstance(inner, nn.Module):\n"
     "            return resolve_language_model(inner)", "        part = getattr(model, name, None)\n"
     "        if isinstance(part, nn.Module):\n            return resolve_language_model(part)"),
    ("a name for a value", CUBL, "    c = a @ b\n    del c", "    a @ b"),
    ("a comparison turned round", BIND, "if local_size < num_nodes:", "if num_nodes > local_size:"),
]  # fmt: skip


def edited(way: Way, path: str, old: str, new: str) -> Twins:
    text = current(path)
    if text.text.count(old) > 1:  # the helper comes last in the modules that it joined
        head, _, tail = text.text.rpartition(old)
        text = Text(text.file, text.module, head + new + tail)
    else:
        text = text.edited(old, new)
    return way.twins(runner=text) if path == RUNNER else way.twins(edited=text)


@pytest.mark.parametrize(("way", "old", "new"), [slip[1:] for slip in SLIPS], ids=[slip[0] for slip in SLIPS])
def test_a_slip_in_a_helper_is_noticed(way: Way, old: str, new: str) -> None:
    with pytest.raises(AssertionError, match=f"{way.helper.name} (differs from its original|finds another part) in"):
        way.check(edited(way, way.helper.path, old, new))


@pytest.mark.parametrize(
    ("way", "old", "new"), [slip[1:] for slip in IN_THE_RUNNER], ids=[slip[0] for slip in IN_THE_RUNNER]
)
def test_a_slip_in_what_stayed_behind_is_noticed(way: Way, old: str, new: str) -> None:
    with pytest.raises(AssertionError, match=f"{way.helper.name} differs from its original in"):
        way.check(edited(way, RUNNER, old, new))


@pytest.mark.parametrize(("way", "old", "new"), [each[1:] for each in HARMLESS], ids=[each[0] for each in HARMLESS])
def test_what_changes_nothing_is_not_noticed(way: Way, old: str, new: str) -> None:
    way.check(edited(way, way.helper.path, old, new))


def test_every_helper_has_slips() -> None:
    slipped = {slip[1].helper.name for slip in SLIPS}
    assert slipped == {each.name for each in (BINDING, BOOTSTRAP, CUBLAS, LANGUAGE, SPAN, SYMMETRIC, TORCH_TP)}
    assert len(SLIPS) + len(IN_THE_RUNNER) >= 20

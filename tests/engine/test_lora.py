"""Adapters: in one batch each row has its own, as if it were merged into the weights; rows without one stay as they
are, bit for bit; what an adapter may not be is named."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from engine.distributed.group import Group  # noqa: E402
from engine.layers.linear import Linear  # noqa: E402
from engine.layers.target import Target  # noqa: E402
from engine.lora.adapter import (  # noqa: E402
    CONFIG,
    WEIGHTS,
    BadAdapter,
    Pair,
)
from engine.lora.layer import LoraLayer, Segment, StepAdapters  # noqa: E402
from engine.lora.manager import LoraManager  # noqa: E402
from engine.models.decoder import stages  # noqa: E402
from engine.schema.errors import BadConfig, BadRequest  # noqa: E402
from engine.schema.step import Slice  # noqa: E402
from tests.engine import checkpoints  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
_rng = random.Random(5)
SEQUENCES = [[_rng.randrange(199) for _ in range(length)] for length in (13, 9, 1, 11, 6)]
CLOSE = 3e-4
ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ADAPTERS: dict[str, dict[str, Any]] = {
    "every": {"r": 4, "lora_alpha": 12, "modules": ALL},
    "attention": {"r": 8, "lora_alpha": 4, "modules": ("q_proj", "v_proj"), "use_rslora": True},
    "mixed": {
        "r": 2,
        "lora_alpha": 6,
        "modules": ("k_proj", "up_proj", "down_proj"),
        "layers": (1, 3),
        "rank_pattern": {"layers.1.self_attn.k_proj": 5, "up_proj": 3},
        "alpha_pattern": {"down_proj": 1.5},
    },
}
WHO = ["every", None, "attention", "mixed", "every"]


def module_of(layer: int, name: str) -> str:
    return f"model.layers.{layer}.{'self_attn' if name[0] in 'qkvo' else 'mlp'}.{name}"


def write_adapter(folder: Path, model: Any, seed: int, *, modules: Sequence[str], **options: Any) -> Path:
    """As PEFT writes it; drawn large enough to matter."""
    layers = options.pop("layers", range(checkpoints.SIZES["num_hidden_layers"]))
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "base",
        "target_modules": list(modules),
        "lora_dropout": 0.1,
        "bias": "none",
        "use_dora": False,
        "modules_to_save": None,
        "init_lora_weights": True,
        "loftq_config": {},
        "unheard_of": None,
        **options,
    }
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for layer in layers:
        for name in modules:
            module = module_of(layer, name)
            outputs, inputs = model.get_submodule(module).weight.shape
            rank = config["r"]
            for pattern, value in config.get("rank_pattern", {}).items():
                rank = value if module.endswith(pattern) else rank
            key = f"base_model.model.{module}"
            tensors[f"{key}.lora_A.weight"] = torch.randn(rank, inputs, generator=generator) * inputs**-0.5
            tensors[f"{key}.lora_B.weight"] = torch.randn(outputs, rank, generator=generator) * 0.12
    folder.mkdir(exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(config))
    save_file(tensors, folder / WEIGHTS)
    return folder


def merge(model: Any, folder: Path, sign: float = 1.0) -> None:
    """W + scale * B A, by the words of the paper and of PEFT's options."""
    from safetensors.torch import load_file

    config, tensors = json.loads((folder / CONFIG).read_text()), load_file(folder / WEIGHTS)
    for key, a in tensors.items():
        if ".lora_A." not in key:
            continue
        b, module = tensors[key.replace("lora_A", "lora_B")], key.split("base_model.model.")[1].split(".lora_A")[0]
        alpha = next(
            (v for k, v in config.get("alpha_pattern", {}).items() if module.endswith(k)), config["lora_alpha"]
        )
        scale = alpha / len(a) ** (0.5 if config.get("use_rslora") else 1.0)
        with torch.no_grad():
            model.get_submodule(module).weight += sign * scale * (b.double() @ a.double()).float()


class Made:
    """A checkpoint, its adapters, and what transformers says to each sequence with each of them merged."""

    def __init__(self, family: str, folder: Path) -> None:
        self.folder = folder / "model"
        model = checkpoints.write(family, self.folder)
        self.adapters = {
            name: write_adapter(folder / name, model, seed, **options)
            for seed, (name, options) in enumerate(ADAPTERS.items())
        }
        self.expected: dict[str | None, list[Any]] = {None: self._logits(model)}
        for name, path in self.adapters.items():
            merge(model, path)
            self.expected[name] = self._logits(model)
            merge(model, path, -1.0)

    @staticmethod
    def _logits(model: Any) -> list[Any]:
        with torch.inference_mode():
            return [model(torch.tensor([each])).logits[0] for each in SEQUENCES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    known: dict[str, Made] = {}

    def make(family: str) -> Made:
        if family not in known:
            known[family] = Made(family, tmp_path_factory.mktemp(family))
        return known[family]

    return make


def manager_of(model: Any, adapters: Mapping[str, Path] = {}, **options: Any) -> LoraManager:
    manager = LoraManager(model, **{"max_rank": 8, "max_loaded": 8, "max_in_batch": 3, **options})
    for name, path in adapters.items():
        manager.load(name, path)
    return manager


def run(models: Sequence[Any], managers: Sequence[LoraManager], who: Sequence[str | None]) -> list[Any]:
    def before_step(parts: Sequence[Slice]) -> None:
        rows = [who[part.seq_id] for part in parts for _ in part.token_ids]
        for each in managers:
            each.begin_step(rows)

    with torch.inference_mode():
        return checkpoints.logits(models, SEQUENCES, chunks=[5, 1, 3], attention="sdpa", before_step=before_step)


def check(found: Sequence[Any], expected: Mapping[str | None, list[Any]], who: Sequence[str | None]) -> None:
    for index, name in enumerate(who):
        theirs = expected[name][index]
        assert (found[index] - theirs).abs().max() < CLOSE, name
        if name is not None and len(theirs) > 1:
            assert (theirs - expected[None][index]).abs().max() > 0.1, "an adapter that does something"


@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma3"])
def test_each_row_has_its_adapter_as_if_merged(made: Any, family: str) -> None:
    this = made(family)
    model = checkpoints.decoder(this.folder)
    plain = run([model], [], WHO)
    manager = manager_of(model, this.adapters)
    found = run([model], [manager], WHO)
    check(found, this.expected, WHO)
    assert torch.equal(found[1], plain[1])  # in the batch, and without an adapter
    check(run([model], [manager], ["every"] * 5), this.expected, ["every"] * 5)
    for ours, theirs in zip(run([model], [manager], [None] * 5), plain, strict=True):
        assert torch.equal(ours, theirs)


def test_stages_have_the_adapters_of_their_layers(made: Any) -> None:
    this = made("llama")
    parts = [checkpoints.decoder(this.folder, stage=each) for each in stages(4, 3)]
    check(run(parts, [manager_of(each, this.adapters) for each in parts], WHO), this.expected, WHO)


def run_rank(rank: int, size: int, made: dict[str, tuple[Path, dict[str, Path]]], out: Path) -> None:
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{out}/store", rank=rank, world_size=size)
    group = Group(range(size), rank, dist.group.WORLD)
    for family, (folder, adapters) in made.items():
        model = checkpoints.decoder(folder, group=group)
        torch.save(run([model], [manager_of(model, adapters, group=group)], WHO), out / f"{family}-{rank}.pt")
    dist.destroy_process_group()


def test_ranks_have_their_shares(made: Any, tmp_path: Path) -> None:
    families = ["llama", "gemma3"]  # 2 and 1 KV heads over two ranks
    paths = {family: (made(family).folder, made(family).adapters) for family in families}
    context: Any = mp
    context.start_processes(run_rank, (2, paths, tmp_path), nprocs=2, start_method="spawn")
    for family in families:
        for rank in range(2):
            check(torch.load(tmp_path / f"{family}-{rank}.pt"), made(family).expected, WHO)


def test_slots_are_given_up_for_others_and_filled_anew(made: Any) -> None:
    this = made("llama")
    model = checkpoints.decoder(this.folder)
    manager = manager_of(model, this.adapters, max_in_batch=2)
    for names in (["every", "mixed"], ["attention", "every"], ["mixed", "attention"], ["every", None]):
        who = [names[index % 2] for index in range(5)]
        check(run([model], [manager], who), this.expected, who)
    with pytest.raises(BadConfig, match="3 adapters in one step"):
        manager.begin_step(["every", "mixed", "attention"])
    with pytest.raises(BadRequest, match="'never' is not loaded"):
        manager.begin_step(["never"])


def test_adapters_come_and_go_while_requests_hold_them(made: Any) -> None:
    this = made("llama")
    model = checkpoints.decoder(this.folder)
    manager = manager_of(model, max_loaded=2, max_in_batch=2)
    every, attention, mixed = (this.adapters[each] for each in ("every", "attention", "mixed"))
    manager.load("a", every)
    manager.load("b", attention)
    manager.hold("a")
    manager.load("c", mixed)  # b goes: a is held
    assert list(manager.names) == ["a", "c"]
    manager.hold("c")
    with pytest.raises(BadAdapter, match="all of 2 adapters are in use"):
        manager.load("d", every)
    with pytest.raises(BadAdapter, match="is loaded"):
        manager.load("a", every)
    assert manager.unload("a") is False
    assert list(manager.names) == ["c"]
    with pytest.raises(BadRequest, match="'a' is not loaded"):
        manager.hold("a")
    with pytest.raises(BadAdapter, match="still in use"):
        manager.load("a", attention)
    who = ["a", "c", None, "a", "c"]
    names = {"a": "every", "c": "mixed", None: None}
    check(run([model], [manager], who), {key: this.expected[name] for key, name in names.items()}, who)
    manager.release("a")
    manager.load("a", attention)  # another one of that name, in whatever slot
    manager.release("c")
    assert manager.unload("c") is True
    assert list(manager.names) == ["a"]
    check(run([model], [manager], ["a"] * 5), {None: this.expected[None], "a": this.expected["attention"]}, ["a"] * 5)
    with pytest.raises(ValueError, match="nobody holds"):
        manager.release("a")
    with pytest.raises(BadRequest, match="use one of: a"):
        manager.unload("c")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bits_do_not_depend_on_the_other_rows_where_they_may_not(dtype: Any) -> None:
    linear = Linear(192, 320, has_bias=False, dtype=dtype)
    linear.tile_rows = 16
    step, pair = StepAdapters(), Pair(torch.randn(8, 192), torch.randn(320, 8), 0.5)
    layer = LoraLayer(
        [("x", Target(linear, 192, 320, 0, 320))], num_slots=1, max_rank=8, dtype=linear.weight.dtype, step=step
    )
    layer.fill(0, {"x": pair})
    x = torch.randn(70, 192).to(dtype)

    def added(rows: list[int]) -> Any:
        step.segments = (Segment(0, torch.tensor(rows)),)
        return layer.add(x, torch.zeros(70, 320, dtype=dtype))[rows]

    whole = added(list(range(70)))
    for count in (1, 3, 16, 17, 40):
        assert torch.equal(added(list(range(count))), whole[:count])
        assert torch.equal(added(list(range(70 - count, 70))), whole[70 - count :])


def test_the_one_used_longest_ago_goes_first(made: Any) -> None:
    this = made("llama")
    manager = manager_of(checkpoints.decoder(this.folder), this.adapters, max_loaded=3)
    manager.begin_step(["every", "mixed"])
    manager.load("new", this.adapters["every"])
    assert manager.names == ("every", "mixed", "new")
    manager.hold("every")
    manager.release("every")
    manager.load("newer", this.adapters["every"])
    assert manager.names == ("every", "new", "newer")


def test_tensors_do_as_well_as_files(made: Any) -> None:
    from safetensors.torch import load_file

    this = made("llama")
    model = checkpoints.decoder(this.folder)
    manager = manager_of(model)
    folder = this.adapters["every"]
    manager.load_tensors("x", json.loads((folder / CONFIG).read_text()), load_file(folder / WEIGHTS))
    check(run([model], [manager], ["x"] * 5), {None: this.expected[None], "x": this.expected["every"]}, ["x"] * 5)


Q = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.mark.parametrize(
    ("config", "tensors", "message"),
    [
        ({"speed": 3, "height": 1}, {}, "says height, speed, which is not known"),
        ({"use_dora": True}, {}, "use_dora is not computed"),
        ({"bias": "all"}, {}, "bias is not computed"),
        ({"modules_to_save": ["lm_head"]}, {}, "modules_to_save is not"),
        ({"init_lora_weights": "pissa_niter_4"}, {}, "init_lora_weights is 'pissa_niter_4', which changes the base"),
        ({"peft_type": "IA3"}, {}, "peft_type is 'IA3'"),
        ({"task_type": "SEQ_CLS"}, {}, "task_type is 'SEQ_CLS'"),
        ({"r": 0}, {}, "r is 0"),
        ({"r": True}, {}, "r is True"),
        ({"lora_alpha": "8"}, {}, "lora_alpha is '8'"),
        ({"rank_pattern": [1]}, {}, "rank_pattern is"),
        ({"r": 9}, {}, "rank 9 of .*down_proj.*raise max_rank, which is 8"),
        ({"r": 5}, {}, r"lora_A of .* has shape \(4, 96\), needed is \(5, 96\)"),
        ({}, {f"{Q}.lora_B.weight": (65, 4)}, r"lora_B of .* has shape \(65, 4\), needed is \(64, 4\)"),
        ({}, {f"{Q}.lora_B.weight": None}, "has lora_A alone"),
        ({}, {f"{Q}.lora_magnitude_vector": (64,)}, "magnitude_vector is no part"),
        ({}, {"base_model.model.lm_head.lora_A.weight": (4, 64)}, "lm_head can't be adapted; in layers these can: mlp"),
        ({}, {Q.replace("0", "4") + ".lora_A.weight": (4, 64)}, "the model has 4 layers"),
    ],
)
def test_what_an_adapter_may_not_be_is_named(
    made: Any, config: Any, tensors: Any, message: str, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    this = made("llama")
    folder = this.adapters["every"]
    kept = load_file(folder / WEIGHTS)
    for name, shape in tensors.items():
        kept.pop(name, None)
        if shape is not None:
            kept[name] = torch.zeros(shape)
    save_file(kept, tmp_path / WEIGHTS)
    (tmp_path / CONFIG).write_text(json.dumps({**json.loads((folder / CONFIG).read_text()), **config}))
    manager = manager_of(checkpoints.decoder(this.folder))
    with pytest.raises(BadAdapter, match=message):
        manager.load("x", tmp_path)
    assert manager.names == ()


def test_files_and_options_that_are_wrong(made: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    this = made("llama")
    model = checkpoints.decoder(this.folder)
    manager = manager_of(model, target_modules=("q_proj", "v_proj"), base_model="org/Other")
    with pytest.raises(BadAdapter, match="can't be read"):
        manager.load("x", tmp_path)
    (tmp_path / CONFIG).write_text((this.adapters["every"] / CONFIG).read_text())
    with pytest.raises(BadAdapter, match=f"has no {WEIGHTS}"):
        manager.load("x", tmp_path)
    (tmp_path / WEIGHTS).write_bytes(b"\0" * 9)
    with pytest.raises(BadAdapter, match="damaged"):
        manager.load("x", tmp_path)
    with pytest.raises(
        BadAdapter, match=r"down_proj can't be adapted; in layers these can: self_attn\.q_proj, self_attn\.v"
    ):
        manager.load("x", this.adapters["every"])
    manager.load("x", this.adapters["attention"])
    assert "its_base=base model=Other" in caplog.text
    with pytest.raises(BadAdapter, match="without a name"):
        manager.load("", this.adapters["attention"])
    with pytest.raises(BadConfig, match="target_modules names lm_head"):
        manager_of(model, target_modules=("lm_head", "q_proj"))
    with pytest.raises(BadConfig, match="max_rank=0"):
        manager_of(model, max_rank=0)
    with pytest.raises(BadConfig, match="max_loaded=1"):
        manager_of(model, max_loaded=1)
    # 4 layers, of each a qkv of 64 -> 128 with two parts: rank 8, 3 slots, fp32.
    assert manager.num_bytes == 4 * 3 * 4 * (2 * 8 * 64 + 8 * (64 + 32))

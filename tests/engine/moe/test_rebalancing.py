"""Experts that move between real processes while tokens are computed: the same tokens, and in every slot the weights
that the maps name. The recorder, capture and layer indices by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.distributed.group import single  # noqa: E402
from engine.models.checkpoint import Checkpoint  # noqa: E402
from engine.models.expert_weights import experts_of, put  # noqa: E402
from engine.models.layer_indices import hybrid_layer_ids, layer_indices  # noqa: E402
from engine.moe import initial  # noqa: E402
from engine.moe.capture import capturer_for, over_stages  # noqa: E402
from engine.moe.eplb import EPLBManager, EplbOptions  # noqa: E402
from engine.moe.location import ExpertLocationMetadata, trivial_map  # noqa: E402
from engine.moe.parallel import alone  # noqa: E402
from engine.moe.recorder import ExpertDistributionRecorder  # noqa: E402
from engine.moe.updater import ExpertLocationUpdater, ExpertLost  # noqa: E402
from engine.schema.errors import BadConfig  # noqa: E402
from tests.engine import checkpoints  # noqa: E402
from tests.engine.moe import jobs, ranks, rebalancing  # noqa: E402


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[int]]]:
    folder = tmp_path_factory.mktemp("dots1")
    model = checkpoints.write("dots1", folder, num_key_value_heads=4)
    with torch.inference_mode():
        found = [list(each) for each in jobs.PROMPTS]
        for tokens in found:
            for _ in range(9):
                tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return folder, found


def test_tokens_while_experts_move(reference: Any, tmp_path: Path) -> None:
    folder, tokens = reference
    found = ranks.run(rebalancing.tokens_while_experts_move, 4, tmp_path, str(folder))
    for made in found:
        assert made["plain"] == made["packed"] == tokens
        assert made["int8wo"] == found[0]["int8wo"]  # rounded, so of its own; but the same on every rank
        for form in ("plain", "packed", "int8wo"):
            assert made[f"{form} moved"]
            assert made[f"{form} rebalances"] >= 2 and all(len(each) == 1 for each in made[f"{form} chunks"])
        assert all(made["random"]) and len(made["random"]) == 6 * 3 * 6
        check_records([each["utilization"] for each in found])


def check_records(found: list[Any]) -> None:
    """Three sparse layers, each token to three experts."""
    for made in found:
        assert made["skipped"] == (2, 0)
        places = 3 * made["tokens"]
        stat, per_pass = made["stat"], made["per_pass"]
        assert stat["logical_count"].sum(-1).tolist() == [0, places, places, places] and stat["num_passes"] == 1
        assert 0.2 < stat["utilization"][0] <= 1
        (record,) = per_pass["records"]
        assert record["forward_pass_id"] == 7 and torch.equal(record["logical_count"], stat["logical_count"])
        assert record["physical_count"].sum() == 3 * places
    chosen = [made["per_token"]["records"][0]["topk_ids"] for made in found]
    counts = sum(torch.bincount(each[2].flatten(), minlength=24) for each in chosen)
    assert torch.equal(counts, found[0]["per_pass"]["records"][0]["physical_count"][2])


def test_the_recorder_alone(tmp_path: Path) -> None:
    location = ExpertLocationMetadata(trivial_map(2, 4, 4), num_logical_experts=4, ep_size=2, ep_rank=0)
    recorder = ExpertDistributionRecorder(location, buffer_size=2)
    with pytest.raises(BadConfig, match="not being recorded"):
        recorder.stop_record()
    recorder.start_record()
    with pytest.raises(BadConfig, match="recorded already"):
        recorder.start_record()
    for number in range(3):  # the first one falls out
        with recorder.with_forward_pass(number):
            recorder.on_select_experts(0, torch.tensor([[0, 4], [4, number]]))

    def fails() -> None:
        with recorder.with_forward_pass(3):
            recorder.on_select_experts(0, torch.tensor([[1, 1]]))
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fails()
    made = recorder.dump_record(single(), tmp_path)
    assert made["logical_count"].tolist() == [[6, 1, 1, 0], [0] * 4]
    assert made["utilization"] == [1.0, 1.0]
    (file,) = tmp_path.iterdir()
    assert torch.equal(torch.load(file)["logical_count"], made["logical_count"])
    assert recorder.dump_record(single())["num_passes"] == 0
    # A slot that changes hands: what was counted stays its old expert's.
    with recorder.with_forward_pass(4):
        recorder.on_select_experts(1, torch.tensor([[7, 7]]))
    location.update(torch.tensor([[0, 1, 2, 3, 0, 1, 2, 0]] * 2))
    with recorder.with_forward_pass(5):
        recorder.on_select_experts(1, torch.tensor([[7, 7]]))
    assert recorder.dump_record(single())["logical_count"][1].tolist() == [2, 0, 0, 2]
    for given, match in (({"mode": "all"}, "recorder_mode='all'"), ({"buffer_size": 0}, "buffer_size=0")):
        with pytest.raises(BadConfig, match=match):
            ExpertDistributionRecorder(location, **given)


def test_a_manager_needs_what_it_can_use() -> None:
    location = ExpertLocationMetadata(trivial_map(1, 4, 0), num_logical_experts=4, ep_size=1, ep_rank=0)

    def made(options: EplbOptions, mode: str = "stat") -> EPLBManager:
        recorder = ExpertDistributionRecorder(location, mode=mode)
        return EPLBManager(
            options,
            location=location,
            recorder=recorder,
            layer_ids=lambda: [0],
            group=single,
            update=lambda *_: None,
        )

    with pytest.raises(BadConfig, match="expert_distribution_recorder_mode=per_pass"):
        made(EplbOptions(), "per_pass")
    with pytest.raises(BadConfig, match="layers_per_chunk=0"):
        made(EplbOptions(layers_per_chunk=0))
    with pytest.raises(BadConfig, match="threshold=0"):
        made(EplbOptions(min_utilization=0.0))
    manager = made(EplbOptions(num_iterations=3))
    manager.on_forward_pass_end()
    manager.restart()
    for _ in range(2):
        manager.on_forward_pass_end()
    assert manager.num_rebalances == 0
    manager.on_forward_pass_end()
    assert manager.num_rebalances == 1


def test_an_expert_that_nobody_has(reference: Any) -> None:
    moe = Checkpoint(reference[0]).config.moe
    assert moe is not None
    model = checkpoints.decoder(reference[0], experts=alone(moe, num_redundant=4))
    layers = {index: each.routed for index, each in model.sparse_layers().items()}
    assert model.experts is not None
    location = model.experts.location
    kept = [part.clone() for part in layers[1].slot_rows()]
    updater = ExpertLocationUpdater(location)
    same = location.physical_to_logical_map.clone()
    with pytest.raises(ExpertLost, match="expert 0 of layer 1"):
        updater.update(layers, same, [1], group=single(), owners=[0], fresh_ranks=[0])
    wanted: list[tuple[int, int, int]] = []

    def restore(layer: int, slot: int, expert: int) -> None:
        wanted.append((layer, slot, expert))
        checkpoint = Checkpoint(reference[0])
        found = experts_of(checkpoint.tensors(), checkpoint.config.family, {(layer, expert)})
        put(model.sparse_layers()[layer], slot, expert, found[layer, expert])

    for part in layers[1].slot_rows():
        part.zero_()

    updater.restore = restore
    updater.update(layers, same, [1], group=single(), owners=[0], fresh_ranks=[0])
    assert wanted == [(1, slot, slot) for slot in range(16)]  # and copies of the first four, which are new themselves
    assert all(torch.equal(a, b) for a, b in zip(kept, layers[1].slot_rows(), strict=True))


def test_where_experts_stand_at_first(tmp_path: Path) -> None:
    sizes: Any = {"num_layers": 2, "num_logical": 4, "num_redundant": 4, "ep_size": 2}
    assert torch.equal(initial.placement("trivial", **sizes), trivial_map(2, 4, 4))
    rows = [[3, 2, 1, 0, 0, 0, 0, 0]] * 2
    inline = f'{{"physical_to_logical_map": {rows}}}'
    assert initial.placement(inline, **sizes).tolist() == rows
    counts = [[100, 1, 1, 1], [1, 1, 1, 100]]
    hot = initial.placement(f'{{"logical_count": {counts}}}', **sizes)
    assert [row.tolist().count(hottest) for row, hottest in zip(hot, (0, 3), strict=True)] == [5, 5]
    torch.save({"logical_count": torch.tensor(counts)}, tmp_path / "x.pt")
    assert torch.equal(initial.placement(str(tmp_path / "x.pt"), **sizes), hot)
    (tmp_path / "x.json").write_text(inline)
    assert initial.placement(str(tmp_path / "x.json"), **sizes).tolist() == rows
    for given, match in (
        ("nearest", "init_expert_location='nearest'"),
        (str(tmp_path / "y.json"), "can't be read"),
        ('{"map": []}', "neither physical_to_logical_map nor logical_count"),
        ('{"logical_count": [[1, 2]]}', "counts of 1 layers and 2 experts"),
        ('{"physical_to_logical_map": [[1, 2]]}', r"a placement of \(1, 2\)"),
        ('{"logical_count": "many"}', "no table of numbers"),
    ):
        with pytest.raises(BadConfig, match=match):
            initial.placement(given, **sizes)


def test_what_tokens_were_routed_to_is_kept_by_slot(reference: Any) -> None:
    model = checkpoints.decoder(reference[0])
    assert model.experts is not None
    options: dict[str, Any] = {
        "is_wanted": True,
        "num_slots": 64,
        "layer_ids": list(model.sparse_layers()),
        "top_k": 3,
        "num_experts": 16,
    }
    capturer = model.experts.capturer = capturer_for(is_draft_worker=False, **options)
    assert capturer is not None and capturer.num_bytes == 64 * 3 * 3
    seen: list[Any] = []
    hook = model.sparse_layers()[2].routed.router.register_forward_hook(lambda *given: seen.append(given[2].ids_TK))
    with torch.inference_mode():
        capturer.begin_step(torch.arange(10, 29))
        checkpoints.logits([model], [jobs.PROMPTS[2]], chunks=[99], attention="sdpa")
        capturer.end_step()
        checkpoints.logits([model], [jobs.PROMPTS[1]], chunks=[99], attention="sdpa")  # outside of a step: not kept
    hook.remove()
    assert torch.equal(capturer.routed(range(10, 29))[:, 1].long(), seen[0])
    assert capturer.routed([0]).sum() == 0
    assert torch.equal(over_stages(capturer.routed([12]), single(), [3]), capturer.routed([12]))
    # Drafts record nothing, whatever is asked for; nor does who asks for nothing.
    assert capturer_for(is_draft_worker=True, **options) is None
    assert capturer_for(is_draft_worker=False, **{**options, "is_wanted": False}) is None
    with pytest.raises(BadConfig, match="dense model"):
        capturer_for(is_draft_worker=False, **{**options, "num_experts": 0})
    many = capturer_for(is_draft_worker=False, **{**options, "num_experts": 300})
    assert many is not None
    many.begin_step(torch.tensor([3]))
    many.capture(1, torch.tensor([[299, 1, 256]]))
    assert many.routed([3])[0, 0].tolist() == [299, 1, 256]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"num_hidden_layers": 24}, (0, 24, 24)),
        ({"num_hidden_layers": 24, "stage": (8, 16), "pp_size": 3}, (8, 16, 8)),
        ({"num_hidden_layers": 24, "stage": (16, 24), "pp_size": 3, "loop_num": 2}, (16, 24, 16)),
        ({"num_hidden_layers": 24, "num_attention_layers": 30}, (0, 30, 30)),
        ({"num_hidden_layers": 4, "is_draft_worker": True}, (0, 4, 4)),
        (
            {
                "num_hidden_layers": 61,
                "is_draft_worker": True,
                "architecture": "DeepseekV3ForCausalLMNextN",
                "num_nextn_predict_layers": 2,
            },
            (0, 2, 2),
        ),
        ({"num_hidden_layers": 36, "is_draft_worker": True, "architecture": "MiMoMTP"}, (0, 1, 1)),
        ({"num_hidden_layers": 36, "architecture": "MiMoMTP"}, (0, 36, 36)),
    ],
)
def test_layer_indices(given: dict[str, Any], expected: tuple[int, int, int]) -> None:
    assert tuple(layer_indices(**given)) == expected


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"is_draft_worker": True, "pp_size": 2}, "a draft model over several stages"),
        ({"is_draft_worker": True, "architecture": "DeepseekV3ForCausalLMNextN"}, "num_nextn_predict_layers"),
        ({"stage": (8, 8), "pp_size": 3}, "layers 8 to 8 of 24"),
        ({"stage": (20, 25), "pp_size": 3}, "layers 20 to 25 of 24"),
        ({"pp_size": 3}, "does not say which layers"),
        ({"loop_num": 0}, "0 loops"),
    ],
)
def test_layer_indices_that_are_none(given: dict[str, Any], match: str) -> None:
    with pytest.raises(BadConfig, match=match):
        layer_indices(**{"num_hidden_layers": 24, **given})


def test_the_end_of_a_stage_is_not_its_own() -> None:
    windows = [7, 0, 7, 0, 7, 7]
    parts = [hybrid_layer_ids(windows, start_layer=first, end_layer=last) for first, last in ((0, 2), (2, 5), (5, 6))]
    assert parts == [([0], [1]), ([2, 4], [3]), ([5], [])]

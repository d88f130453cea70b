"""Experts shared out over real processes: the tokens of one rank, whatever the number of ranks, redundancy, policy, way
of the tokens to the experts, and stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.distributed.group import Group, single  # noqa: E402
from engine.moe.dispatch import physical_ids  # noqa: E402
from engine.moe.location import ExpertLocationMetadata, trivial_map  # noqa: E402
from engine.moe.parallel import ExpertParallel  # noqa: E402
from engine.schema.errors import BadConfig  # noqa: E402
from tests.engine import checkpoints  # noqa: E402
from tests.engine.moe import jobs, ranks  # noqa: E402

# redundant experts, policy, way of the tokens: over 16 experts
RUNS = [
    (0, "static", "all_to_all"),
    (0, "static", "none"),
    (4, "static", "all_to_all"),
    (4, "dynamic", "none"),
    (16, "dynamic", "all_to_all"),
    (32, "static", "none"),
    (32, "lp", "all_to_all"),
    (32, "lp", "none"),
]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[int]], list[Any]]:
    folder = tmp_path_factory.mktemp("dots1")
    model = checkpoints.write("dots1", folder, num_attention_heads=4, num_key_value_heads=4, vocab_size=199)
    with torch.inference_mode():
        found = [list(each) for each in jobs.PROMPTS]
        for tokens in found:
            for _ in range(jobs.NUM_TOKENS):
                tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
        return folder, found, [model(torch.tensor([each])).logits[0] for each in jobs.PROMPTS]


def check(made: list[Any], reference: Any) -> None:
    _, tokens, logits = reference
    for found, ours in made:
        assert found == tokens
        for one, other in zip(ours, logits, strict=True):
            assert (one - other).abs().max() < 3e-4


def test_one_rank(reference: Any) -> None:
    with torch.inference_mode():
        check(jobs.serve(0, 1, str(reference[0]), RUNS[::2], {"tp_size": 1}), reference)


def test_two_ranks(reference: Any, tmp_path: Path) -> None:
    for made in ranks.run(jobs.two_ranks, 2, tmp_path, str(reference[0]), RUNS):
        check(made["ep2"], reference)
        assert made["exchanged"] == [True] * 3


def test_four_ranks(reference: Any, tmp_path: Path) -> None:
    """Four shares of the experts; two, each of which two ranks have half the width of; two in each of two stages."""
    found = ranks.run(jobs.four_ranks, 4, tmp_path, str(reference[0]), RUNS)
    for rank, made in enumerate(found):
        check(made["ep4"], reference)
        check(made["ep2 moe_tp2"], reference)
        assert made["exchanged"] == [True] * 3
        if rank < 2:
            assert made["staged"] is None
            continue
        for one, other in zip(made["staged"], reference[2], strict=True):
            assert (one - other).abs().max() < 3e-4


def test_policies_choose_copies_of_the_expert() -> None:
    location = ExpertLocationMetadata(trivial_map(2, 16, 16), num_logical_experts=16, ep_size=4, ep_rank=2)
    ids = torch.randint(16, (500, 3), generator=torch.Generator().manual_seed(0))
    for algorithm in ("static", "dynamic"):
        found = physical_ids(ids, location, layer=1, algorithm=algorithm, step=3)
        assert torch.equal(location.physical_to_logical_map[1][found], ids)
    assert set((found // 8).flatten().tolist()) == {0, 1, 2, 3}
    first = (found < 16).float().mean()
    assert 0.45 < first < 0.55  # either copy as often
    # The same places, whoever computes how many of them.
    part = physical_ids(ids[100:130], location, layer=1, algorithm="dynamic", step=3, first=100)
    assert torch.equal(part, found[100:130])
    assert not torch.equal(physical_ids(ids, location, layer=1, algorithm="dynamic", step=4), found)
    shares = torch.tensor([0.25, 0.75] + [0.0] * 15).repeat(16, 1)
    lp = physical_ids(ids, location, layer=1, algorithm="lp", step=1, shares_EX=shares)
    assert 0.2 < (lp < 16).float().mean() < 0.3
    fake = physical_ids(torch.zeros_like(ids), location, layer=0, algorithm="fake", step=1)
    assert len(set(fake.flatten().tolist())) == 32


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"algorithm": "nearest"}, "ep_dispatch_algorithm='nearest'"),
        ({"backend": "deepep"}, "moe_a2a_backend='deepep'"),
        ({"ep": Group(range(2), 0), "same_tokens": single()}, "moe_a2a_backend=all_to_all"),
        ({"ep": Group(range(4), 0)}, "placed on 2 ranks, the group has 4"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], match: str) -> None:
    location = ExpertLocationMetadata(trivial_map(1, 8, 0), num_logical_experts=8, ep_size=2, ep_rank=0)
    with pytest.raises(BadConfig, match=match):
        ExpertParallel(location, **{"ep": Group(range(2), 0), **changes})


def test_experts_over_ranks_that_do_not_divide() -> None:
    with pytest.raises(BadConfig, match="9 experts, redundant ones counted, over 2 ranks"):
        ExpertLocationMetadata(trivial_map(1, 8, 1), num_logical_experts=8, ep_size=2, ep_rank=0)
    with pytest.raises(BadConfig, match="expert 7 stands nowhere"):
        ExpertLocationMetadata(torch.tensor([[0, 1, 2, 3, 4, 5, 6, 6]]), num_logical_experts=8, ep_size=2, ep_rank=0)

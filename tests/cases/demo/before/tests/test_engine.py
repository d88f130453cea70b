import pytest
from helpers import make_runner, write_model

from minirunner import simdev
from minirunner.config import ServerArgs
from minirunner.engine import Engine

PROMPTS = {"a": [1, 2, 3], "b": [4, 5]}


def generate(args, **options):
    engine = Engine(args)
    tokens = engine.generate(PROMPTS, max_new_tokens=5, **options)
    engine.shutdown()
    return tokens


def test_every_layout_gives_the_same_tokens(model_path):
    expected = generate(ServerArgs(model_path))
    assert expected == {"a": [8, 31, 30, 29, 11], "b": [3, 24, 2, 2, 18]}
    assert generate(ServerArgs(model_path, tp_size=2)) == expected
    assert generate(ServerArgs(model_path, device="cpu", tp_size=2)) == expected
    assert generate(ServerArgs(model_path, disable_step_cache=True)) == expected


def test_sampling_repeats_with_its_seed(model_path):
    first = generate(ServerArgs(model_path, random_seed=3), temperature=0.8)
    assert generate(ServerArgs(model_path, random_seed=3), temperature=0.8) == first


def test_memory_is_given_back(model_path):
    engine = Engine(ServerArgs(model_path, tp_size=2))
    assert {"target.0.weights", "target.0.kv"} == set(simdev.device(0).allocations)
    engine.shutdown()
    assert all(not simdev.device(index).allocations for index in range(simdev.num_devices()))


def test_blocks_are_given_back(model_path):
    engine = Engine(ServerArgs(model_path, max_total_tokens=80))
    before = engine.runners[0].get_stats()["free_blocks"]
    engine.generate(PROMPTS, max_new_tokens=2)
    assert engine.runners[0].get_stats()["free_blocks"] == before == 20


def test_draft_layers_take_their_share(tmp_path, model_path):
    alone = make_runner(ServerArgs(model_path)).max_total_num_tokens
    simdev.configure()
    draft = write_model(tmp_path, "draft", num_layers=1)
    shared = make_runner(ServerArgs(model_path, draft_model_path=draft)).max_total_num_tokens
    assert shared == pytest.approx(alone * 2 / 3, rel=1e-3)


def test_too_little_memory_says_what_to_do(model_path):
    with pytest.raises(RuntimeError, match=r"8 tokens fit.*self\.server_args\.mem_fraction_static=0\.75"):
        make_runner(ServerArgs(model_path, max_total_tokens=8))


def test_update_weights(tmp_path, model_path):
    runner = make_runner(ServerArgs(model_path))
    assert runner.update_weights_from_disk(write_model(tmp_path, "newer", seed=8))[0]
    ok, message = runner.update_weights_from_disk(write_model(tmp_path, "wider", hidden_size=8))
    assert not ok
    assert "has another shape" in message


def test_weights_of_a_broken_checkpoint_are_not_used(tmp_path, model_path):
    runner = make_runner(ServerArgs(model_path))
    params = dict(runner.model.params)
    broken = write_model(tmp_path, "broken", seed=9)
    with open(broken, "r+b") as file:
        file.truncate(600)
    ok, message = runner.update_weights_from_disk(broken)
    assert not ok
    assert "The old ones are in use" in message
    assert runner.model.params == params


def test_context_for_error_reports(model_path):
    assert make_runner(ServerArgs(model_path)).dump_context("tp_size", "nothing") == "tp_size=1 nothing='?'"

"""The readers that two commits of a real history left behind are found, every one, and nothing else is said of eleven.

UNMOVED_TEST_HISTORY names a bare repository with sglang's main branch. What each commit left was read by hand: lines
are counted in the new tree."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.repo.git import git
from codemods.repo.store import ObjectStore
from codemods.schema.config import Settings
from codemods.schema.verdict import Problem
from codemods.verify.readers import left_behind
from codemods.verify.tree_change import between_trees

HISTORY = os.environ.get("UNMOVED_TEST_HISTORY", "")
pytestmark = [pytest.mark.real, pytest.mark.skipif(not HISTORY, reason="UNMOVED_TEST_HISTORY names no repository")]

EXECUTOR = "python/sglang/srt/model_executor"
KITS = "python/sglang/test/kits/attention_unittest/attention_methods"
LAYERS = "39e508b7fc30bf1792360a8dc9de12431d57f278"
RENAMED = "2cf753c4f"
DEGREES = "6999007a1"
CLEAN = ["cad8fe7a6", "caa85ea02", "0fe2dbd42", "45dfa318f", "c9b408101", "5b540b16d", "440aebdfe", "ed2fcd320"]


@pytest.fixture(name="store")
def open_store() -> Iterator[ObjectStore]:
    with ObjectStore(Path(HISTORY)) as store:
        yield store


def left(store: ObjectStore, short: str) -> list[Problem]:
    commit = store.commit(_full(short))
    return left_behind(between_trees(store, store.commit(commit.parents[0]).tree, commit.tree, Settings()))


def _full(short: str) -> str:
    return git("rev-parse", "--verify", f"{short}^{{commit}}", cwd=Path(HISTORY)).decode().strip()


def lines(found: list[Problem], code: str) -> Counter[str]:
    """path -> how many of its lines the findings name."""
    return Counter(path for path, _ in {(each.path, each.line) for each in found if each.code == code})


def test_layer_indices_become_a_struct(store: ObjectStore) -> None:
    found = left(store, LAYERS)
    assert lines(found, "U119") == {
        f"{EXECUTOR}/model_runner_kv_cache_mixin.py": 42,
        f"{EXECUTOR}/pool_configurator.py": 6,
        f"{EXECUTOR}/model_runner.py": 1,  # `_is_hip`, dropped with the code that moved and read once more
    }
    assert lines(found, "U120") == {"test/registered/unit/model_executor/test_pool_configurator.py": 3}
    assert lines(found, "U121") == {}


def test_a_field_is_renamed(store: ObjectStore) -> None:
    found = left(store, RENAMED)
    assert lines(found, "U119") == {
        f"{EXECUTOR}/pool_configurator.py": 2,
        f"{EXECUTOR}/runner/flashinfer_autotune.py": 1,
        "python/sglang/srt/utils/weight_checker.py": 1,
    }
    kits = ["dense", "dsa", "dsv4", "dual_chunk", "mla"]
    assert lines(found, "U120") == {
        **{f"{KITS}/{kit}_attention.py": 1 for kit in kits},
        "test/registered/unit/model_executor/test_pool_configurator.py": 1,
        "test/registered/unit/utils/test_weight_checker.py": 1,
    }
    assert lines(found, "U121") == {}


def test_twelve_fields_go_and_only_doubles_keep_them(store: ObjectStore) -> None:
    found = left(store, DEGREES)
    assert lines(found, "U119") == lines(found, "U121") == {}
    assert sum(lines(found, "U120").values()) == 25


@pytest.mark.parametrize("commit", CLEAN)
def test_nothing_is_said_where_nothing_is_left(store: ObjectStore, commit: str) -> None:
    assert left(store, commit) == []

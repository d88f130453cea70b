import logging
from unittest import mock

import pytest
from helpers import make_runner

from minirunner import simdev
from minirunner.config import ServerArgs
from minirunner.runner.cpu_model_runner import CpuModelRunner


def test_each_rank_gets_its_node(model_path):
    args = ServerArgs(model_path, device="cpu", tp_size=2)
    assert make_runner(args, tp_rank=0).local_omp_cpuid == "0,1,2,3"
    assert make_runner(args, tp_rank=1).local_omp_cpuid == "4,5,6,7"
    assert simdev.bound_cores() == "4,5,6,7"


def test_user_names_the_cores(model_path, monkeypatch):
    monkeypatch.setenv("MINI_CPU_THREADS_BIND", "0-1|6-7")
    runner = make_runner(ServerArgs(model_path, device="cpu", tp_size=2), tp_rank=1)
    assert runner.local_omp_cpuid == "6-7"


def test_more_ranks_than_nodes_is_refused(model_path):
    with mock.patch("minirunner.runner.model_runner.get_cpu_ids_by_node", return_value=["0,1"]):
        with pytest.raises(AssertionError, match=r"each of the 2 ranks \(tp_size\)"):
            make_runner(ServerArgs(model_path, device="cpu", tp_size=2))


def test_cores_for_the_wrong_number_of_ranks(model_path, monkeypatch):
    monkeypatch.setenv("MINI_CPU_THREADS_BIND", "0-3|4-7|8-11")
    with pytest.raises(AssertionError, match="names cores for 3 ranks, tp_size is 2"):
        make_runner(ServerArgs(model_path, device="cpu", tp_size=2))


def test_idle_nodes_are_mentioned(model_path, monkeypatch, caplog):
    nodes = ["0", "1", "2", "3"]
    monkeypatch.setattr("minirunner.runner.model_runner.get_cpu_ids_by_node", lambda: nodes)
    runner = make_runner(ServerArgs(model_path, device="cpu", tp_size=1))
    assert runner.local_omp_cpuid == "0"
    assert "the cores of 3 nodes stay idle" in caplog.text


def test_shared_node_is_mentioned_word_for_word(model_path, monkeypatch, caplog):
    monkeypatch.setenv("MINI_CPU_THREADS_BIND", "0-3|4-7")
    monkeypatch.setattr("minirunner.runner.model_runner.get_cpu_ids_by_node", lambda: ["0,1,2,3,4,5,6,7"])
    make_runner(ServerArgs(model_path, device="cpu", tp_size=2))
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings[0].startswith("self.tp_size=2 is larger than the number of NUMA nodes (1): ranks share")


def test_rebind_follows_the_variable(model_path, monkeypatch):
    runner = make_runner(ServerArgs(model_path, device="cpu", tp_size=1))
    assert isinstance(runner, CpuModelRunner)
    monkeypatch.setenv("MINI_CPU_THREADS_BIND", "2-3")
    assert runner.rebind() == "2-3"
    assert simdev.bound_cores() == "2-3"


def test_accelerators_bind_nothing(model_path):
    with mock.patch("minirunner.runner.model_runner.ModelRunner.init_threads_binding") as bind:
        runner = make_runner(ServerArgs(model_path))
    bind.assert_not_called()
    assert not hasattr(runner, "local_omp_cpuid")


def test_host_without_amx(model_path, caplog):
    with mock.patch("minirunner.runner.model_runner._is_amx_available", False):
        runner = make_runner(ServerArgs(model_path, device="cpu", tp_size=2))
    assert runner.tp_group.backend == "tcp"
    assert simdev.bound_cores() is None
    assert "the host lacks AMX" in caplog.text

from unittest import mock

import pytest
from helpers import make_runner

from minirunner import simdev
from minirunner.config import ServerArgs
from minirunner.engine import Engine


@pytest.mark.parametrize(
    ("options", "backend"),
    [({}, "ring"), ({"device": "cpu"}, "shm"), ({"dist_backend": "tcp"}, "tcp")],
)
def test_backend(model_path, options, backend):
    assert make_runner(ServerArgs(model_path, **options)).tp_group.backend == backend


@pytest.mark.parametrize(
    ("options", "override", "expected"),
    [
        ({}, "", "tcp://127.0.0.1:29500"),
        ({"host": "10.0.0.1", "dist_port": 7}, "", "tcp://10.0.0.1:7"),
        ({"dist_init_addr": "node0:5000"}, "", "tcp://node0:5000"),
        ({"dist_init_addr": "node0:5000"}, "env://", "env://"),
    ],
)
def test_init_method(model_path, monkeypatch, options, override, expected):
    monkeypatch.setenv("MINI_DIST_INIT_METHOD", override)
    assert make_runner(ServerArgs(model_path, **options)).tp_group.init_method == expected


def test_bad_address_is_refused(model_path):
    with pytest.raises(ValueError, match="'node0' is not HOST:PORT"):
        make_runner(ServerArgs(model_path, dist_init_addr="node0"))


def test_missing_device_tells_its_context(model_path, caplog):
    with pytest.raises(simdev.DeviceError):
        make_runner(ServerArgs(model_path, tp_size=4), tp_rank=3)
    assert "Context: self.device='sim' self.gpu_id=3 self.tp_rank=3 self.tp_size=4" in caplog.text


def test_somebody_else_on_a_device_is_an_error(model_path):
    simdev.allocate(1, "somebody else", 32 * simdev.MIB)
    with pytest.raises(
        RuntimeError, match=r"unbalanced.*self\.tp_size=2, pre_model_load_memory=32\.0, local_memory=64"
    ):
        Engine(ServerArgs(model_path, tp_size=2))


def test_somebody_else_on_a_device_is_a_warning_on_request(model_path, monkeypatch, caplog):
    monkeypatch.setenv("MINI_ENABLE_MEMORY_BALANCE_CHECK", "0")
    simdev.allocate(1, "somebody else", 32 * simdev.MIB)
    runner = make_runner(ServerArgs(model_path, tp_size=2))
    assert "local_memory * MEMORY_BALANCE_RATIO=57.6" in caplog.text
    assert runner.max_total_num_tokens > 0


def test_memory_balance_is_checked_once_per_rank(model_path):
    target = "minirunner.runner.model_runner.ModelRunner.check_memory_balance"
    with mock.patch(target, return_value=1.0) as check:
        make_runner(ServerArgs(model_path))
    check.assert_called_once()


def test_math_library_is_loaded_before_the_first_request(model_path):
    make_runner(ServerArgs(model_path))
    assert simdev.device(0).is_math_loaded


def test_cold_start_can_be_measured(model_path, monkeypatch):
    monkeypatch.setattr("minirunner.runner.model_runner.ModelRunner.warm_up_matmul", mock.Mock())
    make_runner(ServerArgs(model_path))
    assert not simdev.device(0).is_math_loaded


def test_warm_up_on_request_for_hosts_that_skip_it(model_path):
    engine = Engine(ServerArgs(model_path, device="cpu"))
    assert not simdev.device(0).is_math_loaded
    engine.warm_up()
    assert simdev.device(0).is_math_loaded

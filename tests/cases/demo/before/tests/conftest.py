import pytest
from helpers import write_model

from minirunner import simdev
from minirunner.distributed import parallel_state


@pytest.fixture(autouse=True)
def fresh_host(monkeypatch):
    """A host with two devices and two NUMA nodes, no groups, and none of our variables set."""
    for name in ("THREADS_BIND", "DIST_INIT_METHOD", "ENABLE_MEMORY_BALANCE_CHECK", "LOCAL_SIZE"):
        prefix = "MINI_CPU_" if name == "THREADS_BIND" else "MINI_"
        # Set first, so that the variable is also taken back when the code under test sets it.
        monkeypatch.setenv(prefix + name, "")
        monkeypatch.delenv(prefix + name)
    simdev.configure()
    yield
    parallel_state.destroy()


@pytest.fixture
def model_path(tmp_path):
    return write_model(tmp_path)

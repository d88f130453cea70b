"""The environment, addresses, ports and sampling options: what is taken, what is refused, and in which words."""

from __future__ import annotations

import math
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.env import EnvSettings, read_env
from engine.distributed import addresses, backend, ports
from engine.distributed.addresses import Address, parse_address
from engine.schema import sampling
from engine.schema.errors import BadConfig, BadRequest
from engine.schema.sampling import SamplingParams


def test_an_empty_environment_is_the_default() -> None:
    assert read_env({}) == EnvSettings(cache_dir=Path("~/.cache/unmoved-engine").expanduser())


def test_variables_are_read() -> None:
    found = read_env(
        {"ENGINE_CPU_OMP_THREADS_BIND": "0-1|2-3", "ENGINE_MEMORY_BALANCE": "off", "RANK": "3", "XDG_CACHE_HOME": "/c"}
    )
    assert (found.cpu_omp_threads_bind, found.is_memory_balance_enforced) == ("0-1|2-3", False)
    assert (found.world_rank, found.cache_dir) == (3, Path("/c/unmoved-engine"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENGINE_MEMORY_BALANCE", "maybe"),
        ("ENGINE_LOG_LEVEL", "loud"),
        ("ENGINE_CPU_BIND", "all"),
        ("RANK", "-1"),
        ("WORLD_SIZE", "two"),
    ],
)
def test_bad_variables_are_named(name: str, value: str) -> None:
    with pytest.raises(BadConfig, match=name):
        read_env({name: value})


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with pytest.raises(BadConfig, match="set ENGINE_CACHE_DIR"):
        read_env({})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("10.0.0.1", "tcp://10.0.0.1:29500"),
        ("node-1.lan", "tcp://node-1.lan:29500"),
        ("2001:db8::5", "tcp://[2001:db8::5]:29500"),
    ],
)
def test_brackets_are_for_ipv6_alone(host: str, url: str) -> None:
    assert addresses.init_url(host, 29500) == url
    assert (urlparse(url).hostname, urlparse(url).port) == (host, 29500)


@given(st.one_of(st.ip_addresses().map(str), st.from_regex(r"[a-z][a-z0-9-]{0,10}(\.[a-z]{2,5})?", fullmatch=True)))
def test_an_address_is_read_as_it_is_written(host: str) -> None:
    made = Address(host, 1234)
    assert parse_address(str(made), source="x") == made
    assert addresses.connect_host(host) == {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


@pytest.mark.parametrize(
    "text", ["", "host", "host:", ":80", "host:0", "host:65536", "host:x", "fd00::1:80", "[host]:80", "[::1]", "h:-1"]
)
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(BadConfig, match=r"^bad-config: --dist-init-addr="):
        parse_address(text, source="--dist-init-addr")


def test_workers_listen_where_the_others_come() -> None:
    assert addresses.worker_bind_host(None) == "127.0.0.1"
    assert addresses.worker_bind_host("n1:9") == "n1"
    assert addresses.worker_bind_host("[fd00::1]:9") == "fd00::1"


def test_a_port_is_free_when_all_families_can_bind_it() -> None:
    v4, v6 = ports.FAMILIES
    taken = {(v6, 80)}

    def bind(family: socket.AddressFamily, port: int) -> bool:
        return (family, port) not in taken

    assert not ports.is_free(80, families=(v4, v6), bind=bind)
    assert ports.is_free(80, families=(v4,), bind=bind)
    assert ports.is_free(81, families=(v4, v6), bind=bind)
    assert not any(ports.is_free(port, families=(v4,), bind=bind) for port in (0, -1, 65536, 70000))


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        with ports.claimed_port(port) as other:
            assert other > port
        with pytest.raises(BadConfig, match=f"no free port from {port}"), ports.claimed_port(port, tries=1):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is claimed here")
def test_two_engines_that_start_together_get_different_ports() -> None:
    """Neither has bound its own yet: a second engine's ranks would join the first one's world."""
    with ports.claimed_port(29500) as first:
        with ports.claimed_port(first) as second:
            assert second > first and ports.is_free(first)
        with ports.claimed_port(second) as again:
            assert again == second


def test_cards_are_counted_from_the_first_gpu_of_the_job() -> None:
    for gpus in ([0, 1, 2, 3], [4, 5, 6, 7]):
        assert backend.cards_for_gpus(gpus, ["a", "b"]) == ["a", "b"]
    assert backend.cards_for_gpus([6, 7], ["a", "b", "c"]) == ["a", "b"]
    assert backend.cards_for_gpus([], ["a"]) == [] == backend.cards_for_gpus([1], [])


@pytest.mark.parametrize(("sizes", "count"), [((8, 1, 1), 8), ((8, 1, 2), 4), ((8, 2, 2), 8), ((2, 4, 4), 2)])
def test_ranks_of_a_node(sizes: tuple[int, int, int], count: int) -> None:
    assert backend.ranks_per_node(*sizes) == count


def test_sizes_that_do_not_divide_are_refused() -> None:
    with pytest.raises(BadConfig, match="tp_size=6 over 4 nodes"):
        backend.ranks_per_node(6, 1, 4)
    with pytest.raises(BadConfig, match="'tpu' has no collective backend"):
        backend.default_backend("tpu")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("temperature", each) for each in (-1, math.nan, math.inf, "1", True, None)],
        *[("top_p", each) for each in (0, 1.1, -0.5)],
        *[("top_k", each) for each in (-2, 1.0)],
        *[("max_tokens", each) for each in (0, -1, 1.5)],
        ("min_tokens", 17),
        ("n", 0),
        ("n", 129),
        ("logprobs", 21),
        ("seed", 2**63),
        ("stop", ("",)),
        ("stop", ("a",) * 17),
        ("stop_token_ids", (100,)),
        ("stop_token_ids", (-1,)),
        ("logit_bias", {100: 1.0}),
        ("logit_bias", {1: 101.0}),
        ("repetition_penalty", 0),
    ],
)
def test_sampling_options_out_of_range_name_the_field(field: str, value: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        sampling.check(SamplingParams(**{field: value}), vocab_size=100)
    assert caught.value.field.partition("[")[0] == field and caught.value.fix


def test_sampling_options_in_range() -> None:
    for params in (
        SamplingParams(),
        SamplingParams(temperature=0, top_k=-1, seed=-(2**63), logprobs=0, logit_bias={99: -100}),
        SamplingParams(max_tokens=None, min_tokens=5000, top_p=1, min_p=1.0, n=128),
    ):
        sampling.check(params, vocab_size=100)
    assert SamplingParams(temperature=0).is_greedy and not SamplingParams().is_greedy
    with pytest.raises(BadRequest, match="regex"):
        sampling.check(SamplingParams(json_schema="{}", regex="a"))

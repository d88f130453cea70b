"""Who may ask for what, adapters as models, sleep and weights, and what the server says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.engine.server.http.running import KEY, Running

TEXT: dict[str, Any] = {"model": "tiny", "prompt": "hi"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/load_lora_adapter", {"lora_name": "a", "lora_path": "/x"}),
    ("/v1/unload_lora_adapter", {"lora_name": "a"}),
    ("/sleep", {}),
    ("/wake_up", {}),
    ("/update_weights", {"model_path": "/m"}),
]


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", f"Basic {KEY}", KEY, "Bearer \xe9"]
)
def test_without_the_key_there_is_nothing(running: Running, header: str | None) -> None:
    headers = [] if header is None else [(b"authorization", header.encode("latin-1"))]
    for method, path in (
        *(("POST", path) for path in ("/v1/completions", "/v1/chat/completions", *(path for path, _ in CALLS))),
        *(("GET", path) for path in ("/v1/models", "/metrics", "/nowhere")),
    ):
        answer = httpx.request(method, running.url + path, headers=headers, timeout=30)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key"), path
        assert answer.json()["error"]["type"] == "authentication_error"
        assert answer.headers["www-authenticate"] == "Bearer"
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="wrong", max_retries=0).models.list()


def test_health_and_version_are_everybodys(running: Running) -> None:
    for path in ("/health", "/version"):
        assert httpx.get(running.url + path, timeout=30).status_code == 200


def test_without_a_key_nobody_changes_the_server(tmp_path: Path) -> None:
    with Running(tmp_path, key=None) as other:
        assert other.http.get("/v1/models").status_code == 200
        for path, body in CALLS:
            answer = other.http.post(path, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_api_key")
        assert other.engine.calls == []


def test_adapters_are_models(running: Running, client: openai.OpenAI) -> None:
    assert [each.id for each in client.models.list()] == ["tiny"]
    loaded = running.http.post("/v1/load_lora_adapter", json={"lora_name": "poet", "lora_path": "/x"})
    assert (loaded.status_code, loaded.json()) == (200, {"loaded": "poet"})
    assert running.engine.calls[-1] == ("load_lora_adapter", {"name": "poet", "path": "/x"})
    assert [each.id for each in client.models.list()] == ["tiny", "poet"]
    assert client.models.retrieve("poet").model_dump()["parent"] == "tiny"
    assert client.models.retrieve("tiny").model_dump()["max_model_len"] == 4096
    assert client.completions.create(model="poet", prompt="x").model == "poet"
    client.completions.create(model="tiny", prompt="x")
    assert [each.adapter for each in running.engine.adds[-2:]] == ["poet", None]
    for body, param in (
        ({"lora_name": "poet", "lora_path": "/y"}, "lora_name"),
        ({"lora_name": "tiny", "lora_path": "/y"}, "lora_name"),
        ({"lora_name": "", "lora_path": "/y"}, "lora_name"),
        ({"lora_name": "b"}, "lora_path"),
        ({"lora_name": "b", "lora_path": 3}, "lora_path"),
        ({"lora_name": "b", "lora_path": "x", "rank": 3}, "rank"),
    ):
        answer = running.http.post("/v1/load_lora_adapter", json=body)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert running.http.post("/v1/unload_lora_adapter", json={"lora_name": "poet"}).status_code == 200
    assert running.engine.calls[-1] == ("unload_lora_adapter", {"name": "poet"})
    gone = running.http.post("/v1/unload_lora_adapter", json={"lora_name": "poet"})
    assert (gone.status_code, gone.json()["error"]["param"]) == (404, "lora_name")
    with pytest.raises(openai.NotFoundError):
        client.completions.create(model="poet", prompt="x")


def test_an_adapter_that_the_engine_refuses_is_no_model(running: Running, client: openai.OpenAI) -> None:
    answer = running.http.post("/v1/load_lora_adapter", json={"lora_name": "b", "lora_path": "/nowhere"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        400,
        "/nowhere holds no adapter; give another path",
    )
    assert [each.id for each in client.models.list()] == ["tiny"]


def test_sleep_and_waking(running: Running) -> None:
    assert running.http.post("/sleep", json={"level": 3}).json()["error"]["param"] == "level"
    assert running.http.post("/sleep", json={"level": 2}).json() == {"is_sleeping": True}
    assert running.engine.calls[-1] == ("sleep", {"level": 2})
    refused = running.http.post("/v1/completions", json=TEXT)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "asleep")
    assert running.http.get("/health").json()["status"] == "asleep"
    assert running.http.get("/is_sleeping").json() == {"is_sleeping": True}
    assert running.http.post("/wake_up").json() == {"is_sleeping": False, "are_weights_lost": True}
    assert running.engine.calls[-1] == ("wake_up", {})
    lost = running.http.post("/v1/completions", json=TEXT)
    assert (lost.status_code, lost.json()["error"]["code"]) == (503, "weights_lost")
    running.http.post("/update_weights", json={"model_path": "/m"})
    assert running.http.post("/v1/completions", json=TEXT).status_code == 200
    assert running.http.post("/sleep").status_code == 200 and running.engine.calls[-1] == ("sleep", {"level": 1})
    assert running.http.post("/wake_up", json={}).json() == {"is_sleeping": False, "are_weights_lost": False}
    assert running.http.post("/v1/completions", json=TEXT).status_code == 200


def test_weights(running: Running) -> None:
    assert running.http.post("/update_weights", json={}).json()["error"]["param"] == "model_path"
    assert running.http.post("/update_weights", json={"model_path": "/m"}).json() == {"updated": "/m"}
    assert running.engine.calls[-1] == ("update_weights_from_disk", {"path": "/m"})


def test_what_is_counted(tmp_path: Path) -> None:
    with Running(tmp_path, key=None) as other:
        other.http.post("/v1/completions", json={**TEXT, "prompt": "SAY[abc]"})
        other.http.post("/v1/completions", json={**TEXT, "n": 0})
        other.http.post(
            "/v1/chat/completions", json={"model": "tiny", "messages": [{"role": "user", "content": "ODD"}]}
        )
        other.http.post("/v1/completions", json={**TEXT, "prompt": "GIVE UP"})
        other.http.get("/metrics")
        answer = other.http.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        lines = set(answer.text.splitlines())
        assert {
            'engine_requests_total{endpoint="completions",outcome="ok"} 1.0',
            'engine_requests_total{endpoint="completions",outcome="refused"} 1.0',
            'engine_requests_total{endpoint="completions",outcome="failed"} 1.0',
            'engine_requests_total{endpoint="chat",outcome="failed"} 1.0',
            "engine_requests_open 0.0",
            "engine_time_to_first_token_seconds_count 2.0",
            "engine_time_per_output_token_seconds_count 4.0",
            "engine_request_seconds_count 4.0",
            "engine_num_blocks 64.0",
            "engine_num_running 0.0",
            "engine_output_tokens_total 6.0",
            "engine_up 1.0",
            'engine_info{model="tiny"} 1.0',
        } - lines == set(), answer.text


def test_ids_are_ones_own(running: Running) -> None:
    # C50: over calls and workers.
    ids = [running.http.post("/v1/completions", json=TEXT).json()["id"] for _ in range(5)]
    assert len(set(ids)) == 5
    assert len({each.request_id for each in running.engine.adds}) == len(running.engine.adds)

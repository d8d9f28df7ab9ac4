"""Every test times one kernel; the ratios to their limits are printed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from benchmarks.micro.pacing import Paced


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Also for what is prepared: threads that wait for each other on a busy machine take many times as long."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def paced(benchmark: Any) -> Paced:
    return Paced(benchmark)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """All ratios as a Markdown table."""
    session = getattr(config, "_benchmarksession", None)
    rows = [row(each) for each in getattr(session, "benchmarks", []) if "times" in each.extra_info]
    if rows:
        terminalreporter.section("kernels beside their limits")
        terminalreporter.line("| kernel | median ms | limit | times the limit | range | allowed |")
        terminalreporter.line("| :--- | ---: | :--- | ---: | ---: | ---: |")
        terminalreporter.line("\n".join(rows))


def row(measured: Any) -> str:
    info = measured.extra_info
    name = measured.name.removeprefix("test_").replace("_", " ")
    shown = f"{info['times']:.2f} | {info['low']:.2f}..{info['high']:.2f} | {info['at_most']:g}"
    return f"| {name} | {1e3 * measured.stats.median:.3g} | {info['limit']} | {shown} |"

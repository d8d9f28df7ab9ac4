"""Every test times one kernel; the ratios to their limits are printed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from benchmarks.micro.pacing import Paced
from benchmarks.micro.usual import USUAL


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Also for what is prepared: threads that wait for each other on a busy machine take many times as long."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def paced(benchmark: Any, request: pytest.FixtureRequest) -> Paced:
    return Paced(benchmark, USUAL[plain(request.node.name)])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """All ratios as a Markdown table."""
    session = getattr(config, "_benchmarksession", None)
    rows = [row(each) for each in getattr(session, "benchmarks", []) if "times" in each.extra_info]
    if rows:
        terminalreporter.section("kernels beside their limits")
        terminalreporter.line("| kernel | best ms | limit | times the limit | usual | allowed |")
        terminalreporter.line("| :--- | ---: | :--- | ---: | ---: | ---: |")
        terminalreporter.line("\n".join(rows))


def row(measured: Any) -> str:
    info = measured.extra_info
    shown = f"{info['times']:.2f} | {info['usual']:g} | {info['at_most']:.2f}"
    return f"| {plain(measured.name)} | {1e3 * info['best']:.3g} | {info['limit']} | {shown} |"


def plain(name: str) -> str:
    """The name of a kernel, from that of its test."""
    return name.removeprefix("test_").replace("_", " ")

"""What the figures show: the paper's values beside ours, lines that can be told apart, axes that can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from benchmarks.paper.experiment import Experiment
from benchmarks.paper.figure import LOOKS, draw, looks_of, papers, plt
from benchmarks.paper.summary import Mean, Row


def experiment(by: tuple[str, ...], x: str | None, paper: dict[Any, Any]) -> Experiment:
    metrics = ("R2", "seconds")
    return Experiment("X1", "toy", lambda size: [], lambda case: {}, by=by, metrics=metrics, x=x, paper=paper)


LINES = experiment(("method", "p"), "p", {("b", 100): {"seconds": 60.0}, ("b", 900): {"seconds": 99.0}})
BARS = experiment(("method",), None, {("b",): {"R2": 0.5, "seconds": 900.0}, ("c",): {"R2": 0.25}})
ROWS = [
    Row((method, p), 1, {"R2": Mean(0.7, 0.1), "seconds": Mean(seconds, 0.1)})
    for method, seconds in (("a", 2.5), ("b", 30.0))
    for p in (10, 100)
]
FEW = [Row((method,), 1, {"R2": Mean(0.75, 0.1), "seconds": Mean(9.0, None)}) for method in ("a", "b")]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Draws, and leaves the figure open to be looked at."""
    kept: list[Figure] = []

    def of(experiment: Experiment, rows: list[Row]) -> Figure:
        with monkeypatch.context() as patch:
            patch.setattr(plt, "close", kept.append)
            draw(experiment, rows, tmp_path / "figure.png", "small")
        return kept[-1]

    yield of
    for each in kept:
        plt.close(each)


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_papers_values_are_those_of_rows_that_there_are() -> None:
    assert papers(LINES, ROWS, "seconds") == {"b": [(100, 60.0, 0.0)]}
    assert papers(LINES, ROWS, "R2") == {}
    assert papers(BARS, FEW, "R2") == {"b": [(None, 0.5, 0.0)]}


def test_bars_of_the_paper_stand_beside_ours(drawn: Any) -> None:
    figure = drawn(BARS, FEW)
    ours, theirs = figure.axes[0].patches[:2], figure.axes[0].patches[2:]
    assert [bar.get_height() for bar in ours] == [0.75, 0.75]
    assert [(bar.get_height(), bool(bar.get_hatch())) for bar in theirs] == [(0.5, True)]
    assert theirs[0].get_x() == pytest.approx(ours[1].get_x() + ours[1].get_width())
    assert [each.get_text() for each in figure.axes[0].get_xticklabels()] == ["a", "b"]
    assert legend(figure) == ["ours", "the paper's"]
    assert (figure.axes[0].get_yscale(), figure.axes[1].get_yscale()) == ("linear", "log")


def test_points_of_the_paper_have_the_colour_of_their_method(drawn: Any) -> None:
    figure = drawn(LINES, ROWS)
    (point,) = [each for each in figure.axes[1].collections if isinstance(each, PathCollection)]
    assert point.get_offsets().tolist() == [[100.0, 60.0]]
    assert to_hex(point.get_facecolor()[0]) == to_hex(looks_of(LINES, ROWS)["b"]["color"])
    assert legend(figure) == ["a", "b", "b, the paper's"]


def test_lines_that_meet_differ_in_more_than_colour() -> None:
    looks = looks_of(LINES, ROWS)
    assert list(looks) == ["a", "b"]
    for key in ("color", "marker", "linestyle", "linewidth"):
        assert len({each[key] for each in LOOKS}) == len(LOOKS)


def test_an_axis_of_seconds_has_several_numbers(drawn: Any) -> None:
    figure = drawn(LINES, ROWS)
    panel = figure.axes[1]
    low, high = panel.get_ylim()
    figure.canvas.draw()
    shown = [each for each in panel.get_yticks() if low <= each <= high]
    assert panel.get_yscale() == "log"
    assert len(shown) >= 3

"""Places and words of drawings, as numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.report.charts.bars import Bar, linear_bars, log_bars
from backbone_dask.report.charts.dots import Dot, effect_dots
from backbone_dask.report.charts.frame import LEFT, RIGHT, SMALLER, WIDTH, breadth, with_room, x_axis
from backbone_dask.report.charts.lines import Curve, apart, curves
from backbone_dask.report.charts.ranks import Marks, ranked
from backbone_dask.report.charts.scale import Evenly, Linear, Log
from backbone_dask.report.charts.steps import Plot, Steps, step_lines
from backbone_dask.report.html import short, text
from backbone_dask.report.numbers import MINUS, TIMES, duration, number, percent, size, tick, ticks

finite = st.floats(-1e9, 1e9, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (10**8, "100,000,000"),
        (0.05678, "0.05678"),
        (-2.5, f"{MINUS}2.5"),
        (1.2e-7, f"1.2{TIMES}10⁻⁷"),
        (123456.7, "123,457"),
        (9.99999e12, f"1{TIMES}10¹³"),
    ],
)
def test_numbers(value, said):
    assert number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.05, "0.05"), (1e3, "1,000"), (1e6, "10⁶"), (2e7, f"2{TIMES}10⁷"), (-0.5, f"{MINUS}0.5"), (0.0, "0")],
)
def test_ticks(value, said):
    assert tick(value) == said


@pytest.mark.parametrize("axis", [(409.10195, 409.1020, 409.10205), (1e6, 1.00001e6, 1.00002e6), (0.05881, 0.05882)])
def test_ticks_of_one_axis_are_told_apart(axis):
    named = ticks(axis)
    assert len(set(named.values())) == len(axis)
    assert ticks((1.0, 2.0)) == {1.0: "1", 2.0: "2"}


def test_shares_tell_little_from_nothing_and_much_from_all():
    said = [percent(share) for share in (0, 1e-9, 0.5, 0.12345, 0.999999, 1)]
    assert said == ["0 %", "below 0.01 %", "50 %", "12.35 %", "99.99 %", "100 %"]


def test_times_and_sizes():
    said = [duration(each) for each in (0.004, 1.25, 42.4, 200, 7300)]
    assert said == ["4 ms", "1.2 s", "42 s", "3 min 20 s", "2 h 1 min"]
    assert [size(each) for each in (12, 4_200, 44e6, 1.5e9)] == ["12 bytes", "4.2 kB", "44 MB", "1.5 GB"]


@given(st.lists(finite, min_size=1, max_size=9))
def test_a_linear_scale_holds_its_values_between_its_ticks(values):
    scale = Linear.over(values, 10.0, 110.0)
    for value in values:
        assert 10 - 1e-6 <= scale(value) <= 110 + 1e-6
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 9
    assert all(later > earlier for earlier, later in pairwise(ticks))


def test_a_log_scale_by_hand():
    scale = Log.over([10.0, 1e8], 0.0, 80.0)
    assert [round(scale(value)) for value in (0.0, 1.0, 10.0, 1e4, 1e8)] == [0, 0, 10, 40, 80]
    assert scale.ticks() == (1.0, 100.0, 1e4, 1e6, 1e8)


def test_even_places_are_the_middles_of_strips():
    assert [Evenly(4, 0.0, 80.0)(at) for at in range(4)] == [10, 30, 50, 70]
    assert len(Evenly(100, 0.0, 80.0).ticks()) <= 8


@given(st.lists(st.floats(0, 100), min_size=1, max_size=7))
def test_names_are_moved_apart(places):
    moved = apart(sorted(places), 13.0, 0.0, 100.0)
    assert all(later - earlier >= 13 - 1e-6 for earlier, later in pairwise(moved))
    assert moved[0] >= -1e-6
    assert moved[-1] <= 100 + 1e-6


def test_names_of_ticks_do_not_reach_into_each_other():
    assert with_room({1.0: (0, 10), 2.0: (8, 10), 3.0: (16, 10), 4.0: (40, 10)}) == [1.0, 3.0, 4.0]


def marks_of(drawing):
    """Every number of the drawing is finite; the drawing as XML."""
    svg = drawing.svg()
    root = ElementTree.fromstring(svg)
    for each in root.iter():
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height"):
            if name in each.attrib:
                assert math.isfinite(float(each.attrib[name])), (each.tag, each.attrib)
        assert not {"nan", "inf"} & set(each.attrib.get("d", "").lower().replace("l", " ").replace("m", " ").split())
    assert root.find("title").text
    assert root.find("desc").text
    return root


@given(st.floats(1e-6, 1e6))
def test_names_of_ticks_do_not_leave_the_drawing(highest):
    scale = Linear.over([0.0, highest], LEFT, WIDTH - RIGHT)
    named = [ElementTree.fromstring(each) for each in x_axis(scale, 100.0, "seconds") if 'class="tick"' in each]
    ends = [float(each.get("x")) + SMALLER * breadth(each.text) / 2 for each in named]
    assert named
    assert max(ends) <= WIDTH + 0.1


def test_bars_are_as_long_as_their_logarithms():
    root = marks_of(log_bars([Bar("p", 1e8, "10^8"), Bar("k", 1e2, "100"), Bar("none", 0.0, "0")], "f", "t", "d"))
    widths = [float(each.get("width")) for each in root.iter("rect")]
    assert widths[1] == pytest.approx(widths[0] / 4, abs=0.1)
    assert widths[2] == 0


def test_bars_on_a_linear_scale():
    root = marks_of(linear_bars([Bar("a", 4.0, "4 s"), Bar("b", 1.0, "1 s"), Bar("c", 1e-9, "0")], "f", "t", "d"))
    first, second, third = (float(each.get("width")) for each in root.iter("rect"))
    assert second == pytest.approx(first / 4, abs=0.1)
    assert third > 0
    marks_of(linear_bars([Bar("a", 0.0, "0")], "f", "t", "d"))


@given(st.lists(finite, min_size=1, max_size=30))
def test_effects_lie_on_their_side_of_nothing(values):
    root = marks_of(effect_dots([Dot("x", value) for value in values], "a", "f", "t", "d"))
    (zero,) = {float(each.get("x1")) for each in root.iter("line") if each.get("class") == "zero"}
    for circle, value in zip(root.iter("circle"), values, strict=True):
        assert (float(circle.get("cx")) - zero) * value >= -0.11 * abs(value)


def test_steps_hold_until_the_next():
    root = marks_of(step_lines([Steps("a", "found", [(0.0, 1.0), (2.0, 3.0)], 4.0)], Plot("x"), "f", "t", "d"))
    (line,) = root.iter("path")
    points = [tuple(map(float, each.split())) for each in line.get("d")[1:].split("L")]
    assert [x for x, _ in points] == [points[0][0], points[1][0], points[1][0], points[3][0]]
    assert points[0][1] == points[1][1] > points[2][1] == points[3][1]


@pytest.mark.parametrize("values", [(0.0, 0.0), (5.0, None), (1e-9, 2e-9)])
def test_curves_of_any_height(values):
    lines = [Curve("a", values, emphasised=True), Curve("b", (values[0], values[0]))]
    root = marks_of(curves(lines, ("1", "2"), 0, axes=("k", "error"), called="f", title="t", description="d"))
    assert [each.get("data-mark") for each in root.iter("circle") if each.get("class") == "ring"] == ["chosen"]


def test_marks_on_one_place_are_drawn_once():
    marked = [Marks("backbone", "b", [(at, 0.5) for at in range(100_000, 100_200)], 3.0)]
    root = marks_of(
        ranked([(1, 1.0), (200_000, 0.1)], marked, axes=("rank", "utility"), called="f", title="t", description="d")
    )
    dots = [each for each in root.iter("circle") if each.get("class") == "b"]
    assert len(dots) == 2
    marks_of(ranked([(1, 0.0)], [], axes=("rank", "utility"), called="f", title="t", description="d"))


@given(st.text())
def test_any_text_is_harmless_xml(value):
    shown = text(value)
    root = ElementTree.fromstring(f'<a b="{shown}">{shown}</a>')
    assert len(root) == 0
    assert root.get("b") == (root.text or "")
    assert len(root.text or "") == len(value)


@given(st.text(), st.integers(8, 80))
def test_short_names_keep_both_ends(value, most):
    cut = short(value, most)
    assert len(cut) <= most
    assert cut == value or (value.startswith(cut[:3]) and value.endswith(cut[-1]))


def test_an_axis_begins_where_it_is_said_to():
    """However short the time between two moments is: their names would be longer than the margin has room for."""
    lines = [Steps("a", "found", [(0.02241, 1.0), (0.02242, 3.0)], 0.02243)]
    root = marks_of(step_lines(lines, Plot("x", on_x=(0.0,)), "f", "t", "d"))
    said = [each.text for each in root.iter() if each.text and each.text.replace(".", "").isdigit()]
    assert any(float(each) == 0 for each in said)
    assert max(map(len, said)) <= 5

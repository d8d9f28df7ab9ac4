"""The page of a run as people see it, in a real browser."""

from __future__ import annotations

import pytest
from report_cases import LONG, SCRIPT, TRACE, result_of

pytestmark = pytest.mark.browser

KINDS = ("linear", "certified", "logistic", "tree")
CHARTS = {
    "linear": {"effects", "funnel", "utilities", "growth", "coverage", "trace", "times"},
    "certified": {"effects", "funnel", "utilities", "growth", "coverage", "trace", "passes", "times"},
    "logistic": {"effects", "funnel", "utilities", "growth", "coverage", "validation", "times"},
    "tree": {"importances", "funnel", "utilities", "growth", "coverage", "validation", "times"},
}

# Text that people see, with its colour and the first ground behind it that is not transparent.
COLOURS = """() => [...document.querySelectorAll('h1, h2, p, dt, dd, th, td, li, figcaption, summary, .chart text')]
  .filter(each => each.textContent.trim() && each.getClientRects().length)
  .map(each => {
    let ground = each, colour = 'rgba(0, 0, 0, 0)';
    while (ground && colour === 'rgba(0, 0, 0, 0)') {
      colour = getComputedStyle(ground).backgroundColor; ground = ground.parentElement;
    }
    const style = getComputedStyle(each);
    return [each.closest('svg') ? style.fill : style.color, colour, each.tagName + ' ' + each.textContent.slice(0, 30)];
  })"""
TREE_COLOURS = """() => [...document.querySelectorAll('.tree rect')].map(box => [
  getComputedStyle(box.nextElementSibling).fill, getComputedStyle(box).fill, box.nextElementSibling.textContent])"""
# A letter that leaves the drawing or the window, by so many pixels.
OUTSIDE = """() => [...document.querySelectorAll('svg.chart text')].map(each => {
    const box = each.getBoundingClientRect(), frame = each.closest('section').getBoundingClientRect();
    return [Math.max(frame.left - box.left, box.right - frame.right), each.textContent];
  }).filter(([beyond]) => beyond > 3)"""
OVERLAPS = """() => [...document.querySelectorAll('svg.chart')].flatMap(svg => {
    const boxes = [...svg.querySelectorAll('text')].map(each => [each.getBoundingClientRect(), each.textContent]);
    return boxes.flatMap(([a, said], at) => boxes.slice(at + 1)
      .filter(([b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
                    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
      .map(([, other]) => [svg.dataset.chart, said, other]));
  })"""


def luminance(colour):
    parts = [float(each) / 255 for each in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    light = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]


def contrast(one, other):
    """The ratio of WCAG 2."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def facts(page, called, within="body"):
    return [float(each) for each in page.eval_on_selector_all(
        f'{within} data[data-fact="{called}"]', "all => all.map(each => each.value)"
    )]  # fmt: skip


@pytest.mark.parametrize("width", [320, 1200])
@pytest.mark.parametrize("name", KINDS)
def test_charts_are_seen_and_nothing_leaves_the_window(show, name, width):
    page = show(name, width=width)
    seen = {each.get_attribute("data-chart"): each.bounding_box() for each in page.query_selector_all("svg.chart")}
    assert set(seen) >= CHARTS[name]
    for called, box in seen.items():
        assert box["width"] > 200, called
        assert box["height"] > 30, called
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("name", KINDS)
def test_numbers_are_those_of_the_result(show, runs, name):
    page, result = show(name), result_of(runs / name)
    assert facts(page, "n-samples") == [result["store"]["n_samples"]]
    assert facts(page, "p") == [result["store"]["n_features"]]
    assert facts(page, "k") == [len(result["support"]["ids"])]
    assert facts(page, "backbone") == [len(result["backbone"])]
    assert facts(page, "objective") == [result["objective"]]
    for each in ("bound", "gap"):
        assert facts(page, each) == [result["reduced"][each]]
    for phase, seconds in result["seconds"].items():
        assert facts(page, f"seconds-{phase}" if phase != "total" else "total-seconds") == [seconds]
    for called, value in result["training"].items():
        assert facts(page, called) == [value]
    assert sorted(facts(page, "error")) == sorted(point["error"] for point in result["validation"])


def test_the_bound_over_all_columns_is_drawn_pass_by_pass(show, runs):
    page, result = show("certified"), result_of(runs / "certified")
    proven = result["global"]
    for each in ("bound", "gap", "passes"):
        assert facts(page, f"global-{each}") == [proven[each]]
    assert facts(page, "headline-global-gap") == [proven["gap"]]
    for each in ("objective", "bound", "entering"):
        assert facts(page, f"pass-{each}") == [moment[each] for moment in proven["trace"]]
    drawn = page.locator("#certificate svg")
    assert drawn.locator("circle.incumbent").count() == drawn.locator("circle.bound").count() == proven["passes"]
    assert "joined the backbone by price" in page.locator("#certificate").inner_text()


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_the_table_of_the_model_is_the_model(show, runs, name):
    page, result = show(name), result_of(runs / name)
    effects = [c * s for c, s in zip(result["coefficients"], result["scales"], strict=True)]
    order = sorted(range(len(effects)), key=lambda at: -abs(effects[at]))
    assert facts(page, "coefficient") == [result["coefficients"][at] for at in order]
    assert facts(page, "effect") == [effects[at] for at in order]
    assert facts(page, "free") == [result["intercept"], *result["covariates"]["beside"]]
    rows = page.locator('table[data-table="model"] tbody th bdi')
    names = rows.evaluate_all("all => all.map(each => each.title || each.textContent)")
    assert names[: len(order)] == [result["support"]["names"][at] for at in order]


def test_names_from_people_are_words(show):
    page = show("linear")
    assert page.locator("script").count() == 0
    assert page.locator(f'bdi:text-is("{SCRIPT}")').count() >= 1
    for width in (390, 1200):
        box = show("linear", width=width).locator(f'bdi:text-is("{LONG}")').first.bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= width


def test_the_trace_is_drawn_and_told(show):
    page = show("linear")
    assert facts(page, "trace-objective") == [moment["objective"] for moment in TRACE]
    assert facts(page, "trace-bound") == [6.0, 7.9]
    assert "the gap was 40 % after 0.5 s and 1.25 % after 2 s" in page.locator("#trace").inner_text()


def test_every_drawing_has_words_in_its_place(show):
    for name in KINDS:
        for svg in show(name).query_selector_all("svg"):
            assert svg.get_attribute("role") == "img"
            assert len(svg.query_selector("title").text_content()) > 10
            assert len(svg.query_selector("desc").text_content()) > 10


def test_the_ring_lies_on_the_chosen_curve(show):
    page = show("logistic")
    (ring,) = page.query_selector_all('#validation [data-mark="chosen"]')
    places = page.eval_on_selector_all(
        "#validation .point.chosen", "all => all.map(e => [e.cx.baseVal.value, e.cy.baseVal.value])"
    )
    assert ring.evaluate("e => [e.cx.baseVal.value, e.cy.baseVal.value]") in places


@pytest.mark.parametrize("name", KINDS)
def test_dark_and_light_are_two_and_both_can_be_read(show, name):
    grounds = set()
    for scheme in ("light", "dark"):
        page = show(name, scheme=scheme)
        page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
        pairs = [*page.evaluate(COLOURS), *page.evaluate(TREE_COLOURS)]
        assert len(pairs) > 60
        assert [(said, one, other) for one, other, said in pairs if contrast(one, other) < 4.5] == []
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


@pytest.mark.parametrize("name", KINDS)
def test_paper_shows_everything_black_on_white(show, name):
    page = show(name, width=700, scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert all(section.is_visible() for section in page.query_selector_all("section"))
    for svg in page.query_selector_all("svg"):
        box = svg.bounding_box()
        assert box["width"] > 100
        assert box["x"] + box["width"] <= 700
    boxes = [each for each in page.query_selector_all(".scroll") if each.is_visible()]
    assert boxes
    assert [each for each in boxes if each.evaluate("e => e.scrollHeight > e.clientHeight + 1")] == []
    assert page.locator('table[data-table="versions"]').is_visible()
    assert len(page.pdf(prefer_css_page_size=True)) > 10_000

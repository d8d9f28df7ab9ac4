"""How the model was found: the funnel, the survivors, the backbone."""

from __future__ import annotations

from itertools import groupby

from backbone_dask.report.charts.bars import Bar, log_bars
from backbone_dask.report.charts.ranks import Marks, ranked
from backbone_dask.report.charts.steps import Plot, Steps, step_lines
from backbone_dask.report.facts.funnel import funnel
from backbone_dask.report.facts.growth import Stop, growth
from backbone_dask.report.facts.utilities import RankedUtilities, ranked_utilities
from backbone_dask.report.html import fact, section, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import number, percent
from backbone_dask.report.sections.figure import figure


def funnel_section(material: Material) -> str:
    """From all features to those of the model."""
    stages = funnel(material)
    bars = [Bar(stage.name, float(stage.count), number(stage.count), "bar last") for stage in stages]
    said = ", ".join(f"{stage.name} {number(stage.count)}" for stage in stages)
    drawing = log_bars(bars, "funnel", "Features left after each phase, on a scale of powers of ten", said)
    rows = [
        [text(stage.name), fact(stage.count, number(stage.count), stage.name), text(stage.meaning)] for stage in stages
    ]
    caption = "Features left after each phase. Every power of ten is as long as every other."
    return section(
        "funnel", "From all features to the model", figure(drawing, caption, ["phase", "features", ""], rows)
    )


def utilities_section(material: Material) -> str:
    """The survivors by rank, with the backbone and the chosen ones marked; empty where the run has none."""
    facts = ranked_utilities(material)
    if facts is None:
        return ""
    ranks = [rank for rank, _ in facts.chosen]
    worst = f"the chosen ones rank {_range(ranks)}" if ranks else "none is in the model"
    counted = ", ".join(f"{each.name} {len(each.points):,}" for each in _marks(facts))
    drawing = ranked(
        facts.curve,
        _marks(facts),
        axes=("rank in the screen", "utility"),
        called="utilities",
        title=f"Utility of {facts.n_survivors:,} survivors by rank",
        description=f"They fall from {number(facts.curve[0][1])} to {number(facts.curve[-1][1])}; {worst}. {counted}.",
    )
    caption = (
        f"Of {facts.n_survivors:,} survivors {worst}. Rank 1 is the best: what was chosen from far behind it, a screen "
        "that keeps only the first few would have lost."
    )
    return section(
        "utilities", "What the screen saw", figure(drawing, caption, ["rank", "utility", "what"], _rows(facts))
    )


def _marks(facts: RankedUtilities) -> list[Marks]:
    marks = [Marks("backbone", "in-backbone", facts.backbone, 3.0), Marks("chosen", "in-model", facts.chosen, 4.5)]
    if facts.overlooked:
        marks.append(Marks("missed", "overlooked", facts.overlooked, 4.5))
    return marks


def _range(ranks: list[int]) -> str:
    return f"{ranks[0]:,}" if len(ranks) == 1 else f"{min(ranks):,} to {max(ranks):,}"


def _rows(facts: RankedUtilities) -> list[list[str]]:
    kinds = (("chosen", facts.chosen), ("backbone", facts.backbone), ("relevant, not chosen", facts.overlooked))
    marked = {rank: (utility, said) for said, points in reversed(kinds) for rank, utility in points}
    ends = {rank: (utility, "survivor") for rank, utility in (facts.curve[0], facts.curve[-1])}
    return [
        [fact(rank, number(rank), "rank"), fact(utility, number(utility), "utility"), text(said)]
        for rank, (utility, said) in sorted((ends | marked).items())
    ]


def growth_section(material: Material) -> str:
    """The backbone and the coverage after each subproblem; empty where the run has no levels on file."""
    stops = growth(material.levels)
    if not stops:
        return ""
    last = stops[-1]
    n_levels = len({stop.level for stop in stops})
    over = f"{last.number:,} subproblems" + (f" in {n_levels} levels" if n_levels > 1 else "")
    drawing = step_lines(
        _lines(stops, "features found", "found", [float(stop.found) for stop in stops]),
        Plot("subproblem", (0.0,), 1.0),
        "growth",
        f"Size of the backbone over {over}",
        f"It ends with {last.found:,} features.",
    )
    rows = [_row(stop) for stop in stops]
    caption = f"{over.capitalize()} end with {last.found:,} features.{_priced_in(material)} {_idle(stops)}"
    head = ["subproblem", "level", "features found"]
    inner = figure(drawing, caption, head, rows)
    return section("growth", "How the backbone grew", inner)


def _priced_in(material: Material) -> str:
    """Columns that no subproblem brought."""
    joined = len(material.result.get("global", {}).get("priced", ()))
    return f" Prices over all columns brought {joined:,} more into the backbone." if joined else ""


def _idle(stops: tuple[Stop, ...]) -> str:
    """What the curve's end says: subproblems that add nothing are a sign that more would add little."""
    level = [stop for stop in stops if stop.level == stops[-1].level]
    idle = sum(stop.found == level[-1].found for stop in level) - 1
    if idle:
        return f"The last {idle:,} added nothing." if idle > 1 else "The last one added nothing."
    return "It still grew with the last one: more subproblems may find more." if len(level) > 1 else ""


def coverage_section(material: Material) -> str:
    """The share of candidates that were examined; empty where the run did not note it."""
    known = tuple(stop for stop in growth(material.levels) if stop.coverage is not None)
    if not known:
        return ""
    shares = [100 * (stop.coverage or 0.0) for stop in known]
    drawing = step_lines(
        _lines(known, "candidates examined, %", "covered", shares),
        Plot("subproblem", (0.0, 100.0), 1.0),
        "coverage",
        "Share of candidates that some subproblem has examined",
        f"It ends with {percent(known[-1].coverage or 0.0)}.",
    )
    rows = [[fact(stop.number, number(stop.number), "stop"), _share(stop)] for stop in known]
    caption = f"Candidates that some subproblem has examined. {_unexamined(material)}"
    inner = figure(drawing, caption, ["subproblem", "coverage"], rows)
    return section("coverage", "How many were looked at", inner)


def _unexamined(material: Material) -> str:
    if "global" in material.result:
        return "One that none examined is in the model only if its price brought it in afterwards."
    return "One that none examined cannot be in the model."


def _share(stop: Stop) -> str:
    return "" if stop.coverage is None else fact(stop.coverage, percent(stop.coverage), "coverage")


def _lines(stops: tuple[Stop, ...], said: str, kind: str, heights: list[float]) -> list[Steps]:
    """One line a level: the next one begins anew."""
    lines = []
    placed = [(stop.level, (float(stop.number), height)) for stop, height in zip(stops, heights, strict=True)]
    for _, group in groupby(placed, key=lambda each: each[0]):
        points = [point for _, point in group]
        lines.append(Steps(said, kind, points, points[-1][0] + 0.5))
    return lines


def _row(stop: Stop) -> list[str]:
    numbered = fact(stop.number, number(stop.number), "stop")
    return [numbered, fact(stop.level, str(stop.level), "level"), fact(stop.found, number(stop.found), "found")]

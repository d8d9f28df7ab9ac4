"""Rows as Markdown: for every problem a table, for every method the means over its seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean

from benchmarks.peers.harness import DONE, Row
from benchmarks.peers.methods import METHODS
from benchmarks.peers.problems import Problem

MIB = 2**20
COLUMNS = "runs | cpu s | seconds | first fit s | peak MiB | found | in model | false alarms"


def page(problems: Sequence[Problem], rows: Sequence[Row]) -> str:
    """A section for every problem that has rows of methods that there are."""
    own = {each.name: [row for row in rows if row.problem == each.name and row.method in METHODS] for each in problems}
    return "\n\n".join(section(problem, own[problem.name]) for problem in problems if own[problem.name])


def section(problem: Problem, rows: Sequence[Row]) -> str:
    recipe, seeds = problem.recipe, sorted({row.seed for row in rows})
    shape = f"n = {recipe.n_samples:,}, p = {recipe.n_features:,}, {recipe.n_relevant} relevant, rho {recipe.rho:g}"
    noise = f"depth {recipe.depth}" if recipe.kind == "tree" else f"SNR {recipe.snr:g}"
    size = recipe.n_samples * recipe.n_features * 8 / MIB
    lines = [
        f"## {problem.name}",
        "",
        f"{shape}, {noise}; seeds {', '.join(map(str, seeds))}; the table is {size:,.0f} MiB. {measured(rows)}".strip(),
        "",
        f"| method | told k | {COLUMNS} | {problem.metric} |",
        "| :--- | :---: |" + " ---: |" * 9,
    ]
    methods = [name for name in METHODS if any(row.method == name for row in rows)]
    return "\n".join([*lines, *(line(name, [row for row in rows if row.method == name]) for name in methods)])


def measured(rows: Sequence[Row]) -> str:
    """From which day to which, and in what: where interpreters differ, what most rows had, then who had another."""
    days = sorted({row.date[:10] for row in rows if row.date})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
    known = Counter((row.python, row.numpy) for row in rows if row.python).most_common()
    most, *others = [f"Python {python}, numpy {numpy}" for (python, numpy), _ in known] or [""]
    said = [when, most, *(f"{each} for {names(rows, had)}" for each, (had, _) in zip(others, known[1:], strict=True))]
    text = "; ".join(filter(None, said))
    return f"Measured {text}." if text else ""


def names(rows: Sequence[Row], had: tuple[str, str]) -> str:
    """Methods with a row of these versions of Python and numpy, in quotes, for names have commas."""
    there = {row.method for row in rows if (row.python, row.numpy) == had}
    return ", ".join(f'"{name}"' for name in METHODS if name in there)


def line(method: str, rows: Sequence[Row]) -> str:
    """Means over the seeds that ended, and what became of the others."""
    done = [row for row in rows if row.outcome == DONE]
    others = sorted({row.outcome + (f" (seed {row.seed})" if done else "") for row in rows if row.outcome != DONE})
    title = "; ".join([f"{method} {version(done)}".strip(), *others])
    return " | ".join([f"| {title}", "yes" if METHODS[method].told_k else "no", *figures(done)]) + " |"


def version(done: Sequence[Row]) -> str:
    return f"({done[0].version})" if done else ""


def figures(done: Sequence[Row]) -> list[str]:
    if not done:
        return [""] * 9
    alarms = mean((row.size - row.hits) / row.size if row.size else 0.0 for row in done)
    return [
        str(len(done)),
        f"{mean(row.cpu for row in done):.3g}",
        f"{mean(row.seconds for row in done):.3g}",
        f"{mean(row.first_seconds for row in done):.3g}",
        f"{max(row.peak_bytes for row in done) / MIB:,.0f}",
        f"{mean(row.hits for row in done):.1f}",
        f"{mean(row.size for row in done):.1f}",
        f"{alarms:.0%}",
        f"{mean(row.score for row in done):.4f}",
    ]

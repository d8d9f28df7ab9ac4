"""A model in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from backbone_dask.report.facts.terms import Term, with_short_names
from backbone_dask.report.html import short
from backbone_dask.report.numbers import number

_TOLD, _LETTERS = 3, 40
_MODEST = (0.02, 3.0)
"""Log odds a unit that make a factor which people can picture."""


def regression_words(target: str, terms: Sequence[Term]) -> str:
    """How the target moves with the strongest features."""
    if not terms:
        return f"No feature is worth its place: the model predicts the same {short(target)} for every sample."
    return _sentence(f"{short(target, _LETTERS)} ", terms, _moves)


def odds_words(target: str, label: str, terms: Sequence[Term]) -> str:
    """How the odds of the second class move with the strongest features."""
    about = f"{short(target, _LETTERS)} = {short(label, _LETTERS)}"
    if not terms:
        return f"No feature is worth its place: the odds of {about} are the same for every sample."
    return _sentence(f"The odds of {about} are ", terms, _odds)


def _sentence(subject: str, terms: Sequence[Term], say: Callable[[Term], str]) -> str:
    told = [say(term) for term in with_short_names(terms, _LETTERS)[:_TOLD]]
    rest = len(terms) - len(told)
    held = ", while the others stay as they are" if len(terms) > 1 else ""
    more = f" {_count(rest)} in the table." if rest else ""
    return f"{subject}{_listed(told)}{held}.{more}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _count(rest: int) -> str:
    return "One more feature is" if rest == 1 else f"{rest:,} more features are"


def _moves(term: Term) -> str:
    way = "rises" if term.coefficient >= 0 else "falls"
    return f"{way} by {number(abs(term.coefficient), 3)} for every unit of {term.name}"


def _odds(term: Term) -> str:
    """A factor a unit, or a standard deviation where units are too large or too small to picture."""
    least, most = _MODEST
    name = term.name
    if least <= abs(term.coefficient) <= most or (term.effect is None and abs(term.coefficient) < 300):
        return f"{_factor(term.coefficient)} for every unit of {name}"
    if term.effect is not None and abs(term.effect) < 300:
        return f"{_factor(term.effect)} for every standard deviation of {name}"
    return f"{'raised' if term.coefficient > 0 else 'lowered'} beyond all measure by {name}"


def _factor(log_odds: float) -> str:
    way = "multiplied" if log_odds >= 0 else "divided"
    return f"{way} by {number(math.exp(abs(log_odds)), 3)}"

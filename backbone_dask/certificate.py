"""What is asked of a certificate over all columns, and what it says: a bound for the problem before any screening."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

import numpy as np

from backbone_dask.errors import InvalidSettingError
from backbone_dask.setting_ranges import number
from backbone_dask.values import CandidateIds

LEAST_ADVISED = 1e-3
"""Advice is for a relative gap of at least this, whatever the tolerance: less is decided by rounding."""


@dataclass(frozen=True, slots=True)
class Certify:
    """When to stop looking for a bound over all columns.

    Attributes
    ----------
    passes : most passes over the table.
    tolerance : relative gap over all columns that is small enough.
    columns : most columns that may be priced in besides the backbone.
    seconds : no pass begins later than this after the first one began; None for no limit.
    """

    passes: int = 4
    tolerance: float = 0.01
    columns: int = 2000
    seconds: float | None = None

    @property
    def advised_gap(self) -> float:
        """What an advised gamma would leave open."""
        return max(self.tolerance, LEAST_ADVISED)

    def __post_init__(self) -> None:
        for wrong, message in (
            (self.passes < 1, f"passes is {self.passes}; it must be at least 1"),
            (not 0 <= self.tolerance < 1, f"tolerance is {self.tolerance}; it must be in [0, 1)"),
            (self.columns < 1, f"columns is {self.columns}; it must be at least 1"),
            (
                self.seconds is not None and not 0 < self.seconds < math.inf,
                f"seconds is {self.seconds}; it must be positive and finite, or None",
            ),
        ):
            if wrong:
                raise InvalidSettingError(f"certify: {message}")


_WHOLE = ("passes", "columns")


def as_certify(given: Any) -> Certify | None:
    """From True, False, None, a mapping of some of its fields, or itself."""
    if given is None or isinstance(given, Certify):
        return given
    if isinstance(given, bool | np.bool_):
        return Certify() if given else None
    known = [field.name for field in fields(Certify)]
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise InvalidSettingError(f"certify is {given!r}; use True, False or a dict of {', '.join(known)}")
    return Certify(**{name: _plain(name, value) for name, value in given.items()})


def _plain(name: str, value: Any) -> Any:
    if name == "seconds" and value is None:
        return None
    return number(f"certify: {name}", value, whole=name in _WHOLE)


class Ended(StrEnum):
    """Why pricing stopped. How good its bound is, the gap says."""

    TOLERANCE = "tolerance"
    """The gap over all columns is small enough."""
    NO_COLUMN_LEFT = "no_column_left"
    """No column outside improves the relaxation: its bound is the best of its kind."""
    PASS_LIMIT = "pass_limit"
    COLUMN_LIMIT = "column_limit"
    TIME_LIMIT = "time_limit"


@dataclass(frozen=True, slots=True)
class PricingPass:
    """One pass over all columns: the best bound and objective known after it.

    `working` columns were in the relaxation, and `entering` others reached the k-th largest price inside.
    """

    bound: float
    objective: float
    working: int
    entering: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Certificate:
    """A lower bound for the objective of every support of at most k of all p columns, and how it was found.

    Attributes
    ----------
    bound : proven, rounding included.
    passes : one record for each pass over the table.
    ended : why there was no further pass.
    relaxed : value of the relaxation on the last working set; no bound of this kind can exceed it.
    priced : columns that joined the backbone because of their price, sorted.
    advised_gamma : where the relaxation on the working set would leave `Certify.advised_gap`; None if it does, or if no
        such gamma was found.
    """

    bound: float
    passes: tuple[PricingPass, ...]
    ended: Ended
    relaxed: float
    priced: CandidateIds
    advised_gamma: float | None

    def gap(self, objective: float) -> float:
        """Of an objective to the bound over all columns."""
        return relative_gap(objective, self.bound)

    def to_json(self) -> dict[str, Any]:
        kept = {**asdict(self), "ended": self.ended.value, "priced": self.priced.tolist()}
        return kept | {"passes": len(self.passes), "trace": kept["passes"]}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Certificate:
        """From what `to_json` made, whatever stands beside it."""
        given = {field.name: kept[field.name] for field in fields(cls)}
        passes = tuple(PricingPass(**each) for each in kept["trace"])
        priced = np.array(kept["priced"], np.int64)
        return cls(**given | {"passes": passes, "priced": priced, "ended": Ended(kept["ended"])})


def relative_gap(objective: float, bound: float) -> float:
    """(objective - bound) / |objective|, never negative."""
    return max(objective - bound, 0.0) / max(abs(objective), np.finfo(float).tiny)

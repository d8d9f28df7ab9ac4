"""A screen that keeps what chance does not explain, in place of a number of columns that one has to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from backbone_dask.algorithm.ranking import beyond, survivors
from backbone_dask.protocols import ResponsePanel
from backbone_dask.runtime.run import OneScreen
from backbone_dask.runtime.screening import Screener
from backbone_dask.screens.chance import ChancePanel, Shuffles
from backbone_dask.values import Screening


class ScreenSettings(Protocol):
    """What is set of the screen; `by_chance` leaves the number of survivors to shuffled responses."""

    @property
    def by_chance(self) -> bool: ...

    @property
    def seed(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ChanceScreen:
    """Survivors score higher than any column does for shuffled responses (Fan, Feng and Song 2011); by one pass."""

    panel: ChancePanel

    def __call__(self, screener: Screener, keep: int) -> Screening:
        found, shuffled = screener.rank(self.panel, keep, name="screen")
        return beyond(survivors(found), float(shuffled.utilities.max(initial=0.0)))


def screen_phase(
    panel: ResponsePanel, settings: ScreenSettings, weights: NDArray[np.float64]
) -> OneScreen | ChanceScreen:
    """The screen of one pass that the settings ask for; a sample without weight is not shuffled in."""
    if settings.by_chance:
        return ChanceScreen(ChancePanel(panel, panel.shuffled(Shuffles(weights > 0, settings.seed))))
    return OneScreen(panel)

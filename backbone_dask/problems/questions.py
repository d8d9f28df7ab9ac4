"""From a screen's name, targets and folds to the panel that one pass answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.protocols import Panel, ResponsePanel
from backbone_dask.screens.catalogue import screens
from backbone_dask.screens.correlation import CorrelationPanel
from backbone_dask.screens.panels import FoldsPanel, OneQuestion, Question, SubsetsPanel, TargetsPanel
from backbone_dask.values import Target, Utilities

Folds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A panel, and what each of its rows is about."""

    panel: Panel
    questions: tuple[Question, ...]


def inquire(screen: str, targets: Mapping[str, Target], folds: Folds | None = None) -> Inquiry:
    """Check every target, on every training set, and choose the cheapest panel that answers them all."""
    named = screens[screen]
    checked = np.stack([named.check(np.asarray(y, np.float64)) for y in targets.values()])
    if folds is None:
        questions = tuple(Question(name, None) for name in targets)
        if len(targets) == 1:
            panel = CorrelationPanel(checked[0]) if screen == "correlation" else OneQuestion(named.score, checked[0])
            return Inquiry(panel, questions)
        whole = (np.ones(checked.shape[1], np.bool_),)
        many = TargetsPanel(checked) if screen == "correlation" else SubsetsPanel(named.score, checked, whole)
        return Inquiry(many, questions)
    return _with_folds(screen, tuple(targets), checked, _checked_folds(folds, checked.shape[1]))


def named_panel(name: str, y: Target, weights: NDArray[np.float64]) -> ResponsePanel:
    """A screen by name on the samples that have a weight; "none" keeps every column that varies."""
    if name == "none":
        return OneQuestion(every_column, weights)
    screen, there = screens[name], weights > 0
    checked = np.zeros(y.size)
    checked[there] = screen.check(y[there])
    return SubsetsPanel(screen.score, checked[None], (there,))


def every_column(columns: Columns, y: Target) -> Utilities:
    """The screen that keeps every column that varies."""
    return (columns.scale > 0).astype(np.float64)


def _with_folds(screen: str, names: tuple[str, ...], targets: NDArray[np.float64], folds: Folds) -> Inquiry:
    left_out = [None, *range(int(folds.max()) + 1)]
    subsets = tuple(np.ones(folds.size, np.bool_) if fold is None else folds != fold for fold in left_out)
    for y in targets:
        for subset in subsets:
            screens[screen].check(y[subset])
    questions = tuple(Question(name, fold) for name in names for fold in left_out)
    if screen == "correlation":
        return Inquiry(FoldsPanel(targets, folds), questions)
    return Inquiry(SubsetsPanel(screens[screen].score, targets, subsets), questions)


def assign_folds(n_samples: int, count: int, seed: int) -> Folds:
    """A fold for every sample, of nearly equal sizes; the draw is addressed by the seed."""
    if not 2 <= count <= n_samples:
        raise InvalidDataError(f"{count} folds do not fit {n_samples} samples; use 2 to {n_samples}")
    return np.random.default_rng(np.random.SeedSequence([seed, count])).permutation(np.arange(n_samples) % count)


def _checked_folds(folds: Folds, n_samples: int) -> Folds:
    folds = np.asarray(folds)
    if folds.shape != (n_samples,) or folds.dtype.kind not in "iu":
        raise InvalidDataError(f"folds must be {n_samples} whole numbers, one per sample; -1 is never left out")
    if folds.min() < -1 or not np.array_equal(np.unique(folds[folds >= 0]), np.arange(folds.max() + 1)):
        raise InvalidDataError("folds must be counted 0, 1, 2, ... without a gap; -1 is never left out")
    return folds.astype(np.int64)

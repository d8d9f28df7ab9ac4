"""Iterative screening by itself: the survivors of several passes, without the fit that follows them."""

from __future__ import annotations

from backbone_dask.errors import InvalidSettingError
from backbone_dask.problems.fitting import prepare
from backbone_dask.problems.iterative import IterativeScreen
from backbone_dask.protocols import Executor
from backbone_dask.runtime.checkpoint import Journal, NoJournal
from backbone_dask.runtime.events import Listener, silent
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.site import settle
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore
from backbone_dask.values import Screening, Target

_TASKS = {"correlation": "regression", "logistic-loss": "classification"}


def screen_in_rounds(
    store: FeatureStore,
    y: Target,
    executor: Executor,
    *,
    screen: str,
    keep: int,
    rounds: int,
    n_nonzero: int,
    journal: Journal | None = None,
    listen: Listener = silent,
) -> Screening:
    """`keep` survivors of `rounds` passes; later ones ask what a column adds to a model of `n_nonzero` earlier ones."""
    if screen not in _TASKS:
        raise InvalidSettingError(f"several rounds go with the screens {' and '.join(_TASKS)}, not with {screen!r}")
    keep = min(keep, store.n_features)
    settings = Settings(n_nonzero=min(n_nonzero, keep), screen_size=keep, screen_rounds=rounds)
    ready = prepare(store, y, settings, task=_TASKS[screen])
    site = settle(store, executor)
    screener = Screener(site, site.serve(), journal or NoJournal(), listen)
    return IterativeScreen(ready.problem, ready.task.response, ready.task.condition, rounds)(screener, keep)

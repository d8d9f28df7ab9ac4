"""One pass over a store: the best columns for every question."""

from __future__ import annotations

from backbone_dask.algorithm.ranking import survivors
from backbone_dask.problems.questions import Inquiry
from backbone_dask.protocols import Executor
from backbone_dask.runtime.checkpoint import Journal, NoJournal
from backbone_dask.runtime.events import Listener, silent
from backbone_dask.runtime.screening import OpenSink, Screener
from backbone_dask.runtime.site import settle
from backbone_dask.screens.panels import Question
from backbone_dask.store import FeatureStore
from backbone_dask.values import Screening


def screen_store(
    store: FeatureStore,
    inquiry: Inquiry,
    keep: int,
    executor: Executor,
    *,
    journal: Journal | None = None,
    listen: Listener = silent,
    open_sink: OpenSink | None = None,
) -> dict[Question, Screening]:
    """The `keep` best columns for every question, by reading the store once."""
    site = settle(store, executor)
    screener = Screener(site, site.serve(), journal or NoJournal(), listen)
    rankings = screener.rank(inquiry.panel, min(keep, store.n_features), name="screen", open_sink=open_sink)
    return {question: survivors(found) for question, found in zip(inquiry.questions, rankings, strict=True)}

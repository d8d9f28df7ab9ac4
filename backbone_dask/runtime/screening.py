"""The screen on any executor: tasks score spans of blocks, lists merge in a tree, finished groups are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backbone_dask.protocols import Panel, UtilitySink
from backbone_dask.runtime.budget import ScreenCut, cut_screen
from backbone_dask.runtime.checkpoint import Journal
from backbone_dask.runtime.events import Event, Listener
from backbone_dask.runtime.placement import in_turns
from backbone_dask.runtime.scoring import Rankings, merge_rankings, screen_span
from backbone_dask.runtime.site import Site
from backbone_dask.runtime.survivors import Supply
from backbone_dask.values import Ranking

FAN_IN = 8
OpenSink = Callable[[int, int], UtilitySink]
"""From the number of questions and the features of one task to where their utilities go."""


@dataclass(frozen=True, slots=True)
class Screener:
    """Everything that passes over the columns need besides their questions."""

    site: Site
    serve: Supply
    journal: Journal
    listen: Listener

    def rank(self, panel: Panel, keep: int, *, name: str, open_sink: OpenSink | None = None) -> Rankings:
        """The best `keep` columns for every question of the panel, by a single pass.

        A task returns its best at most, lists merge on the workers, and the coordinator sees one list per group of
        spans. Groups that the journal has under `name` are not scored again. `open_sink` gives the place for the
        utilities of all columns, whose tasks write chunks of that many features.
        """
        executor = self.site.executor
        cut = cut_screen(self.site.source, keep, executor.worker_bytes, executor.n_workers)
        known = {group: self.journal.rankings(name, *group) for group in cut.groups(self.site.source.n_features)}
        missing = [group for group, found in known.items() if found is None]
        pending = in_turns(missing, [self.site.placement.home(start) for start, _ in missing])
        rankings = merge_rankings([_nothing(panel.n_questions), *filter(None, known.values())], keep)
        shared = executor.share(panel)
        sink = open_sink(panel.n_questions, cut.unit) if open_sink else None
        items = ((self._tree(cut, group, shared, keep, sink), keep) for group in pending)
        self._report(rankings)
        for group, found in zip(pending, executor.map(merge_rankings, items), strict=True):
            self.journal.keep_rankings(name, *group, found)
            rankings = merge_rankings([rankings, found], keep)
            self._report(rankings)
        return rankings

    def _tree(
        self, cut: ScreenCut, group: tuple[int, int], panel: Any, keep: int, sink: UtilitySink | None
    ) -> Sequence[Any]:
        """Handles on lists that together hold the best of a group; what is merged to get there stays on the workers."""
        level = [
            self._scored(cut, span, panel, keep, sink) for span in self.site.placement.runs(*group, longest=cut.span)
        ]
        while len(level) > FAN_IN:
            parts = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
            level = [self.site.executor.submit(merge_rankings, part, keep) for part in parts]
        return level

    def _scored(self, cut: ScreenCut, span: tuple[int, int], panel: Any, keep: int, sink: UtilitySink | None) -> Any:
        home = self.site.placement.home(span[0])
        source = self.serve(np.arange(*span), home)
        return self.site.executor.submit(screen_span, source, cut, span, panel, keep, sink, home=home)

    def _report(self, rankings: Rankings) -> None:
        best, source = rankings[0], self.site.source
        facts = {"survivors": best.candidates.size, "constant": best.n_constant}
        width = source.n_samples * source.itemsize
        self.listen(Event("screen", best.n_scored, source.n_features, "columns", unit_bytes=width, facts=facts))


def _nothing(n_questions: int) -> Rankings:
    return (Ranking(np.empty(0, np.int64), np.empty(0), 0, 0),) * n_questions

"""What a worker does in the screen: read a block, score it, keep its best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.algorithm.ranking import merge, top
from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.protocols import FeatureSource, Panel, UtilitySink
from backbone_dask.runtime.budget import ScreenCut
from backbone_dask.values import FeatureBlock, Ranking

Rankings: TypeAlias = tuple[Ranking, ...]
"""One ranking per question of a panel."""


def screen_blocks(
    source: FeatureSource, blocks: Sequence[FeatureBlock], panel: Panel, keep: int, sink: UtilitySink | None = None
) -> Rankings:
    """The best `keep` columns of some blocks for every question; reading that waits is a block ahead of scoring."""
    parts: list[Rankings] = []
    scored: list[NDArray[np.float64]] = []
    reading = _read_ahead if source.waits else _read_in_turn
    for block, columns in reading(source, blocks):
        utilities = _finite(panel(columns), block)
        parts.append(_rank(block, columns, utilities, keep))
        # Merging costs as much as scoring a small block, so it waits until the lists have grown.
        if sum(rankings[0].candidates.size for rankings in parts) > 4 * keep:
            parts = [merge_rankings(parts, keep)]
        if sink is not None:
            scored.append(utilities)
    if sink is not None:
        sink.write(blocks[0].start, np.concatenate(scored, axis=1))
    return merge_rankings(parts, keep)


def screen_span(
    source: FeatureSource, cut: ScreenCut, span: tuple[int, int], panel: Panel, keep: int, sink: UtilitySink | None
) -> Rankings:
    """The blocks of a span: hundreds of them would cost the scheduler more than the task itself."""
    return screen_blocks(source, cut.blocks(*span), panel, keep, sink)


def merge_rankings(parts: Sequence[Rankings], keep: int) -> Rankings:
    """The best `keep` of disjoint parts, question by question."""
    return tuple(merge(rankings, keep) for rankings in zip(*parts, strict=True))


def _rank(block: FeatureBlock, columns: Columns, utilities: NDArray[np.float64], keep: int) -> Rankings:
    varies = columns.scale > 0
    ids = np.arange(block.start, block.stop)[varies]
    constant = block.size - ids.size
    return tuple(Ranking(*top(ids, row[varies], keep), block.size, constant) for row in utilities)


def _read_in_turn(source: FeatureSource, blocks: Sequence[FeatureBlock]) -> Iterator[tuple[FeatureBlock, Columns]]:
    """Columns that are computed are best scored while they are in cache."""
    for block in blocks:
        yield block, _read(source, block)


def _read_ahead(source: FeatureSource, blocks: Sequence[FeatureBlock]) -> Iterator[tuple[FeatureBlock, Columns]]:
    """Every block with its columns; one more is being read, by a thread of its own."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(_read, source, blocks[0])
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            columns = coming.result()
            if following is not None:
                coming = reader.submit(_read, source, following)
            yield block, columns


def _finite(utilities: NDArray[np.float64], block: FeatureBlock) -> NDArray[np.float64]:
    """A score that is no number would spoil every list it meets."""
    bad = np.flatnonzero(~np.isfinite(utilities).all(axis=0))
    if bad.size:
        raise InvalidDataError(
            f"{_called(block)}: feature {block.start + bad[0]} has no score: its values are not finite, or changed "
            "since the store measured them; write the store again"
        )
    return utilities


def _called(block: FeatureBlock) -> str:
    return f"block {block.index} (features {block.start} to {block.stop - 1})"


def _read(source: FeatureSource, block: FeatureBlock) -> Columns:
    try:
        return source.read(block)
    except InvalidDataError as cause:
        raise InvalidDataError(f"{_called(block)}: {cause}") from cause

"""What the coordinator does with lists of candidates: sampling subproblems, and merging the best of parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from backbone_dask.algorithm.hierarchy import union
from backbone_dask.algorithm.ranking import merge, top
from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.values import Ranking, Screening
from benchmarks.micro.pacing import Paced

SURVIVORS, SUBPROBLEMS = 20_000, 10
PARTS, WIDE = 200, 1_000_000

pytestmark = pytest.mark.benchmark(group="lists")


def drawn(count: int) -> np.ndarray:
    return np.random.default_rng(0).random(count)


def noise(count: int) -> Callable[[], object]:
    """The random numbers that as many subproblems need."""
    rng = np.random.default_rng(1)
    return lambda: [rng.gumbel(size=count) for _ in range(SUBPROBLEMS)]


@pytest.mark.parametrize("survivors", [SURVIVORS, 10 * SURVIVORS])
@pytest.mark.parametrize("sampling", ["exponential", "covering"])
def test_sampling_10_subproblems(paced: Paced, survivors: int, sampling: str) -> None:
    screening = Screening(np.arange(survivors), drawn(survivors), survivors, 0)
    sampler = Sampler(sampling, 0.5, 1, 0)
    draw = partial(sampler, screening, level=0, count=SUBPROBLEMS)
    paced(draw, noise(survivors), named="their random numbers")


def test_top_20000_of_a_million(paced: Paced) -> None:
    ids, utilities = np.arange(WIDE), drawn(WIDE)
    limit = partial(np.partition, utilities, -SURVIVORS)
    paced(lambda: top(ids, utilities, SURVIVORS), limit, named="np.partition")


def test_merge_of_200_top_lists(paced: Paced) -> None:
    utilities = drawn(PARTS * SURVIVORS).reshape(PARTS, SURVIVORS)
    lists = [Ranking(SURVIVORS * i + np.arange(SURVIVORS), utilities[i], SURVIVORS, 0) for i in range(PARTS)]
    paced(
        lambda: merge(lists, SURVIVORS),
        lambda: np.partition(np.concatenate(utilities), -SURVIVORS),
        named="np.concatenate and np.partition",
    )


def test_union_of_10_backbones(paced: Paced) -> None:
    rng = np.random.default_rng(2)
    parts = [np.sort(rng.choice(WIDE, 250, replace=False)) for _ in range(SUBPROBLEMS)]
    joined = np.concatenate(parts)
    paced(lambda: union(parts), lambda: np.sort(joined), named="np.sort")

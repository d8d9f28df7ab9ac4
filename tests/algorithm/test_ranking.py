"""Top lists against a literal sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.algorithm.ranking import merge, survivors, top
from backbone_dask.testing.strategies import cuts, screenings
from backbone_dask.values import Ranking, Screening

counts = st.integers(1, 70)


def literal_top(screening: Screening, count: int) -> list[tuple[int, float]]:
    """Sort by utility, largest first, then by id; keep `count`; list them by id."""
    pairs = zip(screening.candidates.tolist(), screening.utilities.tolist(), strict=True)
    return sorted(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:count])


def pairs(ids: np.ndarray, utilities: np.ndarray) -> list[tuple[int, float]]:
    return list(zip(ids.tolist(), utilities.tolist(), strict=True))


def part(screening: Screening, positions: np.ndarray, count: int) -> Ranking:
    best, values = top(screening.candidates[positions], screening.utilities[positions], count)
    return Ranking(best, values, positions.size, 1)


def merged_in_pairs(rankings: list[Ranking], order: st.DataObject, count: int) -> Ranking:
    """Merge two at a time, in an order that Hypothesis chooses."""
    while len(rankings) > 1:
        first = rankings.pop(order.draw(st.integers(0, len(rankings) - 1)))
        second = rankings.pop(order.draw(st.integers(0, len(rankings) - 1)))
        rankings.append(merge([first, second], count))
    return rankings[0]


@given(screenings(min_size=0), counts)
def test_top_is_a_literal_sort(screening: Screening, count: int) -> None:
    best, values = top(screening.candidates, screening.utilities, count)
    assert pairs(best, values) == literal_top(screening, count)
    assert best.dtype == np.int64


def test_among_equals_the_lowest_ids_win() -> None:
    ids, utilities = np.array([2, 3, 5, 7, 11]), np.array([0.5, 1.0, 0.5, 0.5, 0.1])
    assert top(ids, utilities, 3)[0].tolist() == [2, 3, 5]


def test_top_leaves_its_input_alone() -> None:
    utilities = np.array([3.0, 1.0, 2.0])
    top(np.arange(3), utilities, 2)
    assert utilities.tolist() == [3.0, 1.0, 2.0]


@given(screenings(min_size=0), counts, st.data())
def test_any_split_and_any_order_of_merging_gives_the_same_bits(
    screening: Screening, count: int, data: st.DataObject
) -> None:
    split = data.draw(cuts(screening.candidates.size))
    parts = data.draw(st.permutations([part(screening, positions, count) for positions in split]))
    at_once, by_pairs = merge(parts, count), merged_in_pairs(list(parts), data, count)
    for found in (at_once, by_pairs):
        assert pairs(found.candidates, found.utilities) == literal_top(screening, count)
        assert found.n_scored == screening.candidates.size
        assert found.n_constant == len(split)


@given(screenings(min_size=2), counts, st.data())
def test_parts_need_not_be_neighbours(screening: Screening, count: int, data: st.DataObject) -> None:
    size = screening.candidates.size
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    parts = [part(screening, np.flatnonzero(side), count) for side in (inside, ~inside)]
    found = merge(parts, count)
    assert pairs(found.candidates, found.utilities) == literal_top(screening, count)


def test_nothing_merges_to_nothing() -> None:
    found = merge([], 5)
    assert (found.candidates.size, found.utilities.size, found.n_scored, found.n_constant) == (0, 0, 0, 0)


def test_survivors_keep_the_counts() -> None:
    found = survivors(Ranking(np.array([1, 4]), np.array([0.5, 0.2]), n_scored=10, n_constant=3))
    assert (found.candidates.tolist(), found.utilities.tolist()) == ([1, 4], [0.5, 0.2])
    assert (found.n_features, found.n_constant) == (10, 3)

"""Algorithm 3: addresses, sizes, and the law of the draws against one at a time without replacement."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from backbone_dask.algorithm.sampling import Sampler, weights
from backbone_dask.errors import UnknownNameError
from backbone_dask.testing.strategies import screenings, seeds
from backbone_dask.values import Screening

KINDS = ("exponential", "proportional", "uniform", "covering")
kinds = st.sampled_from(KINDS)
independent = st.sampled_from(KINDS[:3])
fractions = st.floats(0, 1, exclude_min=True)


def screening_of(utilities: list[float]) -> Screening:
    return Screening(np.arange(len(utilities)) * 10, np.array(utilities), 10 * len(utilities), 0)


def literal_weights(kind: str, utilities: list[float]) -> list[float]:
    """pi_j of Algorithm 3, and of its two rivals in the paper."""
    if kind == "uniform":
        return [1.0] * len(utilities)
    if kind == "proportional":
        return utilities
    return [math.exp(s / max(utilities) + 1) for s in utilities]


def chance(order: tuple[int, ...], pi: list[float]) -> float:
    """Of drawing just these, in this order, one at a time from what is left."""
    left, product = sum(pi), 1.0
    for j in order:
        product *= pi[j] / left
        left -= pi[j]
    return product


def literal_law(pi: list[float], size: int) -> dict[tuple[int, ...], float]:
    """The chance of every set of `size` candidates."""
    return {
        chosen: sum(chance(order, pi) for order in permutations(chosen))
        for chosen in combinations(range(len(pi)), size)
    }


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("kind", KINDS[:3])
def test_the_law_is_that_of_drawing_one_at_a_time(kind: str, level: int) -> None:
    utilities, draws = [0.9, 0.1, 0.4, 0.25, 0.6], 20_000
    law = literal_law(literal_weights(kind, utilities), size=2)
    drawn = Sampler(kind, 0.4, 1, seed=7)(screening_of(utilities), level=level, count=draws)
    seen = dict.fromkeys(law, 0)
    for subproblem in drawn:
        seen[tuple((subproblem.candidates // 10).tolist())] += 1
    expected = draws * np.array(list(law.values()))
    assert expected.min() > 5
    assert chisquare(list(seen.values()), expected).pvalue > 1e-3


def test_the_laws_are_told_apart() -> None:
    """The chi-square test would see the wrong weights."""
    utilities, draws = [0.9, 0.1, 0.4, 0.25, 0.6], 20_000
    laws = [np.array(list(literal_law(literal_weights(kind, utilities), 2).values())) for kind in KINDS[:3]]
    for one, other in combinations(laws, 2):
        assert chisquare(draws * one, draws * other).pvalue < 1e-6


def test_covering_prefers_what_the_paper_prefers() -> None:
    utilities, draws = [1.0] * 5 + [0.0] * 5, 400
    seen = np.zeros(10)
    for seed in range(draws):
        for subproblem in Sampler("covering", 0.5, 1, seed)(screening_of(utilities), level=0, count=4):
            seen[subproblem.candidates // 10] += 1
    assert seen[:5].min() > 1.2 * seen[5:].max()


@given(screenings(), independent, fractions, seeds(), st.integers(1, 8), st.integers(1, 8))
def test_a_draw_is_addressed_by_seed_level_and_index(
    screening: Screening, kind: str, fraction: float, seed: int, few: int, more: int
) -> None:
    """At the first level, where their number may be decided on the way; below it all are needed."""
    sampler = Sampler(kind, fraction, 1, seed)
    short = sampler(screening, level=0, count=few)
    long = sampler(screening, level=0, count=few + more)
    for one, other in zip(short, long, strict=False):
        np.testing.assert_array_equal(one.candidates, other.candidates)
        assert (one.level, one.index, one.seed) == (other.level, other.index, other.seed)


@given(screenings(), kinds, fractions, seeds(), st.integers(0, 2), st.integers(1, 12), st.integers(1, 80))
def test_every_subproblem_is_a_sorted_subset_of_the_right_size(
    screening: Screening, kind: str, fraction: float, seed: int, level: int, count: int, least: int
) -> None:
    sampler = Sampler(kind, fraction, least, seed)
    drawn = sampler(screening, level=level, count=count)
    wanted = max(math.ceil(fraction * screening.candidates.size), least)
    if kind == "covering" or level > 0:
        wanted = max(wanted, math.ceil(screening.candidates.size / count))
    assert [(each.level, each.index) for each in drawn] == [(level, index) for index in range(count)]
    for subproblem in drawn:
        assert subproblem.candidates.size == min(wanted, screening.candidates.size)
        assert subproblem.candidates.size == sampler.size(screening.candidates.size, count, level)
        assert subproblem.candidates.dtype == np.int64
        assert (np.diff(subproblem.candidates) > 0).all()
        assert np.isin(subproblem.candidates, screening.candidates).all()
        assert 0 <= subproblem.seed < 2**32


@given(screenings(), kinds, seeds(), st.integers(1, 6))
def test_equal_arguments_give_equal_subproblems(screening: Screening, kind: str, seed: int, count: int) -> None:
    sampler = Sampler(kind, 0.5, 1, seed)
    for one, other in zip(*(sampler(screening, level=1, count=count) for _ in range(2)), strict=True):
        np.testing.assert_array_equal(one.candidates, other.candidates)
        assert one.seed == other.seed


@given(screenings(), kinds, fractions, seeds(), st.integers(0, 6), st.integers(1, 30))
def test_covering_examines_every_candidate_and_so_do_all_below_the_first_level(
    screening: Screening, kind: str, fraction: float, seed: int, level: int, count: int
) -> None:
    drawn = Sampler(kind if level else "covering", fraction, 1, seed)(screening, level=level, count=count)
    examined = np.unique(np.concatenate([subproblem.candidates for subproblem in drawn]))
    np.testing.assert_array_equal(examined, screening.candidates)


@given(screenings(), kinds)
def test_weights_are_numbers_whatever_the_utilities(screening: Screening, kind: str) -> None:
    assert np.isfinite(weights[kind](screening.utilities)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_utilities_that_are_all_zero_still_give_subproblems(kind: str) -> None:
    drawn = Sampler(kind, 0.5, 1, 0)(screening_of([0.0] * 8), level=0, count=50)
    assert {subproblem.candidates.size for subproblem in drawn} == {4}
    assert len({subproblem.candidates.tobytes() for subproblem in drawn}) > 20


def test_different_addresses_give_different_draws() -> None:
    table = screening_of([0.5] * 40)
    drawn = [
        subproblem
        for seed in range(3)
        for level in range(3)
        for subproblem in Sampler("uniform", 0.5, 1, seed)(table, level=level, count=5)
    ]
    assert len({subproblem.candidates.tobytes() for subproblem in drawn}) == 45
    assert len({subproblem.seed for subproblem in drawn}) == 45


def test_an_unknown_sampling_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match=r"sampling is called 'exponental'; did you mean 'exponential'\?"):
        Sampler("exponental", 0.5, 1, 0)(screening_of([1.0]), level=0, count=1)

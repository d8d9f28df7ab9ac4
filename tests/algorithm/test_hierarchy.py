"""Algorithm 1 against a literal transcription of the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backbone_dask.algorithm.hierarchy import Hierarchy, union, until_idle
from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.errors import InvalidSettingError
from backbone_dask.testing.strategies import candidate_ids, screenings, seeds
from backbone_dask.values import Answer, LevelRecord, Screening, Subproblem


class Solver:
    """Calls at most `most` candidates of a subproblem relevant, by a draw from its seed; counts what it was asked."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.solved: list[tuple[int, int]] = []

    def __call__(self, subproblems: Sequence[Subproblem]) -> Iterator[Answer]:
        for subproblem in subproblems:
            self.solved.append((subproblem.level, subproblem.index))
            yield Answer(subproblem.level, subproblem.index, self.relevant(subproblem), 0.0, 0.0)

    def relevant(self, subproblem: Subproblem) -> np.ndarray:
        rng = np.random.default_rng(subproblem.seed)
        size = min(int(rng.integers(0, self.most + 1)), subproblem.candidates.size)
        return np.sort(rng.choice(subproblem.candidates, size, replace=False))


def literal_algorithm_1(screening: Screening, construct: Sampler, solver: Solver, M: int, B_max: int) -> list[set[int]]:
    """The paper's repeat ... until, one backbone per iteration."""
    t, U, backbones = 0, screening, []
    while True:
        B: set[int] = set()
        for P in construct(U, level=t, count=math.ceil(M / 2**t)):
            B = B | set(solver.relevant(P).tolist())
        t = t + 1
        backbones.append(B)
        if len(B) <= B_max:
            return backbones
        kept = [j in B for j in screening.candidates.tolist()]
        U = Screening(screening.candidates[kept], screening.utilities[kept], screening.n_features, 0)


def answers(*relevant: list[int]) -> list[Answer]:
    return [Answer(0, index, np.array(ids, np.int64), 0.0, 0.0) for index, ids in enumerate(relevant)]


def run(hierarchy: Hierarchy, screening: Screening, sampler: Sampler, solver: Solver) -> list[LevelRecord]:
    return list(hierarchy.levels(screening, sampler, solver))


@given(screenings(max_size=80), seeds(), st.integers(1, 20), st.integers(1, 10), st.integers(0, 30))
def test_the_backbones_are_those_of_the_paper(
    screening: Screening, seed: int, n_subproblems: int, most: int, room: int
) -> None:
    sampler, backbone_max = Sampler("exponential", 0.5, most, seed), most + room
    records = run(Hierarchy(n_subproblems, backbone_max, None), screening, sampler, Solver(most))
    literal = literal_algorithm_1(screening, sampler, Solver(most), n_subproblems, backbone_max)
    assert [set(record.backbone.tolist()) for record in records] == literal


@given(
    screenings(max_size=80),
    seeds(),
    st.integers(1, 40),
    st.integers(1, 10),
    st.sampled_from(["uniform", "covering"]),
    st.none() | st.integers(1, 3),
)
def test_what_every_record_says(
    screening: Screening, seed: int, n_subproblems: int, most: int, sampling: str, patience: int | None
) -> None:
    sampler = Sampler(sampling, 0.5, most, seed)
    records = run(Hierarchy(n_subproblems, most, patience), screening, sampler, Solver(most))
    assert len(records) <= math.ceil(math.log2(n_subproblems)) + 1
    assert [record.level for record in records] == list(range(len(records)))
    assert [record.n_planned for record in records] == [math.ceil(n_subproblems / 2**t) for t in range(len(records))]
    assert records[-1].backbone.size <= most
    assert all(record.backbone.size > most for record in records[:-1])
    candidates = screening.candidates
    for record in records:
        check_record(record, candidates, sampler, screening)
        candidates = record.backbone


def check_record(record: LevelRecord, candidates: np.ndarray, sampler: Sampler, screening: Screening) -> None:
    drawn = sampler(screening.restrict(candidates), level=record.level, count=record.n_planned)
    examined = {j for subproblem in drawn[: len(record.answers)] for j in subproblem.candidates.tolist()}
    found = {j for answer in record.answers for j in answer.relevant.tolist()}
    assert [answer.index for answer in record.answers] == list(range(len(record.answers)))
    assert record.n_candidates == candidates.size
    assert record.coverage == len(examined) / candidates.size
    assert record.backbone.tolist() == sorted(found)
    assert found <= set(candidates.tolist())


@given(screenings(min_size=20, max_size=80), seeds(), st.integers(1, 40), st.integers(1, 3))
def test_what_comes_after_the_stop_is_not_asked_for(
    screening: Screening, seed: int, n_subproblems: int, patience: int
) -> None:
    solver = Solver(3)
    records = run(Hierarchy(n_subproblems, 200, patience), screening, Sampler("uniform", 0.5, 3, seed), solver)
    assert solver.solved == [(0, index) for index in range(len(records[0].answers))]


@given(screenings(min_size=30, max_size=60), seeds())
def test_one_subproblem_with_more_than_backbone_max_is_an_error(screening: Screening, seed: int) -> None:
    class Everything(Solver):
        def relevant(self, subproblem: Subproblem) -> np.ndarray:
            return subproblem.candidates

    solver, size = Everything(0), 20
    with pytest.raises(InvalidSettingError, match=rf"found \d+ relevant features.*backbone_max={size - 1};.*raise"):
        run(Hierarchy(6, size - 1, None), screening, Sampler("uniform", 0.1, size, seed), solver)
    assert [level for level, _ in solver.solved] == [0] * 6 + [1] * 3 + [2] * 2 + [3]


def test_a_backbone_of_just_backbone_max_is_accepted() -> None:
    screening = Screening(np.arange(8), np.ones(8), 8, 0)
    assert len(run(Hierarchy(1, 4, None), screening, Sampler("uniform", 0.5, 1, 0), Ever(4))) == 1
    with pytest.raises(InvalidSettingError):
        run(Hierarchy(1, 3, None), screening, Sampler("uniform", 0.5, 1, 0), Ever(4))


class Ever(Solver):
    """Always finds `most`."""

    def relevant(self, subproblem: Subproblem) -> np.ndarray:
        return subproblem.candidates[: self.most]


@given(st.integers(1, 10**6))
def test_counts_halve_down_to_one(n_subproblems: int) -> None:
    hierarchy = Hierarchy(n_subproblems, 1, None)
    counts = [hierarchy.count(level) for level in range(math.ceil(math.log2(n_subproblems)) + 1)]
    assert counts[0] == n_subproblems
    assert counts[-1] == 1
    assert all(after == math.ceil(before / 2) for before, after in pairwise(counts))


@given(st.lists(candidate_ids(min_size=0, max_size=10), max_size=6), st.randoms())
def test_union_is_sorted_unique_and_free_of_order(parts: list[np.ndarray], random: object) -> None:
    found = union(parts)
    assert found.tolist() == sorted({j for part in parts for j in part.tolist()})
    assert found.dtype == np.int64
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(union(shuffled), found)


@pytest.mark.parametrize(
    ("patience", "kept"), [(None, 7), (1, 2), (2, 5), (3, 7)], ids=["never", "one", "two", "more than there are"]
)
def test_idle_answers_in_a_row_end_a_level(patience: int | None, kept: int) -> None:
    given_answers = answers([1, 2], [1], [3], [2], [], [4], [4])
    assert len(list(until_idle(given_answers, patience))) == kept


@given(st.lists(st.lists(st.integers(0, 5), unique=True, max_size=3), max_size=12), st.integers(1, 4))
def test_patience_is_counted_in_index_order(relevant: list[list[int]], patience: int) -> None:
    kept = list(until_idle(answers(*relevant), patience))
    sizes = [0] + [len({j for ids in relevant[: m + 1] for j in ids}) for m in range(len(relevant))]
    stops = [m for m in range(patience, len(sizes)) if sizes[m] == sizes[m - patience]]
    assert len(kept) == (stops[0] if stops else len(relevant))


def test_an_answer_beyond_the_stop_is_not_pulled() -> None:
    def endless() -> Iterator[Answer]:
        yield from answers([1], [1], [1])
        raise AssertionError("asked for one more")

    assert len(list(until_idle(endless(), 2))) == 3


@given(st.integers(2, 30), seeds())
def test_with_patience_the_backbone_is_the_union_of_a_prefix(n_subproblems: int, seed: int) -> None:
    screening = Screening(np.arange(40), np.linspace(0, 1, 40), 40, 0)
    sampler = Sampler("exponential", 0.5, 2, seed)
    stopped = run(Hierarchy(n_subproblems, 100, 2), screening, sampler, Solver(2))[0]
    whole = run(Hierarchy(n_subproblems, 100, None), screening, sampler, Solver(2))[0]
    assume(len(stopped.answers) < n_subproblems)
    prefix = union(answer.relevant for answer in whole.answers[: len(stopped.answers)])
    np.testing.assert_array_equal(stopped.backbone, prefix)
    assert stopped.n_planned == n_subproblems

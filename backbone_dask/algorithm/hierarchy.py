"""Algorithm 1 without data: levels, union, halving, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from backbone_dask.errors import InvalidSettingError
from backbone_dask.protocols import ConstructSubproblems
from backbone_dask.values import Answer, CandidateIds, LevelRecord, Screening, Subproblem

Solve = Callable[[Sequence[Subproblem]], Iterator[Answer]]
"""Answers in the order of the subproblems; what is not consumed need not be solved."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """How many subproblems a level has, when it ends early, and how small the backbone must become."""

    n_subproblems: int
    backbone_max: int
    patience: int | None

    def count(self, level: int) -> int:
        """ceil(M / 2^level): ceil(log2 M) + 1 levels at the most."""
        return math.ceil(self.n_subproblems / (1 << level))

    def levels(self, screening: Screening, construct: ConstructSubproblems, solve: Solve) -> Iterator[LevelRecord]:
        """Yield every level's record; the last one holds the backbone. Without subproblems it is all that survived."""
        if not self.n_subproblems:
            yield LevelRecord(0, screening.candidates.size, 0, 1.0, (), screening.candidates)
            return
        level = 0
        while True:
            subproblems = construct(screening, level=level, count=self.count(level))
            record = self._solve_level(level, screening, subproblems, solve)
            yield record
            if self._is_last(record):
                return
            screening = screening.restrict(record.backbone)
            level += 1

    def _solve_level(
        self, level: int, screening: Screening, subproblems: Sequence[Subproblem], solve: Solve
    ) -> LevelRecord:
        # Below the first level every candidate is dealt to a subproblem: all of them are needed.
        answers = tuple(until_idle(solve(subproblems), None if level else self.patience))
        examined = tuple(growth(subproblem.candidates for subproblem in subproblems[: len(answers)]))
        return LevelRecord(
            level=level,
            n_candidates=screening.candidates.size,
            n_planned=len(subproblems),
            coverage=examined[-1] / max(screening.candidates.size, 1) if examined else 0.0,
            answers=answers,
            backbone=union(answer.relevant for answer in answers),
            examined=examined,
        )

    def _is_last(self, record: LevelRecord) -> bool:
        if record.backbone.size <= self.backbone_max:
            return True
        if self.count(record.level) == 1:
            raise InvalidSettingError(
                f"one subproblem alone found {record.backbone.size} relevant features, more than "
                f"backbone_max={self.backbone_max}; raise backbone_max or make the subproblem solver sparser"
            )
        return False


def union(parts: Iterable[CandidateIds]) -> CandidateIds:
    """Sorted union; the order in which workers answer does not matter."""
    return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))


def growth(parts: Iterable[CandidateIds]) -> Iterator[int]:
    """The size of the union after each part."""
    seen = np.empty(0, np.int64)
    for part in parts:
        seen = union([seen, part])
        yield seen.size


def until_idle(answers: Iterable[Answer], patience: int | None) -> Iterator[Answer]:
    """Answers up to and including the `patience`-th in a row that adds nothing to their union."""
    seen: set[int] = set()
    idle = 0
    for answer in answers:
        yield answer
        fresh = set(answer.relevant.tolist()) - seen
        seen |= fresh
        idle = 0 if fresh else idle + 1
        if idle == patience:
            return

"""Features that enter together, over the whole table; and the problem whose solvers respect them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.problems.names import find_named
from backbone_dask.problems.sparse import StructuredFit, StructuredSearch, StructuredSolvers
from backbone_dask.protocols import ConstructSubproblems, Problem
from backbone_dask.runtime.run import ScreenPhase
from backbone_dask.runtime.screening import Screener
from backbone_dask.store import FeatureStore
from backbone_dask.structure import Structure
from backbone_dask.values import (
    CandidateIds,
    Mask,
    Outcome,
    Screening,
    SparseFit,
    Standardised,
    Subproblem,
    Target,
    Utilities,
)


@dataclass(frozen=True, slots=True)
class Groups:
    """`members` are the features of groups of two or more, sorted, and `labels` their groups; others are on their own.

    With `nonnegative` no coefficient is below 0.
    """

    members: CandidateIds
    labels: NDArray[np.int64]
    nonnegative: bool = False

    @property
    def is_trivial(self) -> bool:
        return not (self.members.size or self.nonnegative)

    def closed(self, ids: CandidateIds) -> CandidateIds:
        """`ids` with all the members of every group that one of them is in; sorted."""
        inside = np.isin(self.members, ids, assume_unique=True)
        wanted = np.isin(self.labels, self.labels[inside])
        return np.union1d(ids, self.members[wanted])

    def structure(self, ids: CandidateIds) -> Structure:
        """The groups among some features."""
        labels = -1 - ids
        at = np.searchsorted(self.members, ids)
        grouped = np.flatnonzero(
            self.members[np.minimum(at, self.members.size - 1)] == ids if self.members.size else []
        )
        labels[grouped] = self.labels[at[grouped]]
        return Structure(np.unique(labels, return_inverse=True)[1].astype(np.int64), self.nonnegative)


def find_groups(given: Any, store: FeatureStore, *, nonnegative: bool) -> Groups:
    """From None, a group for every feature (p,), or a list of lists of names or ids."""
    if given is None:
        return Groups(np.empty(0, np.int64), np.empty(0, np.int64), nonnegative)
    if isinstance(given, list | tuple) and given and isinstance(given[0], list | tuple | np.ndarray):
        return _listed(given, store, nonnegative)
    numbers = np.unique(_labels(given, store.n_features), return_inverse=True)[1]
    shared = np.flatnonzero(np.bincount(numbers)[numbers] > 1)
    return Groups(shared, numbers[shared], nonnegative)


def _labels(given: Any, n_features: int) -> NDArray[Any]:
    labels = np.asarray(given)
    if labels.shape != (n_features,):
        raise InvalidDataError(f"groups have shape {labels.shape}; give one for each of the {n_features} features")
    # Objects need not be comparable, and NaN differs from itself.
    suspects = labels.tolist() if labels.dtype == object else labels[labels != labels].tolist()
    wrong = [label for label in suspects if not isinstance(label, str | Real) or label != label]
    if wrong:
        raise InvalidDataError(f"a group is called {wrong[0]!r}; give every feature a number or a word")
    return labels.astype(str) if labels.dtype == object else labels


def _listed(given: Any, store: FeatureStore, nonnegative: bool) -> Groups:
    lists = [_ids(group, store) for group in given]
    members = np.concatenate(lists)
    labels = np.repeat(np.arange(len(lists)), [ids.size for ids in lists])
    order = np.argsort(members, kind="stable")
    twice = np.flatnonzero(np.diff(members[order]) == 0)
    if twice.size:
        raise InvalidDataError(f"{store.label(int(members[order][twice[0]]))} is in two groups; put it in one")
    return Groups(members[order], labels[order], nonnegative)


def _ids(group: Any, store: FeatureStore) -> CandidateIds:
    named = sum(isinstance(each, str) for each in group)
    if named not in (0, len(group)):
        raise InvalidDataError("a group mixes names and ids; use either")
    for each in group:
        if not isinstance(each, str) and (not isinstance(each, Integral) or isinstance(each, bool)):
            raise InvalidDataError(f"a group holds {each!r}; an id is a whole number, counted from 0")
    ids = find_named(list(group), store) if named else np.array(list(group), np.int64)
    store.require_ids(ids)
    return ids


@dataclass(frozen=True, slots=True)
class FitStructured:
    """A subproblem on groups."""

    search: StructuredSearch
    structure: Structure
    n_nonzero: int
    gamma: float

    def __call__(self, X: Standardised, y: Target, *, seed: int) -> SparseFit:
        return self.search(X, y, self.structure, n_nonzero=self.n_nonzero, gamma=self.gamma, seed=seed)


@dataclass(frozen=True, slots=True)
class FitStructuredReduced:
    """The exact fit on the groups of the backbone."""

    fit: StructuredFit
    structure: Structure
    n_nonzero: int
    gamma: float
    gap_tolerance: float

    def at(self, n_nonzero: int, gamma: float) -> FitStructuredReduced:
        return replace(self, n_nonzero=n_nonzero, gamma=gamma)

    def __call__(self, X: Standardised, y: Target, *, warm_start: CandidateIds, seconds: float) -> Outcome[SparseFit]:
        return self.fit(
            X,
            y,
            self.structure,
            n_nonzero=self.n_nonzero,
            gamma=self.gamma,
            warm_start=warm_start,
            seconds=seconds,
            gap_tolerance=self.gap_tolerance,
        )


@dataclass(frozen=True, slots=True)
class WholeGroups:
    """Marks every column of the groups that a model uses."""

    structure: Structure

    def __call__(self, fit: SparseFit) -> Mask:
        mask = np.zeros(fit.n_columns, np.bool_)
        mask[self.structure.columns_of(self.structure.groups_of(fit.support))] = True
        return mask


@dataclass(frozen=True, slots=True)
class StructuredProblem(Problem[SparseFit]):
    """A problem of groups: on some features, the solvers know which of them belong together."""

    groups: Groups
    solvers: StructuredSolvers
    n_nonzero: int
    gamma: float
    subproblem_gamma: float
    gap_tolerance: float

    def restricted(self, ids: CandidateIds) -> StructuredProblem:
        structure, size = self.groups.structure(ids), self.n_nonzero
        return replace(
            self,
            fit_subproblem=FitStructured(self.solvers.search, structure, size, self.subproblem_gamma),
            extract_relevant=WholeGroups(structure),
            fit=FitStructuredReduced(self.solvers.fit, structure, size, self.gamma, self.gap_tolerance),
        )


@dataclass(frozen=True, slots=True)
class GroupedSampler:
    """Subproblems of whole groups."""

    construct: ConstructSubproblems
    groups: Groups

    def __call__(self, screening: Screening, *, level: int, count: int) -> list[Subproblem]:
        drawn = self.construct(screening, level=level, count=count)
        return [replace(each, candidates=self.groups.closed(each.candidates)) for each in drawn]


@dataclass(frozen=True, slots=True)
class GroupedScreen:
    """Survivors with the rest of their groups, which take over the best utility among them.

    `most` features survive where it is given: the best groups that fit, each as a whole.
    """

    screen: ScreenPhase
    groups: Groups
    most: int | None = None

    def __call__(self, screener: Screener, keep: int) -> Screening:
        found = self.screen(screener, keep)
        ids = self.groups.closed(found.candidates)
        labels = self.groups.structure(ids).groups
        at = np.searchsorted(ids, found.candidates)
        best = np.zeros(labels.max() + 1)
        np.maximum.at(best, labels[at], found.utilities)
        utilities = best[labels]
        utilities[at] = found.utilities
        whole = replace(found, candidates=ids, utilities=utilities)
        return whole if self.most is None else whole.restrict(ids[fitting_groups(best, labels, self.most)])


def fitting_groups(best: Utilities, labels: NDArray[np.int64], most: int) -> Mask:
    """The members of the groups of highest utility, ties by label; one that has no room is passed over."""
    order = np.argsort(-best, kind="stable")
    sizes = np.bincount(labels, minlength=best.size)
    if sizes[order[0]] > most:
        raise InvalidSettingError(
            f"the best group has {sizes[order[0]]} features, more than backbone_max={most}; raise backbone_max, or let "
            "subproblems choose"
        )
    kept, room = np.zeros(best.size, np.bool_), most
    for group in order:
        kept[group] = sizes[group] <= room
        room -= sizes[group] * kept[group]
    return kept[labels]


def grouped(
    problem: Problem[SparseFit],
    groups: Groups,
    solvers: StructuredSolvers,
    *,
    n_nonzero: int,
    gamma: float,
    subproblem_gamma: float,
    gap_tolerance: float,
) -> StructuredProblem:
    """The same problem for groups of features."""
    return StructuredProblem(
        problem.screen,
        GroupedSampler(problem.construct_subproblems, groups),
        problem.fit_subproblem,
        problem.extract_relevant,
        problem.fit,
        problem.prepare,
        groups,
        solvers,
        n_nonzero,
        gamma,
        subproblem_gamma,
        gap_tolerance,
    )

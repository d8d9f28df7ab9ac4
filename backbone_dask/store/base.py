"""What every feature store offers, wherever its columns lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError, UnknownFeatureError
from backbone_dask.protocols import FeatureSource
from backbone_dask.store.missing import label
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.store.synthetic.truths import Truth
from backbone_dask.values import CandidateIds, FeatureBlock, Shard, Target

# Columns that are still in cache when they are scored: 1.5 times the speed of 16 MB blocks.
BLOCK_BYTES = 4 << 20


class FeatureStore(ABC):
    """A matrix of features x samples with names and targets, read by block or by id.

    Attributes
    ----------
    location : where it is, for people.
    n_features, n_samples : its shape.
    dtype : of the raw columns.
    targets : named responses, each of length n_samples.
    waits : whether reading waits for a disk or a network.
    named : whether its features have names of their own.
    locality : which features lie on which host, where that is known.
    missing : what stands for a missing value: nothing ("refuse"), or the mean of its column.
    truth : what a simulated store was made from; never read by a fit.
    labels : names of the classes 0, 1, ... of a target, by the target's name.
    origin : the files that it was made from and how, as plain data; what has the same origin has the same columns.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask.store import MemoryStore
    >>> store = MemoryStore(np.array([[1.0, 5.0], [3.0, 5.0]]), names=["height", "sort"])
    >>> store.n_features, store.n_samples
    (2, 2)
    >>> columns = store.gather(np.array([0]))
    >>> columns.values.tolist(), columns.mean.tolist(), columns.scale.tolist()
    ([[1.0, 3.0]], [2.0], [1.0])
    """

    location: str
    n_features: int
    n_samples: int
    dtype: np.dtype[np.generic]
    named: bool = False
    waits: bool = False
    missing: MissingPolicy = "refuse"
    truth: Truth | None = None
    locality: tuple[Shard, ...] = ()
    labels: Mapping[str, Sequence[str]] = MappingProxyType({})
    origin: Mapping[str, Any] | None = None

    @property
    @abstractmethod
    def targets(self) -> Mapping[str, Target]: ...

    @abstractmethod
    def read(self, block: FeatureBlock) -> Columns:
        """The columns of one block."""

    @abstractmethod
    def gather(self, ids: CandidateIds) -> Columns:
        """The columns of sorted ids from anywhere in the store."""

    def raw(self, block: FeatureBlock) -> NDArray[Any]:
        """The values of one block before missing ones are replaced, for copying."""
        return self.read(block).values

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """What tells the samples apart, where they have ids."""
        return None

    @property
    def identity(self) -> str:
        """What tells this store from every other one, also from one that is written in its place later."""
        return self.location

    def portion(self, ids: CandidateIds) -> FeatureSource:
        """What a worker needs to serve `ids`: the store itself, unless it lives in this process."""
        return self

    def names(self, ids: CandidateIds) -> list[str]:
        """Names of features; x0, x1, ... where the store has none of its own."""
        self.require_ids(ids)
        return [f"x{j}" for j in ids]

    def find(self, names: list[str]) -> CandidateIds:
        """Ids of the named features, in the order of the names."""
        ids = [int(name[1:]) if name[:1] == "x" and name[1:].isdigit() else -1 for name in names]
        return found(names, np.array([j if j < self.n_features else -1 for j in ids], np.int64), self.location)

    def label(self, j: int) -> str:
        """A feature in messages: its id, and its name if it has one."""
        return label(j, self.names(np.array([j]))[0] if self.named else None)

    def require_ids(self, ids: CandidateIds) -> None:
        """Refuse ids of features that do not exist."""
        lost = ids[(ids < 0) | (ids >= self.n_features)]
        if lost.size:
            raise InvalidDataError(
                f"{self.location} has no feature {lost[0]}; its {self.n_features} features are numbered from 0"
            )

    def require_block(self, block: FeatureBlock) -> None:
        """Refuse a block of another table."""
        if not 0 <= block.start < block.stop <= self.n_features:
            raise InvalidDataError(
                f"{self.location} has no block of features {block.start} to {block.stop - 1}; "
                f"its {self.n_features} features are numbered from 0"
            )

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def blocks(self, features: int | None = None) -> list[FeatureBlock]:
        """The table as blocks of `features` whole features, by default about 4 MB each."""
        step = features or self.block_features
        starts = range(0, self.n_features, step)
        return [FeatureBlock(i, start, min(start + step, self.n_features)) for i, start in enumerate(starts)]

    @property
    def block_features(self) -> int:
        """How many features are best read at once."""
        return max(1, BLOCK_BYTES // (self.n_samples * self.itemsize))

    @property
    def only_target(self) -> str:
        """The name of the target, where there is one; "y" otherwise."""
        return next(iter(self.targets)) if len(self.targets) == 1 else "y"

    def target(self, name: str | None = None) -> Target:
        """A target by name; without one, the only target there is."""
        return self.targets[self.target_name(name)]

    def class_names(self, name: str | None = None) -> tuple[str, ...]:
        """Names of the classes 0, 1, ... of a target; none where it holds numbers."""
        return tuple(self.labels.get(self.target_name(name), ()))

    def answers(self, name: str | None = None) -> NDArray[Any]:
        """A target as people know it: the name of each sample's class where classes have names, else numbers."""
        names = self.class_names(name)
        return np.array(names)[self.target(name).astype(np.int64)] if names else self.target(name)

    def target_name(self, name: str | None = None) -> str:
        """What a target is called; without a name, the only one there is."""
        known = ", ".join(sorted(self.targets)) or "none"
        if name is None and len(self.targets) == 1:
            name = next(iter(self.targets))
        if not self.targets:
            raise InvalidDataError(f"{self.location} has no target; give y, or write the store again with one")
        if name is None:
            raise InvalidDataError(f"{self.location} has {len(self.targets)} targets; name one of: {known}")
        if name not in self.targets:
            raise InvalidDataError(f"{self.location} has no target {name!r}; it has: {known}")
        return name


def found(names: list[str], ids: NDArray[np.int64], location: str) -> CandidateIds:
    lost = [name for name, at in zip(names, ids, strict=True) if at < 0]
    if lost:
        message = f"{location} lacks {len(lost)} of the model's features: {', '.join(lost[:5])}"
        raise UnknownFeatureError(message, tuple(lost))
    return ids


def only_one(names: list[str], known: Iterable[tuple[int, str]], location: str) -> NDArray[np.int64]:
    """Where each name is among those known, -1 where it is not; a name that two features have is refused."""
    ids = dict.fromkeys(names, -1)
    for j, name in known:
        if ids.get(name, j) not in (-1, j):
            raise InvalidDataError(f"features {ids[name]} and {j} of {location} are both called {name!r}; rename one")
        if name in ids:
            ids[name] = j
    return np.array([ids[name] for name in names], np.int64)

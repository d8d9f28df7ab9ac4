"""What every format offers: blocks of whole features, and the columns that are no features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.protocols import Executor
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.values import FeatureBlock

Told: TypeAlias = Callable[[str, int, int, str], None]
"""Hears of progress: the phase, how much is done, of how much, in which unit."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns of the files are no features, and which values are wanted.

    Attributes
    ----------
    fields : columns to set apart, for targets.
    sample_id : the column that tells samples apart; where files have ids of their own, it need not be there.
    exclude : columns to leave out.
    dtype : of the features; None is what suits the values.
    header : whether the first line of a text table has the names; None is decided from that line.
    """

    fields: tuple[str, ...] = ()
    sample_id: str | None = None
    exclude: tuple[str, ...] = ()
    dtype: str | None = None
    header: bool | None = None


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where a format that lies in the files sample by sample is turned round: a folder, workers, and who listens.

    What is finished in `scratch` is found there again after an interruption; the caller removes it in the end.
    """

    scratch: str
    executor: Executor
    told: Told


class Table(ABC):
    """A samples x features table in files. Small to pickle: a worker opens the files again.

    Attributes
    ----------
    location : what people call it.
    files : all that it is read from; their sizes and times tell it from another table.
    n_samples, n_features : its shape, without the columns that are no features.
    dtype : of what `read` returns, one that a store can hold.
    missing : what is done about missing values unless people ask for something else; in whole numbers "mean" says
        that their missing code stands for a missing value, and "refuse" that every value means itself.
    excluded : which of the columns to leave out were there; None if that is not known.
    id_column : the column that the sample ids are from; None where they are the files' own, or there are none.
    """

    location: str
    files: tuple[str, ...]
    n_samples: int
    n_features: int
    dtype: np.dtype[Any]
    missing: MissingPolicy = "refuse"
    excluded: frozenset[str] | None = None
    id_column: str | None = None

    @abstractmethod
    def read(self, block: FeatureBlock) -> NDArray[Any]:
        """Values (features, samples) in the files' order; NaN, or an integer's missing code, where there is none."""

    def names(self, start: int, stop: int) -> list[str] | None:
        """Names of the features [start, stop), or None if they have none."""
        return None

    def part_of(self, j: int) -> str:
        """The file that feature j is read from, for messages."""
        return self.location

    @property
    def sample_ids(self) -> Sequence[str] | None:
        """What tells the samples apart, where the files say so."""
        return None

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        """Columns that are no features, by name: numbers or text, one for each sample, as the files have them."""
        return {}


Opener: TypeAlias = Callable[[tuple[str, ...], Wanted, Workshop], Table]
"""From paths or URLs of one format to the table in them; what cannot be read is an InvalidDataError of one sentence."""

"""The shapes that parts must have to fit together: the paper's five functions, a source of columns, an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.values import (
    CandidateIds,
    FeatureBlock,
    Mask,
    ModelT,
    ModelT_co,
    Outcome,
    Screening,
    Seat,
    Subproblem,
    Target,
    Utilities,
)
from backbone_dask.watching import Watcher


class Screen(Protocol):
    """Scores the columns of one block; a column's score does not depend on its neighbours. Constant columns get 0."""

    def __call__(self, columns: Columns, y: Target) -> Utilities: ...


class Panel(Protocol):
    """Scores the columns of one block for several questions at once: targets, folds. Row by row it is a screen."""

    @property
    def n_questions(self) -> int: ...

    def __call__(self, columns: Columns) -> NDArray[np.float64]:
        """Utilities, shape (questions, features)."""
        ...


class Shuffle(Protocol):
    """Responses (questions, samples) that have nothing to do with any column, made of one (samples,)."""

    def __call__(self, response: Target) -> NDArray[np.float64]:
        """Permuted over the samples."""
        ...

    def flipped(self, residual: Target) -> NDArray[np.float64]:
        """Every sample with a sign by chance: each keeps its own spread."""
        ...


class ResponsePanel(Panel, Protocol):
    """A panel with one question about one response, which it can ask about shuffled responses, too."""

    def shuffled(self, shuffle: Shuffle) -> Panel:
        """The same question about each of the responses that `shuffle` makes of its own."""
        ...


class UtilitySink(Protocol):
    """Keeps the utilities of all columns; tasks write disjoint regions of it from any machine."""

    def write(self, start: int, utilities: NDArray[np.float64]) -> None:
        """Utilities (questions, features) of the features from `start` on."""
        ...


class ConstructSubproblems(Protocol):
    """Chooses the candidates of every subproblem of a level. Pure: the same arguments give the same ids."""

    def __call__(self, screening: Screening, *, level: int, count: int) -> Sequence[Subproblem]: ...


class PrepareColumns(Protocol):
    """Brings raw columns to the form in which solvers take them, on the worker that reads them."""

    def __call__(self, columns: Columns, /) -> NDArray[Any]: ...


class FitSubproblem(Protocol[ModelT_co]):
    """Fits a sparse model to the sampled columns, on a worker; touches no shared state.

    `X` (features, samples) is as `prepare` made it, and `y` whatever the problem class explains: a target, or labels
    with sample weights.
    """

    def __call__(self, X: Any, y: Any, *, seed: int) -> ModelT_co: ...


class ExtractRelevant(Protocol):
    """Marks the columns, of those just fitted, that the model uses."""

    def __call__(self, model: Any, /) -> Mask: ...


class Fit(Protocol[ModelT]):
    """Solves the reduced problem; `warm_start` holds positions in X."""

    def __call__(self, X: Any, y: Any, *, warm_start: CandidateIds, seconds: float) -> Outcome[ModelT]: ...


@dataclass(frozen=True, slots=True)
class Problem(Generic[ModelT]):
    """The paper's five functions by the paper's names, `screen` as the panel that asks its question."""

    screen: ResponsePanel
    construct_subproblems: ConstructSubproblems
    fit_subproblem: FitSubproblem[Any]
    extract_relevant: ExtractRelevant
    fit: Fit[ModelT]
    prepare: PrepareColumns

    def restricted(self, ids: CandidateIds) -> Problem[ModelT]:
        """The problem on these features; a class whose features are tied together overrides it."""
        return self


class SpineSettings(Protocol):
    """What every problem class sets for the phases from the screen to the backbone."""

    @property
    def screen_size(self) -> int: ...

    @property
    def n_subproblems(self) -> int: ...

    @property
    def backbone_max(self) -> int: ...

    @property
    def patience(self) -> int | None: ...


class FeatureSource(Protocol):
    """Columns by block or by id. Small to pickle: a worker reads its own."""

    @property
    def n_features(self) -> int: ...

    @property
    def n_samples(self) -> int: ...

    @property
    def itemsize(self) -> int: ...

    @property
    def waits(self) -> bool:
        """Whether reading waits for a disk or a network, so that scoring can go on meanwhile."""
        ...

    @property
    def block_features(self) -> int:
        """How many features are best read at once."""
        ...

    def read(self, block: FeatureBlock) -> Columns: ...

    def gather(self, ids: CandidateIds) -> Columns: ...

    def portion(self, ids: CandidateIds) -> FeatureSource:
        """What a worker needs to serve `ids`: the source itself unless it lives in this process."""
        ...


class Executor(Protocol):
    """Runs pure functions. Handles stand for values that stay where they were made."""

    @property
    def n_workers(self) -> int: ...

    @property
    def worker_bytes(self) -> int: ...

    def seats(self) -> tuple[Seat, ...]:
        """The workers, always in the same order."""
        ...

    def hostnames(self) -> dict[str, str]:
        """What the host of every worker calls itself, by the worker's name."""
        ...

    def traffic(self) -> dict[str, int]:
        """Bytes of columns read and moved, and how many tasks ran where they were placed, so far."""
        ...

    def peak_bytes(self) -> list[int]:
        """The largest resident memory that each worker has had; none where this process does everything."""
        ...

    @property
    def dashboard(self) -> str | None:
        """The address of a page that shows what the workers do, if there is one."""
        ...

    def watching(self, watcher: Watcher) -> AbstractContextManager[None]:
        """Solves that are started in this block tell `watcher` of their progress, a few times a second.

        It is called from any thread, and not for messages that are lost.
        """
        ...

    @property
    def keeps_blocks(self) -> bool:
        """Whether workers keep the blocks that they read, as far as their memory allows."""
        ...

    def share(self, value: Any) -> Any:
        """A handle for a small value that many tasks read; it travels to each worker once."""
        ...

    def place(self, make: Callable[[], Any], home: str | None = None) -> Any:
        """A handle for a value that one task reads; it travels to one worker, past the scheduler."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any, home: str | None = None, priority: int = 0) -> Any:
        """A handle for function(*arguments); handles among the arguments, and in lists of them, become their values.

        It runs on the worker that is called `home`, unless that one is gone or busy while others are idle; of
        several that wait there, the one of highest priority first.
        """
        ...

    def map(
        self, function: Callable[..., Any], items: Iterable[tuple[Any, ...]], homes: Iterable[str | None] = ...
    ) -> Iterator[Any]:
        """function(*item) for every item, in the order of the items, a few at a time; closing it drops the rest."""
        ...

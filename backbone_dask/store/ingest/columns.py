"""Columns of a table by name: which are features, which are set apart, and what a name that is not there may mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.table import Wanted
from backbone_dask.store.tables import stored_dtype

# Names to look for close ones among; more of them take seconds.
_COMPARED = 20_000
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of a table's columns.

    Attributes
    ----------
    features : in the order of the file.
    fields : by name, of those that were asked for and are there.
    sample_id : None if there is no such column.
    excluded : names of those that are left out.
    """

    features: NDArray[np.int64]
    fields: dict[str, int]
    sample_id: int | None
    excluded: frozenset[str]


def split_columns(names: Sequence[str], wanted: Wanted, location: str) -> Split:
    """Features are what is not set apart. A name to set apart that two columns have is refused."""
    apart = {*wanted.fields, *wanted.exclude, *([wanted.sample_id] if wanted.sample_id else [])}
    found = [(name, at) for at, name in enumerate(names) if name in apart]
    places = dict(reversed(found))
    for name, at in found:
        if places[name] != at and name not in wanted.exclude:
            raise InvalidDataError(
                f"columns {places[name] + 1} and {at + 1} of {location} are both called {name!r}; rename one"
            )
    features = np.delete(np.arange(len(names), dtype=np.int64), [at for _, at in found])
    fields = {name: places[name] for name in wanted.fields if name in places}
    return Split(features, fields, places.get(wanted.sample_id or ""), frozenset(wanted.exclude) & set(places))


def stored(dtype: np.dtype[Any], location: str) -> np.dtype[Any]:
    """The dtype of a store for a table of one dtype; what is no number is refused."""
    try:
        return stored_dtype(dtype)
    except InvalidDataError as cause:
        raise InvalidDataError(f"{location} holds {dtype}, not numbers; save it as numbers") from cause


def no_column(location: str, name: str, option: str, known: Iterable[str]) -> InvalidDataError:
    """The sentence for a name that people gave and a table does not have."""
    return InvalidDataError(f"{location} has no column {name!r} for {option}; {closest(name, known)}")


def closest(name: str, known: Iterable[str]) -> str:
    """Advice for a name that is not there: those that look like it, or the first few."""
    pool = list(islice(known, _COMPARED))
    near = [each for each in pool if each.lower() == name.lower()] or get_close_matches(name, pool, _SHOWN, cutoff=0.6)
    if not near:
        near = pool[:_SHOWN]
        return f"it has {', '.join(near)}{', ...' if len(pool) > len(near) else ''}" if near else "it has none"
    return f"did you mean {' or '.join(near)}?"

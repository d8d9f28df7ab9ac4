"""What the cells of a target mean: numbers, or classes by name; what is neither is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.values import MOST_CLASSES

# Of the cells that are not empty: a column with so many numbers is one of numbers.
_MOSTLY = 0.5
_SHOWN = 3
_LONGEST_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Cells:
    """A column as it is in a file, and what its rows are called in messages."""

    name: str
    source: str
    values: NDArray[Any]
    row: Callable[[int], str]


def numbers_or_text(cells: Cells) -> NDArray[Any]:
    """float64 with NaN where there is no value, if all others are numbers; else text, empty where there is none.

    A column without any value is refused, and so is one of which at least half are numbers, but not all.
    """
    if cells.values.dtype.kind in "iuf":
        found: NDArray[Any] = cells.values.astype(np.float64)
        _require_some(cells, ~np.isnan(found))
        return found
    texts = [_text(each) for each in cells.values.tolist()]
    numbers = [python_number(text) for text in texts]
    present = np.array([number is None or number == number for number in numbers], bool)
    _require_some(cells, present)
    if None not in numbers:
        return np.array(numbers, np.float64)
    _refuse_stray_text(cells, texts, numbers, int(present.sum()))
    return np.where(present, np.array(texts, object), "")


def require_classes(labels: Sequence[str], n_samples: int, name: str, source: str) -> None:
    """Refuse labels that are too many, or nearly one for each sample."""
    if len(labels) > MOST_CLASSES or (len(labels) > 2 and 2 * len(labels) > n_samples):
        shown = ", ".join(_shortened(each) for each in labels[:_SHOWN])
        raise InvalidDataError(
            f"column {name!r} of {source} has {len(labels):,} different texts in {n_samples:,} samples ({shown}, ...), "
            f"which looks like ids or free text, not like classes (at most {MOST_CLASSES}, each several times); name "
            "another column, as FILE:COLUMN if it is in a file"
        )


def _text(value: Any) -> str:
    """None, and what does not equal itself, is no value; yes and no are classes."""
    if value is None or value != value:
        return ""
    return (value.decode() if isinstance(value, bytes) else str(value)).strip()


def _require_some(cells: Cells, present: NDArray[np.bool_]) -> None:
    if not present.any():
        raise InvalidDataError(
            f"column {cells.name!r} of {cells.source} has no value: all {present.size:,} are missing; name another "
            "one, as FILE:COLUMN if it is in a file"
        )


def _refuse_stray_text(cells: Cells, texts: list[str], numbers: list[float | None], n_present: int) -> None:
    strays = [at for at, number in enumerate(numbers) if number is None]
    n_numbers = n_present - len(strays)
    if n_numbers >= _MOSTLY * n_present:
        raise InvalidDataError(
            f"{cells.source}, {cells.row(strays[0])}, column {cells.name!r}: {_shortened(texts[strays[0]])} is no "
            f"number, but {n_numbers:,} of {n_present:,} values are; correct it, empty the cell if it is missing, or "
            "name every class by a word if these are classes"
        )


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")

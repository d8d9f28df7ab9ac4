"""Named responses: what may be one, and a mapping that reads each when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.values import Target


def checked_targets(targets: Mapping[str, Any] | None, n_samples: int) -> dict[str, Target]:
    """Targets as float64, each finite and as long as the table."""
    return {name: _checked(name, values, n_samples) for name, values in (targets or {}).items()}


def require_file_name(name: str) -> None:
    """A target has a folder of its name in the store."""
    forbidden = not name or name[0] in "._" or any(letter in name for letter in "/\\\0") or len(name.encode()) > 200
    if forbidden or name == "zarr.json":
        raise InvalidDataError(
            f"a target cannot be called {name!r}; use up to 200 bytes without slashes that begin with a letter or digit"
        )


def _checked(name: str, values: Any, n_samples: int) -> Target:
    try:
        target = np.asarray(values, np.float64)
    except (TypeError, ValueError) as cause:
        raise InvalidDataError(f"target {name!r} is not numeric ({cause}); code its classes as numbers") from cause
    if target.shape != (n_samples,):
        raise InvalidDataError(f"target {name!r} has shape {target.shape}, the table has {n_samples} samples")
    bad = np.flatnonzero(~np.isfinite(target))
    if bad.size:
        raise InvalidDataError(
            f"target {name!r} is {target[bad[0]]} in sample {bad[0]} and not finite in {bad.size} of {n_samples}; "
            "leave these samples out of the table, or give them a value"
        )
    return target


class LazyTargets(Mapping[str, Target]):
    """Names are known at once; values are read once, when they are asked for."""

    def __init__(self, names: list[str], read: Callable[[str], Target]) -> None:
        self._names, self._read = names, read
        self._kept: dict[str, Target] = {}

    def __getitem__(self, name: str) -> Target:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._kept:
            self._kept[name] = self._read(name)
        return self._kept[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

"""All products of two features of another store, made on demand: p (p - 1) / 2 columns of real data, no disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError, StoreError
from backbone_dask.protocols import FeatureSource
from backbone_dask.store import locate
from backbone_dask.store.base import FeatureStore, found, only_one
from backbone_dask.store.factors import Factors, load_factors, require_factors
from backbone_dask.store.pairs import n_pairs, pair_ids, pairs_of
from backbone_dask.store.synthetic.recipe import versioned
from backbone_dask.values import CandidateIds, FeatureBlock, Target

FORMAT = "backbone-dask-interactions"
VERSION = 1
JOIN = "*"


class InteractionStore(FeatureStore):
    """Feature number pair_ids(a, b) is the product of features a < b of the base, and is called "a*b" by their names.

    A process that serves columns reads the base once and keeps it; what travels is only the base. Products of integers
    stay integers where none can overflow, and are float32 otherwise. A product with a missing factor is missing; but a
    float that was missing already stands for its column's mean when a base hands it out, so its products are of that.
    """

    named = True

    def __init__(self, base: FeatureStore, location: str | None = None, dtype: str | None = None) -> None:
        require_factors(base)
        self.base = base
        self.location = location or f"interactions of {base.location}"
        self.n_features, self.n_samples = n_pairs(base.n_features), base.n_samples
        self.missing, self.labels = base.missing, base.labels
        # A worker is told the dtype: it need not read the base before it is asked for columns.
        self.dtype = np.dtype(dtype) if dtype else self._factors.values.dtype

    def __reduce__(self) -> tuple[type[InteractionStore], tuple[FeatureStore, str, str]]:
        return InteractionStore, (self.base, self.location, self.dtype.name)

    @property
    def targets(self) -> Mapping[str, Target]:
        return self.base.targets

    @property
    def identity(self) -> str:
        return f"interactions of {self.base.identity}"

    def raw(self, block: FeatureBlock) -> NDArray[Any]:
        self.require_block(block)
        return self._factors.products(np.arange(block.start, block.stop))

    def read(self, block: FeatureBlock) -> Columns:
        self.require_block(block)
        return self._columns(np.arange(block.start, block.stop))

    def gather(self, ids: CandidateIds) -> Columns:
        self.require_ids(ids)
        return self._columns(ids)

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return self.base.sample_ids

    def portion(self, ids: CandidateIds) -> FeatureSource:
        """The store itself, unless its base lives in this process: then the columns that `ids` are made of."""
        if self.base.portion(np.zeros(1, np.int64)) is self.base:
            return self
        return self._factors.portion(ids)

    def names(self, ids: CandidateIds) -> list[str]:
        self.require_ids(ids)
        a, b = pairs_of(ids, self.base.n_features)
        used = np.unique(np.concatenate([a, b]))
        known = dict(zip(used.tolist(), self.base.names(used), strict=True))
        return [f"{known[i]}{JOIN}{known[j]}" for i, j in zip(a.tolist(), b.tolist(), strict=True)]

    def find(self, names: list[str]) -> CandidateIds:
        """Ids of products, in the order of the names; the factors may be named in either order."""
        at = self._factor_ids(sorted({part for name in names for halves in _halves(name) for part in halves}))
        return found(names, np.array([self._find_one(name, at) for name in names], np.int64), self.location)

    def _find_one(self, name: str, at: dict[str, int]) -> int:
        """The id of one product, -1 if there is none. Names of factors may contain the sign that joins them."""
        pairs = sorted({(min(at[x], at[y]), max(at[x], at[y])) for x, y in _halves(name)})
        a, b = np.array([pair for pair in pairs if 0 <= pair[0] < pair[1]], np.int64).reshape(-1, 2).T
        ids = pair_ids(a, b, self.base.n_features)
        if ids.size > 1:
            raise InvalidDataError(
                f"features {ids[0]} and {ids[1]} of {self.location} are both called {name!r}; "
                f"rename features of {self.base.location}"
            )
        return int(ids[0]) if ids.size else -1

    def _factor_ids(self, parts: list[str]) -> dict[str, int]:
        """Where each name is in the base, -1 where it is not."""
        if self.base.named:
            known = enumerate(self.base.names(np.arange(self.base.n_features)))
            return dict(zip(parts, only_one(parts, known, self.base.location).tolist(), strict=True))
        return {part: self._found_or_not(part) for part in parts}

    def _found_or_not(self, part: str) -> int:
        try:
            return int(self.base.find([part])[0])
        except InvalidDataError:
            return -1

    def _columns(self, ids: CandidateIds) -> Columns:
        return self._factors.admitted(ids, lambda row: self.label(int(ids[row])))

    @cached_property
    def _factors(self) -> Factors:
        return load_factors(self.base)


def _halves(name: str) -> Iterator[tuple[str, str]]:
    """Every way to read a name as two names that are joined."""
    for at, letter in enumerate(name):
        if letter == JOIN:
            yield name[:at], name[at + 1 :]


def link_json(base: str) -> str:
    """What is kept of interactions: where their base is."""
    return json.dumps({"format": FORMAT, "version": VERSION, "base": base})


def is_link(text: str) -> bool:
    """Whether a text says that it is such a link, of whatever version."""
    try:
        content = json.loads(text)
    except ValueError:
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def linked_base(text: str, place: str) -> str:
    """Where the base is that the link at `place` names."""
    base = versioned(text, FORMAT, VERSION).get("base")
    if not isinstance(base, str) or not base:
        raise StoreError(f'"base" is {base!r}; it must be the path or URL of a store')
    return locate.beside(locate.plain(base), place)


def base_beside(base: str, place: str) -> str:
    """What a link at `place` should say of its base: a relative path becomes relative to the link."""
    if locate.is_url(base) or os.path.isabs(base):
        return base
    if locate.is_url(place):
        return locate.absolute(base)
    return os.path.relpath(locate.absolute(base), os.path.dirname(locate.absolute(place)))

"""What a synthetic data set was made from: the answer that a method should find."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import StoreError
from backbone_dask.store.synthetic.recipe import versioned
from backbone_dask.values import CandidateIds

FORMAT = "backbone-dask-truth"
VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class LinearTruth:
    """The true regressor: w is `coefficients` at `ids` (sorted, both of shape (k,)) and 0 elsewhere."""

    ids: CandidateIds
    coefficients: NDArray[np.float64]

    def to_json(self) -> str:
        """The truth as JSON; `truth_from_json` reads it."""
        content = {"ids": self.ids.tolist(), "coefficients": self.coefficients.tolist()}
        return json.dumps({"format": FORMAT, "version": VERSION, **content})


@dataclass(frozen=True, slots=True, eq=False)
class TreeTruth:
    """A full binary tree of depth D in breadth-first order: node t has the children 2t + 1 (left) and 2t + 2.

    Attributes
    ----------
    ids : array (k,)
        The relevant features, sorted.
    features, thresholds : array (2^D - 1,)
        Node t sends a sample left if feature `features[t]` <= `thresholds[t]`. Ids are global.
    classes : array (2^D,), int64
        Of the leaves from left to right: leaf l is node 2^D - 1 + l.
    """

    ids: CandidateIds
    features: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    classes: NDArray[np.int64]

    @property
    def depth(self) -> int:
        return int(self.classes.size).bit_length() - 1

    def to_json(self) -> str:
        """The truth as JSON; `truth_from_json` reads it."""
        content = {field.name: getattr(self, field.name).tolist() for field in fields(self)}
        return json.dumps({"format": FORMAT, "version": VERSION, **content})


Truth: TypeAlias = LinearTruth | TreeTruth


def truth_from_json(text: str) -> Truth:
    """The truth that either `to_json` wrote."""
    content = versioned(text, FORMAT, VERSION)
    try:
        return _linear(content) if "coefficients" in content else _tree(content)
    except KeyError as cause:
        raise StoreError(f"the truth is incomplete: it has no {cause}") from cause


def _linear(content: dict[str, list[float]]) -> LinearTruth:
    return LinearTruth(np.array(content["ids"], np.int64), np.array(content["coefficients"], np.float64))


def _tree(content: dict[str, list[float]]) -> TreeTruth:
    return TreeTruth(
        np.array(content["ids"], np.int64),
        np.array(content["features"], np.int64),
        np.array(content["thresholds"], np.float64),
        np.array(content["classes"], np.int64),
    )

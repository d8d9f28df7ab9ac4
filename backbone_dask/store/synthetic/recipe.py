"""A synthetic data set as a few hundred bytes: everything that is needed to make it again, anywhere."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from backbone_dask.errors import FormatVersionError, InvalidSettingError, StoreError

Kind = Literal["linear", "logistic", "tree"]
Coding = Literal["gaussian", "genotype"]

FORMAT = "backbone-dask-recipe"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A data set of the paper's generators.

    The truth depends on the seed and on kind, n_features, n_relevant, coding and the tree's shape; not on `draw`,
    n_samples, rho or snr. So another `draw` is an independent data set from the same truth, of any length: a test set.

    Attributes
    ----------
    kind : "linear", "logistic" or "tree"
        y = X w + noise; y = sign(X w + noise); y = class of the leaf of a random tree.
    n_relevant : int
        k, the number of features that the truth uses.
    rho : float in [0, 1)
        Features i and j have correlation rho^|i - j|.
    snr : float
        (|X w| / |noise|)^2, exactly, in every draw; trees have no noise.
    depth, min_splits, balance, n_classes
        Of the tree: D, r, f and K in the paper.
    coding : "gaussian" or "genotype"
        Features as they are drawn, float32; or cut into 0, 1 and 2, int8. Each genotype has an effect of +-1 on y once
        it is standardised by the mean and the deviation of its law, so w is +-1 over that deviation.
    """

    kind: Kind
    n_samples: int
    n_features: int
    n_relevant: int
    rho: float = 0.0
    snr: float = 1.0
    depth: int = 3
    min_splits: int = 1
    balance: float = 0.5
    n_classes: int = 2
    seed: int = 0
    draw: int = 0
    coding: Coding = "gaussian"

    def __post_init__(self) -> None:
        _check_types(self)
        _check_shape(self)
        if self.kind == "tree":
            _check_tree(self)

    @property
    def dtype(self) -> str:
        """Of the features."""
        return "int8" if self.coding == "genotype" else "float32"

    def to_json(self) -> str:
        """The recipe as JSON, with the format's name and version."""
        content = {"format": FORMAT, "version": VERSION, **asdict(self)}
        # Not said unless it has to be: releases that knew only Gaussian features read such a recipe too.
        if self.coding == "gaussian":
            del content["coding"]
        return json.dumps(content)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The recipe that `to_json` wrote."""
        settings = versioned(text, FORMAT, VERSION)
        unknown = sorted(settings.keys() - {field.name for field in fields(cls)})
        if unknown:
            raise InvalidSettingError(f"a recipe has no {', '.join(unknown)}; remove what it does not know")
        try:
            return cls(**settings)
        except TypeError as cause:
            raise InvalidSettingError(f"the recipe is incomplete: {cause}") from cause


def versioned(text: str, name: str, version: int) -> dict[str, Any]:
    """The fields of a JSON object of the format `name`, without its header; refuses what it cannot read."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as cause:
        raise StoreError(f"not a {name}: {cause}") from cause
    if not isinstance(content, dict) or content.pop("format", None) != name:
        raise StoreError(f'not a {name}: the JSON object must have "format": "{name}"')
    found = content.pop("version", None)
    if found != version:
        raise FormatVersionError(
            f"{name} version {found!r}; this release reads version {version}: upgrade backbone-dask"
        )
    return content


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InvalidSettingError(message)


_INTEGERS = ("n_samples", "n_features", "n_relevant", "depth", "min_splits", "n_classes", "seed", "draw")
_NUMBERS = ("rho", "snr", "balance")


def _check_types(recipe: Recipe) -> None:
    _require(recipe.kind in get_args(Kind), f"kind is {recipe.kind!r}; use one of {', '.join(get_args(Kind))}")
    codings = get_args(Coding)
    _require(recipe.coding in codings, f"coding is {recipe.coding!r}; use one of {', '.join(codings)}")
    for name in _INTEGERS:
        value = getattr(recipe, name)
        _require(type(value) is int, f"{name} is {value!r}; use a Python int")
    for name in _NUMBERS:
        value = getattr(recipe, name)
        _require(type(value) in (int, float) and math.isfinite(value), f"{name} is {value!r}; use a finite number")


def _check_shape(recipe: Recipe) -> None:
    p, k = recipe.n_features, recipe.n_relevant
    _require(recipe.n_samples >= 1, f"n_samples is {recipe.n_samples}; use at least 1")
    _require(1 <= p < 2**48, f"n_features is {p}; use 1 to 2^48 - 1")
    _require(1 <= k <= p, f"n_relevant is {k}; use 1 to n_features, which is {p}")
    _require(0 <= recipe.rho < 1, f"rho is {recipe.rho}; use a correlation in [0, 1)")
    _require(recipe.snr > 0, f"snr is {recipe.snr}; use a ratio above 0")
    _require(0 <= recipe.seed < 2**64, f"seed is {recipe.seed}; use 0 to 2^64 - 1")
    _require(0 <= recipe.draw < 2**32, f"draw is {recipe.draw}; use 0 to 2^32 - 1")


def _check_tree(recipe: Recipe) -> None:
    depth, splits, k = recipe.depth, recipe.min_splits, recipe.n_relevant
    _require(recipe.coding == "gaussian", "a tree splits Gaussian features; use kind linear or logistic for genotypes")
    _require(1 <= depth <= 20, f"depth is {depth}; use 1 to 20")
    _require(splits >= 1, f"min_splits is {splits}; use at least 1")
    most = (2**depth - 1) // splits
    _require(
        k <= most,
        f"{k} relevant features in {splits} splits each do not fit the {2**depth - 1} splits of depth {depth}; "
        f"use n_relevant <= {most} or a deeper tree",
    )
    _require(0 <= recipe.balance <= 1, f"balance is {recipe.balance}; use a number in [0, 1]")
    _require(
        2 <= recipe.n_classes <= 2**depth,
        f"n_classes is {recipe.n_classes}; use 2 to {2**depth}, the leaves of depth {depth}",
    )

"""Recipes: what they accept, and their way to JSON and back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.errors import FormatVersionError, InvalidSettingError, StoreError
from backbone_dask.store.synthetic import Recipe

PLAIN = {"kind": "linear", "n_samples": 10, "n_features": 20, "n_relevant": 3}


@given(
    kind=st.sampled_from(["linear", "logistic", "tree"]),
    p=st.integers(7, 10**9),
    k=st.integers(1, 7),
    rho=st.floats(0, 1, exclude_max=True),
    snr=st.floats(1e-6, 1e6),
    seed=st.integers(0, 2**64 - 1),
    draw=st.integers(0, 2**32 - 1),
)
def test_json_round_trip(kind, p, k, rho, snr, seed, draw):
    recipe = Recipe(kind=kind, n_samples=5, n_features=p, n_relevant=k, rho=rho, snr=snr, seed=seed, draw=draw)
    text = recipe.to_json()
    assert Recipe.from_json(text) == recipe
    assert len(text) < 400
    assert json.loads(text)["format"] == "backbone-dask-recipe"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "cubic"}, "use one of linear, logistic, tree"),
        ({"n_samples": 0}, "use at least 1"),
        ({"n_samples": 10.0}, "use a Python int"),
        ({"n_samples": np.int64(3)}, "use a Python int"),
        ({"n_samples": True}, "use a Python int"),
        ({"n_features": 0}, "n_features is 0"),
        ({"n_relevant": 21}, "n_features, which is 20"),
        ({"n_relevant": 0}, "use 1 to"),
        ({"rho": 1.0}, r"a correlation in \[0, 1\)"),
        ({"rho": -0.1}, r"a correlation in \[0, 1\)"),
        ({"rho": float("nan")}, "a finite number"),
        ({"snr": 0.0}, "a ratio above 0"),
        ({"snr": float("inf")}, "a finite number"),
        ({"seed": -1}, "seed is -1"),
        ({"draw": 2**32}, "draw is"),
        ({"kind": "tree", "depth": 0}, "use 1 to 20"),
        ({"kind": "tree", "depth": 2, "n_relevant": 4}, "use n_relevant <= 3"),
        ({"kind": "tree", "depth": 3, "min_splits": 3}, "use n_relevant <= 2"),
        ({"kind": "tree", "min_splits": 0}, "use at least 1"),
        ({"kind": "tree", "balance": 1.5}, r"a number in \[0, 1\]"),
        ({"kind": "tree", "n_classes": 1}, "use 2 to 8"),
    ],
)
def test_a_bad_setting_is_named_with_what_would_work(change, message):
    with pytest.raises(InvalidSettingError, match=message):
        Recipe(**{**PLAIN, **change})


def test_an_unknown_version_is_refused():
    text = Recipe(**PLAIN).to_json().replace('"version": 1', '"version": 2')
    with pytest.raises(FormatVersionError, match="reads version 1"):
        Recipe.from_json(text)


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"format": "something else", "version": 1}'])
def test_what_is_not_a_recipe_is_refused(text):
    with pytest.raises(StoreError, match="not a backbone-dask-recipe"):
        Recipe.from_json(text)


def test_unknown_and_missing_settings_are_named():
    header = {"format": "backbone-dask-recipe", "version": 1}
    with pytest.raises(InvalidSettingError, match="no colour"):
        Recipe.from_json(json.dumps({**header, **PLAIN, "colour": 3}))
    with pytest.raises(InvalidSettingError, match="n_relevant"):
        Recipe.from_json(json.dumps({**header, "kind": "linear", "n_samples": 1, "n_features": 2}))

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.errors import InvalidSettingError
from backbone_dask.settings import Settings
from backbone_dask.subproblems.holdout import draw_samples
from backbone_dask.testing.strategies import settings as any_settings

NAN, INF = math.nan, math.inf
REFUSED: list[tuple[str, Any]] = [
    ("n_nonzero", 0),
    ("n_nonzero", -1),
    ("n_nonzero", 31),
    ("n_nonzero", 51),
    ("gamma", 0.0),
    ("gamma", -1.0),
    ("gamma", INF),
    ("time_limit", INF),
    ("gamma", NAN),
    ("screen_size", 0),
    ("screen_size", -1),
    ("subproblem_fraction", 0.0),
    ("subproblem_fraction", 1.01),
    ("subproblem_fraction", NAN),
    ("n_subproblems", -1),
    ("backbone_max", 0),
    ("patience", 0),
    ("time_limit", 0.0),
    ("time_limit", -1.0),
    ("time_limit", NAN),
    ("gap_tolerance", -1e-9),
    ("gap_tolerance", 1.0),
    ("gap_tolerance", NAN),
    ("seed", -1),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_refusal_names_the_setting_and_its_value(name: str, value: Any) -> None:
    with pytest.raises(InvalidSettingError, match=rf"^{name} is {value}\b") as caught:
        Settings(**{name: value}).resolve(n_samples=30, n_features=50)
    assert "None" not in str(caught.value).replace("or None", "")


@pytest.mark.parametrize("name", ["screen_size", "backbone_max"])
def test_there_must_be_room_for_n_nonzero(name: str) -> None:
    with pytest.raises(InvalidSettingError, match=rf"{name} is 7; it must be at least n_nonzero \(8\)"):
        Settings(n_nonzero=8, **{name: 7}).resolve(n_samples=30, n_features=50)
    Settings(n_nonzero=8, **{name: 8}).resolve(n_samples=30, n_features=50)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_nonzero", 1),
        ("n_nonzero", 30),
        ("screen_size", 1),
        ("subproblem_fraction", 1.0),
        ("n_subproblems", 1),
        ("backbone_max", 1),
        ("patience", 1),
        ("patience", None),
        ("time_limit", 0.5),
        ("gap_tolerance", 0.0),
        ("seed", 0),
    ],
)
def test_the_ends_of_the_ranges_are_accepted(name: str, value: Any) -> None:
    chosen = Settings(**{name: value}).resolve(n_samples=30, n_features=50)
    assert getattr(chosen, name) == value


def test_defaults_are_chosen_from_the_data() -> None:
    chosen = Settings().resolve(n_samples=400, n_features=10**6)
    assert (chosen.n_nonzero, chosen.gamma, chosen.screen_size) == (10, 0.05, 1600)
    assert Settings().resolve(n_samples=100, n_features=10**6).screen_size == 1000
    assert Settings().resolve(n_samples=400, n_features=700).screen_size == 700
    assert Settings(screen_size=900).resolve(n_samples=400, n_features=700).screen_size == 700


@pytest.mark.parametrize(
    ("changes", "n_samples", "n_features", "expected"),
    [({}, 6, 100, 6), ({}, 100, 4, 4), ({"screen_size": 3}, 100, 100, 3), ({"backbone_max": 5}, 100, 100, 5)],
)
def test_the_default_n_nonzero_fits_everything_else(
    changes: dict[str, int], n_samples: int, n_features: int, expected: int
) -> None:
    assert Settings(**changes).resolve(n_samples=n_samples, n_features=n_features).n_nonzero == expected


def test_covering_never_ends_a_level_early() -> None:
    assert Settings(sampling="covering", patience=2).resolve(n_samples=30, n_features=50).patience is None
    assert Settings(sampling="uniform", patience=2).resolve(n_samples=30, n_features=50).patience == 2


@given(st.data(), st.integers(1, 200), st.integers(1, 200))
def test_whatever_is_accepted_is_consistent(data: st.DataObject, n_samples: int, n_features: int) -> None:
    asked = data.draw(any_settings(n_samples=n_samples, n_features=n_features))
    chosen = asked.resolve(n_samples=n_samples, n_features=n_features)
    assert 1 <= chosen.n_nonzero <= min(n_samples, chosen.screen_size, chosen.backbone_max)
    assert chosen.screen_size <= n_features
    assert 0 < chosen.gamma < INF
    for name in ("n_nonzero", "gamma"):
        assert getattr(asked, name) in (None, getattr(chosen, name))


@pytest.mark.parametrize(
    ("gamma", "expected"),
    [(None, 0.1), ("grid", 0.1), ([10.0, 0.5, 0.02], 0.5), ([10.0, 0.02, 0.001], 0.02), ([3.0, 2.0], 2.0)],
)
def test_the_backbone_is_built_for_the_ridge_weight_nearest_to_the_usual_one(gamma, expected):
    assert Settings(gamma=gamma).resolve(n_samples=100, n_features=50).gamma == pytest.approx(expected)


@pytest.mark.parametrize(
    "wrong", [{"n_nonzero": 2.5}, {"n_subproblems": 1.5}, {"seed": True}, {"screen_size": "9"}, {"gamma": "large"}]
)
def test_numbers_of_the_wrong_kind_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(InvalidSettingError, match=f"{name} is .* number"):
        Settings(**wrong).resolve(n_samples=50, n_features=50)


def test_numpy_numbers_become_plain_ones():
    resolved = Settings(n_nonzero=np.int64(3), gamma=np.float32(0.5), time_limit=7).resolve(n_samples=50, n_features=50)
    assert (type(resolved.n_nonzero), type(resolved.gamma)) == (int, float)


@pytest.mark.parametrize(("n_samples", "k"), [(150, 3), (30, 1), (7, 5), (100_000, 40), (3, 3)])
def test_a_subproblem_sees_enough_samples_and_the_refusal_says_what_works(n_samples: int, k: int) -> None:
    needed = max(2, k)
    tried = Settings(n_nonzero=k, sample_fraction=1e-6)
    with pytest.raises(InvalidSettingError, match=rf"^sample_fraction is 1e-06\b.* {needed}: use at least") as caught:
        tried.resolve(n_samples=n_samples, n_features=50)
    advised = float(str(caught.value).rsplit(maxsplit=1)[1])
    Settings(n_nonzero=k, sample_fraction=advised).resolve(n_samples=n_samples, n_features=50)
    assert needed <= draw_samples(n_samples, advised, 0).size <= needed + 1
    with pytest.raises(InvalidSettingError, match="sample_fraction"):
        Settings(n_nonzero=k, sample_fraction=(needed - 0.6) / n_samples).resolve(n_samples=n_samples, n_features=50)


def test_all_samples_are_enough_however_few() -> None:
    assert Settings(n_nonzero=1).resolve(n_samples=1, n_features=5).sample_fraction == 1

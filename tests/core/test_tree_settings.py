"""Settings of trees: every refusal with its sentence, and what is chosen from the data."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from backbone_dask.errors import InvalidSettingError
from backbone_dask.tree_settings import TreeSettings

NAN, INF = math.nan, math.inf


def resolved(n_samples=500, n_features=3000, **settings):
    return TreeSettings(**settings).resolve(n_samples=n_samples, n_features=n_features)


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("depth", -1, "use 0 to 12"),
        ("depth", 13, "use 0 to 12"),
        ("depth", [2, 13], "use 0 to 12"),
        ("depth", 2.0, "it must be a whole number"),
        ("depth", True, "it must be a whole number"),
        ("depth", None, "it must be a whole number"),
        ("depth", "deep", "use a number"),
        ("depth", [], "give at least one value"),
        ("depth", [2, "3"], "it must be a whole number"),
        ("subproblem_depth", 0, "use 1 to 12"),
        ("subproblem_depth", 13, "use 1 to 12"),
        ("subproblem_depth", [], "give at least one value"),
        ("min_bucket", -1.0, "use a finite weight >= 0"),
        ("min_bucket", INF, "use a finite weight >= 0"),
        ("min_bucket", NAN, "it must be a number"),
        ("min_bucket", "large", "use a number, 'auto'"),
        ("min_bucket", [], "give at least one value"),
        ("complexity", -0.1, "it must be in [0, 1]"),
        ("complexity", 1.1, "it must be in [0, 1]"),
        ("complexity", [0.1, 2], "it must be in [0, 1]"),
        ("complexity", NAN, "it must be a number"),
        ("complexity", "cheap", "use a number, 'auto'"),
        ("n_thresholds", 0, "use 1 to 255"),
        ("n_thresholds", 256, "use 1 to 255"),
        ("n_thresholds", 2.5, "it must be a whole number"),
        ("validation", 0.0, "use a share of the samples in (0, 1) or 2 to 500 folds"),
        ("validation", 1.0, "use a share of the samples in (0, 1) or 2 to 500 folds"),
        ("validation", 1, "use a share of the samples in (0, 1) or 2 to 500 folds"),
        ("validation", 501, "use a share of the samples in (0, 1) or 2 to 500 folds"),
        ("validation", NAN, "it must be a number"),
        ("validation", "ebic", "use a number"),
        ("screen", "correlation", "use 'none', 'entropy', 'logistic', 'svm'"),
        ("screen", None, "use 'none', 'entropy', 'logistic', 'svm'"),
        ("screen", ["svm"], "use 'none', 'entropy', 'logistic', 'svm'"),
        ("sampling", None, "it must be a name"),
        ("sampling", ["uniform"], "it must be a name"),
        ("screen_size", 0, "it must be at least 1"),
        ("subproblem_fraction", 0.0, "it must be in (0, 1]"),
        ("subproblem_fraction", 1.5, "it must be in (0, 1]"),
        ("subproblem_fraction", None, "it must be a number"),
        ("time_limit", 0.0, "it must be positive and finite"),
        ("time_limit", INF, "it must be positive and finite"),
        ("time_limit", NAN, "it must be a number"),
        ("exact", "magic", "use 'local-search', 'dynamic-programming', 'mio'"),
        ("split_features", 0, "it must be at least 1"),
        ("n_subproblems", -1, "it must not be negative"),
        ("n_subproblems", [1, 2], "it must be a whole number"),
        ("backbone_max", 0, "it must be at least 1"),
        ("n_starts", 0, "it must be at least 1"),
        ("search_width", 0, "it must be at least 1"),
        ("patience", 0, "it must be at least 1, or None"),
        ("pricing_rounds", -1, "it must not be negative"),
        ("pricing_rounds", 1.5, "it must be a whole number"),
        ("seed", -1, "it must not be negative"),
        ("seed", None, "it must be a whole number"),
    ],
)
def test_a_refusal_names_the_setting_its_value_and_what_would_do(name, value, advice):
    with pytest.raises(InvalidSettingError, match=rf"; {re.escape(advice)}$") as caught:
        resolved(**{name: value})
    shown = {"[]": "an empty list", "[2, '3']": "3"}.get(str(value), str(value).strip("[]"))
    assert re.match(rf"{name} is [\['(]*{re.escape(shown)}[\])']*;", str(caught.value))


def test_settings_that_do_not_go_together():
    with pytest.raises(InvalidSettingError, match=r"^screen='none' keeps every column; leave out screen_size"):
        resolved(screen="none", screen_size=10)
    for exact in ("mio", "dynamic-programming"):
        with pytest.raises(
            InvalidSettingError, match=r"^split_features is 2; hyperplane splits need exact='local-search'"
        ):
            resolved(split_features=2, exact=exact)


@pytest.mark.parametrize("value", [3, np.int64(3), np.array(3), np.int8(3)])
def test_one_depth_of_any_kind(value):
    assert resolved(depth=value).depths == (3,)


@pytest.mark.parametrize("value", [[4, 2, 2], (2, 4), np.array([4, 2]), {2, 4}, range(2, 5, 2)])
def test_lists_of_any_kind_are_sorted_and_without_repeats(value):
    found = resolved(depth=value, min_bucket=value, complexity=[0.2, 0.1])
    assert (found.depths, found.min_buckets, found.complexities) == ((2, 4), (2.0, 4.0), (0.1, 0.2))
    assert all(type(each) is int for each in found.depths)


@pytest.mark.parametrize(
    ("n_samples", "buckets"),
    [(10, (1,)), (99, (1,)), (100, (1, 5)), (399, (1, 5)), (400, (1, 5, 20)), (10**6, (1, 5, 20))],
)
def test_buckets_that_a_few_leaves_fill(n_samples, buckets):
    assert resolved(n_samples).min_buckets == buckets


@pytest.mark.parametrize("n_samples", [2, 10, 100, 5000])
def test_complexities_from_one_sample_to_a_twentieth(n_samples):
    found = resolved(n_samples).complexities
    np.testing.assert_allclose(found, np.geomspace(min(1 / n_samples, 0.025), 0.05, 6))


@pytest.mark.parametrize(
    ("depth", "expected"),
    [(0, (1,)), (1, (1,)), (2, (2,)), (3, (2,)), (4, (2,)), (5, (2, 3)), (8, (2, 3, 4, 5, 6)), ([3, 6], (2, 3, 4))],
)
def test_depths_of_subproblems_are_the_papers(depth, expected):
    assert resolved(depth=depth).subproblem_depths == expected


def test_a_screen_keeps_ten_features_a_sample():
    assert resolved(500, 10**6).screen_size == 5000
    assert resolved(5, 10**6).screen_size == 1000
    assert resolved(500, 300).screen_size == 300
    assert resolved(500, 10**6, screen_size=7).screen_size == 7
    assert resolved(500, 10**6, screen="none").screen_size == 10**6


def test_thresholds_depend_on_the_solver():
    assert [resolved(exact=name).n_thresholds for name in ("local-search", "mio", "dynamic-programming")] == [63, 8, 8]
    assert resolved(exact="mio", n_thresholds=20).n_thresholds == 20


def test_patience_and_covering_do_not_go_together():
    assert resolved(patience=3).patience == 3
    assert resolved(patience=3, sampling="covering").patience is None


def test_there_is_a_choice_as_soon_as_one_setting_has_two_values():
    one = {"depth": 3, "min_bucket": 1, "complexity": 0.01}
    assert not resolved(**one).has_choice
    for name, two in (("depth", [2, 3]), ("min_bucket", [1, 2]), ("complexity", [0.01, 0.02])):
        assert resolved(**one | {name: two}).has_choice
    assert not resolved(depth=[3, 3], min_bucket=[2], complexity=[0.1]).has_choice


def test_what_was_given_is_kept():
    given = {
        "validation": 5,
        "subproblem_fraction": 0.2,
        "n_subproblems": 4,
        "backbone_max": 9,
        "pricing_rounds": 0,
        "n_starts": 2,
        "search_width": 3,
        "time_limit": 7,
        "seed": 8,
    }
    found = resolved(**given)
    assert {name: getattr(found, name) for name in given} == given

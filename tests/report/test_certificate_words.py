"""What a page says of the bound over all columns, case by case."""

from __future__ import annotations

import pytest
from report_cases import result_of

from backbone_dask.report.facts.certificate import global_words, priced
from backbone_dask.report.summary import summary


@pytest.fixture
def result(runs):
    return result_of(runs / "certified")


def told(result, **changed):
    return " ".join(global_words(result | {"global": result["global"] | changed}))


def test_every_pass_is_a_moment_with_its_gap(result):
    passes = priced(result)
    assert [each.number for each in passes] == list(range(1, result["global"]["passes"] + 1))
    for each, kept in zip(passes, result["global"]["trace"], strict=True):
        assert each.gap == pytest.approx((kept["objective"] - kept["bound"]) / kept["objective"], abs=1e-12)


def test_runs_without_a_certificate_have_no_passes(runs):
    plain = result_of(runs / "linear")
    assert priced(plain) == ()
    assert "over all" not in summary(plain)


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ("tolerance", "within the tolerance of 1 %"),
        ("no_column_left", "more passes prove nothing more"),
        ("pass_limit", "more passes may prove more"),
        ("column_limit", "its limit of 2,000 columns"),
        ("time_limit", "its limit of 30 s"),
    ],
)
def test_the_end_is_told_by_case(result, ended, words):
    asked = result["global"]["asked"] | {"seconds": 30.0 if ended == "time_limit" else None}
    assert words in told(result, ended=ended, asked=asked)


def test_a_weak_bound_names_the_gamma_or_says_that_none_was_found(result):
    far = {"relaxed": 0.6 * result["objective"], "gap": 0.5}
    assert "weak" not in told(result, **far | {"gap": 0.001})
    assert "weak" not in told(result, **far | {"relaxed": result["objective"]})
    weak = told(result, advised_gamma=0.0012, **far)
    assert "leave at least 40 %" in weak
    assert "At a gamma of about 0.0012" in weak
    assert "No gamma was found" in told(result, advised_gamma=None, **far)


def test_what_came_in_is_counted(result):
    assert told(result, priced=[1, 2], support=[2]).endswith(
        "2 columns joined the backbone by price, 1 of them in the model."
    )
    assert told(result, priced=[], support=[]).endswith("No column had to join the backbone.")

"""What a run's files say, by hand and against the files themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_cases import LONG, SCRIPT, TRACE, result_of

from backbone_dask.report.facts.funnel import funnel
from backbone_dask.report.facts.growth import Stop, growth
from backbone_dask.report.facts.losses import recovery_facts
from backbone_dask.report.facts.proof import Moment, trace, trace_words, worth_drawing
from backbone_dask.report.facts.rules import Condition, rules, tightest
from backbone_dask.report.facts.terms import Term, free_terms, terms
from backbone_dask.report.facts.utilities import MOST_POINTS, ranked_utilities
from backbone_dask.report.facts.validation import validation_curves
from backbone_dask.report.facts.words import odds_words, regression_words
from backbone_dask.report.material import gather
from backbone_dask.values import Screening


@pytest.fixture(scope="module")
def linear(runs):
    return gather(runs / "linear", result_of(runs / "linear"))


@pytest.fixture(scope="module")
def tree(runs):
    return gather(runs / "tree", result_of(runs / "tree"))


def test_terms_come_by_the_effect_of_a_standard_deviation(linear):
    found = terms(linear.result)
    assert [term.name for term in found[:2]] == [SCRIPT, LONG]
    # The small values have by far the larger coefficient.
    assert abs(found[1].coefficient) > 100 * abs(found[0].coefficient)
    assert [term.strength for term in found] == sorted((term.strength for term in found), reverse=True)
    assert found[0].effect == pytest.approx(3, abs=0.3)


def test_a_run_that_knows_no_scales_goes_by_coefficients(linear):
    older = {name: value for name, value in linear.result.items() if name != "scales"}
    assert [term.effect for term in terms(older)] == [None] * 3
    assert terms(older)[0].name == LONG


def test_the_intercept_and_the_covariates_are_free(linear):
    assert [name for name, _ in free_terms(linear.result)] == ["intercept", "age"]


def test_a_regression_in_words():
    found = [Term(1, "a", 2.1, 5.0), Term(2, "b", -0.5, -4.0), Term(3, "c", 1.0, 1.0), Term(4, "d", 1.0, 0.5)]
    assert regression_words("y", found) == (
        "y rises by 2.1 for every unit of a, falls by 0.5 for every unit of b and rises by 1 for every unit of c, "
        "while the others stay as they are. One more feature is in the table."
    )
    assert regression_words("y", found[:1]) == "y rises by 2.1 for every unit of a."
    assert "the same y for every sample" in regression_words("y", [])


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (Term(1, "a", np.log(2), 9.0), "multiplied by 2 for every unit of a"),
        (Term(1, "a", -np.log(4), 9.0), "divided by 4 for every unit of a"),
        (Term(1, "a", 200.0, np.log(3)), "multiplied by 3 for every standard deviation of a"),
        (Term(1, "a", -0.001, -np.log(2)), "divided by 2 for every standard deviation of a"),
        (Term(1, "a", 0.001, None), "multiplied by 1 for every unit of a"),
        (Term(1, "a", 5000.0, None), "raised beyond all measure by a"),
    ],
)
def test_odds_in_words(term, words):
    assert odds_words("relapse", "yes", [term]) == f"The odds of relapse = yes are {words}."


def test_rules_hold_every_sample_and_lead_to_the_leaves(tree):
    found = rules(tree.model, tree.labels)
    assert sum(rule.weight for rule in found) == tree.result["store"]["n_samples"]
    assert len(found) == tree.result["n_splits"] + 1
    right = sum(rule.weight * rule.share for rule in found) / tree.result["store"]["n_samples"]
    assert right == pytest.approx(tree.result["training"]["accuracy"])


def test_of_conditions_on_one_feature_the_narrowest_is_told():
    path = [Condition("a > b <= 2", "≤", "3"), Condition("z", ">", "1"), Condition("a > b <= 2", "≤", "2")]
    assert list(map(str, tightest([*path, Condition("z", "≤", "7")]))) == ["a > b <= 2 ≤ 2", "z > 1", "z ≤ 7"]


def test_the_funnel_by_the_files(linear):
    counts = {stage.name: stage.count for stage in funnel(linear)}
    assert counts == {
        "features": 300,
        "screened": linear.screening.candidates.size,
        "sampled": linear.levels[0]["examined"][-1],
        "backbone": len(linear.result["backbone"]),
        "support": 3,
    }


def test_utilities_fall_and_marks_lie_on_the_curve(linear):
    facts = ranked_utilities(linear)
    values = [value for _, value in facts.curve]
    assert values == sorted(values, reverse=True)
    assert facts.curve[0] == (1, linear.screening.utilities.max())
    assert facts.curve[-1] == (facts.n_survivors, linear.screening.utilities.min())
    place = int(np.flatnonzero(linear.screening.candidates == 7)[0])
    rank = 1 + int((linear.screening.utilities > linear.screening.utilities[place]).sum())
    assert (rank, linear.screening.utilities[place]) in facts.chosen
    assert len(facts.chosen) + len(facts.backbone) == len(linear.result["backbone"])


def test_a_million_survivors_are_a_few_points(linear):
    rng = np.random.default_rng(1)
    many = Screening(np.arange(1_000_000), rng.random(1_000_000), 10**8, 0)
    facts = ranked_utilities(replace(linear, screening=many))
    assert facts.n_survivors == 1_000_000
    assert len(facts.curve) <= MOST_POINTS
    assert facts.curve[-1][0] == 1_000_000


def test_a_run_without_survivors_on_file_has_no_ranks(linear):
    assert ranked_utilities(replace(linear, screening=None)) is None


def level(number, answers, backbone, examined=(), candidates=10):
    return {
        "level": number,
        "n_candidates": candidates,
        "coverage": 0.8,
        "examined": list(examined),
        "backbone": list(backbone),
        "answers": [{"relevant": answer} for answer in answers],
    }


def test_growth_by_hand():
    first = level(0, [[1, 2], [2, 3], [1]], [1, 2, 3], examined=[5, 8, 8])
    second = level(1, [[1]], [1], candidates=3)
    priced = level(2, [[7]], [1, 7])
    assert growth([first, second, priced]) == (
        Stop(1, 0, 2, 0.5),
        Stop(2, 0, 3, 0.8),
        Stop(3, 0, 3, 0.8),
        Stop(4, 1, 1, None),
        Stop(5, 2, 2, 0.8),
    )


def test_a_level_without_subproblems_of_its_own_is_a_step():
    first, everything = level(0, [[1, 2]], [1, 2]), level(1, [], [1, 2, 3, 4])
    assert [stop.found for stop in growth([first, everything])] == [2, 4]


def test_what_was_examined_is_on_file_for_every_subproblem(linear):
    counted = linear.levels[0]["examined"]
    assert len(counted) == len(linear.levels[0]["answers"])
    assert counted == sorted(counted)
    assert counted[-1] / linear.levels[0]["n_candidates"] == linear.levels[0]["coverage"]


def point(k, gamma, error):
    return {"n_nonzero": k, "gamma": gamma, "error": error, "termination": "proven"}


def test_curves_run_over_the_setting_with_more_values():
    points = [point(k, gamma, k + gamma) for k in (2, 4) for gamma in (0.1, 0.2, 0.3)][:-1]
    result = {"validation": points, "n_nonzero": 4, "gamma": 0.1, "task": "regression", "settings": {"validation": 0.7}}
    curves = validation_curves(result)
    assert (curves.over, curves.values, curves.by) == ("gamma", (0.1, 0.2, 0.3), "features (k)")
    assert curves.series[1].errors == (4.1, 4.2, None)
    assert curves.chosen == (1, 0)
    assert curves.chosen_error == 4.1
    assert validation_curves(result | {"validation": []}) is None


def test_the_ring_of_a_tree_is_at_the_point_that_was_chosen(tree):
    curves, chosen = validation_curves(tree.result), tree.result["chosen"]
    wanted = {name: chosen[name] for name in ("depth", "min_bucket", "complexity")}
    (error,) = [each["error"] for each in tree.result["validation"] if wanted.items() <= each.items()]
    assert curves.chosen_error == error


def test_a_trace_by_hand():
    moments = trace({"trace": list(reversed(TRACE))})
    assert [moment.seconds for moment in moments] == [0.0, 0.5, 2.0]
    assert [moment.gap for moment in moments] == [None, 0.4, pytest.approx(0.0125)]
    assert trace_words(moments) == (
        "The best model was found after 2 s; the gap was 40 % after 0.5 s and 1.25 % after 2 s."
    )
    assert trace({}) == ()


def test_first_guesses_that_are_far_off_are_not_drawn():
    far, near, last = Moment(0.0, 19_000.0, None), Moment(1.0, 105.0, 90.0), Moment(2.0, 100.0, 95.0)
    assert worth_drawing((far, near, last)) == (near, last)
    assert worth_drawing((far,)) == (far,)
    assert worth_drawing((near, last)) == (near, last)


def test_recovery_says_which_phase_lost_what(linear):
    screening = Screening(np.array([1, 2, 3, 4]), np.ones(4), 10, 0)
    known = {"n_found": 1, "n_relevant": 4, "false_alarm": 0.5, "backbone_accuracy": 0.5, "relevant": [1, 2, 3, 9]}
    facts = recovery_facts(replace(linear, screening=screening, result={"recovery": known}))
    assert (facts.lost_in_screen, facts.lost_in_levels, facts.lost_in_fit) == (1, 1, 1)
    older = {name: value for name, value in known.items() if name != "relevant"}
    assert recovery_facts(replace(linear, result={"recovery": older})).lost_in_screen is None
    assert recovery_facts(linear) is None

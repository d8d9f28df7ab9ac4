"""What is said of a run, on the page and in the terminal: by case, and the same in both."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import LONG, change_result, result_of

import backbone_dask
from backbone_dask.report.facts.advice import advice_words, again_words
from backbone_dask.report.facts.cost import memory_words, traffic_words
from backbone_dask.report.facts.funnel import funnel
from backbone_dask.report.facts.proof import gap_words, reach_words
from backbone_dask.report.facts.ridge import ridge_words
from backbone_dask.report.facts.terms import terms
from backbone_dask.report.html import distinct
from backbone_dask.report.material import gather
from backbone_dask.report.model_table import LETTERS_OF_A_TERMINAL
from backbone_dask.report.summary import summary

GENES = tuple(f"ENSG00000{at:06d}_expression_log_normalised" for at in range(200))


@pytest.fixture
def linear(runs):
    return result_of(runs / "linear")


@pytest.fixture
def logistic(runs):
    return result_of(runs / "logistic")


@pytest.fixture
def tree(runs):
    return result_of(runs / "tree")


def test_the_ridge_is_named_where_coefficients_are(runs, linear):
    said = ridge_words(linear)
    assert said.startswith("A ridge of gamma = 0.0791 pulls coefficients towards 0")
    assert said in summary(linear)
    assert said.replace('"', "&quot;") in (runs / "linear" / "report.html").read_text()
    assert "is not known" in ridge_words(linear | {"unpenalised": None})
    assert "or separate the classes" in ridge_words(linear | {"unpenalised": None, "task": "classification"})


def test_coefficients_without_ridge_stand_beside_their_own(linear):
    by_name = {term.name: term for term in terms(linear)}
    for name, value in zip(linear["support"]["names"], linear["unpenalised"], strict=True):
        assert by_name[name].unpenalised == value
        assert f"{value:.4g} |" in next(line for line in summary(linear).splitlines() if line.startswith(f"| {name} "))
    assert "without ridge |" not in summary(linear | {"unpenalised": None})


@pytest.mark.parametrize(
    ("gamma", "words"), [(0.01, "smallest gamma that was tried: smaller"), (0.1, "largest gamma"), (0.05, None)]
)
def test_the_end_of_a_grid_is_said_to_be_one(logistic, gamma, words):
    points = [point | {"gamma": each} for each in (0.01, 0.05, 0.1) for point in logistic["validation"][:1]]
    said = ridge_words(logistic | {"gamma": gamma, "validation": points})
    assert words in said if words else "was tried" not in said
    assert "was tried" not in ridge_words(logistic | {"validation": points[:1], "gamma": 0.01})


def test_the_theorem_is_named_and_speaks_of_regressions_only(linear, logistic, tree):
    said = advice_words(linear)
    for each in ("support recovery theorem", "Bertsimas and Digalakis", "assumed here and not estimated"):
        assert each in said
    assert said in summary(linear)
    assert advice_words(logistic) == advice_words(tree) == ""
    assert "theorem" not in summary(logistic)


def test_a_run_that_a_clock_ended_is_not_called_repeatable(linear, logistic):
    assert again_words(linear) == "The same data, settings, seed and versions give the same model."
    cut = [logistic["validation"][0] | {"termination": "time_limit"}, *logistic["validation"][1:]]
    for ended in (linear | {"termination": "time_limit"}, logistic | {"validation": cut}):
        assert "may give another model" in again_words(ended)


def test_the_funnel_of_a_tree_counts_what_any_level_examined(runs, tree):
    material = gather(runs / "tree", tree)
    first, more = tree["levels"][0] | {"coverage": 0.5, "candidates": 200}, {"coverage": 1.0, "candidates": 200}
    stages = {stage.name: stage for stage in funnel(replace(material, result=tree | {"levels": [first, more]}))}
    assert stages["examined"].count == 200
    assert stages["examined"].meaning.startswith("100 by subproblems")
    stages = {stage.name: stage.count for stage in funnel(replace(material, result=tree | {"levels": [first]}))}
    assert stages["sampled"] == 100


@given(st.lists(st.text("ab", max_size=40), unique=True, max_size=12), st.integers(8, 40))
def test_cut_names_stay_different(names, most):
    cut = distinct(names, range(10, 10 + len(names)), most)
    assert len(set(cut)) == len(names)
    assert all(len(each) <= most for each in cut)
    assert all(short == whole for short, whole in zip(cut, names, strict=True) if len(whole) <= most)


def long_names(run):
    names = list(GENES[: len(result_of(run)["support"]["ids"])])
    return change_result(run, support=result_of(run)["support"] | {"names": names})


def test_long_names_differ_in_charts_and_are_whole_in_the_table(runs, copied):
    run = copied("linear")
    names = long_names(run)["support"]["names"]
    page = backbone_dask.write_report(run).read_text()
    drawing = page.split('data-chart="effects"')[1].split("</svg>")[0]
    drawn = [each.split("<")[0] for each in drawing.split('class="name" text-anchor="end">')[1:]]
    assert len(set(drawn)) == len(names) == len(drawn)
    assert all(f">{name}</bdi>" in page for name in names)
    assert "carry the number of their column" in page
    assert "carry the number" not in (runs / "linear" / "report.html").read_text()


def test_long_names_of_a_tree_differ_and_are_whole_on_paper(copied):
    run = copied("tree")
    model = json.loads((run / "model.json").read_text())
    names = list(GENES[: len(model["names"])])
    (run / "model.json").write_text(json.dumps(model | {"names": names}))
    page = backbone_dask.write_report(run).read_text()
    part = page.split('<section id="importances"')[1].split("</section>")[0]
    drawn = [each.split("<")[0] for each in part.split('class="name" text-anchor="end">')[1:]]
    assert len(set(drawn)) == len(names) == len(drawn) > 1
    kept = part.split('<details class="on-paper">')[1]
    assert all(f">{name}</bdi>" in kept for name in names)


def test_the_table_of_a_terminal_fits_it_and_goes_by_standard_deviations(copied):
    result = long_names(copied("linear"))
    lines = [each for each in summary(result, LETTERS_OF_A_TERMINAL).splitlines() if each.startswith("| ENSG")]
    assert [float(each.split("|")[3]) for each in lines] == pytest.approx(
        [term.effect for term in terms(result)], rel=1e-3
    )
    assert len({each.split("|")[1] for each in lines}) == 3
    assert max(map(len, lines)) <= 80
    assert all(name in summary(result) for name in result["support"]["names"])


@pytest.mark.parametrize("kind", ["logistic", "tree"])
def test_the_page_of_a_fit_is_that_of_the_report(runs, tmp_path, kind):
    again = backbone_dask.write_report(runs / kind, tmp_path / "again.html")
    assert (runs / kind / "report.html").read_bytes() == again.read_bytes()
    assert (runs / kind / "report.md").read_text() == summary(result_of(runs / kind))


def test_the_proof_of_a_tree_is_told_by_case(tree):
    searched = tree | {"settings": tree["settings"] | {"exact": "local-search"}}
    open_, closed = (
        searched | {"termination": "round_limit"},
        searched | {"termination": "proven"},
    )
    assert "a wide gap does not mean that the tree is bad" in gap_words(open_)
    assert "proves little" not in " ".join(reach_words(closed))
    assert "none is better" in gap_words(closed)
    for each in (open_, closed, tree | {"settings": tree["settings"] | {"exact": "dp"}}):
        assert f"the {len(tree['backbone']):,} columns of the backbone" in gap_words(each)
        assert "It says nothing of the other" in reach_words(each)[1]
        assert gap_words(each) in summary(each)


def test_errors_are_named(linear, logistic, tree):
    assert "| logistic loss |" in summary(logistic)
    assert "| share of validation samples classified wrongly |" in summary(tree)


def test_one_process_has_no_workers(linear):
    assert linear["peak_bytes"]["workers"] == []
    assert memory_words(linear).startswith("At its peak the one process that did everything held")
    assert "workers" not in summary(linear)
    many = linear | {"peak_bytes": {"coordinator": 2e6, "workers": [3e6, 5e6]}}
    assert memory_words(many) == "At its peak the coordinator held 2 MB, the largest worker 5 MB."
    moved = {"bytes_read": 1, "bytes_from_cache": 0, "bytes_moved": 3000, "tasks_placed": 4, "tasks_at_home": 3}
    assert traffic_words(many | {"traffic": moved}) == (
        "1 bytes were read, 3 kB moved between workers; 3 of 4 tasks ran where their data were."
    )


def test_axes_have_titles(runs):
    page = (runs / "logistic" / "report.html").read_text()
    for called, said in (("utilities", "utility"), ("validation", "logistic loss")):
        drawing = page.split(f'data-chart="{called}"')[1].split("</svg>")[0]
        assert f'class="axis-title">{said}</text>' in drawing


def test_a_long_table_is_whole(runs):
    assert "max-height" not in (runs / "linear" / "report.html").read_text()
    assert LONG in summary(result_of(runs / "linear"))

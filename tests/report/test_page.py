"""The page as a file: whole, small, harmless, and written without harm to the run."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from report_cases import LONG, SCRIPT, change_result, fit, result_of

import backbone_dask
from backbone_dask.cli.main import cli
from backbone_dask.errors import RunDirectoryError

NO_CLOSING = {"meta", "br"}


class Balance(HTMLParser):
    """Every tag is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in NO_CLOSING:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert len(set(parser.ids)) == len(parser.ids)
    return parser


@pytest.mark.parametrize("name", ["linear", "logistic", "tree"])
def test_the_page_of_a_fit_is_whole_and_small_and_loads_nothing(runs, name):
    page = (runs / name / "report.html").read_text()
    assert parsed(page).links == []
    assert len(page.encode()) < 200_000
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert not re.search(r"\b(nan|inf)\b", page, re.IGNORECASE)


def test_hostile_and_long_names_stand_in_the_table(runs):
    page = (runs / "linear" / "report.html").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert SCRIPT not in page
    assert f">{LONG}<" in page
    assert len(page) < 60_000


def test_sections_are_there_where_there_is_something_to_say(runs):
    always = {"model", "funnel", "utilities", "growth", "coverage", "proof", "times", "settings"}
    sections = {}
    for name in ("linear", "logistic", "tree"):
        found = parsed((runs / name / "report.html").read_text()).ids
        sections[name] = {each for each in found if "-" not in each}
    assert sections["linear"] == always | {"effects", "trace"}
    assert sections["logistic"] >= always | {"effects", "validation"}
    assert sections["tree"] >= always | {"importances", "tree", "validation"}


def test_a_run_of_an_older_version_is_drawn_with_what_it_has(copied):
    run = copied("linear")
    change_result(run, trace=None, target=None, scales=None, traffic=None)
    (run / "screening.npz").unlink()
    shutil.rmtree(run / "levels")
    (run / "events.jsonl").unlink()
    page = backbone_dask.write_report(run).read_text()
    assert {"trace", "effects", "utilities", "growth"}.isdisjoint(parsed(page).ids)
    assert "the target" in page


def test_classes_have_names_where_the_run_has_them(copied):
    logistic, tree = copied("logistic"), copied("tree")
    change_result(logistic, labels=["healthy", "ill & <i>"])
    change_result(tree, labels=["early", "middle", "late"])
    assert "relapse = ill &amp; &lt;i&gt;" in backbone_dask.write_report(logistic).read_text()
    page = backbone_dask.write_report(tree).read_text()
    assert "stage &lt;b&gt; = middle" in page
    assert ">late</text>" in page


def test_a_model_without_features_is_said_to_be_one(copied):
    run = copied("linear")
    model = json.loads((run / "model.json").read_text())
    empty = {"ids": [], "names": [], "coefficients": [], "means": []}
    (run / "model.json").write_text(json.dumps(model | empty))
    change_result(run, support={"ids": [], "names": []}, coefficients=[], scales=[], unpenalised=[])
    page = backbone_dask.write_report(run).read_text()
    assert "No feature is worth its place" in page
    assert "effects" not in parsed(page).ids


def test_a_resumed_run_says_so(copied):
    run = copied("linear")
    with (run / "events.jsonl").open("a") as stream:
        stream.write('{"seconds": 0.0, "phase": "reduced"}\n{"seconds"')
    assert "The run was resumed once" in backbone_dask.write_report(run).read_text()


def test_many_survivors_and_subproblems_make_no_large_page(copied):
    run, rng = copied("linear"), np.random.default_rng(0)
    ids = np.arange(300_000)
    np.savez(run / "screening.npz", candidates=ids, utilities=rng.random(ids.size), n_features=10**8, n_constant=0)
    change_result(run, backbone=ids[:5000].tolist())
    path = run / "levels" / "0.json"
    level = json.loads(path.read_text())
    answers = [{"relevant": [int(at)]} for at in range(3000)]
    level |= {"answers": answers, "backbone": ids[:3000].tolist(), "examined": list(range(1, 3001))}
    path.write_text(json.dumps(level))
    began = time.perf_counter()
    page = backbone_dask.write_report(run).read_bytes()
    assert time.perf_counter() - began < 3
    assert len(page) < 600_000


def test_the_command_writes_where_it_is_told(runs, tmp_path):
    cli.main(["report", str(runs / "linear"), "--out", str(tmp_path / "a.html")], standalone_mode=False)
    again = backbone_dask.write_report(runs / "linear", tmp_path / "a.html")
    assert again.read_text() == backbone_dask.write_report(runs / "linear").read_text()


def test_other_files_and_unfinished_runs_are_refused(copied, tmp_path):
    run = copied("linear")
    (tmp_path / "data.csv").write_text("precious")
    with pytest.raises(RunDirectoryError, match=r"data\.csv exists and is not a page"):
        backbone_dask.write_report(run, tmp_path / "data.csv")
    with pytest.raises(RunDirectoryError, match="there is no folder"):
        backbone_dask.write_report(run, tmp_path / "none" / "a.html")
    (run / "result.json").unlink()
    with pytest.raises(RunDirectoryError, match="is not finished"):
        backbone_dask.write_report(run)
    assert (tmp_path / "data.csv").read_text() == "precious"


def test_a_page_that_cannot_be_drawn_does_not_cost_the_run(runs, tmp_path, monkeypatch, capsys):
    def broken(run, result):
        raise ZeroDivisionError("nothing to draw")

    monkeypatch.setattr(sys.modules["backbone_dask.cli.fit"], "run_page", broken)
    run = fit(runs / "table.zarr", tmp_path / "run", "--target", "weight", "-k", 1)
    assert result_of(run)["support"]["ids"]
    assert not (run / "report.html").exists()
    assert "backbone-dask report" in capsys.readouterr().err


def test_the_style_is_part_of_the_package():
    assert "prefers-color-scheme" in files("backbone_dask.report").joinpath("page.css").read_text()

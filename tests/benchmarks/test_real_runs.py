"""Results of benchmarks/real: made once, judged by what was held out, and told from those of others."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.real.answers import Answer
from benchmarks.real.asked import Asked
from benchmarks.real.data import NUMBERS, Data
from benchmarks.real.finished import UnreadableResultsError, publish
from benchmarks.real.folds import Split, folds, split
from benchmarks.real.lasso import covariates_alone
from benchmarks.real.methods import methods
from benchmarks.real.pages import PAGE, RESULTS, filled
from benchmarks.real.runs import forget_peak, peak_megabytes, result_of
from benchmarks.real.studies import attempted
from benchmarks.real.subsets import best_subset
from benchmarks.real.tables import table


def planted(n: int = 60, p: int = 30) -> Data:
    rng = np.random.default_rng(0)
    X, free = rng.normal(size=(n, p)), rng.normal(size=(n, 2))
    y = 3 * X[:, 4] - 2 * X[:, 9] + free @ [5.0, -5.0] + 0.1 * rng.normal(size=n)
    return Data("planted", NUMBERS, X, y, free, np.arange(n) // 4)


def test_a_result_is_made_once_and_judged_by_what_was_held_out(tmp_path):
    data = planted()
    fold, calls = next(folds(data, 5, 1)), []

    def method(part):
        calls.append(part)
        return Answer(np.full(part.X_new.shape[0], part.y.mean()), 0)

    first = result_of(tmp_path, data, "mean, alone", method, fold)
    again = result_of(tmp_path, data, "mean, alone", method, fold)
    assert first == again == json.loads((tmp_path / "planted" / "mean-alone-r0f0.json").read_text())
    assert len(calls) == 1
    assert first["scores"]["r2"] <= 0
    assert table([first]).splitlines()[-1].startswith("| planted | mean, alone | 1 | ")


def shifted_mean(part: Split, by: float = 0.0) -> Answer:
    return Answer(np.full(part.X_new.shape[0], part.y.mean() + by), 0, gap=by)


def test_a_result_of_other_folds_is_none_of_these(tmp_path, capsys):
    data = planted()
    five, three = (next(folds(data, n_folds, 1)) for n_folds in (5, 3))
    first, other = (result_of(tmp_path, data, "mean", shifted_mean, fold) for fold in (five, three))
    assert (first["n_folds"], other["n_folds"]) == (5, 3)
    assert first["n_test"] < other["n_test"]
    assert "mean-r0f0.json is of other folds or other settings; it does not count\n" in capsys.readouterr().err
    exchanged = replace(three, train=np.r_[three.train[1:], three.test[0]], test=np.r_[three.test[1:], three.train[0]])
    assert result_of(tmp_path, data, "mean", shifted_mean, exchanged)["samples"] != other["samples"]


def test_a_result_of_other_settings_is_none_of_these(tmp_path):
    data = planted()
    fold = next(folds(data, 5, 1))
    by = [result_of(tmp_path, data, "mean", partial(shifted_mean, by=by), fold)["gap"] for by in (0.0, 1.0, 1.0)]
    assert by == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("content", [b"", b'{"data": "pl', b"\xff\xfe", b"[1, 2]", b'{"data": "planted"}', b"NaN"])
def test_a_file_that_is_no_result_is_replaced_and_said(content, tmp_path, capsys):
    data = planted()
    path = tmp_path / "planted" / "mean-r0f0.json"
    path.parent.mkdir()
    path.write_bytes(content)
    result = result_of(tmp_path, data, "mean", shifted_mean, next(folds(data, 5, 1)))
    assert json.loads(path.read_text()) == result
    assert capsys.readouterr().err.count("does not count\n") == 1


def test_a_result_is_strict_json(tmp_path):
    data = planted()
    found = result_of(tmp_path, data, "mean", partial(shifted_mean, by=0.5), next(folds(data, 5, 1)))
    publish(tmp_path / "all.json", [found | {"gap": float("nan"), "chosen": {"gammas": (np.float64("inf"), 1.0)}}])
    (read,) = json.loads((tmp_path / "all.json").read_text(), parse_constant=pytest.fail)
    assert (read["gap"], read["chosen"]) == (None, {"gammas": [None, 1.0]})


def test_a_method_has_one_thread(tmp_path):
    data, seen, before = planted(), [], numba.get_num_threads()

    def watched(part: Split) -> Answer:
        seen.extend([numba.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info())])
        return shifted_mean(part)

    with threadpool_limits(2):
        pools = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
        result_of(tmp_path, data, "mean", watched, next(folds(data, 5, 1)))
        assert pools.items() <= {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}.items()
    assert set(seen) == {1}
    assert numba.get_num_threads() == before


def test_a_comparison_at_our_size_waits_for_ours_of_the_same_folds(tmp_path):
    data = replace(planted(), name="riboflavin")
    five, three = (next(folds(data, n_folds, 1)) for n_folds in (5, 3))
    asked = [(methods(data, fold, tmp_path, None), split(data, fold)) for fold in (five, three)]
    ours_had = result_of(tmp_path, data, "backbone", asked[0][0]["backbone"], five)["n_features"]
    (first, part), (other, other_part) = asked
    assert first["lasso, as many features"](part).n_features <= ours_had
    with pytest.raises(FileNotFoundError, match="run the method of ours"):
        other["lasso, as many features"](other_part)


def test_a_peer_that_fails_is_said_and_the_others_go_on(tmp_path, capsys):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'ValueError: no' >&2\nexit 3\n")
    broken.chmod(0o755)
    data = planted()
    fold, asked = next(folds(data, 5, 1)), Asked(None, tmp_path)
    failed = attempted(asked, data, "abess", partial(best_subset, broken, (1, 2)), fold)
    assert capsys.readouterr().err == "planted r0f0 abess: failed, ValueError: no\n"
    done = attempted(asked, data, "covariates alone", covariates_alone, fold)
    lines = table([done, failed, {**done, "method": "abess", "fold": 1}]).splitlines()
    assert lines[2].startswith("| planted | covariates alone | 1 | 0.")
    assert lines[3].startswith("| planted | abess; fold 0 failed: ValueError: no | 1 | 0.")
    assert table([failed]).splitlines()[2] == "| planted | abess; fold 0 failed: ValueError: no | 0 | | | |"


SPOILT = {
    "scores": [None, {}, [0.5], {"r2": "good"}, {"r2": True}],
    "n_features": [None, 1.5, "3", True],
    "gap": ["small", False],
    "seconds": [None, "1"],
    "peak_megabytes": [None],
    "chosen": [None, [1]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in SPOILT.items() for value in values])
def test_a_result_without_its_figures_is_not_finished(name, value, tmp_path, capsys):
    data, fold = planted(), next(folds(planted(), 5, 1))
    whole = result_of(tmp_path, data, "mean", shifted_mean, fold)
    path = tmp_path / "planted" / "mean-r0f0.json"
    path.write_text(json.dumps(whole | {name: value}))
    assert repr(result_of(tmp_path, data, "mean", shifted_mean, fold)[name]) != repr(value)
    assert capsys.readouterr().err == f"{path} lacks figures; it does not count\n"
    path.write_text(json.dumps({key: each for key, each in whole.items() if key != name}))
    assert name in result_of(tmp_path, data, "mean", shifted_mean, fold)


def test_what_the_file_of_a_study_has_is_finished(tmp_path):
    data, fold = planted(), next(folds(planted(), 5, 1))
    publish(tmp_path / "planted.json", [result_of(tmp_path / "a", data, "mean", shifted_mean, fold) | {"seconds": 77}])
    assert result_of(tmp_path, data, "mean", shifted_mean, fold)["seconds"] == 77
    assert not (tmp_path / "planted").exists()
    assert result_of(tmp_path, data, "mean", partial(shifted_mean, by=1.0), fold)["seconds"] != 77


@pytest.mark.parametrize("content", ["", '[{"data":', "{}", "[1]"])
def test_a_file_of_a_study_that_cannot_be_read_is_not_passed_over(content, tmp_path):
    data = planted()
    (tmp_path / "planted.json").write_text(content)
    with pytest.raises(UnreadableResultsError, match="mend it, or move it away"):
        result_of(tmp_path, data, "mean", shifted_mean, next(folds(data, 5, 1)))


def test_a_comparison_at_our_size_finds_ours_in_the_file_of_the_study(tmp_path):
    data = replace(planted(), name="riboflavin")
    fold = next(folds(data, 5, 1))
    known = methods(data, fold, tmp_path, None)
    ours = result_of(tmp_path / "other", data, "backbone", known["backbone"], fold)
    publish(tmp_path / "riboflavin.json", [ours | {"n_features": 1}])
    assert known["lasso, as many features"](split(data, fold)).n_features == 1


def test_the_memory_of_a_method_is_not_that_of_the_one_before(tmp_path):
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the peak can be forgotten on Linux only")

    def large(part: Split) -> Answer:
        return shifted_mean(part, np.ones(200 * 2**17)[0])

    data, fold = planted(), next(folds(planted(), 5, 1))
    forget_peak()
    before = peak_megabytes()
    much, little = (
        result_of(tmp_path, data, method.__name__, method, fold)["peak_megabytes"] for method in (large, shifted_mean)
    )
    assert much >= before + 150
    assert little < before + 100


def test_the_tables_of_the_page_are_the_published_ones():
    page = PAGE.read_text()
    assert filled(page) == page, "python -m benchmarks.real.pages puts them in"


def test_a_table_is_put_under_its_mark_and_nothing_else_is_touched():
    expected = table(json.loads((RESULTS / "riboflavin.json").read_text()))
    page = "A\n<!-- riboflavin -->\n| old | table |\n|---|\n\n| kept |\n<!-- other -->\n| kept |\n"
    assert filled(page) == page.replace("| old | table |\n|---|", expected)
    assert filled(filled(page)) == filled(page)

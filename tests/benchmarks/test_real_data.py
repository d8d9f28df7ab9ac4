"""The real tables of benchmarks/real: their shapes where the folder is there, and folds that never leak."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.real.__main__ import BESIDE, _attempted
from benchmarks.real.abess_process import matrix
from benchmarks.real.answers import Answer, judged
from benchmarks.real.data import CLASSES, LOADERS, NUMBERS, Data, grams
from benchmarks.real.describing import described
from benchmarks.real.folds import Split, folds, split
from benchmarks.real.lasso import STRENGTHS, Residuals, as_many, covariates_alone, lasso, scaled
from benchmarks.real.methods import methods
from benchmarks.real.ours import sparse as ours
from benchmarks.real.pairs import products
from benchmarks.real.runs import publish, result_of
from benchmarks.real.subsets import PeerFailedError, _question, best_subset
from benchmarks.real.tables import table

SHAPES = {
    "riboflavin": (71, 4_088, 71),
    "alon": (62, 2_000, 2),
    "golub": (72, 7_129, 2),
    "singh": (102, 12_600, 2),
    "mice-length": (1_814, 10_346, None),
    "mice-bmi": (1_814, 10_346, None),
    "hapmap": (957, 14_079, 11),
}


def planted(task: str = NUMBERS, n: int = 60, p: int = 30) -> Data:
    rng = np.random.default_rng(0)
    X, free = rng.normal(size=(n, p)), rng.normal(size=(n, 2))
    y = 3 * X[:, 4] - 2 * X[:, 9] + free @ [5.0, -5.0] + 0.1 * rng.normal(size=n)
    if task == CLASSES:
        return Data("planted", CLASSES, X, np.where(X[:, 4] + 0.1 * y > 0, "ill", "well"))
    return Data("planted", NUMBERS, X, y, free, np.arange(n) // 4)


@pytest.mark.parametrize("name", SHAPES)
def test_a_real_table_has_its_shape_and_an_answer_for_each_sample(name, tmp_path):
    if not BESIDE.is_dir():
        pytest.skip(f"the real data are not in {BESIDE.name} beside the project")
    data = LOADERS[name](BESIDE, tmp_path)
    samples, features, answers = SHAPES[name]
    assert data.X.shape == (samples, features)
    assert data.y.shape == (samples,)
    if answers is not None and data.task == CLASSES:
        assert np.unique(data.y).size == answers
    assert data.covariates is None or (data.covariates.shape[0] == samples and np.isfinite(data.covariates).all())


def test_a_folder_without_the_data_is_one_sentence(tmp_path):
    for name, load in LOADERS.items():
        with pytest.raises(FileNotFoundError, match=r"does not exist; name the folder that holds .* with --data"):
            load(tmp_path, tmp_path)
        assert name


@pytest.mark.parametrize("task", [NUMBERS, CLASSES])
def test_every_sample_is_held_out_once_and_is_then_not_learnt_from(task):
    data = planted(task)
    for repeat in range(2):
        own = [fold for fold in folds(data, 5, 2) if fold.repeat == repeat]
        assert np.array_equal(np.sort(np.concatenate([fold.test for fold in own])), np.arange(data.y.size))
        assert all(not np.intersect1d(fold.train, fold.test).size for fold in own)
        assert all(fold.train.size + fold.test.size == data.y.size for fold in own)


def test_samples_that_go_together_are_held_out_together():
    data = planted()
    for fold in folds(data, 5, 1):
        assert not np.intersect1d(data.together[fold.train], data.together[fold.test]).size


def test_repeats_hold_out_others():
    first, *_, second = (fold.test for fold in folds(planted(CLASSES), 5, 2) if fold.index == 0)
    assert not np.array_equal(first, second)


def test_what_a_method_sees_does_not_depend_on_the_samples_held_out():
    data = planted()
    fold = next(folds(data, 5, 1))
    X, y = data.X.copy(), data.y.copy()
    X[fold.train[0], 3] = np.nan
    X_other, y_other = X.copy(), y.copy()
    X_other[fold.test] += 100
    y_other[fold.test] = -1
    seen = split(Data("a", NUMBERS, X, y, data.covariates), fold)
    other = split(Data("b", NUMBERS, X_other, y_other, data.covariates), fold)
    assert np.array_equal(seen.X, other.X)
    assert np.array_equal(seen.y, other.y)
    assert seen.X[0, 3] == pytest.approx(np.nanmean(X[fold.train, 3]))


def test_sparse_tables_are_cut_by_samples():
    data = planted(CLASSES)
    fold = next(folds(data, 5, 1))
    cut = split(Data("a", CLASSES, sparse.csc_matrix(data.X), data.y), fold)
    assert np.array_equal(cut.X_new.toarray(), data.X[fold.test])


def test_grams_are_counted_across_words():
    counts = grams(["abab", "b c"])
    # ab, ba, aba, bab, abab; "b ", " c", "b c"
    assert counts.shape == (2, 8)
    assert sorted(counts.toarray()[0].tolist()) == [0, 0, 0, 1, 1, 1, 1, 2]
    assert counts.dtype == np.int8


def test_the_lasso_on_residuals_leaves_covariates_free():
    data = planted()
    part = split(data, next(folds(data, 5, 1)))
    ready = Residuals(part)
    free = np.hstack([np.ones((part.y.size, 1)), part.covariates])
    weights = np.zeros(30)
    weights[[4, 9]] = 0.5, -0.25
    both = np.linalg.lstsq(free, part.y - part.X[:, [4, 9]] @ (weights[[4, 9]] / part.X[:, [4, 9]].std(axis=0)))[0]
    new = np.hstack([np.ones((part.X_new.shape[0], 1)), part.covariates_new])
    by_hand = part.X_new[:, [4, 9]] @ (weights[[4, 9]] / part.X[:, [4, 9]].std(axis=0)) + new @ both
    np.testing.assert_allclose(ready.predict(weights), by_hand)
    assert np.abs(free.T @ ready.X).max() < 1e-9


def test_the_lasso_finds_what_is_planted_and_covariates_alone_do_not():
    data = planted()
    fold = next(folds(data, 5, 1))
    part, truth = split(data, fold), data.y[fold.test]
    assert judged(NUMBERS, truth, lasso(part))["r2"] > 0.95
    assert judged(NUMBERS, truth, covariates_alone(part))["r2"] < 0.95
    assert as_many(2, part).n_features <= 2


def test_products_are_those_of_itertools():
    X = np.random.default_rng(0).integers(0, 3, (5, 4)).astype(np.int8)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    expected = np.stack([X[:, a] * X[:, b] for a, b in pairs], axis=1)
    assert np.array_equal(products(X, np.arange(6)), expected)


def test_pairs_are_screened_without_the_samples_held_out(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, 30)).astype(np.int8)
    y = 2.0 * X[:, 3] * X[:, 8] + 0.1 * rng.normal(size=80)
    data = Data("mice-pairs-planted", NUMBERS, X, y, rng.normal(size=(80, 1)), np.arange(80) // 2)
    fold = next(folds(data, 4, 1))
    name, ours = next(iter(methods(data, fold, tmp_path, None).items()))
    result = result_of(tmp_path, data, name, ours, fold)
    assert result["chosen"]["columns"] == 435
    assert result["scores"]["r2"] > 0.8
    assert "x3*x8" in result["chosen"]["pairs"]


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


def test_a_method_is_described_by_its_settings_wherever_they_are(tmp_path):
    data = planted()
    fold = next(folds(data, 5, 1))
    assert described(partial(ours, n_nonzero=(1, 2)))["given"] == {"settings": {"n_nonzero": [1, 2]}}
    assert described(lasso)["constants"]["STRENGTHS"] == STRENGTHS.tolist()
    assert described(partial(best_subset, Path("python"), (5,)))["given"] == {"sizes": [5], "cv": True, "screened": -1}
    mice = replace(data, name="mice-length")
    here, there = (
        {name: described(each) for name, each in methods(mice, fold, out, python).items()}
        for out, python in ((tmp_path, Path("a")), (tmp_path / "other", Path("b")))
    )
    assert here == there
    assert here["lasso, as many features"]["given"]["ours"] == here["backbone"]


@pytest.mark.parametrize("name", [*SHAPES, "text", "mice-pairs-length"])
def test_methods_of_a_study_are_told_apart_by_their_descriptions(name, tmp_path):
    data = replace(planted(), name=name)
    known = methods(data, next(folds(data, 5, 1)), tmp_path, Path("python"))
    words = {json.dumps(described(each), allow_nan=False) for each in known.values()}
    assert len(words) == len(known)


def test_a_setting_that_cannot_be_described_is_refused():
    with pytest.raises(TypeError, match="cannot be described"):
        described(partial(ours, n_nonzero=object()))


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


def test_the_process_of_abess_has_one_thread(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$OMP_NUM_THREADS $OPENBLAS_NUM_THREADS" > {tmp_path}/told\nexit 3\n')
    python.chmod(0o755)
    data = planted()
    with pytest.raises(PeerFailedError, match="exit code 3"):
        best_subset(python, (2,), split(data, next(folds(data, 5, 1))))
    assert (tmp_path / "told").read_text() == "1 1\n"


def test_a_comparison_at_our_size_waits_for_ours_of_the_same_folds(tmp_path):
    data = replace(planted(), name="riboflavin")
    five, three = (next(folds(data, n_folds, 1)) for n_folds in (5, 3))
    asked = [(methods(data, fold, tmp_path, None), split(data, fold)) for fold in (five, three)]
    ours_had = result_of(tmp_path, data, "backbone", asked[0][0]["backbone"], five)["n_features"]
    (first, part), (other, other_part) = asked
    assert first["lasso, as many features"](part).n_features <= ours_had
    with pytest.raises(FileNotFoundError, match="run the method of ours"):
        other["lasso, as many features"](other_part)


@pytest.mark.parametrize("made", [np.asarray, sparse.csc_matrix, sparse.csr_matrix])
def test_a_table_travels_to_abess_as_it_is(made, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.5)
    X[:, 5], X[-1] = 0.0, 0.0
    part = Split(CLASSES, made(X), np.arange(30) % 2, None, made(X[:4]), None, 0)
    np.savez(tmp_path / "question.npz", **_question(part, part.y, 2, (2,), cv=False))
    with np.load(tmp_path / "question.npz") as given:
        found = [matrix(given, name) for name in ("X", "X_new")]
    expected = [np.asarray(each.todense()) if sparse.issparse(each) else each for each in scaled(part)]
    for sent, whole in zip(found, expected, strict=True):
        dense = sent.toarray() if sparse.issparse(sent) else sent
        np.testing.assert_array_equal(dense, np.delete(whole, 5, axis=1))


def test_a_peer_that_fails_is_said_and_the_others_go_on(tmp_path, capsys):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'ValueError: no' >&2\nexit 3\n")
    broken.chmod(0o755)
    data = planted()
    fold = next(folds(data, 5, 1))
    failed = _attempted(tmp_path, data, "abess", partial(best_subset, broken, (1, 2)), fold)
    assert capsys.readouterr().err == "planted r0f0 abess: failed, ValueError: no\n"
    done = _attempted(tmp_path, data, "covariates alone", covariates_alone, fold)
    lines = table([done, failed, {**done, "method": "abess", "fold": 1}]).splitlines()
    assert lines[2].startswith("| planted | covariates alone | 1 | 0.")
    assert lines[3].startswith("| planted | abess; fold 0 failed: ValueError: no | 1 | 0.")
    assert table([failed]).splitlines()[2] == "| planted | abess; fold 0 failed: ValueError: no | 0 | | | |"

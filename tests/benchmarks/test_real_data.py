"""The real tables of benchmarks/real: their shapes where the folder is there, and folds that never leak."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks.real.abess_process import matrix
from benchmarks.real.answers import judged
from benchmarks.real.cart import GRID, cart
from benchmarks.real.data import (
    BESIDE,
    CLASSES,
    FILES,
    LOADERS,
    NUMBERS,
    STUDIES,
    Data,
    MissingDataError,
    grams,
    present,
    study_of,
)
from benchmarks.real.describing import described
from benchmarks.real.folds import Split, folds, split
from benchmarks.real.lasso import STRENGTHS, Residuals, as_many, covariates_alone, lasso, scaled
from benchmarks.real.methods import methods, names_of
from benchmarks.real.ours import sparse as ours
from benchmarks.real.pairs import products
from benchmarks.real.runs import result_of
from benchmarks.real.subsets import RIDGES, PeerFailedError, _question, best_subset

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


@pytest.mark.parametrize("name", LOADERS)
def test_a_folder_without_the_data_is_one_sentence(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"does not exist; name the folder that holds .* with --data"):
        LOADERS[name](tmp_path, tmp_path)


@pytest.mark.parametrize("missing", FILES["hapmap"])
def test_every_file_of_a_data_set_is_looked_for(missing, tmp_path):
    (tmp_path / "hapmap3").mkdir()
    for file in FILES["hapmap"]:
        if file != missing:
            (tmp_path / file).touch()
    with pytest.raises(MissingDataError, match=missing):
        present(tmp_path, "hapmap")


def test_every_data_set_is_in_a_study_and_has_its_files_and_its_loader():
    names = {name for each in STUDIES.values() for name in each}
    assert names == set(LOADERS) == set(FILES)
    assert {study_of(name) for name in names} == set(STUDIES)
    assert study_of("none") == "none"


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


def test_survivors_that_no_file_has_are_found_again(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 8)).astype(np.int8)
    data = Data("mice-pairs-planted", NUMBERS, X, 2.0 * X[:, 3] * X[:, 5] + 0.1 * rng.normal(size=60))
    fold = next(folds(data, 4, 1))
    part, known = split(data, fold), methods(data, fold, tmp_path, None)
    found = known["lasso on survivors"](part)
    (survivors,) = (tmp_path / data.name).iterdir()
    assert judged(NUMBERS, data.y[fold.test], found)["r2"] > 0.9
    before = survivors.stat().st_mtime_ns
    assert np.array_equal(known["lasso on survivors"](part).predicted, found.predicted)
    assert survivors.stat().st_mtime_ns == before


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


def test_the_process_of_abess_has_one_thread(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$OMP_NUM_THREADS $OPENBLAS_NUM_THREADS" > {tmp_path}/told\nexit 3\n')
    python.chmod(0o755)
    data = planted()
    with pytest.raises(PeerFailedError, match="exit code 3"):
        best_subset(python, (2,), split(data, next(folds(data, 5, 1))))
    assert (tmp_path / "told").read_text() == "1 1\n"


@pytest.mark.parametrize("made", [np.asarray, sparse.csc_matrix, sparse.csr_matrix])
def test_a_table_travels_to_abess_as_it_is(made, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.5)
    X[:, 5], X[-1] = 0.0, 0.0
    part = Split(CLASSES, made(X), np.arange(30) % 2, None, made(X[:4]), None, 0)
    np.savez(tmp_path / "question.npz", **_question(part, part.y, 2))
    with np.load(tmp_path / "question.npz") as given:
        found = [matrix(given, name) for name in ("X", "X_new")]
    expected = [np.asarray(each.todense()) if sparse.issparse(each) else each for each in scaled(part)]
    for sent, whole in zip(found, expected, strict=True):
        dense = sent.toarray() if sparse.issparse(sent) else sent
        np.testing.assert_array_equal(dense, np.delete(whole, 5, axis=1))


@pytest.mark.parametrize(("cv", "ridges"), [(True, list(RIDGES)), (False, [0.0])])
def test_abess_chooses_a_ridge_where_its_size_is_chosen_by_folds(cv, ridges, tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr("benchmarks.real.subsets._answered", lambda command: asked.update(np.load(command[2])))
    data = planted()
    with pytest.raises(FileNotFoundError, match=r"answer\.npz"):
        best_subset(Path("python"), (2, 4), split(data, next(folds(data, 5, 1))), cv=cv)
    assert asked["ridges"].tolist() == ridges
    assert asked["sizes"].tolist() == [2, 4]
    assert described(partial(best_subset, Path("python"), (2,)))["constants"]["RIDGES"] == list(RIDGES)


def test_cart_chooses_its_pruning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    found = cart(Split(CLASSES, X, y, None, X, None, 0))
    # Labels are noise: a tree that is pruned to its root is as good as any.
    assert found.chosen["complexity"] in set(GRID["ccp_alpha"]) - {0.0}


def test_the_rows_of_hapmap_and_of_the_text_have_one_that_is_chosen_inside():
    logistic = [name for name in names_of("hapmap", None) if name.startswith("backbone, ")]
    assert logistic[0] == "backbone, one against the rest"
    assert "backbone, size by hold-out" in names_of("text", None)
    assert set(names_of("hapmap", Path("python"))) - set(names_of("hapmap", None)) == {"abess, all classes at once"}

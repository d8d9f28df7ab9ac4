"""Support sizes and gammas chosen on a hold-out, against literal loops over a solver that only keeps a diary."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.logistic import Margin
from backbone_dask.subproblems.gammas import GammaGrid, OneGamma, least_gamma
from backbone_dask.subproblems.holdout import (
    LogisticLearner,
    Split,
    SquaredLearner,
    draw_samples,
    draw_split,
    excerpt,
)
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.subproblems.support_size import FitChosenSize, FixedSize, IncrementalSize, SizeGrid
from backbone_dask.testing.planted import Planted, planted, with_constants
from backbone_dask.values import SparseFit


@dataclass
class Diary:
    """A learner whose errors are given by size and gamma, and which notes what it was asked for."""

    errors: dict[tuple[int, float], float] | dict[int, float]
    asked: list[tuple[str, int, float, list[int] | None]] = field(default_factory=list)
    n_samples: list[int] = field(default_factory=list)

    def fit(self, X, y, *, n_nonzero, gamma, start=None, seed):
        self.asked.append(("fit", n_nonzero, gamma, None if start is None else start.tolist()))
        self.n_samples.append(X.shape[1])
        return SparseFit(X.shape[0], np.arange(n_nonzero), np.ones(n_nonzero), 0.0)

    def refine(self, X, y, *, n_nonzero, gamma, start, seed):
        self.asked.append(("refine", n_nonzero, gamma, start.tolist()))
        return SparseFit(X.shape[0], np.arange(n_nonzero), np.ones(n_nonzero), 0.0)

    def on(self, samples):
        return self

    def error(self, fit, X, y, split):
        size, gamma = self.asked[-1][1:3]
        return self.errors[size] if size in self.errors else self.errors[size, gamma]


def rows(n_features: int = 40, n_samples: int = 20) -> np.ndarray:
    return planted(n_samples=n_samples, n_features=n_features, n_relevant=1).X


def run(diary: Diary, rule, gamma=OneGamma(0.5)) -> SparseFit:  # noqa: B008
    return FitChosenSize(rule, gamma, diary)(rows(), np.arange(20.0), seed=3)


def literal_incremental(errors: list[float], negligible: float) -> tuple[int, int]:
    """How many sizes are fitted, and the index of the one taken: the paper's words as a loop."""
    i = 0
    while i + 2 < len(errors):
        enough = errors[i] * (1 - negligible)
        if errors[i + 1] >= enough and errors[i + 2] >= enough:
            return i + 3, i
        i += 1
    if i + 1 < len(errors) and errors[i + 1] >= errors[i] * (1 - negligible):
        return len(errors), i
    return len(errors), len(errors) - 1


def centred(table: Planted) -> np.ndarray:
    return table.y - table.y.mean()


ERRORS = st.lists(st.sampled_from([0.0, 0.5, 0.98, 0.995, 1.0, 1.5]), min_size=1, max_size=9)


@given(ERRORS, st.sampled_from([0.0, 0.01, 0.3]), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2))
def test_the_incremental_scheme_is_the_papers_loop(
    errors: list[float], negligible: float, first: int, step: int, short: int
) -> None:
    sizes = [first + step * i for i in range(len(errors))]
    if len(sizes) > 1:
        sizes[-1] -= min(short, step - 1)
    diary = Diary(dict(zip(sizes, errors, strict=True)))
    found = run(diary, IncrementalSize(first, step, sizes[-1], negligible))
    if len(errors) == 1:
        assert diary.asked == [("fit", first, 0.5, None)]
        return
    fitted, taken = literal_incremental(errors, negligible)
    path = [("refine", size, 0.5, list(range(before))) for before, size in pairwise(sizes[:fitted])]
    assert diary.asked == [("fit", first, 0.5, None), *path, ("fit", sizes[taken], 0.5, list(range(sizes[taken])))]
    assert diary.n_samples == [14, 20]
    assert found.support.size == sizes[taken]


@given(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=2, max_size=6))
def test_a_grid_takes_the_least_error_and_of_equals_the_smaller(errors: list[float]) -> None:
    sizes = list(range(2, 2 + 3 * len(errors), 3))
    diary = Diary(dict(zip(sizes, errors, strict=True)))
    found = run(diary, SizeGrid(tuple(sizes)))
    assert found.support.size == sizes[errors.index(min(errors))]
    assert [size for _, size, _, _ in diary.asked[:-1]] == sizes
    assert [start for *_, start in diary.asked[1:-1]] == [list(range(size)) for size in sizes[:-1]]


@pytest.mark.parametrize(("k", "sizes"), [(1, (1,)), (2, (1, 2)), (3, (1, 2, 3)), (10, (4, 7, 10)), (50, (17, 34, 50))])
def test_thirds_are_rounded_up(k: int, sizes: tuple[int, ...]) -> None:
    assert SizeGrid.thirds(k).sizes == sizes


@pytest.mark.parametrize("k", [1, 2, 4, 5, 6, 11, 39])
def test_increments_up_to_k_end_at_k(k: int) -> None:
    diary = Diary({size: 1.0 / size for size in range(1, k + 1)})
    assert run(diary, IncrementalSize.up_to(k)).support.size == k
    assert len(diary.asked) <= 6


def test_one_size_and_one_gamma_hold_nothing_out() -> None:
    for rule in (FixedSize(3), SizeGrid((3,)), IncrementalSize(3, 1, 3)):
        diary = Diary({})
        run(diary, rule, OneGamma())
        assert diary.asked == [("fit", 3, 1 / math.sqrt(20), None)]
        assert diary.n_samples == [20]


@given(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=4, max_size=4))
def test_gammas_are_tried_at_the_chosen_size_each_from_the_one_before(errors: list[float]) -> None:
    X = rows()
    gammas = np.geomspace(1 / math.sqrt(20), least_gamma(X, 4), 4).tolist()
    found: dict = {(4, gamma): error for gamma, error in zip(gammas, errors, strict=True)}
    diary = Diary({(2, gammas[0]): 9.0, **found})
    FitChosenSize(SizeGrid((2, 4)), GammaGrid(4), diary)(X, np.arange(20.0), seed=0)
    assert [asked[:3] for asked in diary.asked[:2]] == [("fit", 2, gammas[0]), ("refine", 4, gammas[0])]
    assert [asked[1:] for asked in diary.asked[2:-1]] == [(4, gamma, [0, 1, 2, 3]) for gamma in gammas[1:]]
    assert diary.asked[-1] == ("fit", 4, gammas[errors.index(min(errors))], [0, 1, 2, 3])


def test_the_least_gamma_is_the_papers() -> None:
    table = with_constants(planted(n_samples=30, n_features=50, n_relevant=2))
    live = table.X[table.columns.scale > 0].astype(float)
    longest = max(float(live[:, i] @ live[:, i]) for i in range(30))
    assert least_gamma(table.X, 7) == pytest.approx(len(live) / (7 * 30 * longest))
    assert least_gamma(np.zeros((4, 30), np.float32), 7) == pytest.approx(1 / 210)


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 60))
def test_the_least_gamma_is_never_above_the_usual_one(seed: int, n_features: int, k: int) -> None:
    X = planted(n_samples=8, n_features=n_features, n_relevant=1, dtype="int8", seed=seed).X
    values = [GammaGrid(5).first(8), *GammaGrid(5).others(X, k)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 5


@given(st.integers(2, 200), st.integers(0, 2**64 - 1))
def test_a_split_is_a_partition(n: int, seed: int) -> None:
    split = draw_split(n, seed)
    assert np.sort(np.concatenate([split.training, split.validation])).tolist() == list(range(n))
    assert min(split.training.size, split.validation.size) >= 1
    assert abs(split.training.size - 0.7 * n) <= 0.5 or n < 4
    assert (np.diff(split.training) > 0).all()
    assert draw_split(n, seed).training.tobytes() == split.training.tobytes()


def test_other_seeds_give_other_splits_and_samples() -> None:
    assert len({draw_split(50, seed).training.tobytes() for seed in range(10)}) == 10
    assert len({draw_samples(50, 0.5, seed).tobytes() for seed in range(10)}) == 10
    assert draw_samples(50, 0.01, 0).size == 1
    assert draw_samples(50, 1.0, 0).tolist() == list(range(50))


def test_an_excerpt_has_the_length_of_its_samples() -> None:
    table = with_constants(planted(n_samples=60, n_features=30, n_relevant=2, dtype="uint8", seed=1))
    samples = draw_samples(60, 0.4, 0)
    part = excerpt(table.X, samples)
    varying = np.ptp(table.X[:, samples], axis=1) > 0
    np.testing.assert_allclose((part.X.astype(float) ** 2).sum(axis=1), np.where(varying, 24, 0), rtol=1e-5)
    np.testing.assert_allclose(
        part.X * part.scale[:, None], np.where(varying[:, None], table.X[:, samples], 0), atol=1e-5
    )


def test_a_column_that_is_constant_on_the_excerpt_is_all_zero_there() -> None:
    X = np.array([[1, -1, 1, -1], [1, 1, -1, -1], [0, 0, 0, 0]], np.float32)
    part = excerpt(X, np.array([0, 1]))
    assert part.scale.tolist() == [1, 0, 0]
    assert part.X.tolist() == [[1, -1], [0, 0], [0, 0]]


def test_weights_of_an_excerpt_predict_the_same_from_the_whole() -> None:
    table = planted(n_samples=60, n_features=30, n_relevant=2, seed=2)
    samples = draw_samples(60, 0.4, 0)
    part = excerpt(table.X, samples)
    fit = fit_relaxation(part.X, centred(table)[samples], n_nonzero=4, gamma=None, seed=0)
    whole = part.in_units_of_the_whole(fit)
    expected = fit.weights @ part.X[fit.support]
    np.testing.assert_allclose(whole.weights @ table.X[whole.support][:, samples], expected, rtol=1e-4, atol=1e-5)


def test_the_squared_error_is_the_mean_over_the_validation_samples() -> None:
    table = planted(n_samples=40, n_features=10, n_relevant=2, seed=3)
    split = Split(np.arange(0, 30), np.arange(30, 40))
    fit = SparseFit(10, np.array([2, 7]), np.array([0.5, -2.0]), 0.0)
    squares = [(table.y[i] - 0.5 * table.X[2, i] + 2 * table.X[7, i]) ** 2 for i in range(30, 40)]
    assert SquaredLearner().error(fit, table.X, table.y, split) == pytest.approx(np.mean(squares), rel=1e-6)
    empty = SparseFit(10, np.empty(0, np.int64), np.empty(0), 0.0)
    assert SquaredLearner().error(empty, table.X, table.y, split) == pytest.approx(np.mean(table.y[30:] ** 2))


def test_the_logistic_error_has_the_intercept_of_the_training_samples() -> None:
    table = planted(n_samples=40, n_features=10, n_relevant=2, seed=3)
    y, weights = np.where(table.y > -1, 1.0, -1.0), np.linspace(0.5, 2, 40)
    split = Split(np.arange(0, 30), np.arange(30, 40))
    empty = SparseFit(10, np.empty(0, np.int64), np.empty(0), 0.0)
    share = weights[:30] @ (y[:30] == 1) / weights[:30].sum()
    losses = np.where(y[30:] == 1, -np.log(share), -np.log(1 - share))
    learner = LogisticLearner(weights, np.ones((1, 40)))
    assert learner.error(empty, table.X, y, split) == pytest.approx(np.average(losses, weights=weights[30:]), rel=1e-6)
    assert learner.on(split.training).weights.tolist() == weights[:30].tolist()
    assert learner.on(split.training).basis.shape == (1, 30)


def test_a_fixed_size_is_the_plain_solver() -> None:
    table = planted(n_samples=80, n_features=50, n_relevant=3, seed=4)
    chosen = FitChosenSize(FixedSize(4), OneGamma(0.2))(table.X, centred(table), seed=0)
    plain = fit_relaxation(table.X, centred(table), n_nonzero=4, gamma=0.2, seed=0)
    assert chosen.weights.tobytes() == plain.weights.tobytes()


@pytest.mark.parametrize("rule", [SizeGrid((3, 8, 13, 18)), IncrementalSize(3, 5, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_far_fewer_than_allowed_are_taken_where_few_are_relevant(rule, seed: int) -> None:
    table = planted(n_samples=400, n_features=800, n_relevant=3, snr=5, seed=10 + seed)
    found = FitChosenSize(rule)(table.X, centred(table), seed=seed)
    assert found.support.tolist() == table.truth.tolist()


def test_the_model_is_that_of_all_samples_at_the_chosen_size() -> None:
    table = planted(n_samples=200, n_features=300, n_relevant=6, snr=2, rho=0.5, seed=5)
    y = centred(table)
    found = FitChosenSize(SizeGrid.thirds(9))(table.X, y, seed=1)
    live = table.X[found.support].astype(float)
    gamma = 1 / math.sqrt(200)
    weights = np.linalg.solve(live @ live.T + np.eye(len(live)) / gamma, live @ y)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-6)
    assert found.objective == pytest.approx(0.5 * (y @ y - y @ live.T @ weights), rel=1e-9)


def test_some_of_the_samples_find_the_same_features_in_the_units_of_all() -> None:
    table = planted(n_samples=400, n_features=300, n_relevant=4, snr=20, seed=6)
    found = FitChosenSize(FixedSize(4), OneGamma(10.0), sample_fraction=0.6)(table.X, centred(table), seed=2)
    assert found.support.tolist() == table.truth.tolist()
    np.testing.assert_allclose(np.abs(found.weights), 1, atol=0.1)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("rule", [SizeGrid.thirds(4), IncrementalSize(1, 1, 4)])
def test_a_handful_of_samples_is_enough(n: int, rule) -> None:
    X = planted(n_samples=n, n_features=6, n_relevant=1, seed=7).X
    found = FitChosenSize(rule, GammaGrid(3))(X, np.linspace(-1, 1, n), seed=0)
    assert found.support.size <= 4
    assert np.isfinite(found.weights).all()


def test_one_sample_cannot_be_split() -> None:
    X, y = np.zeros((3, 1), np.float32), np.zeros(1)
    with pytest.raises(InvalidDataError, match="at least 2 samples"):
        FitChosenSize(SizeGrid.thirds(3))(X, y, seed=0)
    assert FitChosenSize(FixedSize(2))(X, y, seed=0).support.size == 0


def test_more_features_asked_for_than_there_are() -> None:
    table = planted(n_samples=50, n_features=5, n_relevant=5, snr=50, seed=8)
    for rule in (SizeGrid((3, 6, 9)), IncrementalSize(2, 2, 40), FixedSize(9)):
        assert FitChosenSize(rule)(table.X, centred(table), seed=0).support.tolist() == [0, 1, 2, 3, 4]


def test_constant_and_equal_columns() -> None:
    table = with_constants(planted(n_samples=60, n_features=20, n_relevant=2, snr=20, seed=9))
    X = np.concatenate([table.X, table.X])
    found = FitChosenSize(IncrementalSize.up_to(6), GammaGrid(3))(X, centred(table), seed=0)
    assert set(found.support % 20) >= set(table.truth)
    assert X[found.support].any(axis=1).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_target_without_a_pattern(value: float) -> None:
    X = planted(n_samples=30, n_features=10, n_relevant=1, seed=10).X
    found = FitChosenSize(SizeGrid.thirds(3))(X, np.full(30, value), seed=0)
    assert np.isfinite(found.objective)


def test_the_same_bits_whatever_the_threads() -> None:
    table = planted(n_samples=300, n_features=900, n_relevant=5, rho=0.8, snr=1, seed=11)
    solver = FitChosenSize(IncrementalSize.up_to(10), GammaGrid(3), sample_fraction=0.9)
    runs = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found = pickle.loads(pickle.dumps(solver))(table.X, centred(table), seed=5)
        runs.append((found.support.tobytes(), found.weights.tobytes(), found.objective))
    assert runs[0] == runs[1]


def test_logistic_loss_uses_the_same_scheme() -> None:
    table = planted(n_samples=400, n_features=200, n_relevant=3, snr=20, seed=12)
    y = np.where(table.y > 0, 1.0, -1.0)
    learner = LogisticLearner(np.ones(400), np.ones((1, 400)))
    found = FitChosenSize(IncrementalSize(1, 1, 12), learner=learner)(table.X, y, seed=0)
    assert set(found.support) >= set(table.truth)
    assert found.support.size < 12
    assert Margin.of(y).basis.shape == (1, 400)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FixedSize(0),
        lambda: SizeGrid(()),
        lambda: SizeGrid((3, 2)),
        lambda: SizeGrid((2, 2)),
        lambda: SizeGrid((0, 2)),
        lambda: SizeGrid.thirds(0),
        lambda: IncrementalSize(5, 1, 4),
        lambda: IncrementalSize(1, 0, 4),
        lambda: IncrementalSize(1, 1, 4, negligible=1.0),
        lambda: IncrementalSize.up_to(0),
        lambda: OneGamma(0.0),
        lambda: OneGamma(math.nan),
        lambda: GammaGrid(0),
        lambda: FitChosenSize(FixedSize(1), sample_fraction=0.0),
        lambda: FitChosenSize(FixedSize(1), sample_fraction=1.1),
        lambda: draw_samples(5, math.nan, 0),
    ],
)
def test_settings_out_of_range_are_refused(make) -> None:
    with pytest.raises(InvalidSettingError):
        make()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_any_data_give_a_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = rng.integers(2, 12), rng.integers(1, 9)
    raw = rng.integers(-1, 2, (p, n)).astype(float)
    raw -= raw.mean(axis=1, keepdims=True)
    scale = raw.std(axis=1, keepdims=True)
    X = np.divide(raw, scale, out=np.zeros_like(raw), where=scale > 1e-9).astype(np.float32)
    y = rng.integers(-3, 4, n) * 1.0
    rule = IncrementalSize(1, int(rng.integers(1, 4)), 6)
    found = FitChosenSize(rule, GammaGrid(2), sample_fraction=1.0)(X, y - y.mean(), seed=seed)
    assert found.support.size <= 6
    assert np.isfinite(found.weights).all()

"""One fit from a store to a model, with scikit-learn's estimators for subproblems, for the reduced model, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import Adjustment, adjustment
from backbone_dask.algorithm.sampling import weights as samplings
from backbone_dask.errors import InvalidSettingError
from backbone_dask.problems.chance import screen_phase
from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import TASKS, Preparation, fitted_model, prepare
from backbone_dask.problems.learners import (
    Explained,
    FitLearner,
    FitReducedLearner,
    OwnReduced,
    OwnSubproblem,
    Relevance,
    importances,
    last_model,
    weight_parameter,
)
from backbone_dask.problems.linear import finite_target
from backbone_dask.problems.own_models import SparseLogistic, SparseRegression
from backbone_dask.problems.picked import Picked
from backbone_dask.problems.questions import named_panel
from backbone_dask.problems.sparse import sampler
from backbone_dask.problems.tree import tree_values
from backbone_dask.protocols import Executor, Problem, ResponsePanel
from backbone_dask.runtime.budget import plan, require_memory
from backbone_dask.runtime.events import Listener, silent
from backbone_dask.runtime.run import Finding, OneFit, Reduced, Reduction, Run
from backbone_dask.runtime.site import settle
from backbone_dask.settings import ResolvedSettings, Settings
from backbone_dask.store import FeatureStore
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.values import CandidateIds, SparseFit, Target

_WEIGHTED = {"regression": "correlation", "classification": "logistic-loss"}
"""The screen of each task that knows sample weights."""


@dataclass(frozen=True, slots=True)
class Learners:
    """Estimators for subproblems and for the reduced model, None where one of our own solvers is to do it.

    `task` is "regression" or "classification", `screen` None for the usual one of the task.
    """

    task: str
    subproblem: Any
    reduced: Any
    relevance: Relevance
    screen: str | None

    def __post_init__(self) -> None:
        if self.subproblem is None and self.reduced is None:
            raise InvalidSettingError(
                "give a scikit-learn estimator for subproblem, for reduced or for both; without any, use "
                "BackboneRegressor or BackboneClassifier"
            )

    @property
    def uses_own(self) -> bool:
        return self.subproblem is None or self.reduced is None


@dataclass(frozen=True, slots=True)
class LearnerPreparation:
    """Everything that is checked before work starts; `own` is what our own solvers need, where they are used."""

    store: FeatureStore
    learners: Learners
    settings: ResolvedSettings
    adjusted: Adjustment
    screen: ResponsePanel
    explained: Explained
    own: Preparation | None

    @property
    def problem(self) -> Problem[Any]:
        subproblem, reduced = self.learners.subproblem, self.learners.reduced
        return Problem(
            screen=self.screen,
            construct_subproblems=sampler(self.settings),
            fit_subproblem=OwnSubproblem.of(self._own) if subproblem is None else FitLearner(subproblem),
            extract_relevant=relevant_of if subproblem is None else self.learners.relevance,
            fit=OwnReduced.of(self._own) if reduced is None else FitReducedLearner(reduced, self.settings.seed),
            prepare=tree_values,
        )

    @property
    def searcher(self) -> str:
        """What looks for relevant features, in messages."""
        estimator = self.learners.subproblem
        return f"subproblem={self.settings.subproblem!r}" if estimator is None else type(estimator).__name__

    @property
    def _own(self) -> Problem[SparseFit]:
        assert self.own is not None
        return self.own.problem


@dataclass(frozen=True, slots=True)
class FittedLearner:
    """The reduced model, on the columns of the backbone, with the methods of scikit-learn; and how it was found."""

    model: Any
    picked: Picked
    support: CandidateIds
    finding: Finding
    traffic: dict[str, int]


def prepare_learners(
    store: FeatureStore,
    y: NDArray[Any],
    labels: NDArray[Any],
    settings: Settings,
    learners: Learners,
    sample_weight: Any,
) -> LearnerPreparation:
    """Check everything against the data before anything starts.

    `y` are numbers, or codes of classes; `labels` is what scikit-learn's estimators are given for them.
    """
    samplings[settings.sampling]
    target = finite_target(y, store.n_samples)
    adjusted = adjustment(store.n_samples, sample_weight=sample_weight)
    for estimator in (learners.subproblem, learners.reduced):
        if estimator is not None and sample_weight is not None:
            weight_parameter(estimator)
    resolved = settings.resolve(n_samples=store.n_samples, n_features=store.n_features, total=adjusted.total)
    if resolved.has_choice:
        raise InvalidSettingError("give one n_nonzero and one gamma; GridSearchCV can choose from several")
    own = _own(store, target, settings, learners, sample_weight)
    explained = Explained(
        labels, None if sample_weight is None else adjusted.weights, None if own is None else own.task.response
    )
    return LearnerPreparation(store, learners, resolved, adjusted, _screen(learners, target, adjusted), explained, own)


def _own(
    store: FeatureStore, y: Target, settings: Settings, learners: Learners, sample_weight: Any
) -> Preparation | None:
    if not learners.uses_own:
        return None
    if learners.task == "classification" and np.unique(y).size > 2:
        raise InvalidSettingError(
            f"y holds {np.unique(y).size} classes, and our own solvers take two: give estimators for both subproblem "
            "and reduced, or use BackboneClassifier"
        )
    return prepare(store, y, settings, task=learners.task, extras=Extras(sample_weight))


def _screen(learners: Learners, y: Target, adjusted: Adjustment) -> ResponsePanel:
    usual = _WEIGHTED[learners.task]
    if learners.task == "classification" and np.unique(y).size > 2:
        usual = "svm"
    name = learners.screen or usual
    if name == _WEIGHTED[learners.task] and not adjusted.is_plain:
        return TASKS[learners.task](y, adjusted).condition(np.empty((0, y.size), np.float32))
    return named_panel(name, y, adjusted.weights)


def fit_learners(ready: LearnerPreparation, executor: Executor, *, listen: Listener = silent) -> FittedLearner:
    """Run the spine, and find out which features the reduced model uses."""
    settings, problem = ready.settings, ready.problem
    budget = plan(
        ready.store,
        settings,
        n_workers=executor.n_workers,
        subproblem_features=sampler(settings).size(settings.screen_size, settings.n_subproblems),
        itemsize=ready.store.itemsize if ready.store.dtype.kind == "f" else 8,
        available=executor.worker_bytes,
    )
    require_memory(budget, ready.store.n_samples, executor.worker_bytes)
    finding = Run(
        problem=problem,
        site=settle(ready.store, executor, needed_bytes=budget.worker_bytes).weighted(ready.adjusted.weights),
        y=ready.explained,
        settings=settings,
        budget=budget,
        screen=screen_phase(problem.screen, settings, ready.adjusted.weights),
        reduce=_FitFound(OneFit(settings.time_limit), ready.searcher),
        listen=listen,
    ).execute()
    return _fitted(ready, finding, executor.traffic())


@dataclass(frozen=True, slots=True)
class _FitFound:
    """The reduced fit, unless there is nothing to fit it to."""

    fit: OneFit
    searcher: str

    def __call__(self, work: Reduction) -> Reduced:
        if not work.backbone.size:
            raise InvalidSettingError(
                f"{self.searcher} found no relevant feature in any subproblem; give it a weaker penalty, or another "
                "estimator"
            )
        return self.fit(work)


def _fitted(ready: LearnerPreparation, finding: Finding, traffic: dict[str, int]) -> FittedLearner:
    backbone = finding.backbone
    picked = Picked.from_store(backbone, ready.store)
    model = finding.outcome.model if ready.learners.reduced is not None else _own_model(ready, finding)
    used = np.ones(backbone.size, np.bool_)
    if any(hasattr(last_model(model), name) for name in ("coef_", "feature_importances_")):
        columns = tree_values(ready.store.gather(backbone))
        used = Relevance(ready.learners.relevance.threshold)(importances(model, columns))
    return FittedLearner(model, picked, backbone[used], finding, traffic)


def _own_model(ready: LearnerPreparation, finding: Finding) -> SparseRegression | SparseLogistic:
    assert ready.own is not None
    linear = fitted_model(ready.own, finding, {}).model
    coefficients = np.zeros(finding.backbone.size)
    coefficients[np.searchsorted(finding.backbone, linear.ids)] = linear.coefficients
    if ready.learners.task == "regression":
        return SparseRegression(coefficients, linear.intercept)
    return SparseLogistic(np.unique(ready.explained.target), coefficients[None], np.array([linear.intercept]))

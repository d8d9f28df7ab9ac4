"""One fit from a store to a model: what the estimator and the command line share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.algorithm.sampling import weights
from backbone_dask.problems.iterative import IterativeScreen
from backbone_dask.problems.linear import checked_target, in_data_units, linear_problem, linear_sampler
from backbone_dask.problems.model import LinearModel
from backbone_dask.protocols import Executor, Problem
from backbone_dask.runtime.budget import Budget, plan, require_memory
from backbone_dask.runtime.checkpoint import Journal, NoJournal
from backbone_dask.runtime.events import Listener, silent
from backbone_dask.runtime.run import Finding, OneScreen, Run, ScreenPhase
from backbone_dask.settings import ResolvedSettings, Settings
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds, SparseFit, Target


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that is checked before work starts."""

    store: FeatureStore
    y: Target
    settings: ResolvedSettings

    def budget(self, n_workers: int) -> Budget:
        """The cut of this fit for that many workers."""
        width = linear_sampler(self.settings).size(self.settings.screen_size, self.settings.n_subproblems)
        return plan(self.store, self.settings, n_workers=n_workers, subproblem_features=width)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The model in the units of the data, and how it was found."""

    model: LinearModel
    finding: Finding
    settings: ResolvedSettings
    training_r2: float


def prepare(store: FeatureStore, y: Target, settings: Settings) -> Preparation:
    """Check the target and the settings against the data; raises before anything is started or written."""
    weights[settings.sampling]
    resolved = settings.resolve(n_samples=store.n_samples, n_features=store.n_features)
    return Preparation(store, checked_target(y, store.n_samples), resolved)


def fit_linear(
    ready: Preparation, executor: Executor, *, journal: Journal | None = None, listen: Listener = silent
) -> Fitted:
    """Run the spine and bring the model back to the units of the data."""
    budget = ready.budget(executor.n_workers)
    require_memory(budget, ready.store.n_samples, executor.worker_bytes)
    problem = linear_problem(ready.settings)
    finding = Run(
        problem=problem,
        source=ready.store,
        y=ready.y,
        settings=ready.settings,
        budget=budget,
        executor=executor,
        screen=_screen_phase(problem, ready),
        journal=journal or NoJournal(),
        listen=listen,
    ).execute()
    return _fitted(ready, finding)


def _screen_phase(problem: Problem[SparseFit], ready: Preparation) -> ScreenPhase:
    if ready.settings.screen_rounds == 1:
        return OneScreen(problem.screen, ready.y)
    return IterativeScreen(problem.screen, problem.fit_subproblem, ready.y, ready.settings.screen_rounds)


def _fitted(ready: Preparation, finding: Finding) -> Fitted:
    fit: SparseFit = finding.outcome.model
    ids: CandidateIds = finding.backbone[fit.support]
    columns = ready.store.gather(ids)
    model = in_data_units(fit, ids, ready.store.names(ids), columns, ready.y)
    residual = ready.y - model.predict(columns)
    deviation = ready.y - ready.y.mean()
    r2 = 1 - float(residual @ residual) / max(float(deviation @ deviation), np.finfo(float).tiny)
    return Fitted(model, finding, ready.settings, r2)

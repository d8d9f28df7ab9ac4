"""A bound over all columns for a fit that is finished: what `fit` does at its end, done later."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from backbone_dask.certificate import Certificate
from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.certifying import Known
from backbone_dask.problems.fitting import Fitted, Preparation, certifier, fitted_model
from backbone_dask.protocols import Executor
from backbone_dask.runtime.checkpoint import Journal
from backbone_dask.runtime.events import Listener
from backbone_dask.runtime.run import Finding
from backbone_dask.runtime.site import settle
from backbone_dask.values import LevelRecord, Screening

_SAME = 1e-6


def certify_known(
    ready: Preparation, executor: Executor, known: Known, *, journal: Journal, listen: Listener
) -> tuple[Certificate, Fitted | None, float]:
    """A certificate, the better fit where columns were priced in, and the seconds that it took."""
    began = time.perf_counter()
    require_same_table(ready, known)
    site = settle(ready.store, executor, needed_bytes=ready.budget(executor.n_workers).worker_bytes)
    certificate, outcome = certifier(ready, site, journal, listen).certified(known)
    seconds = time.perf_counter() - began
    if outcome is None:
        return certificate, None, seconds
    nothing = Screening(np.empty(0, np.int64), np.empty(0), ready.store.n_features, 0)
    level = LevelRecord(0, known.backbone.size, 0, 1.0, (), known.backbone)
    finding = Finding(nothing, (level,), outcome, (), {"certify": seconds}, certificate)
    return certificate, fitted_model(ready, finding, executor.traffic()), seconds


def require_same_table(ready: Preparation, known: Known) -> None:
    """Refuse columns on which the support does not cost what it did: a bound would be about other data."""
    if not known.support.size:
        return
    settings, columns = ready.settings, ready.problem.prepare(ready.store.gather(known.support))
    loss = ready.task.relaxing(settings.n_nonzero, settings.gamma)
    now = loss.solve(columns, np.zeros(len(columns)), np.arange(len(columns))).objective
    if not abs(now - known.objective) <= _SAME * abs(known.objective):
        raise InvalidDataError(
            f"the support of the run costs {now:.6g} on {ready.store.location} and cost {known.objective:.6g} before: "
            "it is another table; fit again"
        )


def after(earlier: Certificate, certificate: Certificate) -> Certificate:
    """The certificate as one that goes on where an earlier one of the same problem and table ended."""
    spent = earlier.passes[-1].seconds
    passes = tuple(replace(each, seconds=each.seconds + spent) for each in certificate.passes)
    return replace(
        certificate,
        passes=earlier.passes + passes,
        relaxed=min(earlier.relaxed, certificate.relaxed),
        priced=np.union1d(earlier.priced, certificate.priced),
    )

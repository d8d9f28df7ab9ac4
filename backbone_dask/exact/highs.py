"""HiGHS through Pyomo, one quiet solve at a time; and with it the master problem of outer approximation.

The master: min eta, eta >= every cut, at most k ones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
from pyomo.contrib.appsi.base import TerminationCondition
from pyomo.contrib.appsi.solvers import Highs
from pyomo.core.expr import LinearExpression

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.gram import Positions

TOLERANCE = 1e-9
OPTIONS = {
    "threads": 1,
    "random_seed": 0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": TOLERANCE,
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}
# A limit that every machine reaches at the same node, so that an answer does not depend on its speed.
_MASTER_OPTIONS = {**OPTIONS, "mip_max_nodes": 2000}
_MASTER = "the master problem"
_USABLE = (TerminationCondition.optimal, TerminationCondition.maxTimeLimit, TerminationCondition.maxIterations)

# HiGHS has one scheduler per process and Pyomo is not thread-safe: two solves at once can wait for each other for ever.
_turn = threading.Lock()


@contextmanager
def own_turn(seconds: float, problem: str) -> Iterator[bool]:
    """Whether no other thread solves, after waiting for at most `seconds`; what fails then is an ExactSolveError."""
    if not _turn.acquire(timeout=max(seconds, 0.0)):
        yield False
        return
    try:
        yield True
    except ExactSolveError:
        raise
    except Exception as cause:
        raise ExactSolveError(f"HiGHS failed on {problem}") from cause
    finally:
        _turn.release()


class QuietHighs(Highs):
    """Pyomo's interface redirects the whole process's stdout and adds an interrupt callback on every solve.

    Neither suits a worker thread that shares its process with others; HiGHS is told to be silent instead.
    """

    @classmethod
    def of(cls, model: Any, options: Mapping[str, Any]) -> QuietHighs:
        solver = cls()
        solver.config.load_solution = False
        solver.highs_options = dict(options)
        solver.set_instance(model)
        return solver

    def run(self, *, seconds: float, mip_gap: float, problem: str) -> Any:
        """Pyomo's results; its bound, and its solution if there is one, may be used whatever ended the solve."""
        self.config.time_limit = max(seconds, 0.0)
        self.config.mip_gap = mip_gap
        results = self.solve(self._model)
        if results.termination_condition not in _USABLE:
            raise ExactSolveError(f"HiGHS stopped on {problem}: {results.termination_condition.name}")
        return results

    def watch(self, tell: Callable[[float, float], None]) -> None:
        """`tell(objective, bound)` now and then while it solves, infinite where there is none yet."""

        def logged(event: Any) -> None:
            tell(event.data_out.mip_primal_bound, event.data_out.mip_dual_bound)

        # It says nothing to anyone without output, which may go nowhere.
        self._solver_model.setOptionValue("log_to_console", False)
        self._solver_model.setOptionValue("output_flag", True)
        self._solver_model.cbMipLogging.subscribe(logged)

    def set_instance(self, model: Any) -> None:
        # The thread may have run HiGHS before with another number of threads; the scheduler would refuse ours.
        highspy.Highs.resetGlobalScheduler(True)
        self._reinit()
        self._model = model
        self._solver_model = highspy.Highs()
        self._solver_model.setOptionValue("output_flag", False)
        self.add_block(model)

    def _solve(self, timer: Any) -> Any:
        options = {**self.highs_options, "time_limit": self.config.time_limit, "mip_rel_gap": self.config.mip_gap}
        for name, value in options.items():
            self._solver_model.setOptionValue(name, value)
        self._warm_start()
        self._solver_model.run()
        return self._postsolve(timer)


@dataclass(frozen=True, slots=True)
class MasterAnswer:
    """The best support that the solve met, and a lower bound for the problem."""

    support: Positions
    bound: float


class Master:
    """A persistent model that grows by cuts.

    All values are divided by `unit`, so that tolerances are relative. `floor` is a bound that is known already.
    """

    def __init__(self, n_features: int, n_nonzero: int, *, unit: float, floor: float) -> None:
        self._shape = (n_features, n_nonzero)
        self._unit, self._floor = unit, floor
        self._cuts: list[Cut] = []
        self._n_built = 0
        self._model: Any = None
        self._solver: Any = None

    def add_cut(self, cut: Cut) -> None:
        # A slope that takes the cut below the floor says no more than one that takes it there: smaller numbers, and a
        # tighter master between the integers.
        slopes = np.minimum(cut.slopes, max(cut.intercept - self._floor, 0.0))
        self._cuts.append(Cut(cut.intercept / self._unit, slopes / self._unit))

    def solve(self, *, seconds: float, mip_gap: float, start: Positions) -> MasterAnswer:
        """Solve within `seconds`, waiting for another thread's solve included; `start` is the MIP start."""
        deadline = time.monotonic() + seconds
        with own_turn(seconds, _MASTER) as granted:
            if not granted:
                return MasterAnswer(start, -np.inf)
            self._build()
            self._set_start(start)
            return self._run(deadline - time.monotonic(), mip_gap)

    def _build(self) -> None:
        if self._model is None:
            self._model = _empty_model(*self._shape, self._floor / self._unit)
            self._solver = _persistent_solver(self._model)
        new = [self._constraint(cut) for cut in self._cuts[self._n_built :]]
        self._solver.add_constraints(new)
        self._n_built = len(self._cuts)

    def _constraint(self, cut: Cut) -> Any:
        variables = [*self._model.z.values(), self._model.eta]
        body = LinearExpression(constant=0, linear_coefs=[*cut.slopes.tolist(), 1.0], linear_vars=variables)
        return self._model.cuts.add(body >= cut.intercept)

    def _set_start(self, start: Positions) -> None:
        z = np.zeros(self._shape[0])
        z[start] = 1.0
        for variable, value in zip(self._model.z.values(), z.tolist(), strict=True):
            variable.set_value(value, skip_validation=True)
        value = max(cut.intercept - float(cut.slopes @ z) for cut in self._cuts)
        self._model.eta.set_value(max(value, self._floor / self._unit), skip_validation=True)

    def _run(self, seconds: float, mip_gap: float) -> MasterAnswer:
        results = self._solver.run(seconds=seconds, mip_gap=mip_gap, problem=_MASTER)
        if results.best_feasible_objective is None:
            raise ExactSolveError(f"HiGHS found nothing on {_MASTER}: {results.termination_condition.name}")
        values = self._solver.get_primals(list(self._model.z.values())).values()
        return MasterAnswer(np.flatnonzero(np.array(list(values)) > 0.5), self._safe(results.best_objective_bound))

    def _safe(self, bound: float) -> float:
        """Every column may miss dual feasibility by the tolerance, and z_j moves by at most 1."""
        return (bound - (self._shape[0] + 2) * TOLERANCE) * self._unit


def _empty_model(n_features: int, n_nonzero: int, floor: float) -> Any:
    model = pyo.ConcreteModel()
    model.z = pyo.Var(range(n_features), domain=pyo.Binary)
    model.eta = pyo.Var(bounds=(floor, None))
    model.size = pyo.Constraint(expr=pyo.quicksum(model.z.values()) <= n_nonzero)
    model.objective = pyo.Objective(expr=model.eta)
    model.cuts = pyo.ConstraintList()
    return model


def _persistent_solver(model: Any) -> QuietHighs:
    solver = QuietHighs.of(model, _MASTER_OPTIONS)
    # Cuts are handed over one by one: there is nothing to look for in the model.
    for name in ("vars", "params", "constraints"):
        setattr(solver.update_config, f"check_for_new_or_removed_{name}", False)
        setattr(solver.update_config, f"update_{name}", False)
    solver.update_config.update_named_expressions = False
    return solver

"""SCIP and l0bnb on a reduced problem, where they are installed: each gives a proven lower bound for its value."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from backbone_dask.exact.gram import Gram
from backbone_dask.exact.nodes import plain_root
from benchmarks.exact.instances import Instance

Peer = Callable[[Instance, float], float]


def installed() -> dict[str, Peer]:
    known: dict[str, tuple[str, Peer]] = {"SCIP": ("pyscipopt", scip_bound), "l0bnb": ("l0bnb", l0bnb_bound)}
    return {name: peer for name, (module, peer) in known.items() if find_spec(module)}


def missing() -> list[str]:
    return sorted({"SCIP", "l0bnb"} - set(installed()))


def scip_bound(instance: Instance, seconds: float) -> float:
    """The perspective formulation: w_j^2 <= s_j z_j, and |R w - Q'y|^2 <= q for the QR factors of the columns."""
    from pyscipopt import Model, quicksum

    Q, R = np.linalg.qr(instance.X.T.astype(np.float64))
    short, p = Q.T @ instance.y, len(instance.X)
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    w = [model.addVar(lb=None) for _ in range(p)]
    r = [model.addVar(lb=None) for _ in range(p)]
    s = [model.addVar(lb=0.0) for _ in range(p)]
    z = [model.addVar(vtype="B") for _ in range(p)]
    q = model.addVar(lb=0.0)
    for i in range(p):
        model.addCons(r[i] == quicksum(float(R[i, j]) * w[j] for j in range(i, p)) - float(short[i]))
        model.addCons(w[i] * w[i] <= s[i] * z[i])
    model.addCons(quicksum(x * x for x in r) <= q)
    model.addCons(quicksum(z) <= instance.n_nonzero)
    model.setObjective(0.5 * q + quicksum(s) * (0.5 / instance.gamma))
    model.optimize()
    return float(model.getDualbound()) + 0.5 * float(instance.y @ instance.y - short @ short)


def l0bnb_bound(instance: Instance, seconds: float) -> float:
    """l0bnb charges every feature instead of limiting their number: its bound minus k times the charge is one for us.

    The charge is the multiplier of the perspective relaxation, which makes that bound largest at the root.
    """
    # l0bnb 1.0.0 uses a name that numpy 2 dropped.
    vars(np).setdefault("Inf", np.inf)
    from l0bnb import BNBTree

    X, y, k = instance.X.T.astype(np.float64), instance.y, instance.n_nonzero
    charge = _multiplier(instance)
    largest = float(np.abs(np.linalg.lstsq(X, y, rcond=None)[0]).max())
    found = BNBTree(X, y).solve(
        charge, 0.5 / instance.gamma, 2 * largest, gap_tol=1e-4, time_limit=seconds, warm_start=None
    )
    return float(found.cost * (1 - found.gap)) - k * charge


def _multiplier(instance: Instance) -> float:
    """Half the square of the slope that the fractions of the relaxation share."""
    gram = Gram.of(instance.X, instance.y)
    root = plain_root(gram, instance.n_nonzero, instance.gamma)
    v = root.weights
    slopes = np.sort(np.abs(root.problem.b - root.problem.A @ v))
    return 0.5 * float(slopes[-instance.n_nonzero]) ** 2

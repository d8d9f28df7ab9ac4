"""The relaxation of one node, compiled: min 1/2 yy - b'v + 1/2 v'A v + 1/2 sum v_j^2 / z_j, sum of the free z <= room.

With t the common slope of the fractions, an optimum has s = b - A v with s_j = v_j where z_j is 1, |s_j| = t where it
is a fraction, and |s_j| <= t where it is 0. Given who is where this is one linear system; a proximal step from its
solution then says who is where, until nobody moves. A step that does not lower the objective is shortened, from the
proximal point if need be. Any v on the way gives a valid bound, so nothing depends on the last round.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

# A compiled kernel is kept as long as its own file is unchanged: touch this one when those below change.
from backbone_dask.exact.kernel_pieces import EXCLUDED, FREE, NOTHING, REQUIRED, Codes, piece_minimum, slopes
from backbone_dask.exact.kernel_shares import regroup, shares
from backbone_dask.losses.squared import Matrix, Vector

_EPS = float(np.finfo(np.float64).eps)
_FLAT_SHARE = 1e-9
_SHORTEST_STEP = 2.0**-10


class Problem(NamedTuple):
    """The problem in units in which every feature's ridge weight is 1.

    `norms` are the lengths of the columns behind A, `rounding` the relative error of their products, `pull` a positive
    curvature per feature for the proximal steps.
    """

    A: Matrix
    b: Vector
    yy: float
    norms: Vector
    rounding: float
    pull: Vector


@numba.njit(cache=True, nogil=True)
def objective(b, status, room, v, s, z):  # type: ignore[no-untyped-def]
    """The objective at v without its constant; leaves the best z behind."""
    shares(status, room, v, z)
    total = 0.0
    for j in range(v.size):
        if z[j] > 0:
            total += v[j] * (v[j] / z[j] - b[j] - s[j])
        elif v[j] != 0:
            return np.inf
    return 0.5 * total


@numba.njit(cache=True, nogil=True)
def _move(here, target, length, there):  # type: ignore[no-untyped-def]
    for i in range(here.shape[0]):
        for j in range(here.shape[1]):
            there[i, j] = here[i, j] + length * (target[i, j] - here[i, j])


@numba.njit(cache=True, nogil=True)
def _approach(b, status, room, here, value, target, z):  # type: ignore[no-untyped-def]
    """Go from here towards the target as far as the objective falls, halving; rows are v and s. The value there."""
    length = 1.0
    trial = np.empty((2, b.size))
    while length >= _SHORTEST_STEP:
        _move(here, target, length, trial)
        found = objective(b, status, room, trial[0], trial[1], z)
        if found < value:
            _move(here, trial, 1.0, here)
            return found
        length /= 2
    shares(status, room, here[0], z)
    return value


@numba.njit(cache=True, nogil=True)
def _largest_first(values, size, count):  # type: ignore[no-untyped-def]
    """Order values[:size] so far that none of the first `count` is below any of the others (Hoare's selection)."""
    low, high = 0, size - 1
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        low, high = (low if count <= j else (i if count >= i else high)), (j if count <= j else high)


@numba.njit(cache=True, nogil=True)
def _heaviest(status, room, reach):  # type: ignore[no-untyped-def]
    """The largest sum over a support of the node, the least value inside its room, and the largest outside."""
    values, free, total = np.empty(reach.size), 0, 0.0
    for j in range(reach.size):
        if status[j] == REQUIRED:
            total += reach[j]
        elif status[j] == FREE:
            values[free] = reach[j]
            free += 1
    _largest_first(values, free, room)
    inside, outside = np.inf, 0.0
    for i in range(free):
        if i < room:
            total += values[i]
            inside = min(inside, values[i])
        else:
            outside = max(outside, values[i])
    return total, (inside if 0 < room <= free else 0.0), outside


@numba.njit(cache=True, nogil=True)
def _bound(problem, status, room, v, s, reach):  # type: ignore[no-untyped-def]
    """The dual bound at v with every product at the safe end of its error; the safe squares of the slopes in `reach`.

    Returns the bound and the squares of the last one inside the room and of the first one outside it.
    """
    length, quadratic = np.sqrt(problem.yy), 0.0
    for j in range(v.size):
        length += abs(v[j]) * problem.norms[j]
        quadratic += v[j] * (problem.b[j] - s[j])
    error = problem.rounding * length
    for j in range(v.size):
        reach[j] = (abs(s[j]) + 2 * error * problem.norms[j]) ** 2
        if not np.isfinite(reach[j]):
            return -np.inf, 0.0, 0.0
    paid, inside, outside = _heaviest(status, room, reach)
    paid *= 1 + (v.size + 16) * _EPS
    bound = 0.5 * (problem.yy * (1 - problem.rounding) - quadratic - 4 * error * length - paid)
    return (bound if np.isfinite(bound) else -np.inf), inside, outside


@numba.njit(cache=True, nogil=True)
def _step(A, b, status, code, room, here, value, near, z):  # type: ignore[no-untyped-def]
    """To the minimum of the piece in `code` if that is lower, else by way of the proximal point `near`."""
    target = np.empty((2, b.size))
    piece_minimum(A, b, status, code, room, near[0], target[0], target[1])
    found = objective(b, status, room, target[0], target[1], z)
    if found < value:
        _move(here, target, 1.0, here)
        return found, True
    slopes(A, b, near[0], near[1])
    value = _approach(b, status, room, here, value, near, z)
    return _approach(b, status, room, here, value, target, z), False


@numba.njit(cache=True, nogil=True)
def relax(problem, status, code, room, goal, most_rounds, reach, z):  # type: ignore[no-untyped-def]
    """Relax a node from the piece in `code`, which it leaves as it ended.

    Stops when the bound reaches the goal, when nobody moves, or after some rounds. Fills `reach` with the squared
    slopes of the best bound and `z` with the shares of the last round.
    Returns the bound, the squares at both sides of the room's edge, and whether it is solved.
    """
    A, b = problem.A, problem.b
    here, near, square = np.empty((2, b.size)), np.empty((2, b.size)), np.zeros(b.size)
    piece_minimum(A, b, status, code, room, square, here[0], here[1])
    value = objective(b, status, room, here[0], here[1], z)
    best, inside, outside = _bound(problem, status, room, here[0], here[1], reach)
    rounds, whole_step = 1, True
    while rounds < most_rounds and best < goal:
        moved = regroup(problem.pull, status, code, room, here[0], here[1], near[0])
        if whole_step and not moved:
            return best, inside, outside, True
        rounds += 1
        value, whole_step = _step(A, b, status, code, room, here, value, near, z)
        found = _bound(problem, status, room, here[0], here[1], square)
        if found[0] > best:
            best, inside, outside = found
            for j in range(b.size):
                reach[j] = square[j]
    return best, inside, outside, False


@numba.njit(cache=True, nogil=True)
def relax_child(problem, status, code, room, branch, decision, goal, most_rounds, z):  # type: ignore[no-untyped-def]
    """Decide the branch feature (unless the decision is FREE), relax, and decide what the bound decides.

    Changes status, code and z; returns the bound, the room left, and the next feature to branch on.
    """
    if decision != FREE:
        status[branch] = decision
        room -= decision == REQUIRED
        code[branch] = NOTHING
    reach = np.zeros(status.size)
    bound, solved, again = -np.inf, False, True
    while again:
        found, inside, outside, solved = relax(problem, status, code, room, goal, most_rounds, reach, z)
        bound, before = max(bound, found), _count_free(status)
        if bound < goal:
            room = _fix(status, code, room, found, inside, outside, goal, reach)
        # Where that leaves a single support, its own value is the bound.
        left = _count_free(status)
        again = bound < goal and left < before and (room == 0 or left <= room)
    return bound, room, _next_branch(status, room, solved, z, reach)


@numba.njit(cache=True, nogil=True)
def _count_free(status: Codes) -> int:
    free = 0
    for j in range(status.size):
        free += status[j] == FREE
    return free


@numba.njit(cache=True, nogil=True)
def _fix(status, code, room, bound, inside, outside, goal, reach):  # type: ignore[no-untyped-def]
    """Require or exclude every feature of which the opposite would lift the bound to the goal; the room left.

    With a feature forced in, the last square inside the room makes place for its own; forced out, the first one
    outside takes its place.
    """
    needed = 2 * (goal - bound) * (1 + 8 * _EPS)
    left = room
    for j in range(status.size):
        if status[j] != FREE:
            continue
        if reach[j] < inside and inside - reach[j] >= needed:
            status[j] = EXCLUDED
            code[j] = NOTHING
        elif reach[j] >= inside and reach[j] - outside >= needed:
            status[j] = REQUIRED
            left -= 1
    return left


@numba.njit(cache=True, nogil=True)
def _next_branch(status, room, solved, z, reach):  # type: ignore[no-untyped-def]
    """The free feature whose share is nearest to a half; -1 if the relaxation is a support or only one is left."""
    chosen, most = -1, _FLAT_SHARE
    for j in range(status.size):
        if status[j] == FREE and min(z[j], 1 - z[j]) > most:
            chosen, most = j, min(z[j], 1 - z[j])
    if chosen >= 0 or solved or room == 0 or _count_free(status) <= room:
        return chosen
    for j in range(status.size):
        if status[j] == FREE and (chosen < 0 or reach[j] > reach[chosen]):
            chosen = j
    return chosen

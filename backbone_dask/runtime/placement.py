"""Which worker holds what: decided once for a run, from sizes, wishes and the workers' names alone."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from backbone_dask.values import CandidateIds, Seat, Shard

Wishes = Mapping[str, float]
"""How much of a part lies with a worker already, by its name."""


def assign(sizes: Sequence[float], wishes: Sequence[Wishes], seats: Sequence[Seat]) -> tuple[str, ...]:
    """The name of a worker for every part.

    A part goes where most of it lies unless that worker has its fair share of everything already, and else to the
    worker with the least; the strongest wishes come first.
    """
    fair = sum(sizes) / sum(seat.threads for seat in seats)
    at = {seat.name: index for index, seat in enumerate(seats)}
    loads = [0.0] * len(seats)
    queue = [(0.0, index) for index in range(len(seats))]
    chosen = [0] * len(sizes)
    for part in sorted(range(len(sizes)), key=lambda part: -max(wishes[part].values(), default=0.0)):
        index = _wanted(wishes[part], at, loads, fair)
        if index is None:
            index = _least(queue, loads)
        chosen[part] = index
        loads[index] += sizes[part] / seats[index].threads
        heapq.heappush(queue, (loads[index], index))
    return tuple(seats[index].name for index in chosen)


def _wanted(wishes: Wishes, at: Mapping[str, int], loads: list[float], fair: float) -> int | None:
    """The worker that has most of a part and room for it, if there is one."""
    known = [(-wish, loads[at[name]], at[name]) for name, wish in wishes.items() if name in at and wish > 0]
    return next((index for _, load, index in sorted(known) if load < fair), None)


def _least(queue: list[tuple[float, int]], loads: list[float]) -> int:
    """The worker with the least load; entries of the queue that are out of date are dropped."""
    while queue[0][0] != loads[queue[0][1]]:
        heapq.heappop(queue)
    return queue[0][1]


@dataclass(frozen=True, slots=True)
class Placement:
    """The features of a table on workers, in units of equal length."""

    seats: tuple[Seat, ...]
    unit: int
    homes: tuple[str, ...]

    def home(self, feature: int) -> str:
        return self.homes[feature // self.unit]

    def runs(self, start: int, stop: int, longest: int) -> list[tuple[int, int]]:
        """The features [start, stop), cut where the worker changes and after `longest`; `start` is that of a unit."""
        edges = [start]
        for at in range(start + self.unit, stop, self.unit):
            if self.home(at) != self.home(edges[-1]) or at - edges[-1] >= longest:
                edges.append(at)
        return list(pairwise([*edges, stop]))

    def wishes(self, ids: CandidateIds) -> dict[str, float]:
        """How many of these features lie with each worker."""
        units, counts = np.unique(ids // self.unit, return_counts=True)
        return _added((self.homes[unit], float(count)) for unit, count in zip(units, counts, strict=True))


def place(n_features: int, unit: int, seats: Sequence[Seat], locality: Sequence[Shard] = ()) -> Placement:
    """Every unit of a table on a worker: balanced, on the host where it is said to lie, else beside its neighbours."""
    starts = range(0, n_features, unit)
    sizes = [min(unit, n_features - start) for start in starts]
    near = _local(n_features, unit, seats, locality)
    wishes = [near.get(at) or {home: _FAINT} for at, home in enumerate(in_runs(sizes, seats))]
    return Placement(tuple(seats), unit, assign(sizes, wishes, seats))


# Less than any feature that lies somewhere.
_FAINT = 1e-6


def in_runs(sizes: Sequence[float], seats: Sequence[Seat]) -> list[str]:
    """Parts that follow each other go to the same worker, until it has its share."""
    middles = np.cumsum(sizes) - np.asarray(sizes) / 2
    shares = np.cumsum([seat.threads for seat in seats]) * (sum(sizes) / sum(seat.threads for seat in seats))
    return [seats[at].name for at in np.searchsorted(shares[:-1], middles, side="right")]


def _local(n_features: int, unit: int, seats: Sequence[Seat], locality: Sequence[Shard]) -> dict[int, Wishes]:
    """For units of shards whose host has workers: how many of its features lie with each of them."""
    there = {shard.host: [seat.name for seat in seats if seat.answers_to(shard.host)] for shard in locality}
    parts: dict[int, list[tuple[str, float]]] = {}
    for shard in locality:
        for at in range(shard.start // unit, -(-min(shard.stop, n_features) // unit)):
            overlap = min((at + 1) * unit, shard.stop) - max(at * unit, shard.start)
            parts.setdefault(at, []).extend((name, float(overlap)) for name in there[shard.host])
    return {at: _added(near) for at, near in parts.items()}


def _added(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for name, amount in parts:
        total[name] = total.get(name, 0.0) + amount
    return total


ItemT = TypeVar("ItemT")


def in_turns(items: Sequence[ItemT], owners: Sequence[Hashable]) -> list[ItemT]:
    """The items so that their owners take turns: a few at a time keep every owner busy."""
    seen: dict[Hashable, int] = {}
    turns: list[int] = []
    for owner in owners:
        turns.append(seen.get(owner, 0))
        seen[owner] = turns[-1] + 1
    return [items[at] for at in np.argsort(turns, kind="stable")]

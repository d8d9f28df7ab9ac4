"""A tree as rules: one for every leaf, with the conditions that lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.problems.tree_text import condition
from backbone_dask.trees.tree import LEAF


@dataclass(frozen=True, slots=True)
class Rule:
    """The samples that meet all conditions are of class `label`, with that share of the training weight."""

    conditions: tuple[str, ...]
    label: str
    share: float
    weight: float


def rules(model: TreeModel, labels: Sequence[str], decimals: int = 3) -> tuple[Rule, ...]:
    """All leaves, the heaviest first; of equals the left one."""
    return tuple(sorted(_below(model, labels, decimals, 0, ()), key=lambda rule: -rule.weight))


def _below(model: TreeModel, labels: Sequence[str], decimals: int, node: int, path: tuple[str, ...]) -> Iterator[Rule]:
    tree = model.tree
    if tree.left[node] == LEAF:
        weight = float(tree.sums[node].sum())
        label = int(tree.choices[node])
        yield Rule(tightest(path), labels[label], float(tree.sums[node][label]) / weight if weight else 0.0, weight)
        return
    asked = condition(model, node, decimals)
    yield from _below(model, labels, decimals, int(tree.left[node]), (*path, asked))
    left, bound = asked.rsplit(" <= ", 1)
    yield from _below(model, labels, decimals, int(tree.right[node]), (*path, f"{left} > {bound}"))


def tightest(path: Sequence[str]) -> tuple[str, ...]:
    """Of conditions on the same expression and side only the last, which is the narrowest."""
    kept: dict[tuple[str, str], str] = {}
    for asked in path:
        expression, sign, _ = asked.rsplit(" ", 2)
        kept[expression, sign] = asked
    return tuple(kept.values())

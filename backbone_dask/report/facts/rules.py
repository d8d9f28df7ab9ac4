"""A tree as rules: one for every leaf, with the conditions that lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.problems.tree_text import sides
from backbone_dask.trees.tree import LEAF


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression of features on one side of a number."""

    expression: str
    sign: str
    bound: str

    def __str__(self) -> str:
        return f"{self.expression} {self.sign} {self.bound}"


@dataclass(frozen=True, slots=True)
class Rule:
    """The samples that meet all conditions are of class `label`, with that share of the training weight."""

    conditions: tuple[Condition, ...]
    label: str
    share: float
    weight: float


def rules(model: TreeModel, labels: Sequence[str], decimals: int = 3) -> tuple[Rule, ...]:
    """All leaves, the heaviest first; of equals the left one."""
    return tuple(sorted(_below(model, labels, decimals, 0, ()), key=lambda rule: -rule.weight))


def _below(
    model: TreeModel, labels: Sequence[str], decimals: int, node: int, path: tuple[Condition, ...]
) -> Iterator[Rule]:
    tree = model.tree
    if tree.left[node] == LEAF:
        weight = float(tree.sums[node].sum())
        label = int(tree.choices[node])
        yield Rule(tightest(path), labels[label], float(tree.sums[node][label]) / weight if weight else 0.0, weight)
        return
    expression, bound = sides(model, node, decimals)
    for child, sign in ((tree.left[node], "≤"), (tree.right[node], ">")):
        yield from _below(model, labels, decimals, int(child), (*path, Condition(expression, sign, bound)))


def tightest(path: Sequence[Condition]) -> tuple[Condition, ...]:
    """Of conditions on the same expression and side only the last, which is the narrowest."""
    return tuple({(asked.expression, asked.sign): asked for asked in path}.values())

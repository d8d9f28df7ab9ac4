"""A tree in words, one line a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.trees.tree import LEAF


def export_text(model: TreeModel, class_names: Sequence[Any] | None = None, decimals: int = 3) -> str:
    """The tree as indented lines: conditions, and at the leaves the class with its share of the training weight."""
    own = model.labels or [f"{label:g}" for label in model.classes]
    names = own if class_names is None else [str(name) for name in class_names]
    return "\n".join(_lines(model, names, decimals, 0, "")) + "\n"


def condition(model: TreeModel, node: int, decimals: int) -> str:
    """What a split asks, as an expression that is true on its left: x <= 1.5, or 0.5 x - 2 z <= 1.5."""
    return " <= ".join(sides(model, node, decimals))


def sides(model: TreeModel, node: int, decimals: int) -> tuple[str, str]:
    """The expression that a split compares, and the number that it is compared with."""
    tree = model.tree
    bound = f"{tree.thresholds[node]:.{decimals}g}"
    terms = [
        (model.names[at], weight)
        for at, weight in zip(tree.features[node].tolist(), tree.weights[node].tolist(), strict=True)
        if at != LEAF
    ]
    if len(terms) == 1 and terms[0][1] == 1:
        return terms[0][0], bound
    first, *rest = terms
    words = [f"{first[1]:.{decimals}g} {first[0]}"]
    words += [f"{'-' if weight < 0 else '+'} {abs(weight):.{decimals}g} {name}" for name, weight in rest]
    return " ".join(words), bound


def leaf_words(model: TreeModel, node: int) -> str:
    """The share of a leaf's class, and the weight that the leaf has."""
    sums = model.tree.sums[node]
    return f"{sums.max() / sums.sum():.0%} of {sums.sum():g}"


def _lines(model: TreeModel, names: Sequence[str], decimals: int, node: int, indent: str) -> Iterator[str]:
    tree = model.tree
    if tree.left[node] == LEAF:
        yield f"{indent}class {names[int(tree.choices[node])]} ({leaf_words(model, node)})"
        return
    asked = sides(model, node, decimals)
    yield f"{indent}if {' <= '.join(asked)}"
    yield from _lines(model, names, decimals, int(tree.left[node]), indent + "|   ")
    yield f"{indent}else ({' > '.join(asked)})"
    yield from _lines(model, names, decimals, int(tree.right[node]), indent + "|   ")

"""The tree that a run ends with, in the units of the data; nested plain JSON on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import FormatVersionError, RunDirectoryError
from backbone_dask.trees.tree import LEAF, Tree
from backbone_dask.values import CandidateIds

FORMAT = "backbone-dask-tree-model"
VERSION = 1


@dataclass(frozen=True, slots=True)
class TreeModel:
    """`tree` splits on positions in `ids`, the features that it uses; `classes` are labels as they are in the data,
    `labels` their names where they have some.

    A missing value stands for its feature's mean.
    """

    tree: Tree
    ids: CandidateIds
    names: tuple[str, ...]
    means: NDArray[np.float64]
    classes: tuple[float, ...]
    labels: tuple[str, ...] = ()

    def shares(self, columns: Columns) -> NDArray[np.float64]:
        """The share of every class in the leaf of every sample (samples, classes), for raw columns of `ids`."""
        values = columns.values.astype(np.float64)
        if columns.missing is not None:
            values = np.where(columns.values == columns.missing, self.means[:, None], values)
        sums = self.tree.sums[self.tree.leaves(values)]
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))

    def importances(self) -> NDArray[np.float64]:
        """The share of each of `ids` in the fall of the Gini impurity; a split of several features shares it out."""
        tree, found = self.tree, np.zeros(self.ids.size)
        totals = tree.sums.sum(axis=1)
        purity = (tree.sums**2).sum(axis=1) / np.maximum(totals, np.finfo(float).tiny)
        for node in np.flatnonzero(tree.is_split):
            rows = tree.features[node][tree.features[node] != LEAF]
            found[rows] += (purity[tree.left[node]] + purity[tree.right[node]] - purity[node]) / rows.size
        return found / found.sum() if found.sum() > 0 else found

    def nested(self, node: int = 0) -> dict[str, Any]:
        """The tree from a node on as plain data: a split holds the two sides, `left` where it is true."""
        tree = self.tree
        samples = dict(zip(map(str, self.classes), tree.sums[node].tolist(), strict=True))
        if tree.left[node] == LEAF:
            return {"class": self.classes[int(tree.choices[node])], "samples": samples}
        terms = [
            {"id": int(self.ids[at]), "feature": self.names[at], "weight": float(weight)}
            for at, weight in zip(tree.features[node].tolist(), tree.weights[node].tolist(), strict=True)
            if at != LEAF
        ]
        return {
            "split": terms,
            "at_most": float(tree.thresholds[node]),
            "samples": samples,
            "left": self.nested(int(tree.left[node])),
            "right": self.nested(int(tree.right[node])),
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "ids": self.ids.tolist(),
            "names": list(self.names),
            "means": self.means.tolist(),
            "classes": list(self.classes),
            **({"labels": list(self.labels)} if self.labels else {}),
            "tree": self.nested(),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> TreeModel:
        found = (content.get("format"), content.get("version")) if isinstance(content, dict) else None
        if found != (FORMAT, VERSION):
            raise FormatVersionError(f"this is model format {found}; this version reads {(FORMAT, VERSION)}")
        try:
            ids = np.array(content["ids"], np.int64)
            tree = _tree(content["tree"], {int(each): at for at, each in enumerate(ids)}, content["classes"])
            names, means = tuple(content["names"]), np.array(content["means"], np.float64)
            if not ids.shape == (len(names),) == means.shape:
                raise ValueError("ids, names and means differ in number")
            return cls(tree, ids, names, means, tuple(content["classes"]), tuple(content.get("labels", ())))
        except KeyError as cause:
            raise RunDirectoryError(f"the model is damaged: it has no {cause}") from cause
        except (TypeError, ValueError, AttributeError) as cause:
            raise RunDirectoryError(f"the model is damaged: {cause}") from cause


def _tree(root: dict[str, Any], places: dict[int, int], classes: list[float]) -> Tree:
    nodes, children = [root], [(LEAF, LEAF)]
    for at, node in enumerate(nodes):
        if "split" in node:
            children[at] = (len(nodes), len(nodes) + 1)
            nodes += [node["left"], node["right"]]
            children += [(LEAF, LEAF), (LEAF, LEAF)]
    width = max([1, *(len(node.get("split", ())) for node in nodes)])
    features, weights = np.full((len(nodes), width), LEAF), np.zeros((len(nodes), width))
    for at, node in enumerate(nodes):
        for place, term in enumerate(node.get("split", ())):
            features[at, place], weights[at, place] = places[term["id"]], term["weight"]
    thresholds = np.array([float(node.get("at_most", 0.0)) for node in nodes])
    sums = np.array([[node["samples"][str(each)] for each in classes] for node in nodes], np.float64)
    left, right = np.array(children).T.copy()
    return Tree(features, weights, thresholds, left, right, sums)

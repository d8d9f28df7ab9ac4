"""A tree as a picture: one SVG that needs no other file, readable on light and on dark ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from backbone_dask.errors import InvalidSettingError
from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.problems.tree_text import condition, export_text, leaf_words
from backbone_dask.trees.tree import LEAF

_CHARACTER, _LINE, _PAD, _GAP, _LEVEL = 7.2, 17, 10, 18, 92
# Colours that people with any kind of colour vision tell apart, light enough for black letters.
_COLOURS = ("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#fc9272", "#d9d9d9", "#fee391", "#c7e9c0")


@dataclass(frozen=True, slots=True)
class _Box:
    """A node on the page: its words, their width, and the middle of its top."""

    node: int
    lines: tuple[str, ...]
    kind: str
    fill: str
    width: float
    x: float
    y: float

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + _PAD


def tree_svg(tree: Any, class_names: Sequence[Any] | None = None, decimals: int = 3) -> str:
    """A drawing of a TreeModel, or of a fitted BackboneTreeClassifier, as the text of an SVG file.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import BackboneTreeClassifier, tree_svg
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> tree = BackboneTreeClassifier(depth=1, min_bucket=5, complexity=0.01).fit(X, X[:, 7] > 0)
    >>> picture = tree_svg(tree, class_names=["well", "ill"])
    >>> picture[:4], "x7 &lt;=" in picture
    ('<svg', True)
    """
    if not isinstance(tree, TreeModel):
        check_is_fitted(tree)
    model = tree if isinstance(tree, TreeModel) else tree.tree_
    labels = class_names if class_names is not None else getattr(tree, "classes_", model.labels or model.classes)
    if len(labels) != len(model.classes):
        raise InvalidSettingError(f"class_names has {len(labels)} names; the tree has {len(model.classes)} classes")
    names = [f"{each:g}" if isinstance(each, float) else str(each) for each in labels]
    return tree_picture(model, names, decimals).svg


@dataclass(frozen=True, slots=True)
class TreePicture:
    """An SVG, and how wide it is where nothing makes it smaller."""

    svg: str
    width: float


def tree_picture(model: TreeModel, names: Sequence[str], decimals: int = 3) -> TreePicture:
    """A drawing of the tree, with these names of its classes."""
    boxes = _layout(model, names, decimals)
    width = max(box.x + box.width / 2 for box in boxes.values()) + _GAP
    height = max(box.y + box.height for box in boxes.values()) + _GAP
    drawn = [*_edges(model, boxes), *(_drawn(box) for box in boxes.values())]
    words = f"Decision tree with {model.tree.n_splits} splits on {model.ids.size} features"
    svg = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'role="img" aria-label="{escape(words)}" font-family="monospace" font-size="12">',
            f"<title>{escape(words)}</title>",
            f"<desc>{_escaped(export_text(model, names, decimals), keep=chr(10))}</desc>",
            *drawn,
            "</svg>\n",
        ]
    )
    return TreePicture(svg, width)


def _layout(model: TreeModel, names: Sequence[str], decimals: int) -> dict[int, _Box]:
    """Every subtree has a strip of the page to itself, and its root stands in the middle of it."""
    tree = model.tree
    words = [_words(model, names, decimals, node) for node in range(tree.n_nodes)]
    widths = [max(map(len, lines)) * _CHARACTER + 2 * _PAD for lines, *_ in words]
    strips = _strips(model, widths)
    boxes: dict[int, _Box] = {}
    waiting = [(0, float(_GAP), 0)]
    for node, start, depth in waiting:
        lines, kind, fill = words[node]
        boxes[node] = _Box(node, lines, kind, fill, widths[node], start + strips[node] / 2, _GAP + depth * _LEVEL)
        if tree.left[node] != LEAF:
            left, right = int(tree.left[node]), int(tree.right[node])
            start += (strips[node] - strips[left] - _GAP - strips[right]) / 2
            waiting += [(left, start, depth + 1), (right, start + strips[left] + _GAP, depth + 1)]
    return boxes


def _strips(model: TreeModel, widths: Sequence[float]) -> list[float]:
    """How wide the strip of every subtree is: children come after their parents."""
    strips = list(widths)
    for node in range(model.tree.n_nodes - 1, -1, -1):
        if model.tree.left[node] != LEAF:
            below = strips[model.tree.left[node]] + _GAP + strips[model.tree.right[node]]
            strips[node] = max(strips[node], below)
    return strips


def _words(model: TreeModel, names: Sequence[str], decimals: int, node: int) -> tuple[tuple[str, ...], str, str]:
    """The lines of a node, its kind, which a page's style can name, and its colour."""
    if model.tree.left[node] != LEAF:
        return (condition(model, node, decimals), f"{model.tree.sums[node].sum():g} samples"), "split", "#ffffff"
    label = int(model.tree.choices[node])
    return (names[label], leaf_words(model, node)), "leaf", _COLOURS[label % len(_COLOURS)]


def _edges(model: TreeModel, boxes: dict[int, _Box]) -> list[str]:
    drawn = []
    for node, box in boxes.items():
        for child, answer in ((model.tree.left[node], "yes"), (model.tree.right[node], "no")):
            if child == LEAF:
                continue
            below = boxes[int(child)]
            top = box.y + box.height
            side, away = ("end", -6) if below.x < box.x else ("start", 6)
            drawn.append(
                f'<line x1="{box.x:.1f}" y1="{top:.1f}" x2="{below.x:.1f}" y2="{below.y:.1f}" class="edge" '
                f'stroke="#808080"/>'
                f'<text x="{(box.x + below.x) / 2 + away:.1f}" y="{(top + below.y) / 2:.1f}" text-anchor="{side}" '
                f'class="answer" fill="#808080" font-size="11">{answer}</text>'
            )
    return drawn


def _drawn(box: _Box) -> str:
    text = "".join(
        f'<text x="{box.x:.1f}" y="{box.y + _LINE * (at + 1):.1f}" text-anchor="middle" class="{box.kind}-words" '
        f'fill="#000000">'
        f"{_escaped(line)}</text>"
        for at, line in enumerate(box.lines)
    )
    return (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="6" class="{box.kind}" fill="{box.fill}" stroke="#808080"/>{text}'
    )


def _escaped(text: str, keep: str = "") -> str:
    """As XML, which has no control characters."""
    return escape("".join(each if each.isprintable() or each in keep else "?" for each in text))

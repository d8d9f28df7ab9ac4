"""A tree as a picture: one SVG that needs no other file, readable on light and on dark ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.problems.tree_text import condition, leaf_words
from backbone_dask.trees.tree import LEAF

_CHARACTER, _LINE, _PAD, _GAP, _LEVEL = 7.2, 17, 10, 18, 92
# Colours that people with any kind of colour vision tell apart, light enough for black letters.
_COLOURS = ("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#fc9272", "#d9d9d9", "#fee391", "#c7e9c0")


@dataclass(frozen=True, slots=True)
class _Box:
    """A node on the page: its words, their width, and the middle of its top."""

    node: int
    lines: tuple[str, ...]
    fill: str
    width: float
    x: float
    y: float

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + _PAD


def tree_svg(tree: Any, class_names: Sequence[Any] | None = None, decimals: int = 3) -> str:
    """A drawing of a TreeModel, or of a fitted BackboneTreeClassifier, as the text of an SVG file."""
    model = tree if isinstance(tree, TreeModel) else tree.tree_
    labels = class_names if class_names is not None else getattr(tree, "classes_", model.classes)
    names = [f"{each:g}" if isinstance(each, float) else str(each) for each in labels]
    boxes = _layout(model, names, decimals)
    width = max(box.x + box.width / 2 for box in boxes.values()) + _GAP
    height = max(box.y + box.height for box in boxes.values()) + _GAP
    drawn = [*_edges(model, boxes), *(_drawn(box) for box in boxes.values())]
    words = f"Decision tree with {model.tree.n_splits} splits on {model.ids.size} features"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'role="img" aria-label="{escape(words)}" font-family="monospace" font-size="12">',
            f"<title>{escape(words)}</title>",
            *drawn,
            "</svg>\n",
        ]
    )


def _layout(model: TreeModel, names: Sequence[str], decimals: int) -> dict[int, _Box]:
    """Leaves side by side from left to right, a parent over the middle of its children."""
    boxes: dict[int, _Box] = {}
    edge = float(_GAP)

    def place(node: int, depth: int) -> float:
        nonlocal edge
        lines, fill = _words(model, names, decimals, node)
        width = max(map(len, lines)) * _CHARACTER + 2 * _PAD
        if model.tree.left[node] == LEAF:
            middle = edge + width / 2
            edge += width + _GAP
        else:
            sides = (int(model.tree.left[node]), int(model.tree.right[node]))
            middle = sum(place(side, depth + 1) for side in sides) / 2
            # A wide question over narrow leaves must not leave the page.
            middle = max(middle, width / 2 + _GAP)
        boxes[node] = _Box(node, lines, fill, width, middle, _GAP + depth * _LEVEL)
        return middle

    place(0, 0)
    return boxes


def _words(model: TreeModel, names: Sequence[str], decimals: int, node: int) -> tuple[tuple[str, ...], str]:
    if model.tree.left[node] != LEAF:
        return (condition(model, node, decimals), f"{model.tree.sums[node].sum():g} samples"), "#ffffff"
    label = int(model.tree.choices[node])
    return (names[label], leaf_words(model, node)), _COLOURS[label % len(_COLOURS)]


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
                f'<line x1="{box.x:.1f}" y1="{top:.1f}" x2="{below.x:.1f}" y2="{below.y:.1f}" stroke="#808080"/>'
                f'<text x="{(box.x + below.x) / 2 + away:.1f}" y="{(top + below.y) / 2:.1f}" text-anchor="{side}" '
                f'fill="#808080" font-size="11">{answer}</text>'
            )
    return drawn


def _drawn(box: _Box) -> str:
    text = "".join(
        f'<text x="{box.x:.1f}" y="{box.y + _LINE * (at + 1):.1f}" text-anchor="middle" fill="#000000">'
        f"{escape(line)}</text>"
        for at, line in enumerate(box.lines)
    )
    return (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="6" fill="{box.fill}" stroke="#808080"/>{text}'
    )

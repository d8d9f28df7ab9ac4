"""Pieces of a page. Whatever comes from people or their data passes through `text`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_SHOWN, _TAIL = 60, 12


def text(value: object) -> str:
    """As HTML and XML: escaped, and without characters that do not print or turn the direction of others."""
    return escape("".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in str(value)))


def short(value: object, most: int = _SHOWN) -> str:
    """The beginning and the end of what is too long; not yet escaped."""
    words = str(value)
    if len(words) <= most:
        return words
    tail = min(_TAIL, most // 3)
    return f"{words[: most - tail - 1]}…{words[-tail:]}"


def distinct(names: Sequence[str], ids: Sequence[int], most: int) -> tuple[str, ...]:
    """Names of at most so many letters that stay different: those that look alike when cut end in their column."""
    cut = [short(each, most) for each in names]
    return tuple(
        each if cut.count(each) == 1 else _numbered(whole, at, most)
        for each, whole, at in zip(cut, names, ids, strict=True)
    )


def _numbered(whole: str, column: int, most: int) -> str:
    end = f" #{column}"
    return f"{short(whole, max(most - len(end), 3))}{end}"


def element(tag: str, *inner: str, **attributes: object) -> str:
    """A tag around HTML; `class_` is class, `data_fact` is data-fact, None and False are left out."""
    return f"<{tag}{attributes_of(attributes)}>{''.join(inner)}</{tag}>"


def attributes_of(attributes: dict[str, object]) -> str:
    """As they stand in a tag."""
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    return "".join(f' {name}="{text(value)}"' for name, value in named if value is not None and value is not False)


def name(value: object, most: int = _SHOWN) -> str:
    """A name of the user's, whole when the pointer rests on it."""
    whole = str(value)
    cut = short(whole, most)
    return element("bdi", text(cut), class_="name", title=None if cut == whole else whole)


def whole_name(value: object) -> str:
    """A name of the user's as it is; it wraps where it is long."""
    return element("bdi", text(value), class_="name")


def fact(value: float, words: str, called: str) -> str:
    """A number in words for people, with the number itself for machines."""
    return element("data", text(words), value=repr(value), data_fact=called)


def paragraph(words: str, kind: str | None = None) -> str:
    """Plain words."""
    return element("p", text(words), class_=kind)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], called: str) -> str:
    """Cells of HTML under a head in plain words; columns of facts stand on the right of their cells."""
    kinds = ["number" if any(row[at].startswith("<data") for row in rows) else None for at in range(len(head))]
    heads = [element("th", text(each), scope="col", class_=kind) for each, kind in zip(head, kinds, strict=True)]
    inside = element("thead", element("tr", *heads)) + element("tbody", *(_row(row, kinds) for row in rows))
    whole = element("table", inside, data_table=called)
    # What is wider than a phone scrolls by itself, also from the keyboard.
    return element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=f"Table: {called}")


def _row(cells: Sequence[str], kinds: Sequence[str | None]) -> str:
    first, *rest = cells
    others = [element("td", cell, class_=kind) for cell, kind in zip(rest, kinds[1:], strict=True)]
    return element("tr", element("th", first, scope="row", class_=kinds[0]), *others)


def details(summary: str, *inner: str, kind: str | None = None) -> str:
    """Folded away on the screen and left out on paper; of kind `on-paper` it is unfolded there."""
    return element("details", element("summary", text(summary)), *inner, class_=kind)


def section(called: str, title: str, *inner: str, wide: bool = False) -> str:
    """A part of the page under a heading of its own."""
    heading = element("h2", text(title), id=f"{called}-title")
    return element(
        "section", heading, *inner, id=called, aria_labelledby=f"{called}-title", class_="wide" if wide else None
    )

"""The first line of a text table: names of columns, or a sample already."""

from __future__ import annotations

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.store.ingest.table import Wanted

ROW_NAMES = ""
"""What the first column is called where it has no name: it holds the ids of the samples, as R and pandas write them."""
_UNKNOWN = "?"
_FEWEST_COUNTED = 3
_EITHER = "say --no-header if the first line is a sample, --header if it has the names"


def is_data(cells: list[str]) -> bool:
    """Whether a first line is a sample: numbers only, and not 0, 1, 2, ... as pandas numbers columns."""
    numbers = [python_number(cell) for cell in cells]
    if None in numbers or all(number != number for number in numbers):
        return False
    return not _are_counted(cells[1:] if cells[0] == ROW_NAMES else cells)


def header_names(where: str, first: list[str], below: list[list[str]], wanted: Wanted) -> list[str]:
    """Names of all columns, from the first line and some lines below it; `where` is that line in messages."""
    if wanted.header is None:
        _require_names(where, first)
    _require_no_end(where, first, below)
    names = [ROW_NAMES, *first] if all(len(cells) == len(first) + 1 for cells in below) else first
    _require_distinct(where, names, wanted)
    return names


def _are_counted(cells: list[str]) -> bool:
    first = cells[0] if cells else ""
    if len(cells) < _FEWEST_COUNTED or first not in ("0", "1"):
        return False
    return cells == [str(at) for at in range(int(first), int(first) + len(cells))]


def _require_names(where: str, cells: list[str]) -> None:
    """Refuse a line that has numbers among its names: most such lines are samples, and one would be lost."""
    numbers = [cell for cell in cells if _is_value(cell)]
    if numbers and not _are_counted(numbers):
        raise InvalidDataError(f"{where} has {numbers[0]!r} beside {_text_of(cells)!r}; {_EITHER}")


def _is_value(cell: str) -> bool:
    """A number or a question mark; a name may well be Na or None."""
    number = python_number(cell)
    return cell == _UNKNOWN or (number is not None and number == number)


def _text_of(cells: list[str]) -> str:
    return next((cell for cell in cells if cell and not _is_value(cell)), "")


def _require_no_end(where: str, first: list[str], below: list[list[str]]) -> None:
    """Refuse lines that all end with a delimiter behind which there is nothing: it is no column."""
    width = len(first) if first[-1] == "" else len(first) + 1
    if width > 1 and all(len(cells) == width and cells[-1] == "" for cells in below):
        here = "the header and all" if first[-1] == "" else "all"
        raise InvalidDataError(
            f"{where}: {here} lines below end with a delimiter and nothing behind it; "
            "remove it at the end of each line, for example sed 's/,$//'"
        )


def _require_distinct(where: str, names: list[str], wanted: Wanted) -> None:
    """Refuse two columns of one name, unless both are left out."""
    apart = {*wanted.fields, wanted.sample_id}
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        if name == ROW_NAMES and at > 0:
            raise InvalidDataError(f"{where}: column {at + 1} has no name; give it one")
        if name in seen and (name in apart or name not in wanted.exclude):
            exclude = "" if name in apart else f", or leave both out with --exclude {name}"
            raise InvalidDataError(
                f"{where}: columns {seen[name] + 1} and {at + 1} are both called {name!r}; "
                f"rename one{exclude} (--no-header if the first line is a sample)"
            )
        seen.setdefault(name, at)

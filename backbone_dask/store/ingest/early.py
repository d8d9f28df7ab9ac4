"""What can be refused before files are read from end to end: names of columns that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import chain

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.columns import closest, no_column
from backbone_dask.store.ingest.request import Request, target_file
from backbone_dask.store.ingest.target_files import read_target_file

_TEXT = "csv"


def require_columns(paths: Sequence[str], kind: str, request: Request) -> None:
    """Refuse names that neither the headers of text tables nor files of targets have: a typo costs no pass."""
    for path, column in filter(None, map(target_file, request.targets)):
        if column is not None and column not in (columns := read_target_file(path).columns):
            raise InvalidDataError(f"{path} has no column {column!r}; {closest(column, columns)}")
    # Names from a file may be what people mean.
    if kind == _TEXT and request.names is None:
        _require_in_headers(paths, request)


def _require_in_headers(paths: Sequence[str], request: Request) -> None:
    text = import_module(f"backbone_dask.store.ingest.{_TEXT}")
    known = list(dict.fromkeys(chain.from_iterable(text.look(path, request.wanted)[0].names for path in paths)))
    there, location = {*known}, paths[0] if len(paths) == 1 else f"{len(paths)} files ({paths[0]}, ...)"
    for option, names in _asked(request, row_names="" in there).items():
        for name in names:
            if name not in there:
                raise no_column(location, name, option, known)


def _asked(request: Request, row_names: bool) -> dict[str, Sequence[str]]:
    """Names by the option that they were given with; row names are ids whatever people call them."""
    wanted = request.wanted
    ids = () if wanted.sample_id is None or row_names else (wanted.sample_id,)
    targets = [name for name in wanted.fields if target_file(name) is None]
    return {"--sample-id": ids, "--target": targets, "--exclude": wanted.exclude}

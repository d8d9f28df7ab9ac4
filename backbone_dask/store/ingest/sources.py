"""What people name as a source: files, folders and patterns; and what tells these files from later ones."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.formats import SUFFIXES, format_of

# A folder with one of these is itself an array or a group.
_ZARR_DOCUMENTS = ("zarr.json", ".zgroup", ".zarray")


def expanded(sources: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Every file that is meant, absolute, those of a folder or a pattern in the order in which people count."""
    found = [path for source in sources for path in _files(locate.plain(source))]
    seen: set[str] = set()
    for path in found:
        if path in seen:
            raise InvalidDataError(f"{path} is given twice; name it once")
        seen.add(path)
    return tuple(found)


def common_format(paths: Sequence[str], name: str | None) -> str:
    """The format of all files: the one that is said, or that their suffixes say."""
    if name is not None:
        return name
    formats = [format_of(path) for path in paths]
    for path, each in zip(paths, formats, strict=True):
        if each != formats[0]:
            raise InvalidDataError(
                f"{paths[0]} is {formats[0]} and {path} is {each}; give files of one format, or say --format"
            )
    return formats[0]


def stamp(path: str) -> dict[str, Any]:
    """What tells a file, or a folder with all that is in it, from another of its name."""
    if locate.is_url(path):
        return {"path": path, **_remote(path)}
    try:
        marks = [(inside, found.st_size, found.st_mtime_ns) for inside, found in map(_status, _inside(path))]
    except FileNotFoundError as cause:
        raise InvalidDataError(f"there is no file {path}; check its name") from cause
    except OSError as cause:
        raise InvalidDataError(f"{path} cannot be read: {cause}") from cause
    _, sizes, times = zip(*marks, strict=True)
    known = {"path": path, "files": len(marks), "bytes": sum(sizes), "modified": max(times)}
    # A file in a folder may be replaced by an older one.
    return known if len(marks) == 1 else known | {"print": hashlib.sha256(repr(marks).encode()).hexdigest()[:16]}


def changed(stamps: Sequence[dict[str, Any]]) -> str | None:
    """The first of these files that is not what it was when it was stamped, or is gone; None if all are."""
    for known in stamps:
        try:
            now = stamp(known["path"])
        except InvalidDataError:
            return str(known["path"])
        if now != known:
            return str(known["path"])
    return None


def total_bytes(paths: Sequence[str]) -> int:
    """What the files take on disk, as far as that is known."""
    return sum(int(stamp(path).get("bytes") or 0) for path in paths)


def _files(source: str) -> list[str]:
    if locate.is_url(source):
        return [source]
    place = locate.absolute(source)
    if os.path.isdir(place):
        return [place] if any(os.path.exists(f"{place}/{name}") for name in _ZARR_DOCUMENTS) else _in_folder(place)
    if not os.path.exists(place) and glob.has_magic(source):
        matched = sorted(map(locate.absolute, glob.glob(source)), key=_as_people_count)
        if not matched:
            raise InvalidDataError(f"no file matches {source}")
        return matched
    return [_there(place, source)]


def _there(place: str, source: str) -> str:
    """PLINK's files may be named without a suffix."""
    for each in (place, f"{place}.bed"):
        if os.path.exists(each):
            return each
    raise InvalidDataError(f"there is no file {source}; check its name")


def _in_folder(folder: str) -> list[str]:
    """The files of a folder; those of the folders in it, as deep as they are, where it has none itself."""
    found = next((files for files in (_known(folder), _deeper(folder)) if files), None)
    if found is None:
        raise InvalidDataError(
            f"the folder {folder} has no file of a known format ({', '.join(sorted(SUFFIXES))}); name files"
        )
    return sorted(found, key=_as_people_count)


def _known(folder: str) -> list[str]:
    known = tuple(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    return [each.path for each in _listed(folder) if each.name.lower().endswith(known)]


def _deeper(folder: str) -> list[str]:
    inside = [each.path for each in _listed(folder) if each.is_dir(follow_symlinks=False)]
    return [path for each in inside for path in _known(each) or _deeper(each)]


def _listed(folder: str) -> list[os.DirEntry[str]]:
    return [each for each in os.scandir(folder) if each.name[0] not in "._"]


def partition_keys(paths: Sequence[str]) -> list[str]:
    """Keys of folders called KEY=VALUE that files lie in, as Hive and Spark write tables."""
    folders = chain.from_iterable(os.path.dirname(path).split("/") for path in paths)
    return sorted({folder.partition("=")[0] for folder in folders if "=" in folder and not folder.startswith("=")})


def require_content(stamps: Sequence[Mapping[str, Any]]) -> None:
    """Refuse files without a byte."""
    for known in stamps:
        if known["bytes"] == 0:
            raise InvalidDataError(f"{known['path']} is empty (0 bytes); write it again, or correct the path")


def _as_people_count(name: str) -> list[tuple[int, str]]:
    """chr2 comes before chr10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _inside(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    return [path, *sorted(str(each) for each in Path(path).rglob("*") if each.is_file())]


def _status(path: str) -> tuple[str, os.stat_result]:
    return path, os.stat(path)


def _remote(path: str) -> dict[str, Any]:
    system, inside = locate.filesystem(path)
    try:
        known = system.info(inside)
    except FileNotFoundError as cause:
        raise InvalidDataError(f"there is no file {path}; check its name") from cause
    except OSError as cause:
        raise InvalidDataError(f"{path} cannot be read: {cause}") from cause
    marks = ("ETag", "etag", "LastModified", "last_modified", "mtime", "created", "generation")
    return {"bytes": known.get("size"), "modified": [str(known[mark]) for mark in marks if mark in known]}

"""The zarr.json documents of a store: each is sealed with a digest, since zarr would not see a changed byte in them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import zarr

from backbone_dask.errors import CorruptBlockError, StoreError
from backbone_dask.store import locate
from backbone_dask.store.interactions import is_link
from backbone_dask.store.schema import ATTRIBUTE
from backbone_dask.store.synthetic import Recipe

ROOT = "zarr.json"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """The same content with a digest of itself."""
    return {**content, "seal": digest(_canonical(content))}


def require_seal(content: dict[str, Any], location: str) -> None:
    """Refuse content that changed after it was sealed."""
    if sealed({name: value for name, value in content.items() if name != "seal"})["seal"] != content["seal"]:
        raise _damaged(location, ROOT, "it changed after it was written")


def read_attributes(location: str) -> dict[str, Any]:
    """The attributes of the root group; FileNotFoundError where there is none."""
    content = _parsed(_read(location, ROOT), location)
    if content.get("node_type") != "group" or content.get("zarr_format") != 3:
        raise StoreError(f"{location} is not a zarr group of format 3, so it is not a feature store")
    attributes = content.get("attributes", {})
    return attributes if isinstance(attributes, dict) else {}


def array_digests(location: str, names: list[str]) -> dict[str, str]:
    """What the document of every array must be from now on."""
    return {name: digest(_read(location, f"{name}/{ROOT}")) for name in names}


def open_array(location: str, name: str, digests: dict[str, str]) -> zarr.Array[Any]:
    """An array of a finished store, after a look at its document."""
    document = f"{name}/{ROOT}"
    try:
        content = _read(location, document)
    except FileNotFoundError as cause:
        raise _damaged(location, document, "it is missing") from cause
    if digest(content) != digests[name]:
        raise _damaged(location, document, "it changed after it was written")
    return zarr.open_array(locate.zarr_store(location, read_only=True), path=name, mode="r", zarr_format=3)


def is_ours(location: str) -> bool:
    """Whether a store, a recipe or a link is here, so that overwriting it destroys nothing else."""
    try:
        if locate.is_file(location):
            text = _read(location, "").decode()
            return is_link(text) or Recipe.from_json(text) is not None
        return ATTRIBUTE in read_attributes(location)
    except (OSError, UnicodeDecodeError):
        return False


def require_free(location: str, *, overwrite: bool) -> None:
    """Refuse a name that is taken, unless by a store that may be overwritten."""
    if not locate.exists(location):
        return
    if not overwrite:
        raise StoreError(f"{location} exists; choose another name, or ask to overwrite it")
    if not is_ours(location):
        raise StoreError(
            f"{location} is not a feature store, so it is not overwritten; remove it, or choose another name"
        )


def _read(location: str, name: str) -> bytes:
    system, path = locate.filesystem(location)
    content: bytes = system.cat_file(locate.joined(path, name))
    return content


def _parsed(content: bytes, location: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError as cause:
        raise _damaged(location, ROOT, f"it is not JSON: {cause}") from cause
    return found if isinstance(found, dict) else {}


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _damaged(location: str, document: str, why: str) -> CorruptBlockError:
    return CorruptBlockError(f"{document} of {location} is damaged ({why}); restore the file or write the store again")

"""The zarr store behind a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.storage import FsspecStore

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype


class RemoteStore(FsspecStore):
    """zarr's own, for web servers too that answer with the whole file when a part is asked for."""

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        found = await super().get(key, prototype, byte_range)
        return found if found is None else _part(found, byte_range)


def _part(found: Buffer, wanted: ByteRequest | None) -> Buffer:
    """What was asked for, of more than that. Within a file no part is longer than it was asked to be."""
    if isinstance(wanted, RangeByteRequest) and len(found) > wanted.end - wanted.start:
        return found[wanted.start : wanted.end]
    if isinstance(wanted, SuffixByteRequest) and len(found) > wanted.suffix:
        return found[len(found) - wanted.suffix :]
    return found

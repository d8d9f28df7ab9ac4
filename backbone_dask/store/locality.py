"""Which features lie on which host: a hint that people give, for the workers there to read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backbone_dask.errors import InvalidSettingError
from backbone_dask.values import Shard


def shards(locality: Any, n_features: int) -> tuple[Shard, ...]:
    """From {"host": [[start, stop], ...]} to shards; a host may also be the name of a worker."""
    if not isinstance(locality, Mapping):
        raise InvalidSettingError('the locality is no mapping; give {"host": [[first feature, last + 1], ...]}')
    return tuple(shard for host, ranges in locality.items() for shard in _shards(str(host), ranges, n_features))


def _shards(host: str, ranges: Any, n_features: int) -> Iterator[Shard]:
    for each in ranges if isinstance(ranges, list | tuple) else [ranges]:
        try:
            start, stop = (int(end) for end in each)
        except (TypeError, ValueError):
            raise InvalidSettingError(
                f"the locality of {host} has {each!r}, which is no range; write [first feature, last + 1]"
            ) from None
        if not 0 <= start < stop <= n_features:
            raise InvalidSettingError(
                f"the locality of {host} has the range {[start, stop]}; the table has features 0 to {n_features - 1}"
            )
        yield Shard(start, stop, host)

"""VCF Zarr, as bio2zarr writes and sgkit reads it: a zarr group of genotypes, variants by samples.

A value is the number of alleles of a call that are not the reference, whichever they are; a call with an unknown allele
is missing. Where there are no calls, the dosages (DS) of an imputation are the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import uuid4

import numpy as np
import zarr
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.apart import set_apart
from backbone_dask.store.ingest.sample_fields import as_field, id_column
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.store.ingest.variants import MISSING, Anonymous, anonymous, hashed
from backbone_dask.values import FeatureBlock

CALLS = "call_genotype"
DOSAGES = ("call_DS", "call_dosage")
UNKNOWN, PADDING = -1, -2
"""Alleles that are missing, and places that a call of lower ploidy has no allele for."""
# A chunk of variants is decoded again for every block that needs some of it, unless it is as small as this.
MOST_KEPT_BYTES = 128 << 20


class VcfZarrTable(Table):
    """Genotypes of one VCF Zarr group. `source` is what people call it, where it was made from another file."""

    missing = "mean"

    def __init__(self, store: str, wanted: Wanted, source: str | None = None) -> None:
        self.location = source or store
        self.files = (self.location,)
        self._store, self._token = store, uuid4().hex
        group = _group(store)
        self._array = _values_of(group, self.location)
        array = _array(group, self._array)
        self.n_features, self.n_samples = (int(extent) for extent in array.shape[:2])
        _require_some(self)
        self.dtype = np.dtype(np.int8 if self._array == CALLS else np.float32)
        self._chunk = int(array.chunks[0])
        self._anonymous = _anonymous(group, self.n_features)
        # Kept: what was converted in scratch is gone before the last one asks who the samples were.
        self.id_column = id_column(self.fields, wanted)
        self._ids = as_text(np.asarray(_array(group, self.id_column or "sample_id")[:]))

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        out = np.empty((block.size, self.n_samples), self.dtype)
        for start, stop in _cuts(block.start, block.stop, self._chunk):
            out[start - block.start : stop - block.start] = self._rows(start, stop)
        return out

    def _rows(self, start: int, stop: int) -> NDArray[Any]:
        """Variants that lie in one chunk."""
        first = start // self._chunk * self._chunk
        last = min(first + self._chunk, self.n_features)
        small = (last - first) * self.n_samples * self.dtype.itemsize <= MOST_KEPT_BYTES
        if (start, stop) == (first, last) or not small:
            return _values(self._store, self._array, start, stop)
        return _kept(self._token, self._store, self._array, first, last)[start - first : stop - first]

    def names(self, start: int, stop: int) -> list[str]:
        """Ids of the variants; contig:position:reference:alternatives where an id is missing or not unique."""
        group, by_place = _group(self._store), self._anonymous.within(start, stop)
        ids = _listed(group, "variant_id", start, stop) if "variant_id" in group else [""] * (stop - start)
        places = _places(group, start, stop) if by_place else ids
        return [str(places[at] if start + at in by_place else each) for at, each in enumerate(ids)]

    @property
    def sample_ids(self) -> Sequence[str]:
        return self._ids

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        """Every array that is called sample_... and has one value for each sample."""
        arrays = dict(_group(self._store).arrays())
        return {
            name: as_field(np.asarray(array[:]))
            for name, array in sorted(arrays.items())
            if name.startswith("sample_") and array.shape == (self.n_samples,)
        }


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """The genotypes in a VCF Zarr group."""
    (path,) = paths
    return set_apart(VcfZarrTable(path, wanted), wanted)


def dosages(calls: NDArray[Any]) -> NDArray[np.int8]:
    """How many alleles of each call are not the reference, from alleles of shape (variants, samples, ploidy)."""
    counts = np.zeros(calls.shape[:2], np.int8)
    unknown, known = np.zeros(counts.shape, bool), np.zeros(counts.shape, bool)
    for alleles in np.moveaxis(calls, 2, 0):
        counts += alleles > 0
        unknown |= alleles == UNKNOWN
        known |= alleles >= 0
    counts[unknown | ~known] = MISSING
    return counts


def _values(store: str, name: str, start: int, stop: int) -> NDArray[Any]:
    """Variants [start, stop), a chunk of samples at a time, for calls take several bytes each."""
    array = _array(_group(store), name)
    out = np.empty((stop - start, array.shape[1]), np.int8 if name == CALLS else np.float32)
    for first, last in _cuts(0, array.shape[1], array.chunks[1]):
        part = np.asarray(array[start:stop, first:last])
        out[:, first:last] = dosages(part) if name == CALLS else part
    return out


@lru_cache(maxsize=2)
def _kept(token: str, store: str, name: str, start: int, stop: int) -> NDArray[Any]:
    """A whole chunk of variants, for the blocks that share it."""
    return _values(store, name, start, stop)


def _cuts(start: int, stop: int, step: int) -> Iterator[tuple[int, int]]:
    """[start, stop) cut at every multiple of `step`."""
    for first in range(start // step * step, stop, step):
        yield max(first, start), min(first + step, stop)


def _anonymous(group: zarr.Group, n_variants: int) -> Anonymous:
    if "variant_id" not in group:
        return Anonymous(np.arange(n_variants))
    cuts = _cuts(0, n_variants, _array(group, "variant_id").chunks[0])
    return anonymous(hashed(_listed(group, "variant_id", first, last)) for first, last in cuts)


def _places(group: zarr.Group, start: int, stop: int) -> list[str]:
    contigs, positions, alleles = (
        _listed(group, name, start, stop) for name in ("variant_contig", "variant_position", "variant_allele")
    )
    called = _listed(group, "contig_id", 0, None) if "contig_id" in group else range(max(contigs) + 1)
    return [
        f"{called[contig]}:{position}:{reference}:{','.join(filter(None, others))}"
        for contig, position, (reference, *others) in zip(contigs, positions, alleles, strict=True)
    ]


def _group(store: str) -> zarr.Group:
    try:
        return zarr.open_group(locate.zarr_store(store, read_only=True), mode="r")
    except (OSError, KeyError, ValueError) as cause:
        raise InvalidDataError(
            f"{store} is not there, or no VCF Zarr; give the folder that vcf2zarr convert wrote"
        ) from cause


def _array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    found = group[name]
    if not isinstance(found, zarr.Array):
        raise InvalidDataError(f"{name} in {group.store_path} is no array; write the VCF Zarr again")
    return found


def _listed(group: zarr.Group, name: str, start: int, stop: int | None) -> list[Any]:
    found: list[Any] = np.asarray(_array(group, name)[start:stop]).tolist()
    return found


def _values_of(group: zarr.Group, location: str) -> str:
    """The array that holds the genotypes."""
    for name, dimensions in ((CALLS, 3), *((each, 2) for each in DOSAGES)):
        if name in group and _array(group, name).ndim == dimensions:
            _require_names(group, location)
            return name
    raise InvalidDataError(
        f"{location} has no genotypes: neither {CALLS} (GT) nor {DOSAGES[0]} (DS) is there with variants x samples; "
        "convert a VCF that has GT or DS"
    )


def _require_names(group: zarr.Group, location: str) -> None:
    for name in ("sample_id", "variant_contig", "variant_position", "variant_allele"):
        if name not in group:
            raise InvalidDataError(f"{location} has no {name}, which every VCF Zarr has; convert the VCF again")


def _require_some(table: VcfZarrTable) -> None:
    for count, what in ((table.n_features, "variants"), (table.n_samples, "samples")):
        if not count:
            raise InvalidDataError(f"{table.location} has no {what}; give a file with genotypes")

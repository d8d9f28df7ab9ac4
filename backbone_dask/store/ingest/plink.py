"""PLINK 1 genotypes: a .bed file with its .bim and .fam beside it.

A value is the number of copies of A1, the first allele in the .bim file, which is the one that PLINK 1.9 counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.apart import set_apart
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.store.ingest.sample_fields import id_column
from backbone_dask.store.ingest.sources import stamp
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.store.ingest.variant_list import VariantList, read_samples, scan_variants
from backbone_dask.store.ingest.variants import MISSING
from backbone_dask.values import FeatureBlock

MAGIC = b"\x6c\x1b"
HEADER = 3
# Two bits a sample, the lowest first: two copies of A1, missing, one copy, none.
_OF_TWO_BITS = np.array([2, MISSING, 1, 0], np.int8)
_OF_A_BYTE = _OF_TWO_BITS[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3]
# Four samples at a time: one 32-bit word is looked up for a byte, about 5 times as fast as bed-reader on one thread.
_WORDS = np.ascontiguousarray(_OF_A_BYTE).view(np.uint32).ravel()


class PlinkTable(Table):
    """Genotypes of one .bed file. Holds paths and where the lines of the .bim file begin, no genotypes."""

    missing = "mean"

    def __init__(self, bed: str, wanted: Wanted) -> None:
        self.location = bed
        prefix = bed.removesuffix(".bed")
        self.files = (bed, f"{prefix}.bim", f"{prefix}.fam")
        _require_all(self.files)
        _require_variant_major(bed)
        self._variants: VariantList = scan_variants(self.files[1])
        self._mark = str(stamp(self.files[2]))
        self.n_features = self._variants.n_variants
        self.n_samples = _samples(self.files[2], self._mark).shape[1]
        self.dtype = np.dtype(np.int8)
        _require_whole(self)
        self.id_column = id_column(self.fields, wanted)

    @property
    def variant_bytes(self) -> int:
        return -(-self.n_samples // 4)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        system, inside = locate.filesystem(self.location)
        with system.open(inside, "rb") as file:
            file.seek(HEADER + block.start * self.variant_bytes)
            packed = file.read(block.size * self.variant_bytes)
        if len(packed) != block.size * self.variant_bytes:
            raise InvalidDataError(f"{self.location} became shorter while it was read; restore it and begin again")
        return decoded(packed, block.size, self.n_samples)

    def names(self, start: int, stop: int) -> list[str]:
        return self._variants.names(start, stop)

    @property
    def sample_ids(self) -> Sequence[str]:
        if self.id_column is not None:
            return as_text(self.fields[self.id_column])
        families, samples = _samples(self.files[2], self._mark)[:2]
        if np.unique(samples).size == samples.size:
            return [str(each) for each in samples]
        return [f"{family}:{sample}" for family, sample in zip(families, samples, strict=True)]

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        """What the .fam file says of the samples; NaN where it says that it does not know."""
        families, samples, fathers, mothers, sexes, phenotypes = _samples(self.files[2], self._mark)
        known = np.isin(sexes, ("1", "2"))
        return {
            "phenotype": phenotype_values(phenotypes),
            "sex": np.where(known, np.where(known, sexes, "0").astype(np.float64), np.nan),
            "FID": families,
            "IID": samples,
            "father": fathers,
            "mother": mothers,
        }


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """The genotypes in a .bed file, which may be named without its suffix."""
    (path,) = paths
    return set_apart(PlinkTable(path if path.endswith(".bed") else f"{path}.bed", wanted), wanted)


@lru_cache(maxsize=2)
def _samples(fam: str, mark: str) -> NDArray[Any]:
    """What a .fam file says, read once; its mark tells it from another that has its name later."""
    return read_samples(fam)


def decoded(packed: bytes, n_variants: int, n_samples: int) -> NDArray[np.int8]:
    """Dosages of A1, shape (variants, samples), from the bytes of whole variants."""
    numbers = np.frombuffer(packed, np.uint8).reshape(n_variants, -1)
    return np.ascontiguousarray(np.take(_WORDS, numbers).view(np.int8)[:, :n_samples])


def phenotype_values(texts: NDArray[Any]) -> NDArray[Any]:
    """Numbers, by PLINK's rules: -9 and NA are missing, and so is 0 where all others are 1 (control) and 2 (case).

    Text that is no number is left as it is.
    """
    numbers = [python_number(text) for text in texts.tolist()]
    if None in numbers:
        return texts
    values = np.array(numbers, np.float64)
    values[values == -9] = np.nan
    if np.isin(values[~np.isnan(values)], (0, 1, 2)).all():
        values[values == 0] = np.nan
    return values


def _require_all(files: tuple[str, ...]) -> None:
    bed = files[0]
    for path in files:
        if not locate.exists(path):
            beside = "" if path == bed else f", which {bed} needs beside it"
            raise InvalidDataError(f"{path} is not there{beside}; give the path of a .bed file that has both")


def _require_variant_major(bed: str) -> None:
    system, inside = locate.filesystem(bed)
    with system.open(inside, "rb") as file:
        header = file.read(HEADER)
    if header[:2] != MAGIC or len(header) < HEADER:
        raise InvalidDataError(
            f"{bed} is no PLINK 1 file: it begins with the bytes {header.hex(' ') or '(none)'} instead of 6c 1b 01; "
            "make one with plink --make-bed"
        )
    if header[2] != 1:
        raise InvalidDataError(
            f"{bed} lies sample by sample (its third byte is {header[2]:02x} instead of 01); "
            "turn it round with plink --make-bed"
        )


def _require_whole(table: PlinkTable) -> None:
    bed, bim, fam = table.files
    system, inside = locate.filesystem(bed)
    found, expected = system.size(inside), HEADER + table.n_features * table.variant_bytes
    if not table.n_features or not table.n_samples:
        raise InvalidDataError(f"{bim if not table.n_features else fam} is empty; there is nothing to read in {bed}")
    if found != expected:
        raise InvalidDataError(
            f"{bed} has {found} bytes, but {table.n_features} variants in {bim} and {table.n_samples} samples in {fam} "
            f"make {expected}; take the three files from one run of plink"
        )

"""VCF and BCF: converted to VCF Zarr by bio2zarr, part by part on the workers, then read as that."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from backbone_dask.errors import BackboneError, InvalidDataError, MissingExtraError
from backbone_dask.store.ingest.apart import set_apart
from backbone_dask.store.ingest.lines import unpacked
from backbone_dask.store.ingest.scratch import made_once, place_for, require_local_file
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.vcfzarr import CALLS, DOSAGES, VcfZarrTable
from backbone_dask.store.schema import CHUNK_BYTES

PARTS_PER_WORKER = 4
INDICES = (".tbi", ".csi")
_FIELDS = {
    *("variant_contig", "variant_position", "variant_id", "variant_id_mask", "variant_allele", "variant_length"),
    *(CALLS, f"{CALLS}_phased", f"{CALLS}_mask", *DOSAGES),
}
"""What bio2zarr has to write of all that a VCF may hold."""


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """The genotypes in a VCF or BCF file, which is converted first unless that was done before."""
    (path,) = paths
    _bio2zarr()
    require_local_file(path)
    with _readable(path):
        store = _converted(path, workshop)
    return set_apart(VcfZarrTable(store, wanted, source=path), wanted)


def _converted(path: str, workshop: Workshop) -> str:
    """The VCF Zarr of a file."""
    base = place_for(path, workshop)
    sources = [path] if _indexed(path) else _contigs(path, f"{base}.contigs")
    if not sources:
        raise InvalidDataError(f"{path} has no variants; give a file with genotypes")
    columns = made_once(f"{base}.icf", lambda folder: _explode(sources, folder, workshop))
    return made_once(f"{base}.vcz", lambda folder: _encode(columns, folder, workshop))


def _contigs(path: str, place: str) -> list[str]:
    folder = made_once(place, lambda scratch: _split(path, scratch))
    return sorted(str(each) for each in Path(folder).iterdir())


def _indexed(path: str) -> bool:
    return any(os.path.exists(path + suffix) for suffix in INDICES)


def _split(path: str, folder: str) -> None:
    """One file for each contig: without an index bio2zarr reads no other."""
    cyvcf2 = import_module("cyvcf2")
    os.makedirs(folder)
    writers: dict[str, Any] = {}
    source = cyvcf2.VCF(path)
    for variant in source:
        contig = variant.CHROM
        if contig not in writers:
            writers[contig] = cyvcf2.Writer(f"{folder}/{len(writers):06d}.bcf", source, "wb")
        writers[contig].write_record(variant)
    for writer in writers.values():
        writer.close()
    source.close()


def _explode(sources: list[str], folder: str, workshop: Workshop) -> None:
    """Columns of the VCF, in bio2zarr's own format."""
    vcf, executor = _bio2zarr(), workshop.executor
    made = vcf.explode_init(folder, sources, target_num_partitions=PARTS_PER_WORKER * executor.n_workers)
    _on_workers(vcf.explode_partition, folder, made.num_partitions, workshop, "reading VCF")
    vcf.explode_finalise(folder)


def _encode(columns: str, folder: str, workshop: Workshop) -> None:
    vcf, executor = _bio2zarr(), workshop.executor
    schema = f"{folder}.schema.json"
    _write_schema(columns, schema)
    made = vcf.encode_init(columns, folder, PARTS_PER_WORKER * executor.n_workers, schema_path=schema)
    _on_workers(vcf.encode_partition, folder, made.num_partitions, workshop, "writing VCF Zarr")
    vcf.encode_finalise(folder)


def _write_schema(columns: str, path: str) -> None:
    """Only the arrays that are read later, in chunks as long as a partition of a store."""
    vcf = _bio2zarr()
    n_samples = max(1, vcf.IntermediateColumnarFormat(columns).num_samples)
    with open(path, "w") as file:
        vcf.mkschema(columns, file, variants_chunk_size=max(1, CHUNK_BYTES // n_samples))
    content = json.loads(Path(path).read_text())
    content["fields"] = [field for field in content["fields"] if field["name"] in _FIELDS]
    Path(path).write_text(json.dumps(content))


def _on_workers(function: Callable[[str, int], None], folder: str, count: int, workshop: Workshop, phase: str) -> None:
    items = ((folder, part) for part in range(count))
    for done, _ in enumerate(workshop.executor.map(function, items), 1):
        workshop.told(phase, done, count, "parts")


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """What bio2zarr and htslib say of a file, as a sentence; they raise errors of all kinds."""
    try:
        yield
    except BackboneError:
        raise
    except Exception as cause:
        where = f"{path}{_broken_line(path)}"
        raise InvalidDataError(
            f"{where} cannot be read as VCF ({cause}); see what bcftools view says of it, and mend it"
        ) from cause


def _broken_line(path: str) -> str:
    """Where a text has its first line that is no variant, which htslib does not say; nothing if there is none."""
    width = 0
    with suppress(BackboneError), unpacked(path) as stream:
        for number, line in enumerate(iter(stream.readline, b""), 1):
            cells = line.rstrip(b"\r\n").split(b"\t")
            if line.startswith(b"#CHROM"):
                width = len(cells)
            elif width and (len(cells) != width or not cells[1].isdigit()):
                wrong = f"{len(cells)} columns, not {width}" if len(cells) != width else "no number as its position"
                return f", line {number} ({wrong}),"
    return ""


def _bio2zarr() -> Any:
    try:
        import_module("cyvcf2")
        return import_module("bio2zarr.vcf")
    except ImportError as cause:
        raise MissingExtraError("VCF files need bio2zarr: pip install 'backbone-dask[vcf]'") from cause

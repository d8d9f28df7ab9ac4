"""Writing a store: init, then every partition on any machine, then finalise. Until then it has another name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import IncompleteStoreError, InvalidDataError, StoreError
from backbone_dask.store import arrays, locate, parts
from backbone_dask.store.documents import array_digests, digest, read_attributes, require_free, sealed
from backbone_dask.store.missing import Label, admit, label
from backbone_dask.store.names import encoded, widened
from backbone_dask.store.schema import ATTRIBUTE, Schema
from backbone_dask.store.synthetic.truths import Truth
from backbone_dask.store.targets import checked_targets, require_file_name
from backbone_dask.values import Target


@dataclass(frozen=True, slots=True)
class Draft:
    """A store that is being written. Small to pickle: many machines can write its partitions."""

    location: str
    schema: Schema

    @property
    def scratch(self) -> str:
        return self.location + locate.SCRATCH

    def pending(self) -> list[int]:
        """Partitions that are not written yet."""
        done = parts.finished(self.scratch)
        return [index for index in range(self.schema.n_partitions) if parts.file_name(index) not in done]

    def write_partition(
        self, index: int, values: NDArray[Any], names: Sequence[str] | None = None, *, called: Label | None = None
    ) -> None:
        """Write partition `index`: raw columns (features, samples), and their names if the store has names.

        `called` is what to call a column in messages, if not by its id and name.
        """
        block = self.schema.partition(index)
        columns, part = self._admitted(index, values, names, called)
        X = self._array("X")
        with locate.disk_errors(self.scratch):
            X[block.start : block.stop] = columns.values
            # The part file comes last: it says that the partition is whole.
            parts.save_part(self.scratch, index, part)

    def holds(
        self, index: int, values: NDArray[Any], names: Sequence[str] | None = None, *, called: Label | None = None
    ) -> bool:
        """Whether the partition, as it is written, was made from these columns."""
        part = self._admitted(index, values, names, called)[1]
        try:
            kept = parts.load_part(self.scratch, index, *part)
        except IncompleteStoreError:
            return False
        return all(np.array_equal(kept[name], part[name]) for name in part)

    def finalise(self) -> None:
        """Check that every partition is there, write the vectors, and give the store its name."""
        lacking = self.pending()
        if lacking:
            raise IncompleteStoreError(
                f"{self.location} lacks {len(lacking)} of {self.schema.n_partitions} partitions "
                f"(first: {lacking[0]}); write them, then finalise"
            )
        with locate.disk_errors(self.scratch):
            self._write_vectors()
            self._seal()
        locate.remove(f"{self.scratch}/{locate.WORKSHOP}")
        # Parts go last: until the store has its name, they are what a second attempt starts from.
        locate.publish(self.scratch, self.location)
        locate.remove(f"{self.location}/{parts.FOLDER}")

    def abandon(self) -> None:
        """Remove all that is written: it is not to be gone on with."""
        locate.remove(self.scratch)

    def _admitted(
        self, index: int, values: NDArray[Any], names: Sequence[str] | None, called: Label | None
    ) -> tuple[Columns, dict[str, NDArray[Any]]]:
        self._check(index, values, names)
        start = self.schema.partition(index).start
        raw = encoded(names or (), start)
        columns, absent = admit(
            np.ascontiguousarray(values),
            self.schema.missing,
            called or (lambda row: label(start + row, names[row] if names is not None else None)),
        )
        # Counts are mostly 0: a byte each until they are int64 in the store.
        vectors = {"mean": columns.mean, "scale": columns.scale, "missing": absent.astype(_narrow(absent))}
        return columns, {**vectors, "names": raw, "print": parts.fingerprint(columns.values)}

    def _check(self, index: int, values: NDArray[Any], names: Sequence[str] | None) -> None:
        expected = (self.schema.partition(index).size, self.schema.n_samples)
        if values.shape != expected or values.dtype != self.schema.dtype:
            raise InvalidDataError(
                f"partition {index} must be {self.schema.dtype} of shape {expected}, not {values.dtype} {values.shape}"
            )
        wanted = expected[0] if self.schema.named else 0
        if len(names or ()) != wanted:
            raise InvalidDataError(f"partition {index} needs {wanted} names, not {len(names or ())}")

    def _array(self, name: str) -> zarr.Array[Any]:
        try:
            return zarr.open_array(locate.zarr_store(self.scratch), path=name, mode="r+", zarr_format=3)
        except (FileNotFoundError, KeyError) as cause:
            raise StoreError(f"{self.scratch} is not there; begin the store with init_store") from cause

    def _write_vectors(self) -> None:
        width = max(self._name_widths(), default=0)
        created = arrays.create_vectors(self.scratch, self.schema.n_features, width)
        at = 0
        for piece in parts.pieces(self._vectors(width), arrays.VECTOR_CHUNK):
            stop = at + len(piece["mean"])
            for name, array in created.items():
                array[at:stop] = piece[name]
            at = stop

    def _name_widths(self) -> Iterator[int]:
        for index in range(self.schema.n_partitions) if self.schema.named else ():
            yield parts.load_part(self.scratch, index, "names")["names"].shape[1]

    def _vectors(self, width: int) -> Iterator[parts.Part]:
        for index in range(self.schema.n_partitions):
            part = parts.load_part(self.scratch, index, *arrays.VECTORS, *(["names"] if width else []))
            yield {**part, "names": widened(part["names"], width)} if width else part

    def _seal(self) -> None:
        """Digests of all documents into the root's, which carries one of itself."""
        _drop_leftovers(self.scratch)
        content = _unsealed(read_attributes(self.scratch)[ATTRIBUTE])
        targets = [f"targets/{name}" for name in content["targets"]]
        optional = [name for name, there in (("names", self.schema.named), ("samples", "samples" in content)) if there]
        names = ["X", *arrays.VECTORS, *targets, *optional]
        group = zarr.open_group(locate.zarr_store(self.scratch), mode="r+", zarr_format=3)
        group.attrs[ATTRIBUTE] = sealed({**content, "documents": array_digests(self.scratch, names)})


@dataclass(frozen=True, slots=True)
class About:
    """What a store may know beside its columns and targets: who its samples are, what its classes are called, and
    the files that it was made from."""

    sample_ids: Sequence[str] | None = None
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    origin: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Only what is known: stores of earlier versions know nothing of the kind."""
        ids = None if self.sample_ids is None else digest("\0".join(self.sample_ids).encode())
        named = {name: list(labels) for name, labels in self.labels.items()}
        known = {"samples": ids, "labels": named or None, "origin": self.origin}
        return {name: value for name, value in known.items() if value is not None}


NOTHING = About()


def init_store(
    location: str | os.PathLike[str],
    schema: Schema,
    *,
    targets: Mapping[str, Target] | None = None,
    truth: Truth | None = None,
    about: About = NOTHING,
    overwrite: bool = False,
) -> Draft:
    """Begin a store, or go on with the same one where a killed writer left it.

    It is the same if shape, cut, targets, truth and what is known about it are; a draft of another store at this
    location is begun anew.
    """
    draft = Draft(locate.absolute(locate.plain(location)), schema)
    require_free(draft.location, overwrite=overwrite)
    responses = checked_targets(targets, schema.n_samples)
    identity = _identity(schema, responses, truth) | about.to_json()
    if _kept_identity(draft.scratch) != identity:
        locate.remove_all_but(draft.scratch, locate.WORKSHOP)
        locate.require_space(draft.location, arrays.needed_bytes(schema))
        with locate.disk_errors(draft.scratch):
            _begin(draft, responses, about.sample_ids, identity)
    return draft


def _identity(schema: Schema, targets: Mapping[str, Target], truth: Truth | None) -> dict[str, Any]:
    for name in targets:
        require_file_name(name)
    prints = {name: digest(values.tobytes()) for name, values in targets.items()}
    return {**schema.to_json(), "targets": prints, "truth": truth.to_json() if truth else None}


def _kept_identity(scratch: str) -> dict[str, Any] | None:
    try:
        return _unsealed(read_attributes(scratch)[ATTRIBUTE])
    except (OSError, KeyError):
        return None


def _unsealed(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ("documents", "seal")}


def _begin(
    draft: Draft, targets: Mapping[str, Target], sample_ids: Sequence[str] | None, identity: dict[str, Any]
) -> None:
    group = zarr.create_group(locate.zarr_store(draft.scratch), zarr_format=3)
    arrays.create_matrix(draft.scratch, draft.schema)
    for name, values in targets.items():
        arrays.create_target(draft.scratch, name, values)
    if sample_ids is not None:
        arrays.create_samples(draft.scratch, sample_ids)
    # The attributes come last: a group without them is begun anew.
    group.attrs[ATTRIBUTE] = identity


def _narrow(counts: NDArray[np.int64]) -> np.dtype[Any]:
    return np.min_scalar_type(int(counts.max()))


def _drop_leftovers(scratch: str) -> None:
    """Files that zarr was writing when its process was killed."""
    if not locate.is_url(scratch):
        for path in Path(scratch).rglob("*.partial"):
            path.unlink(missing_ok=True)

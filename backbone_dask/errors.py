"""One tree of errors. Each also has the builtin parent that a caller would expect to catch."""

from __future__ import annotations


class BackboneError(Exception):
    """Base of every error that backbone_dask raises on purpose."""


class InvalidSettingError(BackboneError, ValueError):
    """A setting is out of range, or does not fit the data."""


class InvalidDataError(BackboneError, ValueError):
    """The data cannot be used as they are: wrong length, not finite, constant target."""


class UnknownFeatureError(InvalidDataError):
    """A table was asked for features by `names` that none of its own are called."""

    def __init__(self, message: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.names = names


class MissingExtraError(BackboneError, ImportError):
    """A library that is an optional extra of this package is not installed."""


class UnknownNameError(BackboneError, KeyError):
    """A component was asked for by a name that nothing is registered under."""

    def __str__(self) -> str:
        # KeyError prints the repr of its argument; people should see the sentence.
        return str(self.args[0])


class StoreError(BackboneError, OSError):
    """A feature store could not be opened, read or written."""


class FormatVersionError(StoreError):
    """The store was written in a format that this version does not read."""


class IncompleteStoreError(StoreError):
    """The store was never finalised: partitions are missing."""


class CorruptBlockError(StoreError):
    """Bytes of a block do not match their checksum."""


class DiskSpaceError(StoreError):
    """There is no room left for what has to be written."""


class RunDirectoryError(BackboneError, OSError):
    """The run directory is in use, incomplete, or belongs to other settings."""


# MemoryError makes its instances in a way of its own; unless it comes first, Dask cannot bring the error back.
class MemoryBudgetError(MemoryError, BackboneError):
    """A task would need more memory than a worker has."""


class ExactSolveError(BackboneError, RuntimeError):
    """The solver of the reduced problem failed; nothing is claimed about its answer."""


class ClusterError(BackboneError, ConnectionError):
    """A cluster could not be started or reached."""


class WorkerLostError(BackboneError, RuntimeError):
    """A task killed its worker again and again."""

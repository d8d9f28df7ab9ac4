"""Where an estimator's work runs."""

from __future__ import annotations

from distributed import get_client

from backbone_dask.errors import InvalidSettingError
from backbone_dask.protocols import Executor
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor


def chosen_executor(name: str) -> Executor:
    """ "serial", "dask" (the active client), or "auto": the active client if there is one."""
    if name == "serial":
        return SerialExecutor()
    if name not in ("auto", "dask"):
        raise InvalidSettingError(f"executor is {name!r}; use 'auto', 'serial' or 'dask'")
    try:
        return DaskExecutor(get_client())
    except ValueError as cause:
        if name == "auto":
            return SerialExecutor()
        raise InvalidSettingError(
            "executor='dask' needs an active dask.distributed Client; create one first"
        ) from cause

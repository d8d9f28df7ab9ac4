"""Where an estimator's work runs."""

from __future__ import annotations

from distributed import get_client, get_worker

from backbone_dask.errors import InvalidSettingError
from backbone_dask.protocols import Executor
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor


def chosen_executor(name: str, *, keep_blocks: bool = False) -> Executor:
    """By name: "serial", "dask" (the active client), or "auto": that client if there is one, outside of its tasks."""
    if name == "serial":
        return SerialExecutor(keeps_blocks=keep_blocks)
    if name not in ("auto", "dask"):
        raise InvalidSettingError(f"executor is {name!r}; use 'auto', 'serial' or 'dask'")
    if _inside_a_task():
        # The task would wait for the workers that it keeps busy itself.
        if name == "dask":
            raise InvalidSettingError("executor='dask' cannot be used inside a Dask task; use 'auto' or 'serial' there")
        return SerialExecutor(keeps_blocks=keep_blocks)
    try:
        return DaskExecutor(get_client(), keeps_blocks=keep_blocks)
    except ValueError as cause:
        if name == "auto":
            return SerialExecutor(keeps_blocks=keep_blocks)
        raise InvalidSettingError(
            "executor='dask' needs an active dask.distributed Client; create one first"
        ) from cause


def _inside_a_task() -> bool:
    try:
        get_worker()
    except ValueError:
        return False
    return True

"""What every worker is set to, whoever starts it: in the words of Dask's configuration, and as variables."""

from __future__ import annotations

NUMBA = "NUMBA_NUM_THREADS"
# Two BLAS threads on one core are slower than one.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", NUMBA), "1")
SETTINGS = {
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
    # A worker that holds more than was planned would wait for ever for itself to let go of it.
    "distributed.worker.memory.pause": False,
    # Samples of stacks and of load that Dask keeps for hours: memory would grow with the length of a screen.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.log-length": 600,
    "distributed.admin.low-level-log-length": 100,
}
ENVIRONMENT = {
    **ONE_THREAD,
    **{"DASK_" + name.replace(".", "__").replace("-", "_").upper(): str(value) for name, value in SETTINGS.items()},
}

"""What a result was measured on."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from backbone_dask.launch.local import available_cores
from backbone_dask.runtime.memory import physical_bytes

PACKAGES = ("backbone-dask", "numpy", "scipy", "numba", "scikit-learn", "dask", "distributed", "pyomo", "highspy")


def machine() -> dict[str, str | int | float]:
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_gib": round(physical_bytes() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def _processor() -> str:
    """The model's name, where Linux tells it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

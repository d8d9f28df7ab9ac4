"""What a result was measured on."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from backbone_dask.launch.local import available_cores
from backbone_dask.runtime.memory import physical_bytes

CHECKOUT = Path(__file__).resolve().parents[1]
PUBLISHED = ("benchmarks/paper/results", "benchmarks/real/results", "benchmarks/peers/results")
"""What runs themselves write into the checkout."""
INSTALL = "pip install -e '.[dev]' installs all that the experiments import"
PACKAGES = (
    *("backbone-dask", "numpy", "scipy", "numba", "scikit-learn", "dask", "distributed", "pyomo", "highspy"),
    *("python-glmnet", "pandas"),
)


def stamp() -> dict[str, Any]:
    """What every record says besides its figures."""
    return {"machine": machine(), "versions": versions(), "commit": commit()}


def today() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def machine() -> dict[str, str | int | float]:
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_gib": round(physical_bytes() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Of Python and the packages that there are, by the names that pip knows them by."""
    return {"python": platform.python_version(), **{name: there for name in PACKAGES if (there := _version(name))}}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def commit(checkout: Path = CHECKOUT) -> str | None:
    """The commit of the checkout, with "+" where files differ from it; None where there is no git."""
    if not (checkout / ".git").exists():
        return None
    try:
        found = _git(checkout, "rev-parse", "--short", "HEAD").strip()
        changed = _git(
            checkout, "status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{each}" for each in PUBLISHED)
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found + "+" * bool(changed)


def _git(checkout: Path, *asked: str) -> str:
    return subprocess.run(["git", "-C", str(checkout), *asked], check=True, capture_output=True, text=True).stdout


def _processor() -> str:
    """The model's name, where Linux tells it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

"""Which experiments there are, and in which module; a module is imported only when one of its experiments is wanted."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from benchmarks.machine import INSTALL
from benchmarks.paper.experiment import Experiment

MODULES: dict[str, tuple[str, ...]] = {
    "linear": ("F1", "F3", "F4", "F6", "F8"),
    "trees": ("F2", "F5", "F7"),
    "real": ("T1", "T2", "T3", "T4"),
}
IDS = tuple(sorted(name for names in MODULES.values() for name in names))


class UnknownExperimentError(ValueError):
    """There is no experiment of that name."""


class MissingPackageError(ImportError):
    """What an experiment imports is not installed."""


def experiments(names: list[str]) -> list[Experiment]:
    """The experiments by name, each of them once.

    "F8" are all of its parts ("F8-beta", ...), "all" are those of every module there is.
    """
    found = [each for name in names for each in (_all() if name == "all" else _named(name))]
    return list({each.id: each for each in found}.values())


def _all() -> list[Experiment]:
    return [each for module in MODULES if _is_there(module) for each in _of(module).values()]


def _named(name: str) -> list[Experiment]:
    module = next((module for module, ids in MODULES.items() if name.split("-")[0] in ids), None)
    if module is None or not _is_there(module):
        raise UnknownExperimentError(f"there is no experiment {name}; there are {', '.join(_ready())}")
    known = _of(module)
    found = [known[name]] if name in known else [each for id, each in known.items() if id.startswith(f"{name}-")]
    if not found:
        raise UnknownExperimentError(f"there is no experiment {name}; {module} has {', '.join(known)}")
    return found


def _ready() -> list[str]:
    return sorted(id for module, ids in MODULES.items() if _is_there(module) for id in ids)


def _is_there(module: str) -> bool:
    return find_spec(f"benchmarks.paper.{module}") is not None


def _of(module: str) -> dict[str, Experiment]:
    try:
        found: dict[str, Experiment] = import_module(f"benchmarks.paper.{module}").EXPERIMENTS
    except ImportError as missing:
        raise MissingPackageError(f"{', '.join(MODULES[module])}: {missing}; {INSTALL}") from missing
    return found

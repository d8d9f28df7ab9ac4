"""From the options of a configuration to a job: what is refused, what is filled in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dask.utils import parse_bytes

from backbone_dask.errors import InvalidSettingError
from backbone_dask.launch.config import require_known
from backbone_dask.launch.listening import LOOPBACK
from backbone_dask.launch.walltime import lifetime_arguments, walltime_seconds
from backbone_dask.launch.worker_settings import ENVIRONMENT

JOBS = 2
TIMEOUT, POLL = 600.0, 10.0
OWN_OPTIONS = {"host", "poll", "timeout"}
LOGS = "batch-logs"
# Web pages are for this user on this machine; only what the work needs listens on the network.
WEB_PAGES = f"{LOOPBACK}:0"


@dataclass(frozen=True, slots=True)
class Order:
    """How many jobs, how patient to be with them, and what dask_jobqueue's class is called with."""

    jobs: int
    timeout: float
    poll: float
    keywords: dict[str, Any]

    @property
    def logs(self) -> str:
        return str(self.keywords["log_directory"])

    @property
    def shared(self) -> str:
        """A folder that all machines see."""
        return str(self.keywords["shared_temp_directory"])


def order(
    kind: str, workers: int | None, options: Mapping[str, Any], known: set[str], defaults: Mapping[str, Any]
) -> Order:
    """Options checked and completed; `defaults` are those of Dask's own configuration of the batch system."""
    require_known(options, known | OWN_OPTIONS, kind)
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        _check(name, value)
    timeout, poll = float(given.pop("timeout", TIMEOUT)), float(given.pop("poll", POLL))
    told = {**{name: value for name, value in defaults.items() if value is not None}, **given}
    keywords = {**given, **_resources(kind, told), **_network(kind, told), **_script(kind, told)}
    keywords.pop("host", None)
    return Order(workers or JOBS, timeout, poll, keywords)


def _resources(kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """One process a core and one thread a process."""
    if "memory" not in told:
        raise InvalidSettingError(f"a {kind} cluster needs the memory of a job, as 'memory: 8GB'")
    cores = told.get("cores", 1)
    processes = told.get("processes", cores)
    if processes > cores:
        raise InvalidSettingError(f"processes is {processes} and cores is {cores}; a process needs a core of its own")
    return {"cores": cores, "processes": processes, "memory": told["memory"]}


def _network(kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Where the scheduler listens: jobs on other machines would look for it in vain on the loopback of this one."""
    scheduler = {"dashboard_address": WEB_PAGES, **told.get("scheduler_options", {})}
    if "host" in told:
        scheduler["host"] = told["host"]
    if "interface" not in told and not {"host", "interface"} & set(scheduler):
        raise InvalidSettingError(
            f"a {kind} cluster must know where its jobs reach this machine: give 'interface: ib0' (the name of a "
            "network interface of all nodes; 'lo' where all is one machine) or 'host: ADDRESS' of this machine"
        )
    return {"scheduler_options": scheduler}


def _script(kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    given = list(told.get("worker_extra_args", ()))
    pages = [] if "--dashboard-address" in given else ["--dashboard-address", WEB_PAGES]
    logs = Path(told.get("log_directory", LOGS)).absolute()
    if logs.exists() and not logs.is_dir():
        raise InvalidSettingError(f"log_directory: {logs} is no folder; name another for the logs of the jobs")
    lifetime = lifetime_arguments(walltime_seconds(told.get("walltime"), kind), given)
    settings = [f"export {name}={value}" for name, value in ENVIRONMENT.items()]
    return {
        "python": told.get("python", sys.executable),
        "job_script_prologue": [*settings, *told.get("job_script_prologue", ())],
        "worker_extra_args": [*given, *pages, *lifetime],
        "log_directory": str(logs),
        "shared_temp_directory": told.get("shared_temp_directory", os.getcwd()),
    }


def _check(name: str, value: Any) -> None:
    check, words = CHECKS.get(name, (_is_plain, "text or a number"))
    if not check(value):
        raise InvalidSettingError(f"{name} is {value!r}; it must be {words}")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_memory(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and parse_bytes(value) >= 1
    except (ValueError, TypeError, AttributeError):
        return False


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in value)


_COUNT = (_is_count, "a whole number, at least 1")
_TEXTS = (_are_texts, "a list of texts")
_TEXT = (_is_text, "text")
_SECONDS = (_is_positive, "a number of seconds above 0")
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("cores", "processes", "job_cpu", "ncpus"), _COUNT),
    **dict.fromkeys(("timeout", "poll", "death_timeout"), _SECONDS),
    **dict.fromkeys(("interface", "host", "log_directory", "local_directory", "shared_temp_directory"), _TEXT),
    **dict.fromkeys(("python", "queue", "account", "project", "shebang", "job_name"), _TEXT),
    **dict.fromkeys(("job_extra_directives", "job_script_prologue", "worker_extra_args"), _TEXTS),
    "job_directives_skip": _TEXTS,
    "memory": (_is_memory, "an amount of memory, as 8GB"),
    "scheduler_options": (_is_mapping, "a mapping of options of Dask's scheduler"),
    # Read with the batch system's own notation.
    "walltime": (lambda value: True, ""),
}
"""Options whose values dask_jobqueue would take as they are, and fail on later in words of its own."""
